"""`arena import` of what verifiers wrote, and `arena rewards` of what is no game."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arena.board import Mark
from tests.cli.test_commands import arena, figures
from tests.storage.imports.chats import PLAIN

TRACES = Path(__file__).parents[1] / "data" / "traces"


def test_a_folder_of_traces_comes_in_and_can_be_looked_at(tmp_path: Path):
    done = arena(tmp_path, "import", str(TRACES))
    assert done.returncode == 0, done.stderr
    assert "12 rollouts of other environments imported" in done.stderr
    assert figures(tmp_path, "import", str(TRACES))["imported"] == 0
    names = {each["player"]["name"] for each in figures(tmp_path, "leaderboard")["players"]}
    assert {"scripted", "sparring"} <= names
    (run,) = figures(tmp_path, "rewards")["runs"]
    assert (run["name"], run["examples"], run["rollouts"]) == ("lines", 4, 12)
    number = str(run["id"])
    shown = figures(tmp_path, "rewards", number, "--show", "2")
    assert [each["rollouts"] for each in shown["distribution"]] == [3, 9]
    assert [each["weight"] for each in shown["functions"]] == [0.2, 0.8]
    assert shown["games"]["unfollowed"] == []
    assert [len(each["messages"]) for each in shown["transcripts"]] == [3, 3]
    worst = figures(tmp_path, "rewards", number, "--show", "4", "--order", "worst", "--skip", "1")
    rewarded = [round(each["reward"], 9) for each in worst["transcripts"]]
    assert rewarded == [0.2, 0.2, 1.0, 1.0]
    example = worst["transcripts"][0]["example"]
    only = figures(tmp_path, "rewards", number, "--show", "9", "--example", example, "--no-void")
    assert {each["example"] for each in only["transcripts"]} == {example}
    assert len(only["transcripts"]) == 3
    said = arena(tmp_path, "rewards", str(run["id"]), "--show", "1")
    assert said.returncode == 0, said.stderr
    assert "mean reward 0.800 ± 0.200" in said.stdout
    assert "[user] " in said.stdout
    assert "Of what has no weight" not in said.stdout
    assert "reverse_words" in arena(tmp_path, "rewards").stdout


def test_a_run_goes_and_comes_back(tmp_path: Path):
    lines = str(TRACES / "lines.jsonl")
    arena(tmp_path, "import", lines)
    before = figures(tmp_path, "rewards", "1")
    done = arena(tmp_path, "rewards", "1", "--remove")
    assert (done.returncode, done.stdout) == (0, "")
    assert "run 1 removed, with 12 rollouts" in done.stderr
    assert figures(tmp_path, "rewards")["runs"] == []
    assert "No runs" in arena(tmp_path, "rewards").stdout
    assert figures(tmp_path, "import", lines)["rollouts"] == 12
    assert figures(tmp_path, "rewards", "1") == before
    assert figures(tmp_path, "rewards", "1", "--remove") == {"removed": 12}


@pytest.mark.parametrize("depth", [100, 900])
def test_a_chat_that_is_nested_deep_is_told(tmp_path: Path, depth: int):
    nested = "[" * depth + "]" * depth
    path = tmp_path / "results.jsonl"
    message = f'{{"role": "assistant", "content": {nested}}}'
    path.write_text(f'{{"prompt": "p", "completion": [{message}], "reward": 1}}\n', "utf-8")
    arena(tmp_path, "import", str(path))
    done = arena(tmp_path, "rewards", "1", "--show", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert nested in done.stdout.replace(" ", "")
    said = arena(tmp_path, "rewards", "1", "--show", "1")
    assert (said.returncode, "Traceback" in said.stderr) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("7",), "there is no imported run 7"),
        (("7", "--remove"), "there is no imported run 7"),
        (("--remove",), "say which run"),
        (("1", "--order", "sideways"), "'sideways' is not one of"),
    ],
)
def test_wrong_use_is_named(tmp_path: Path, arguments: tuple[str, ...], said: str):
    arena(tmp_path, "import", str(TRACES / "lines.jsonl"))
    done = arena(tmp_path, "rewards", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_games_that_can_be_followed_in_result_rows(tmp_path: Path):
    won, broken = PLAIN.tell([4, 0, 1, 2, 7]).messages, PLAIN.tell([4, 0, 8]).messages
    broken[3]["content"] = broken[3]["content"].replace("O", "X")
    seen = replace(PLAIN, mark=Mark.O).tell([4, 0, 8, 2]).messages
    rows = [
        {"example_id": 0, "prompt": chat[:2], "completion": chat[2:], "reward": 0.5, "wins": 1.0}
        for chat in (won, broken, seen)
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    done = arena(tmp_path, "import", str(path))
    assert done.returncode == 0, done.stderr
    assert "line 2: message 4: the board cannot follow" in done.stderr
    assert "\narena: and" not in done.stderr
    said = arena(tmp_path, "rewards", "1", "--show", "3").stdout
    assert "wins: 1.000" in said
    assert "Of what has no weight the file does not tell" in said.replace("\n", " ")
    assert "opening  1 (distinct: 1): 1 won, 0 drawn, 0 lost" in said
    assert "replying  1 (distinct: 1): 0 won" in said
    assert "not followed: the board cannot follow from the one before (1)" in said
    assert "won, opening as X, moves 4 0 1 2 7" in said
    games = figures(tmp_path, "rewards", "1", "--show", "1")
    assert games["transcripts"][0]["game"]["ending"] == "won"
    assert games["games"]["replying"]["unseen"] == 1
