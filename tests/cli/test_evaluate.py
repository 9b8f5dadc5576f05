"""`arena evaluate` as a user runs it, against a real model server."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from arena.board import Mark
from arena.game import Game
from arena.opponents import parse
from storage import Database, Games
from tests.cli.test_commands import ROOT, arena, figures, write_model
from tests.servers import Json, ModelServer, PolicyModel, Say
from tests.servers.answers import Answer
from tests.web.process import until

OPPONENTS = ("--opponents", "random", "--opponents", "minimax:tie=last")


def evaluate(folder: Path, *arguments: str) -> dict:
    done = arena(folder, "evaluate", "ckpt", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_evaluation_goes_on_where_it_was_and_grows(tmp_path: Path):
    with ModelServer(PolicyModel()) as server:
        write_model(tmp_path, server.base_url)
        first = evaluate(tmp_path, *OPPONENTS, "--games", "3", "--seed", "5")
        asked = len(server.requests)
        again = evaluate(tmp_path, *OPPONENTS, "--games", "3", "--seed", "5")
        assert len(server.requests) == asked
        grown = evaluate(tmp_path, *OPPONENTS, "--games", "4", "--seed", "5")
        assert len(server.requests) > asked
    assert first["state"] == "finished"
    assert first["name"] == "ckpt-opponents-5"
    assert again["entries"] == first["entries"]
    assert len(first["entries"]) == 4
    for entry in first["entries"]:
        assert (entry["planned"], entry["played"], entry["losses"], entry["void"]) == (3, 3, 0, 0)
        assert entry["not_lost"] == 1.0
    assert {entry["played"] for entry in grown["entries"]} == {4}


def test_other_settings_under_the_same_name_are_refused(tmp_path: Path):
    with ModelServer(PolicyModel()) as server:
        write_model(tmp_path, server.base_url)
        evaluate(tmp_path, *OPPONENTS, "--games", "1", "--name", "run")
        done = arena(tmp_path, "evaluate", "ckpt", *OPPONENTS, "--seed", "9", "--name", "run")
    assert done.returncode == 1
    assert "seed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_family_and_a_panel_of_ones_own(tmp_path: Path):
    (tmp_path / "panels.toml").write_text(
        '[[panel]]\nname = "mine"\nopponents = ["minimax:tie=s3"]\nmark = "X"\n'
    )
    with ModelServer(PolicyModel()) as server:
        entry = 'base_url = "{}"\nmodel = "m-{{step}}"\nfamily = "f"\nsteps = [10, 20]\n'
        models = '[[model]]\nname = "f-{step}"\n' + entry.format(server.base_url)
        (tmp_path / "models.toml").write_text(models)
        done = arena(tmp_path, "evaluate", "f", "--panel", "mine", "--games", "2", "--json")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)["entries"]
    assert [(e["checkpoint"], e["opening"], e["played"]) for e in seen] == [
        ("f-10", True, 2),
        ("f-10", False, 2),
        ("f-20", True, 2),
        ("f-20", False, 2),
    ]


def test_a_refused_key_ends_it_with_one_sentence(tmp_path: Path):
    refusal = Json(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
    with ModelServer(refusal) as server:
        write_model(tmp_path, server.base_url)
        done = arena(tmp_path, "evaluate", "ckpt", *OPPONENTS, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["state"] == "failed"
    assert "refused the key" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_opponents_are_named_one_by_one_or_together(tmp_path: Path):
    opponents = ("--opponents", "random", "--opponents", "minimax; minimax:tie=first")
    told = figures(tmp_path, "evaluate", "minimax", *opponents, "--games", "1")
    met = {entry["opponent"] for entry in told["entries"]}
    assert met == {"random", "minimax", "minimax:tie=first"}


def test_an_unknown_panel_is_wrong_use(tmp_path: Path):
    done = arena(tmp_path, "evaluate", "random", "--panel", "standrd")
    assert done.returncode == 2
    assert "standard" in done.stderr


def test_an_interrupted_one_is_resumed(tmp_path: Path):
    """Ctrl-C ends with the games in flight; the same command plays the rest."""
    command = ("evaluate", "ckpt", *OPPONENTS, "--games", "20", "--concurrency", "2", "--json")
    with ModelServer(PolicyModel()) as server:
        write_model(tmp_path, server.base_url)
        process = subprocess.Popen(
            [sys.executable, "-m", "cli", "--data-dir", str(tmp_path), *command],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until(lambda: len(server.requests) > 20)
        process.send_signal(signal.SIGINT)
        out, words = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "is stopped" in words
        stopped = sum(entry["played"] for entry in json.loads(out)["entries"])
        assert 0 < stopped < 80
        done = arena(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert [entry["played"] for entry in json.loads(done.stdout)["entries"]] == [20] * 4


def test_costs_stand_in_the_json_and_in_the_table(tmp_path: Path):
    def answer(body: dict) -> Say:
        said = PolicyModel()(body)
        assert isinstance(said, Say)
        # A server that counts the first move's tokens only.
        first = len(body["messages"]) == 2
        return dataclasses.replace(said, usage=first, prompt_tokens=1000)

    prices = {"input": 2.5, "output": 10, "currency": "EUR"}
    command = ("--opponents", "minimax:tie=last", "--games", "2")
    with ModelServer(answer) as server:
        write_model(tmp_path, server.base_url, prices=prices)
        seen = evaluate(tmp_path, *command)
        table = " ".join(arena(tmp_path, "evaluate", "ckpt", *command).stdout.split())
        asked = len(server.requests)
        # Prices are no part of who a model is: the evaluation is still the same.
        write_model(tmp_path, server.base_url, prices={"input": 5, "output": 20})
        dearer = evaluate(tmp_path, *command)
        assert len(server.requests) == asked
    (cost,) = seen["costs"]
    assert (cost["games"], cost["requests"], cost["attempts"]) == (4, asked, asked)
    assert cost["attempts_without_tokens"] == asked - 4
    assert (cost["prompt_tokens"], cost["currency"]) == (4000, "EUR")
    assert cost["money"] == 4000 * 2.5e-6 + cost["completion_tokens"] * 10e-6
    assert cost["money_per_game"] == cost["money"] / 4
    assert cost["is_lower_bound"] is True
    assert f"at least {cost['money']:.4f} EUR" in table
    assert f"{asked - 4} of {asked} replies came without their tokens" in table
    assert dearer["costs"][0]["money"] == 2 * cost["money"]


def test_a_seed_gives_the_opponents_replies_in_any_order_and_at_any_concurrency(tmp_path: Path):
    """Two servers that answer alike, one at once and one when it pleases: the same games."""
    chance = random.Random(1)

    def late(body: dict) -> Answer:
        said = PolicyModel("random")(body)
        assert isinstance(said, Say)
        return dataclasses.replace(said, delay_s=chance.choice((0, 0, 0.01, 0.1)))

    specs = ("random", "minimax", "minimax:epsilon=0.5")
    command = [part for spec in specs for part in ("--opponents", spec)]
    servers: list[tuple[Callable[[dict], Answer], int]] = [(PolicyModel("random"), 1), (late, 24)]
    found = []
    for number, (answer, concurrency) in enumerate(servers):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ModelServer(answer) as server:
            write_model(folder, server.base_url)
            evaluate(folder, *command, "--games", "8", "--concurrency", str(concurrency))
        found.append(_games(folder))
    one, other = found
    assert list(one) != list(other)
    assert one == other
    assert len(one) == len(specs) * 2 * 8
    for (spec, opening, seed), moves in one.items():
        engine, game = parse(spec), Game(seed=seed)
        for square in moves:
            if (game.to_move is Mark.X) is not opening:
                assert square == engine.choose(game.board, game.salt)
            game.move(square)


def _games(folder: Path) -> dict[tuple[str, bool, int], tuple[int, ...]]:
    """The squares of each stored game, in the order in which they were stored."""
    database = Database.open(folder / "arena.db")
    games = Games(database, lambda: datetime.now(UTC))
    found = {}
    for each in reversed(games.find(limit=1000)):
        stored = games.load(each.id)
        opening = stored.x.identity.name == "ckpt"
        opponent = stored.o if opening else stored.x
        found[opponent.identity.name, opening, stored.game.seed] = stored.game.moves
    database.close()
    return found


def test_an_engine_against_itself_has_all_its_games_in_both_seats(tmp_path: Path):
    spec = "minimax:epsilon=0.5"
    command = ("evaluate", spec, "--opponents", spec, "--opponents", "random", "--games", "7")
    done = arena(tmp_path, *command, "--json")
    assert done.returncode == 0, done.stderr
    opening, replying, *others = json.loads(done.stdout)["entries"]
    assert all((e["planned"], e["played"]) == (7, 7) for e in (opening, replying, *others))
    assert sum(opening[name] for name in ("wins", "draws", "losses")) == 7
    assert [opening[name] for name in ("wins", "draws", "losses")] == [
        replying[name] for name in ("losses", "draws", "wins")
    ]
    # The two entries share their games; those against another engine are two for each seed.
    assert len(_games_of(tmp_path)) == 7 + 14
    again = arena(tmp_path, *command, "--json")
    assert json.loads(again.stdout)["entries"] == [opening, replying, *others]
    assert len(_games_of(tmp_path)) == 7 + 14


def _games_of(folder: Path) -> list[str]:
    database = Database.open(folder / "arena.db")
    found = [each.id for each in Games(database, lambda: datetime.now(UTC)).find(limit=1000)]
    database.close()
    return found


def test_void_games_say_why(tmp_path: Path):
    with ModelServer(Json(503, {"error": {"message": "[red]too busy[/red]"}})) as server:
        write_model(tmp_path, server.base_url, max_tries=1)
        command = ("evaluate", "ckpt", "--opponents", "random", "--games", "1")
        told = arena(tmp_path, *command)
        seen = json.loads(arena(tmp_path, *command, "--json").stdout)
    assert (told.returncode, "stayed void" in told.stderr) == (1, True)
    assert "void games: " in told.stdout
    assert "[red]too busy[/red]" in " ".join(told.stdout.split())
    ((reason, games),) = [(each["reason"], each["games"]) for each in seen["void_reasons"]]
    assert "too busy" in reason
    # Each of both cells was tried twice in each run.
    assert games == 8
    assert [entry["void"] for entry in seen["entries"]] == [1, 1]
    assert seen["costs"][0]["prompt_tokens"] is seen["costs"][0]["money"] is None


def test_a_small_terminal_shows_a_table_that_fits(tmp_path: Path):
    rows = 14
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 110, 0, 0))
    with ModelServer(Say("<think>The corner.</think><move>0</move>", delay_s=0.02)) as server:
        write_model(tmp_path, server.base_url)
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "cli", "--data-dir", str(tmp_path), "evaluate", "ckpt"),
                *("--panel", "memorisation", "--games", "50"),
            ],
            cwd=ROOT,
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env={"PATH": "/usr/bin:/bin", "TERM": "xterm", "ARENA_DEMO": "0"},
        )
        os.close(terminal)
        seen = ""
        # Three whole frames have been drawn once the fourth has begun.
        while seen.count("Provisional. ckpt-memorisation-0: ") < 4:
            seen += os.read(screen, 65536).decode()
        process.send_signal(signal.SIGINT)
        # The terminal must be read until it closes, or the process waits to write.
        with contextlib.suppress(OSError):
            while os.read(screen, 65536):
                pass
        process.communicate(timeout=60)
    os.close(screen)
    frames = re.split("Provisional. ckpt-memorisation-0: ", seen)[1:4]
    for frame in frames:
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frame).replace("\r", "")
        assert shown.count("\n") < rows
        assert "requests/s" in shown
        assert "more entries: " in shown
        assert "minimax" in shown
