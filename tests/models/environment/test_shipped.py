"""A shipped checkpoint under `vf-eval`, imported, beside `arena evaluate` on the same seeds."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena.board import Mark
from storage import Database, GameFilter, Games
from tests.cli.test_commands import arena
from tests.models.environment.tools import ROOT
from tests.storage.conftest import Clock

pytest.importorskip("xllamacpp")

NAME = "tiny-rl1"
EPISODES = 16
SHIPPED = {"ARENA_DEMO": "1"}


@contextmanager
def served(folder: Path):
    """The checkpoint's address while `arena models serve` runs; it ends by Ctrl-C and in peace."""
    command = ("models", "serve", NAME, "--port", "0")
    with subprocess.Popen(
        [sys.executable, "-m", "cli", "--data-dir", str(folder), *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            said = process.stdout.readline()
            assert said.startswith(f"{NAME} answers on http://127.0.0.1:"), said
            yield said.split()[3]
        finally:
            process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")


def cells(folder: Path) -> dict[tuple[int, Mark], tuple[object, ...]]:
    """By seed and the checkpoint's mark: how its game went."""
    found: dict[tuple[int, Mark], tuple[object, ...]] = {}
    with closing(Database.open(folder / "arena.db")) as db:
        games = Games(db, Clock())
        for each in games.find(GameFilter(), limit=1000):
            stored = games.load(each.id)
            mark = next(m for m in Mark if stored.player(m).identity.name == NAME)
            game = stored.game
            said = [(attempt.reply, attempt.verdict) for attempt in game.attempts_of(mark)]
            found[game.seed, mark] = (game.opener, game.moves, game.outcome, said)
    return found


def test_its_games_are_those_of_an_evaluation(tools, tmp_path):
    with served(tmp_path / "served") as address:
        tools.run(
            *("vf-eval", "tictactoe_arena", "-m", NAME, "-n", str(EPISODES), "-c", "4"),
            *("--client.base-url", address, "--client.api-key-var", "MODEL_KEY"),
            *("--no-push", "--no-rich", "-o", str(tools.folder / "out"), "--run.name", "shipped"),
            *("--sampling.max-tokens", "32", "--env.taskset.sampling-seeds"),
        )
    imported = arena(tmp_path / "imported", "import", str(tools.file("shipped")))
    assert imported.returncode == 0, imported.stderr
    board = json.loads(arena(tmp_path / "imported", "leaderboard", "--json").stdout)
    (row,) = (each for each in board["players"] if each["player"]["name"] == NAME)
    assert row["opening"]["games"] + row["replying"]["games"] == EPISODES
    again = arena(tmp_path / "imported", "import", str(tools.file("shipped")))
    assert f"0 games imported, {EPISODES} here already" in again.stderr
    evaluated = arena(
        tmp_path / "evaluated",
        *("evaluate", NAME, "--opponents", "minimax", "--games", str(EPISODES)),
        environment=SHIPPED,
    )
    assert evaluated.returncode == 0, evaluated.stderr
    episodes, plan = cells(tmp_path / "imported"), cells(tmp_path / "evaluated")
    assert len(episodes) == EPISODES
    assert len(plan) == 2 * EPISODES
    assert episodes == {cell: plan[cell] for cell in episodes}


def test_what_cannot_be_served_is_told(tmp_path):
    (tmp_path / "models.toml").write_text(
        '[[model]]\nname = "far"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        '[[model]]\nname = "torn"\ngguf = "torn.gguf"\n'
    )
    (tmp_path / "torn.gguf").write_bytes(b"GGUF")
    for name, code, says in (
        ("far", 2, "far has no GGUF file: it is served at http://127.0.0.1:9/v1"),
        ("fra", 2, "no model is called 'fra': did you mean 'far'?"),
        ("torn", 1, "torn.gguf: llama.cpp cannot load the file"),
    ):
        done = arena(tmp_path, "models", "serve", name, "--port", "0")
        assert (done.returncode, done.stdout) == (code, "")
        assert says in done.stderr
