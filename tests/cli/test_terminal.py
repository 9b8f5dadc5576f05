"""What people, models and files say never steers a terminal."""

from __future__ import annotations

import ast
import json
import sys
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from arena.players import Identity, Kind
from cli import main
from cli.context import LINES, plain, visible
from cli.evaluation_view import _line
from storage import Database, Games, Source
from tests.cli.test_commands import ROOT
from tests.servers import Json, ModelServer
from tests.storage.rollouts import rollout, write
from tests.storage.samples import OPENER_WINS, RANDOM, game_of

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x7f\r[red]x"
SPELT = r"\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x7f\r[red]x"


def steering(text: str) -> set[str]:
    """What a terminal obeys, or cannot be given, apart from line ends and tabs."""
    return {
        each
        for each in text
        if each not in LINES
        and (
            unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(each) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")
            or unicodedata.bidirectional(each) in ("FSI", "PDI")
        )
    }


def test_every_character_that_steers_is_spelt_out():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert not steering(visible(every, LINES))
    assert not {"\n", "\t"} & set(visible(every))
    assert visible("naïve 🙂 日本\n\t", LINES) == "naïve 🙂 日本\n\t"
    assert visible(EVIL) == SPELT
    assert visible("a\nb\t") == r"a\nb\t"


@given(st.text())
def test_rich_prints_it_as_it_is(text: str):
    console = Console(width=10_000)
    with console.capture() as capture:
        console.print(plain(text), highlight=False, soft_wrap=True, emoji=False)
    assert capture.get() == f"{visible(text)}\n"
    assert _line(text).plain == visible(text)


def test_only_one_function_of_the_commands_takes_markup_away():
    for path in sorted((ROOT / "cli").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        names = {
            name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        assert ("escape" in names) is (path.name == "context.py"), path


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A data folder in which every name and text would steer a terminal."""
    database = Database.open(tmp_path / "arena.db")
    chat = [{"role": EVIL, "content": EVIL}, {"role": "assistant", "content": [{"text": EVIL}]}]
    facts = {"model": EVIL, "parts": {EVIL: [1.0, None]}, "messages": chat, "run_name": EVIL}
    write(database, [_renamed(n, worth, facts) for n, worth in enumerate((1.0, None))])
    games = Games(database, lambda: datetime.now(UTC))
    model = Identity(Kind.MODEL, EVIL, prompt="tags", prompt_hash="0" * 12)
    games.record(game_of(OPENER_WINS), model, RANDOM, Source.STORE)
    database.close()
    form = {"system": f"{{mark}} {EVIL}", "opening": EVIL, "invalid": "{reason}"}
    form |= {"first": f"{{board}} {EVIL}", "next": f"{{board}} {EVIL}"}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in form.items())
    (tmp_path / "formats.toml").write_text(f"[format.mine]\n{text}", "utf-8")
    return tmp_path


def _renamed(number: int, worth: float | None, facts: dict):
    more = facts | ({"why_void": EVIL} if worth is None else {})
    found = rollout(number, (EVIL, worth), **{k: v for k, v in more.items() if k != "run_name"})
    return type(found)(**{**vars(found), "run_name": EVIL, "environment": EVIL})


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("rewards",), 0),
        (("rewards", "1", "--show", "9"), 0),
        (("leaderboard",), 0),
        (("prompt", "show", "mine", "--moves", "4,0"), 0),
        (("prompt", "show", EVIL), 2),
        (("play", EVIL, "random"), 2),
        (("import", "evil.jsonl"), 1),
        (("import", f"no{EVIL}"), 2),
        (("export", "games", "--evaluation", EVIL, "--out", "-"), 2),
    ],
)
def test_what_is_printed(
    evil: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
):
    monkeypatch.chdir(evil)
    row = {"prompt": EVIL, "completion": EVIL, "reward": EVIL, EVIL: 1}
    Path("evil.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    assert main(["--data-dir", str(evil), *arguments]) == code
    said = capsys.readouterr()
    assert not steering(said.out + said.err)
    assert r"\x1b" in said.out + said.err


def test_what_a_server_says_of_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with ModelServer(Json(500, {"error": {"message": EVIL}})) as server:
        assert main(["--data-dir", str(tmp_path), "models", "discover", server.base_url]) in (0, 1)
    said = capsys.readouterr()
    assert not steering(said.out + said.err)
