"""Which games an evaluation plans: its cells, numbered in the order of play.

A plan is never spelt out: a cell is computed from its number and the number from its cell, so that
a plan of a hundred thousand games takes no memory, and what is done of it one bit a game.

Seeds are outermost. So an evaluation that is interrupted has covered every opponent evenly; and a
plan that grows to more seeds keeps its cells, with their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from arena.board import Mark
from arena.errors import RulesError
from arena.opponents import parse

MOST_GAMES = 10_000_000
"""Of one checkpoint in one plan."""
_SEEDS = 1 << 62


class Cell(NamedTuple):
    """One planned game of a checkpoint."""

    opponent: str
    """A canonical spec."""
    mark: Mark
    """The checkpoint's."""
    opener: Mark
    seed: int
    rollout: int
    """From 0: which repetition, with the same seed and so the same opponent's replies."""

    @property
    def opening(self) -> bool:
        """Whether the checkpoint moves first."""
        return self.mark is self.opener


@dataclass(frozen=True)
class Plan:
    """Per seed each opponent, opening and replying, each so many times."""

    opponents: tuple[str, ...]
    """Canonical specs, each once."""
    games: int
    """The number of seeds: each opponent meets the checkpoint in two games a seed."""
    seed: int = 0
    """The first; each next one is one more."""
    rollouts: int = 1
    mark: Mark | None = None
    """The checkpoint's mark in every game, and the opener changes; None: X opens, and it plays X
    opening and O replying."""

    def __post_init__(self) -> None:
        if not self.opponents or len(set(self.opponents)) < len(self.opponents):
            raise RulesError("a plan has one opponent or more, each of them once")
        for spec in self.opponents:
            if str(parse(spec)) != spec:
                raise RulesError(f"the opponent {spec!r} is not in its canonical form")
        if self.games < 1 or self.rollouts < 1:
            raise RulesError("a plan has at least one game and one rollout")
        if not 0 <= self.seed <= _SEEDS:
            raise RulesError(f"a plan's seed is a whole number from 0 to 2^62, not {self.seed}")
        # Not its length, which cannot be just any number.
        planned = self.games * self.per_seed
        if planned > MOST_GAMES:
            raise RulesError(
                f"{planned:,} games are planned, and {MOST_GAMES:,} are the most: "
                "take fewer games, rollouts or opponents"
            )

    def __len__(self) -> int:
        """The number of cells."""
        return self.games * self.per_seed

    def __iter__(self) -> Iterator[Cell]:
        """The cells in the order of play."""
        return (self.cell(number) for number in range(len(self)))

    @property
    def per_seed(self) -> int:
        """How many cells share a seed."""
        return len(self.opponents) * 2 * self.rollouts

    @property
    def per_entry(self) -> int:
        """How many cells a table's line has: one opponent, opening or replying."""
        return self.games * self.rollouts

    @property
    def seeds(self) -> range:
        """Every seed."""
        return range(self.seed, self.seed + self.games)

    def marks(self, opening: bool) -> tuple[Mark, Mark]:
        """The checkpoint's mark and the opener, where the checkpoint opens or replies."""
        mark = self.mark or (Mark.X if opening else Mark.O)
        return mark, mark if opening else mark.other

    def cell(self, number: int) -> Cell:
        """The cell of a number from 0."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        rest, rollout = divmod(number, self.rollouts)
        rest, replying = divmod(rest, 2)
        seed, opponent = divmod(rest, len(self.opponents))
        marks = self.marks(not replying)
        return Cell(self.opponents[opponent], *marks, self.seed + seed, rollout)

    def number(self, opponent: int, opening: bool, seed: int, rollout: int) -> int:
        """The number of a cell.

        Args:
            opponent: its place in `opponents`.
            opening: whether the checkpoint opens.
            seed: one of `seeds`.
            rollout: from 0.
        """
        seat = ((seed - self.seed) * len(self.opponents) + opponent) * 2 + (not opening)
        return seat * self.rollouts + rollout


class Numbers:
    """A set of numbers below a size, one bit each."""

    def __init__(self, size: int) -> None:
        self._bits = bytearray((size + 7) // 8)
        self._count = 0

    def add(self, number: int) -> None:
        """Put a number in."""
        if number not in self:
            self._bits[number >> 3] |= 1 << (number & 7)
            self._count += 1

    def __contains__(self, number: int) -> bool:
        return bool(self._bits[number >> 3] >> (number & 7) & 1)

    def __len__(self) -> int:
        return self._count
