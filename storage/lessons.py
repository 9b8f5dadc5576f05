"""What a line of moves says of its players, kept as games land: their moves by kind and ply, the
fork traps they met, the lines they lost. `storage.mistakes` reads it.

It depends on the opener and the moves alone, and games repeat each other: each line is graded once
and remembered for a while.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import add as plus
from typing import NamedTuple

from sqlalchemy.orm import Session

from arena.analysis import Graded, grades
from arena.board import Mark, play_out
from arena.players import Kind
from arena.symmetry import canonical_moves
from arena.traps import traps_met
from storage.derived import driver_of
from storage.players import StoredPlayer

COUNTS = (
    *("moves", "win_to_draw", "win_to_loss", "draw_to_loss"),
    *("missed_wins", "missed_blocks", "fork_traps", "let_offs"),
)
"""The columns of `mistakes` that count."""


class Line(NamedTuple):
    """A line that two players played to an end that counts."""

    x: StoredPlayer
    o: StoredPlayer
    rated: bool
    opener: Mark
    moves: str
    times: int
    """How often it is to be counted: not at all where it is a repeat."""
    example: int
    """The serial of a game of it."""


class _Lesson(NamedTuple):
    """What a line says of one of its players."""

    plies: tuple[tuple[int, tuple[int, ...]], ...]
    """Of each of its moves the ply, and what it adds to `COUNTS`."""
    traps: tuple[tuple[str, bool], ...]
    """The key of each trap it moved in, and whether it failed."""
    lost: str | None
    """The line's name up to symmetry, where it was lost on the board."""


class _Folded:
    """What lines add to the tables, gathered."""

    def __init__(self) -> None:
        self.mistakes: dict[tuple[int, int, bool, int], tuple[int, ...]] = {}
        self.traps: defaultdict[tuple[int, bool, str], _TrapSum] = defaultdict(_TrapSum)
        self.lost: dict[tuple[int, bool, bool, str], tuple[int, int]] = {}

    def take(self, line: Line, player: StoredPlayer, opponent: StoredPlayer, mark: Mark) -> None:
        """Take what a line says of one of its players."""
        opening = mark is line.opener
        plies, traps, lost = _lessons(line.opener, line.moves)[not opening]
        for ply, counts in plies:
            at = (player.id, opponent.id, line.rated, ply)
            new = tuple(line.times * each for each in counts)
            self.mistakes[at] = (
                tuple(map(plus, self.mistakes[at], new)) if at in self.mistakes else new
            )
        for key, failed in traps:
            self.traps[player.id, line.rated, key].add(line, failed)
        if lost is not None:
            before, first = self.lost.get(
                name := (player.id, line.rated, opening, lost), (0, line.example)
            )
            self.lost[name] = before + line.times, min(first, line.example)

    def write(self, session: Session) -> None:
        """Add everything to the tables."""
        connection = driver_of(session)
        for statement, rows in (
            (_ADD_MISTAKES, [(*key, *counts) for key, counts in self.mistakes.items()]),
            (_ADD_TRAPS, [(*key, *each.row) for key, each in self.traps.items()]),
            (_ADD_LOST, [(*key, *each) for key, each in self.lost.items()]),
        ):
            if rows:
                connection.executemany(statement, rows)


class _TrapSum:
    """How often a trap was met and failed, with the first game of either end."""

    def __init__(self) -> None:
        self.met = self.times_failed = 0
        self.failed: int | None = None
        self.passed: int | None = None

    def add(self, line: Line, failed: bool) -> None:
        self.met += line.times
        if failed:
            self.times_failed += line.times
            self.failed = min(line.example, self.failed or line.example)
        else:
            self.passed = min(line.example, self.passed or line.example)

    @property
    def row(self) -> tuple[int | None, ...]:
        return self.met, self.times_failed, self.failed, self.passed


def is_examined(player: StoredPlayer, opponent: StoredPlayer) -> bool:
    """Whether a player's moves against this opponent are graded: all of a model's, and an engine's
    against engines. How an engine plays against others is known from its spec.
    """
    kind = player.identity.kind
    return kind is Kind.MODEL or (kind is Kind.ENGINE and opponent.identity.kind is Kind.ENGINE)


def add(session: Session, lines: Iterable[Line], only: frozenset[int] | None = None) -> None:
    """Take lines into the tables.

    Args:
        session: in a writing transaction.
        lines: those that were played.
        only: the players to take them for; all by default.
    """
    folded = _Folded()
    for line in lines:
        for mark, player, opponent in ((Mark.X, line.x, line.o), (Mark.O, line.o, line.x)):
            if (only is None or player.id in only) and is_examined(player, opponent):
                folded.take(line, player, opponent, mark)
    folded.write(session)


@lru_cache(maxsize=8192)
def _lessons(opener: Mark, moves: str) -> tuple[_Lesson, _Lesson]:
    """What a line says of the player that opened, and of the other one."""
    squares = tuple(map(int, moves))
    made = grades(squares, opener)
    won = any(board.line for board in play_out(squares, opener))
    # Whoever made the last move won.
    loser = opener.other if len(squares) % 2 else opener
    opened, replied = (
        _Lesson(
            plies=tuple((each.ply, _kinds(each)) for each in made if each.mark is mark),
            traps=tuple((met.trap.key, met.failed) for met in traps_met(squares, opener, mark)),
            lost=_text(canonical_moves(squares)) if won and mark is loser else None,
        )
        for mark in (opener, opener.other)
    )
    return opened, replied


def _text(squares: Iterable[int]) -> str:
    return "".join(map(str, squares))


def _kinds(each: Graded) -> tuple[int, ...]:
    grade = each.grade
    fall = (grade.before, grade.after)
    return (
        1,
        fall == (1, 0),
        fall == (1, -1),
        fall == (0, -1),
        grade.missed_win,
        grade.missed_block,
        grade.fell,
        grade.let_off,
    )


def _sums(names: Iterable[str]) -> str:
    return ", ".join(f"{name} = {name} + excluded.{name}" for name in names)


def _insert(table: str, columns: Sequence[str], update: str) -> str:
    marks = ", ".join("?" * len(columns))
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT DO UPDATE SET {update}"


def _earlier(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield f"{name} = iif({name} IS NULL OR excluded.{name} < {name}, excluded.{name}, {name})"


_ADD_MISTAKES = _insert(
    "mistakes", ("player_id", "opponent_id", "rated", "ply", *COUNTS), _sums(COUNTS)
)
_EXAMPLES = ("example_failed", "example_passed")
_ADD_TRAPS = _insert(
    "traps",
    ("player_id", "rated", "trap", "met", "failed", *_EXAMPLES),
    ", ".join((_sums(("met", "failed")), *_earlier(_EXAMPLES))),
)
_ADD_LOST = _insert(
    "lost_lines",
    ("player_id", "rated", "opening", "moves", "count", "example"),
    ", ".join((_sums(("count",)), *_earlier(("example",)))),
)
