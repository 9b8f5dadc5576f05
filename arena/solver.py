"""Perfect play: the value of every position and the moves that keep it.

Values are seen from the side to move. The plain value is 1 (win), 0 (draw) or -1 (loss). The
depth-aware value is `sign * (10 - plies until the end)`, so that a quick win is worth more than a
slow one and a slow loss more than a quick one; a draw is 0. Both are exact: negamax over the whole
graph, each position solved once.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import NamedTuple

from arena.board import LINES, Board, Mark, Outcome, boards


class Value(StrEnum):
    """Which value a player keeps."""

    DEPTH = "depth"
    PLAIN = "plain"


class Solution(NamedTuple):
    """What is known of one position, seen from the side to move."""

    plain: int
    """1 win, 0 draw, -1 loss."""
    depth: int
    """0 for a draw, otherwise the sign times (10 - plies until the end)."""
    best_plain: tuple[int, ...]
    """The squares that keep the plain value; empty on a finished board."""
    best_depth: tuple[int, ...]
    """The squares that keep the depth-aware value; empty on a finished board."""


def solve(board: Board) -> Solution:
    """The solution of a position."""
    return _table(board.opener)[board]


def optimal(board: Board, value: Value = Value.DEPTH) -> tuple[int, ...]:
    """The squares, ascending, that keep the board's value; empty on a finished board."""
    solution = solve(board)
    return solution.best_depth if value is Value.DEPTH else solution.best_plain


def move_value(board: Board, square: int) -> int:
    """The plain value of a move for the side that makes it: 1, 0 or -1.

    Raises:
        RulesError: the move is illegal.
    """
    return -solve(board.after(square)).plain


def loses_value(board: Board, square: int) -> bool:
    """Whether the move gives up plain value: a win or a draw that was held.

    Raises:
        RulesError: the move is illegal.
    """
    return move_value(board, square) < solve(board).plain


def wins_at_once(board: Board, mark: Mark) -> bool:
    """Whether `mark` could complete a line with one move on this board, whoever's turn it is."""
    squares = board.squares
    return any(
        sum(squares[s] == mark for s in line) == 2 and any(squares[s] is None for s in line)
        for line in LINES
    )


def is_fork_trap(board: Board) -> bool:
    """Whether the side to move can fall into a fork here.

    A draw or a win is held, some move turns it into a loss, and the other side has no immediate
    win on the board: so what must be seen is two plies away.
    """
    if board.outcome is not None or wins_at_once(board, board.to_move.other):
        return False
    return solve(board).plain >= 0 and any(move_value(board, s) == -1 for s in board.free)


@cache
def _table(opener: Mark) -> dict[Board, Solution]:
    """Every position that a game begun by `opener` can reach."""
    table: dict[Board, Solution] = {}
    for board in sorted(boards(opener), key=lambda board: -board.ply):
        if board.outcome is not None:
            # Who is to move on a won board has lost.
            lost = board.outcome is not Outcome.DRAW
            table[board] = Solution(-1 if lost else 0, -10 if lost else 0, (), ())
            continue
        moves = [(square, table[child]) for square, child in enumerate(board.children) if child]
        plain = max(-after.plain for _, after in moves)
        depth = max(_nearer(-after.depth) for _, after in moves)
        table[board] = Solution(
            plain,
            depth,
            tuple(square for square, after in moves if -after.plain == plain),
            tuple(square for square, after in moves if _nearer(-after.depth) == depth),
        )
    return table


def _nearer(value: int) -> int:
    """A depth-aware value one ply further from the end."""
    return value - (value > 0) + (value < 0)
