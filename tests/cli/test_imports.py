"""`arena import` and `arena demo remove` as a user runs them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from storage.imports import SHIPPED as SHIPPED_GAMES
from tests.cli.test_commands import arena, figures, numbers


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A file of 20 games that another arena exported."""
    numbers(tmp_path / "there", "random", "minimax", "--games", "20", "--seed", "3", "--store")
    out = tmp_path / "games.jsonl"
    assert arena(tmp_path / "there", "export", "games", "--out", str(out)).returncode == 0
    return out


def test_a_round_trip_and_the_same_again(tmp_path: Path, exported: Path):
    here = tmp_path / "here"
    done = arena(here, "import", str(exported))
    assert (done.returncode, done.stdout) == (0, "")
    assert "20 games imported, 0 here already" in done.stderr
    again = figures(here, "import", str(exported))
    assert (again["imported"], again["known"], again["lines"]) == (0, 20, 20)
    assert arena(here, "export", "games", "--out", "-").stdout == exported.read_text()
    tables = [figures(tmp_path / folder, "leaderboard")["players"] for folder in ("there", "here")]
    assert tables[0] == tables[1]


def test_what_is_refused_is_told_by_line_and_exits_with_1(tmp_path: Path, exported: Path):
    lines = exported.read_text().splitlines(keepends=True)
    row = json.loads(lines[1])
    row["outcome"] = "x"
    exported.write_text(lines[0] + json.dumps(row) + "\n[b]no game[/b]\n" + lines[2][:50])
    done = arena(tmp_path / "here", "import", str(exported), "--json")
    seen = json.loads(done.stdout)
    assert done.returncode == 1
    assert (seen["imported"], seen["refused"], seen["lines"]) == (1, 3, 4)
    assert seen["troubles"] == {"contradiction": 1, "not_json": 1, "torn": 1}
    assert [problem["line"] for problem in seen["problems"]] == [2, 3, 4]
    assert "games.jsonl, line 2: it claims x by" in done.stderr
    assert "refused: 3 of 4 lines" in done.stderr
    assert "Traceback" not in done.stderr


def test_many_broken_lines_are_counted(tmp_path: Path):
    (tmp_path / "bad.jsonl").write_text("{}\n" * 30)
    done = arena(tmp_path, "import", str(tmp_path / "bad.jsonl"))
    assert done.returncode == 1
    assert "and 10 more lines like the last of these: foreign" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("import",), "PATH..."), (("import", "nothing.jsonl"), "there is no file nothing.jsonl")],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...], says: str):
    done = arena(tmp_path / "here", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "here").exists()


def test_a_demonstration_comes_and_goes(tmp_path: Path, exported: Path):
    here = tmp_path / "here"
    numbers(here, "random", "minimax", "--games", "5", "--seed", "90", "--store")
    before = figures(here, "leaderboard")
    assert figures(here, "import", "--demo", str(exported))["imported"] == 20
    shown = figures(here, "leaderboard")["players"]
    assert {row["demonstration"] for row in shown} == {20}
    assert "demonstration" in arena(here, "leaderboard").stdout
    assert figures(here, "demo", "remove") == {"removed": 20}
    assert figures(here, "leaderboard") == before
    assert "0 demonstration games removed" in arena(here, "demo", "remove").stderr


def test_removing_makes_no_database(tmp_path: Path):
    done = arena(tmp_path / "mistyped", "demo", "remove")
    assert done.returncode == 1
    assert "there is no database" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_reply_that_says_another_move_than_the_line_is_refused(tmp_path: Path):
    model = SHIPPED_GAMES.read_bytes()
    row = next(
        json.loads(line)
        for line in gzip.decompress(model).splitlines()
        if b'"reply": "<think>corner 6</think><move>6</move>"' in line
    )
    attempt = next(turn["attempts"][0] for turn in row["turns"] if turn["attempts"])
    (tmp_path / "true.jsonl").write_text(json.dumps(row) + "\n")
    attempt["reply"] = attempt["reply"].replace("<move>6<", "<move>7<")
    (tmp_path / "false.jsonl").write_text(json.dumps(row) + "\n")
    assert arena(tmp_path / "here", "import", str(tmp_path / "true.jsonl")).returncode == 0
    done = arena(tmp_path / "there", "import", str(tmp_path / "false.jsonl"))
    assert done.returncode == 1
    assert "a reply is read as ok on square 7, and the line says ok on square 6" in done.stderr
