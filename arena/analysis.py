"""Where a player goes wrong: every move graded against the solved table.

Values are plain and seen by the side that moves: 1 win, 0 draw, -1 loss. A move is of one or more
kinds:

- `keeps_value` or `loses_value`: every move is one of them. The latter turns a win into a draw, a
  win into a loss, or a draw into a loss.
- `missed_win`: the player could have completed a line with this move and did not. The win may
  still be there (then the move keeps value), only further off.
- `missed_block`: the opponent threatened to complete a line on exactly one square, and the player
  neither took that square nor won. Where it threatened two there was nothing to block. The game
  may have been lost already (then the move keeps value).
- `fork_trap`: a fork trap (`arena.traps`) was entered: a draw or a win was held, the move turned
  it into a loss, and the opponent had no immediate win on the board.
- `let_off`: the opponent's move before had lost value, and this move loses value too: what it was
  given it gave back, in whole, in part or with more on top.

Moves that were made are graded, and nothing else: an illegal reply is no move, and the last,
unanswered turn of a forfeit is none. The moves of an unfinished or a void game are moves like any
other; whoever shows figures beside rates leaves void games out of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from arena.board import LINES, Board, Mark, boards, start
from arena.errors import RulesError
from arena.game import Game
from arena.solver import is_fork_trap, move_value, solve


class Kind(StrEnum):
    """What a move was; most telling first."""

    FORK_TRAP = "fork_trap"
    MISSED_BLOCK = "missed_block"
    MISSED_WIN = "missed_win"
    LET_OFF = "let_off"
    LOSES_VALUE = "loses_value"
    KEEPS_VALUE = "keeps_value"


@dataclass(frozen=True, slots=True)
class Grade:
    """What a move was worth."""

    before: int
    """The value that the player held."""
    after: int
    """The value that it holds after its move; never more."""
    missed_win: bool
    missed_block: bool
    in_trap: bool
    """The position was a fork trap, whatever the move did."""
    let_off: bool = False

    @property
    def loses_value(self) -> bool:
        """Whether the move gave up a win or a draw."""
        return self.after < self.before

    @property
    def fell(self) -> bool:
        """Whether the move entered a fork trap."""
        return self.in_trap and self.after == -1

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All that the move was, most telling first."""
        found = {
            Kind.FORK_TRAP: self.fell,
            Kind.MISSED_BLOCK: self.missed_block,
            Kind.MISSED_WIN: self.missed_win,
            Kind.LET_OFF: self.let_off,
            Kind.LOSES_VALUE: self.loses_value,
            Kind.KEEPS_VALUE: not self.loses_value,
        }
        return tuple(kind for kind, is_so in found.items() if is_so)

    @property
    def kind(self) -> Kind:
        """The most telling of its kinds."""
        return self.kinds[0]


class Graded(NamedTuple):
    """A move of a game with its grade."""

    ply: int
    """From 0: how many moves came before."""
    mark: Mark
    square: int
    grade: Grade


class Counts(NamedTuple):
    """What a player's moves in one game come to; small numbers that add up over games."""

    value_losing: int = 0
    missed_wins: int = 0
    missed_blocks: int = 0
    traps_met: int = 0
    """Moves made in a fork trap."""
    traps_failed: int = 0
    """Those of them that lost."""
    let_offs: int = 0


def grade(board: Board, square: int, *, after_error: bool = False) -> Grade:
    """The grade of a move.

    Args:
        board: where it is made.
        square: where to.
        after_error: whether the opponent's move before had lost value.

    Raises:
        RulesError: the move is illegal.
    """
    board.after(square)
    return _grades(board.opener)[board][after_error][square]


def grades(moves: Iterable[int], opener: Mark = Mark.X) -> list[Graded]:
    """Every move of a game, both players', with its grade.

    Args:
        moves: the squares in the order in which they were taken.
        opener: who moved first.

    Raises:
        RulesError: a move is illegal.
    """
    found: list[Graded] = []
    board = start(opener)
    for square in moves:
        made = grade(board, square, after_error=bool(found) and found[-1].grade.loses_value)
        found.append(Graded(board.ply, board.to_move, square, made))
        board = board.after(square)
    return found


def grades_of(game: Game, mark: Mark | None = None) -> list[Graded]:
    """The graded moves of a game, under way or finished; of one mark, where one is named."""
    made = grades(game.moves, game.opener)
    return made if mark is None else [each for each in made if each.mark is mark]


def counts(moves: Iterable[int], opener: Mark = Mark.X) -> dict[Mark, Counts]:
    """What each player's moves come to. Takes microseconds: for a million games as they are stored.

    Args:
        moves: the squares in the order in which they were taken.
        opener: who moved first.

    Raises:
        RulesError: a move is illegal.
    """
    table = _packed(opener)
    board: Board | None = start(opener)
    sums, after_error = [0, 0], 0
    for ply, square in enumerate(moves):
        packed = table[board][after_error].get(square) if board in table else None
        if board is None or packed is None:
            raise RulesError(f"move {ply + 1} of the game, on {square}, is illegal")
        sums[ply & 1] += packed
        after_error = packed & 1
        board = board.children[square]
    return {opener: _unpacked(sums[0]), opener.other: _unpacked(sums[1])}


_Row = tuple[Mapping[int, Grade], Mapping[int, Grade]]
"""The grades of a board's moves by square: usually, and after the opponent's error."""


@cache
def _grades(opener: Mark) -> dict[Board, _Row]:
    """The grades of every move of every open position."""
    table: dict[Board, _Row] = {}
    for board in boards(opener):
        if board.outcome is None:
            usual = {square: _grade(board, square) for square in board.free}
            after = {s: replace(made, let_off=made.loses_value) for s, made in usual.items()}
            table[board] = usual, after
    return table


def _grade(board: Board, square: int) -> Grade:
    wins, threats = (_completing(board, mark) for mark in (board.to_move, board.to_move.other))
    return Grade(
        before=solve(board).plain,
        after=move_value(board, square),
        missed_win=bool(wins) and square not in wins,
        missed_block=len(threats) == 1 and square not in threats and square not in wins,
        in_trap=is_fork_trap(board),
    )


def _completing(board: Board, mark: Mark) -> set[int]:
    """The squares on which a mark would complete a line."""
    lines = ([board.squares[s] for s in line] for line in LINES)
    return {
        line[marks.index(None)]
        for line, marks in zip(LINES, lines, strict=True)
        if marks.count(mark) == 2 and None in marks
    }


_BITS = 4
"""Of one count: a player makes at most five moves in a game."""


@cache
def _packed(opener: Mark) -> dict[Board | None, tuple[dict[int, int], dict[int, int]]]:
    """What every move adds to `Counts`, as one number: the first count in its lowest bits."""

    def packed(made: Grade) -> int:
        flags = (
            made.loses_value,
            made.missed_win,
            made.missed_block,
            made.in_trap,
            made.fell,
            made.let_off,
        )
        return sum(flag << _BITS * place for place, flag in enumerate(flags))

    return {
        board: (
            {square: packed(made) for square, made in usual.items()},
            {square: packed(made) for square, made in after.items()},
        )
        for board, (usual, after) in _grades(opener).items()
    }


@cache
def _unpacked(packed: int) -> Counts:
    mask = (1 << _BITS) - 1
    return Counts(*(packed >> _BITS * place & mask for place in range(len(Counts._fields))))
