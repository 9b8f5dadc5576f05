"""Numbers on the command line: every one has bounds, and what is beyond is wrong use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from arena.errors import RulesError
from arena.plan import MOST_GAMES, Plan
from cli import app, main
from cli.context import MOST
from storage import Database
from tests.storage.rollouts import store

HUGE = "99999999999999999999"


def numbers(command: Any, way: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each number that a command takes, by where it stands."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from numbers(inner, (*way, name))
    for parameter in command.params:
        if parameter.type_descriptor.annotation in (int, float):
            yield " ".join((*way, parameter.name)), parameter


NUMBERS = dict(numbers(typer.main.get_command(app)))


def test_they_are_found():
    assert {"play seed", "rewards run", "rewards skip", "export validation"} <= NUMBERS.keys()
    assert len(NUMBERS) >= 20


@pytest.mark.parametrize("name", NUMBERS)
def test_each_has_bounds(name: str):
    number = NUMBERS[name]
    assert number.min is not None
    if number.type_descriptor.annotation is float:
        # What is no number passes between any bounds.
        with pytest.raises(typer.BadParameter, match="nan is no number"):
            number.callback(None, number, float("nan"))
    else:
        assert number.max <= MOST


@pytest.mark.parametrize(
    "arguments",
    [
        ("rewards", HUGE),
        ("rewards", "1", "--skip", HUGE),
        ("rewards", "1", "--show", HUGE),
        ("evaluate", "random", "--games", HUGE),
        ("evaluate", "random", "--rollouts", HUGE),
        ("generate", "--teacher", "random", "--out", "x", "--games", HUGE),
        ("generate", "--teacher", "random", "--out", "x", "--validation", "nan"),
        ("export", "games", "--out", "x", "--validation", "nan"),
        ("train", "evaluate", "x.toml", "--temperature", "inf"),
    ],
)
def test_beyond_them_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
):
    assert main(["--data-dir", str(tmp_path), *arguments]) == 2
    assert "Invalid value" in capsys.readouterr().err


def test_up_to_them_nothing_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    database = Database.open(tmp_path / "arena.db")
    store(database, 1.0)
    database.close()
    here = ("--data-dir", str(tmp_path), "rewards")
    assert main([*here, str(MOST)]) == 2
    assert f"no imported run {MOST}" in capsys.readouterr().err.replace("\n", "")
    assert main([*here, "1", "--skip", str(MOST), "--show", "1000"]) == 0


@pytest.mark.parametrize(("games", "rollouts"), [(10**30, 1), (1, 10**30)])
def test_a_plan_of_any_size_is_refused_in_words(games: int, rollouts: int):
    with pytest.raises(RulesError, match=f"{MOST_GAMES:,} are the most"):
        Plan(("random",), games=games, rollouts=rollouts)
