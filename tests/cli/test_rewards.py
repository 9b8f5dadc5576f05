"""`arena import` of what verifiers wrote, and `arena rewards` of what is no game."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_commands import arena, figures

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
    shown = figures(tmp_path, "rewards", str(run["id"]), "--show", "2")
    assert [count for _, count in shown["distribution"]] == [3, 9]
    assert [len(each["messages"]) for each in shown["transcripts"]] == [3, 3]
    said = arena(tmp_path, "rewards", str(run["id"]), "--show", "1")
    assert said.returncode == 0, said.stderr
    assert "mean reward 0.800 ± 0.200" in said.stdout
    assert "[user] " in said.stdout
    assert "reverse_words" in arena(tmp_path, "rewards").stdout


def test_there_is_no_such_run(tmp_path: Path):
    arena(tmp_path, "import", str(TRACES / "lines.jsonl"))
    done = arena(tmp_path, "rewards", "7")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no imported run 7" in done.stderr
