"""The atlas of the fork traps: every position in which a player can fall into a fork.

A fork trap is defined by `arena.solver.is_fork_trap`: the side to move holds a draw or a win, some
move turns it into a loss, and the other side has no immediate win on the board. It is failed by a
move that loses; any other move passes it. 431 positions with X to move are traps, over both
openers, and as many with O to move. What differs by a symmetry of the square is one trap: 63 for
each mark, 32 of them for a player that opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from arena.board import Board, Mark, boards, play_out, start
from arena.solver import is_fork_trap, move_value
from arena.symmetry import SYMMETRIES, Permutation, canonical, transform


@dataclass(frozen=True)
class Trap:
    """One class of trap positions under the symmetries of the square."""

    key: str
    """Who is to move, and the nine squares of `board`: `X X...O...X`. Stable, for storage."""
    board: Board
    """The representative, as `arena.symmetry.canonical` chooses it."""
    positions: int
    """How many positions the class has."""
    losing: tuple[int, ...]
    """The squares of `board` that fall into the trap, ascending."""

    @property
    def mark(self) -> Mark:
        """Who is to move."""
        return self.board.to_move

    @property
    def opening(self) -> bool:
        """Whether that is the player that moved first."""
        return self.mark is self.board.opener


class Place(NamedTuple):
    """Where a position stands in the atlas."""

    trap: Trap
    symmetry: Permutation
    """Carries the position to the trap's board: a move on `s` is one on `symmetry[s]` there."""


class Met(NamedTuple):
    """A move that a player made in a trap position."""

    trap: Trap
    ply: int
    """From 0: how many moves came before."""
    square: int
    """Taken, as it stands on the trap's board."""
    failed: bool


class Status(StrEnum):
    """What a player's games say of a trap."""

    PASSED = "passed"
    """It was met and never failed."""
    FAILED = "failed"
    """It was failed at least once."""
    NEVER_MET = "never_met"


def status_of(met: int, failed: int) -> Status:
    """The status of a trap that was met so often and, of these times, failed so often."""
    if not 0 <= failed <= met:
        raise ValueError(f"a trap that was met {met} times cannot be failed {failed} times")
    if not met:
        return Status.NEVER_MET
    return Status.FAILED if failed else Status.PASSED


def atlas() -> tuple[Trap, ...]:
    """Every trap, by mark (X first), then ply, then key. Traps with X and with O are apart."""
    traps = {place.trap.key: place.trap for place in _places().values()}
    return tuple(sorted(traps.values(), key=lambda t: (t.mark is Mark.O, t.board.ply, t.key)))


def place_of(board: Board) -> Place | None:
    """Where a position stands in the atlas; None where it is no trap."""
    return _places().get(board)


def traps_met(moves: Iterable[int], opener: Mark, mark: Mark) -> list[Met]:
    """The traps that the player of a mark met in a game and moved in, in order.

    A trap in which no move was made, because the game ended or has not gone on, is not met.

    Args:
        moves: the squares in the order in which they were taken.
        opener: who moved first.
        mark: whose traps.

    Raises:
        RulesError: a move is illegal.
    """
    found, board, places = [], start(opener), _places()
    taken = tuple(moves)
    for square, after in zip(taken, play_out(taken, opener), strict=True):
        place = places.get(board) if board.to_move is mark else None
        if place is not None:
            there = place.symmetry[square]
            found.append(Met(place.trap, board.ply, there, there in place.trap.losing))
        board = after
    return found


@cache
def _places() -> dict[Board, Place]:
    """Every trap position of both openers, by its board."""
    traps: dict[Board, list[Board]] = {}
    for opener in Mark:
        for board in boards(opener):
            if is_fork_trap(board):
                traps.setdefault(canonical(board), []).append(board)
    places = {}
    for representative, positions in traps.items():
        squares = "".join(mark or "." for mark in representative.squares)
        trap = Trap(
            key=f"{representative.to_move} {squares}",
            board=representative,
            positions=len(positions),
            losing=tuple(s for s in representative.free if move_value(representative, s) == -1),
        )
        for board in positions:
            symmetry = next(s for s in SYMMETRIES if transform(board, s) is representative)
            places[board] = Place(trap, symmetry)
    return places
