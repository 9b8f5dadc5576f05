"""Short reasons for a move, and whether they are true of a board.

A reason is a word and a square: `win 2`, `block 5`, `fork 0`. It speaks of the side to move, which
takes that square. Each word has one meaning that the board alone decides:

| word | true of a legal move if and only if |
| --- | --- |
| `win` | it completes a line |
| `block` | the other side could complete a line on this square with its next move |
| `fork` | it does not win, and afterwards two free squares or more would complete a line |
| `stop-fork` | the other side could fork if it were to move now, and cannot after this move |
| `threat` | it does not win, and afterwards exactly one free square would complete a line |
| `center`, `corner`, `edge` | the square is of that kind |

After a move that threatens to win, only replies on a threatened square count for `stop-fork`: any
other reply loses at once. A move that wins stops no fork, since there is no reply.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from arena.board import LINES, Board, Mark

_CENTER = 4
_CORNERS = (0, 2, 6, 8)
_FORK = 2
"""So many ways to win next cannot all be blocked."""

Cells = tuple[Mark | None, ...]


class Reason(StrEnum):
    """What a move is good for, strongest first."""

    WIN = "win"
    BLOCK = "block"
    FORK = "fork"
    STOP_FORK = "stop-fork"
    THREAT = "threat"
    CENTER = "center"
    CORNER = "corner"
    EDGE = "edge"


_STATED = re.compile(rf"({'|'.join(Reason)}) ([0-9])", re.ASCII)


class Stated(NamedTuple):
    """A reason as it was given."""

    reason: Reason
    square: int
    """0 to 8; any other number is no square of the board."""


def reasons(board: Board, square: int) -> tuple[Reason, ...]:
    """Every reason that is true of a move, strongest first.

    Args:
        board: an open board.
        square: where its side to move goes.

    Raises:
        RulesError: the move is illegal.
    """
    board.after(square)
    return _reasons(board, square)


def strongest(board: Board, square: int) -> Reason:
    """The strongest reason that is true of a move; there always is one.

    Raises:
        RulesError: the move is illegal.
    """
    return reasons(board, square)[0]


def say(reason: Reason, square: int, base: int = 0) -> str:
    """A reason as text; `base` is the number of the first square."""
    return f"{reason} {square + base}"


def stated(text: str, base: int = 0) -> Stated | None:
    """The reason that a text gives: one of the words, a blank, a digit; None for any other text.

    Blanks and line ends around it are allowed.
    """
    found = _STATED.fullmatch(text.strip())
    return Stated(Reason(found[1]), int(found[2]) - base) if found else None


def is_true(text: str, board: Board, square: int, base: int = 0) -> bool:
    """Whether a text gives a reason for this very move, and it is true of the board.

    Args:
        text: what was stated; anything is borne.
        board: an open board.
        square: the move that was made. Another square's reason is no reason for it.
        base: the number of the first square in the text.
    """
    given = stated(text, base)
    if given is None or given.square != square or square not in board.free or board.outcome:
        return False
    return given.reason in _reasons(board, square)


@cache
def _reasons(board: Board, square: int) -> tuple[Reason, ...]:
    mark, other = board.to_move, board.to_move.other
    before = board.squares
    after = _taken(before, square, mark)
    wins = square in _winning(before, mark)
    threats = _winning(after, mark)
    kind = (
        Reason.CENTER if square == _CENTER else Reason.CORNER if square in _CORNERS else Reason.EDGE
    )
    true = {
        Reason.WIN: wins,
        Reason.BLOCK: square in _winning(before, other),
        Reason.FORK: not wins and len(threats) >= _FORK,
        Reason.STOP_FORK: not wins
        and bool(_forks(before, other))
        and not _forks(after, other) & (threats or _free(after)),
        Reason.THREAT: not wins and len(threats) == 1,
        kind: True,
    }
    return tuple(reason for reason in Reason if true.get(reason))


def _taken(cells: Cells, square: int, mark: Mark) -> Cells:
    return (*cells[:square], mark, *cells[square + 1 :])


def _free(cells: Cells) -> set[int]:
    return {square for square, mark in enumerate(cells) if mark is None}


def _winning(cells: Cells, mark: Mark) -> set[int]:
    """The free squares on which a mark completes a line."""
    return {
        square
        for line in LINES
        if sum(cells[s] is mark for s in line) == 2
        for square in line
        if cells[square] is None
    }


def _forks(cells: Cells, mark: Mark) -> set[int]:
    """The free squares that give a mark two ways to win or more, and do not win themselves."""
    return {
        square
        for square in _free(cells) - _winning(cells, mark)
        if len(_winning(_taken(cells, square, mark), mark)) >= _FORK
    }
