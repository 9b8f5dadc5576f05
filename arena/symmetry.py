"""The eight symmetries of the square, and the classes of boards under them.

A symmetry is a permutation `p` of the nine squares: what stood on square `s` stands on `p[s]`
afterwards. They are listed as four quarter turns (clockwise), then the same four after a
reflection from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from arena.board import Board, board_of

Permutation = tuple[int, ...]


def _turned(square: int, quarters: int, reflected: bool) -> int:
    row, column = divmod(square, 3)
    if reflected:
        column = 2 - column
    for _ in range(quarters):
        row, column = column, 2 - row
    return 3 * row + column


SYMMETRIES: tuple[Permutation, ...] = tuple(
    tuple(_turned(square, quarters, reflected) for square in range(9))
    for reflected in (False, True)
    for quarters in range(4)
)
"""Identity, quarter, half and three-quarter turn; then the four reflections."""

IDENTITY, HALF_TURN = 0, 2
"""Where the identity and the half-turn stand in `SYMMETRIES`."""

_TABLES = tuple(bytes((*symmetry, *range(9, 256))) for symmetry in SYMMETRIES)
"""For bytes, a square each: many games are classed."""


def transform(board: Board, symmetry: Permutation) -> Board:
    """The board after the symmetry, same opener."""
    squares = list(board.squares)
    for square, mark in enumerate(board.squares):
        squares[symmetry[square]] = mark
    return board_of(squares, board.opener)


@cache
def canonical(board: Board) -> Board:
    """The representative of the board's class: of its eight images, the first by squares."""
    return min(
        (transform(board, symmetry) for symmetry in SYMMETRIES),
        key=lambda image: tuple(mark or "" for mark in image.squares),
    )


def canonical_moves(moves: Sequence[int]) -> tuple[int, ...]:
    """The representative of a whole game's class: of the eight images of its moves, the least."""
    squares = bytes(moves)
    return tuple(min(map(squares.translate, _TABLES)))
