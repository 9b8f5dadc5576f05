"""`arena generate`: a teacher's games in one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import arena, write_model
from tests.servers.policy import PolicyModel
from tests.servers.server import ModelServer


def rows(out: Path, flavour: str) -> list[dict]:
    paths = sorted((out / flavour).glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def generate(folder: Path, out: Path, *arguments: str):
    return arena(folder, "generate", "--out", str(out), "--format", "jsonl", *arguments)


def test_an_engine_teaches_and_leaves_nothing_behind(tmp_path: Path):
    out = tmp_path / "warm-up"
    command = ("--teacher", "minimax", "--games", "30", "--opponents", "random; minimax:epsilon=.5")
    done = generate(tmp_path / "data", out, *command, "--json")
    assert done.returncode == 0, done.stderr
    chats, turns = rows(out, "messages"), rows(out, "turns")
    assert len({row["game"] for row in chats}) == json.loads(done.stdout)["flavours"][0]["games"]
    assert {row["opponent"] for row in chats} == {"random", "minimax:epsilon=0.5"}
    assert {row["mark"] == row["opener"] for row in chats} == {True, False}
    assert all(row["result"] in ("win", "draw") for row in chats)
    assert 25 < len(chats) <= 32
    assert not any(row["loses_value"] for row in turns)
    assert all(row["exact"] and "</think>" in row["completion"][0]["content"] for row in turns)
    assert not (tmp_path / "data").exists()


def test_opponents_and_conditions_are_named_one_by_one_or_together(tmp_path: Path):
    opponents = ("--opponents", "random", "--opponents", "minimax:epsilon=0.5; minimax:epsilon=0.3")
    kept = ("--keep", "won", "--keep", "drawn, perfect")
    command = ("--teacher", "random", "--games", "60", "--flavour", "games")
    done = generate(tmp_path / "data", tmp_path / "set", *command, *opponents, *kept)
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "set", "games")
    names = {player["name"] for row in found for player in (row["x"], row["o"])}
    assert names - {"teacher random"} == {"random", "minimax:epsilon=0.5", "minimax:epsilon=0.3"}
    assert {row["outcome"] for row in found} >= {"draw", "x"}


def test_what_is_kept(tmp_path: Path):
    command = ("--teacher", "minimax:epsilon=0.7", "--games", "40", "--opponents", "minimax")
    for keep, results in (("lost", {"loss"}), ("drawn", {"draw"}), ("", {"loss", "draw"})):
        out = tmp_path / (keep or "all")
        done = generate(tmp_path, out, *command, "--keep", keep, "--flavour", "messages")
        assert done.returncode == 0, done.stderr
        assert {row["result"] for row in rows(out, "messages")} == results
    out = tmp_path / "perfect"
    done = generate(tmp_path, out, *command, "--keep", "perfect", "--flavour", "turns")
    assert done.returncode == 0, done.stderr
    assert not any(row["loses_value"] for row in rows(out, "turns"))


def test_a_model_teaches_and_its_games_are_stored_once(tmp_path: Path):
    with ModelServer(PolicyModel("minimax", seed=5)) as server:
        write_model(tmp_path, server.base_url)
        command = ("--teacher", "ckpt", "--games", "8", "--opponents", "random", "--keep", "won")
        done = generate(tmp_path, tmp_path / "one", *command)
        assert done.returncode == 0, done.stderr
        asked = len(server.requests)
        assert asked > 8
        assert generate(tmp_path, tmp_path / "two", *command).returncode == 0
        assert len(server.requests) == asked
    assert rows(tmp_path / "one", "turns") == rows(tmp_path / "two", "turns")
    assert {row["result"] for row in rows(tmp_path / "one", "turns")} == {"win"}
    done = arena(tmp_path, "leaderboard")
    assert "ckpt" in done.stdout


def test_a_prompt_format_of_ones_own(tmp_path: Path):
    (tmp_path / "formats.toml").write_text(
        '[format.mine]\nfirst = "{board} you are {mark}"\nnext = "{board}"\ninvalid = "{reason}"\n'
        '[format.mine.answer]\nopening = "<<"\nclosing = ">>"\nbase = 1\nthinking = false\n'
    )
    out = tmp_path / "out"
    command = ("--teacher", "minimax", "--games", "8", "--prompt", "mine", "--opponents", "random")
    done = generate(tmp_path, out, *command, "--history", "board")
    assert done.returncode == 0, done.stderr
    for row in rows(out, "turns"):
        assert row["completion"][0]["content"] == f"<<{row['square'] + 1}>>"
        assert row["prompt_format"] == "mine"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--teacher", "minimax:tie=frst"), "valid are uniform"),
        (("--teacher", "nobody"), "no player is called 'nobody'"),
        (("--teacher", "minimax", "--prompt", "tag"), "did you mean"),
        (("--teacher", "minimax", "--keep", "best"), "valid are won"),
        (("--teacher", "minimax", "--opponents", "grandmaster"), "valid are random, minimax"),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...], says: str):
    done = generate(tmp_path, tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
