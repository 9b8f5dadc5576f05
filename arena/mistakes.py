"""What the graded moves of many games come to: mistakes by kind, ply and seat, and losing lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.analysis import Kind, grades
from arena.board import Mark
from arena.symmetry import canonical_moves

_PLIES = 9


@dataclass(frozen=True)
class Tally:
    """How many moves there were of each kind at each ply; tallies add up.

    A move is counted once under each of its kinds. A player that opens moves at even plies and one
    that replies at odd ones, so a ply says the seat too.
    """

    games: int = 0
    moves: tuple[int, ...] = (0,) * _PLIES
    """By ply."""
    kinds: tuple[tuple[int, ...], ...] = ((0,) * _PLIES,) * len(Kind)
    """In the order of `Kind`, each by ply."""

    @classmethod
    def of(cls, moves: Iterable[int], opener: Mark, mark: Mark) -> Tally:
        """The tally of one player's moves in one game.

        Raises:
            RulesError: a move is illegal.
        """
        own = [each for each in grades(moves, opener) if each.mark is mark]
        at = {each.ply: each.grade.kinds for each in own}
        return cls(
            games=1,
            moves=tuple(int(ply in at) for ply in range(_PLIES)),
            kinds=tuple(
                tuple(int(kind in at.get(ply, ())) for ply in range(_PLIES)) for kind in Kind
            ),
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.games + other.games,
            _added(self.moves, other.moves),
            tuple(_added(*pair) for pair in zip(self.kinds, other.kinds, strict=True)),
        )

    def count(self, kind: Kind | None = None, *, opening: bool | None = None) -> int:
        """The moves of a kind, or all; in one seat, or in both."""
        plies = range(_PLIES) if opening is None else range(0 if opening else 1, _PLIES, 2)
        return sum(self.by_ply(kind)[ply] for ply in plies)

    def by_ply(self, kind: Kind | None = None) -> tuple[int, ...]:
        """The moves of a kind, or all, at each of the nine plies."""
        return self.moves if kind is None else self.kinds[tuple(Kind).index(kind)]


def decisive_ply(moves: Iterable[int], opener: Mark, mark: Mark) -> int | None:
    """The ply of the move by which a player last turned a win or a draw into a loss.

    Every loss on the board has one, and there it is the move that decided the game. A player that
    was let off has one too. None where the player made no such move.
    """
    falls = (
        each.ply
        for each in grades(moves, opener)
        if each.mark is mark and each.grade.before >= 0 > each.grade.after
    )
    return max(falls, default=None)


def line_key(moves: Iterable[int]) -> str:
    """A line's name up to symmetry: of the eight images of its moves, the least, a digit a move.

    Lines of different openers have the same names: keep the opener beside it.
    """
    return "".join(map(str, canonical_moves(tuple(moves))))


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
