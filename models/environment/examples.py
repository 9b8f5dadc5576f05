"""Which games an environment plays: example number i is a seed, two marks and an opponent.

Pure arithmetic on (options, i): the same in any process, in any order, for ever.

Where several examples make a batch, what is left to chance is spread over it evenly: of `strata`
examples in a row each takes another slice of every range, and which slice it is differs from batch
to batch (Latin hypercube sampling: McKay, Beckman and Conover, "A comparison of three methods for
selecting values of input variables", 1979). With one stratum, the default, each example draws for
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from arena.board import Mark, mix
from arena.errors import RulesError, SpecError
from arena.opponents import KEYS, Minimax, parse

_SEEDS = 1 << 62
_GOLDEN = 0x9E3779B97F4A7C15
_SEAT, _OPPONENT, _EPSILON = range(3)
"""What is drawn of an example, each from a stream of its own."""
_DECIMALS = 3
"""Of an epsilon that is drawn, so that its spec can be read."""


class Example(NamedTuple):
    """One game to be played, as often as the trainer wants."""

    seed: int
    """The game's: an opponent answers a board the same way in all games of an example."""
    opener: Mark
    mark: Mark
    """The model's."""
    opponent: str
    """A canonical spec."""


@dataclass(frozen=True)
class Mix:
    """What the examples are drawn from.

    Raises:
        RulesError: a number is out of its range.
        SpecError: an opponent or a tie that there is not.
    """

    seed: int = 0
    """That of example 0; each next one is one more."""
    mark: Mark | None = None
    """None: either."""
    opener: Mark | None = Mark.X
    """None: either."""
    opponents: tuple[str, ...] = ()
    """Specs, each as likely; none: minimax by `ties`."""
    ties: tuple[str, ...] = ("uniform",)
    """How minimax picks among equals, each as likely; only where no opponents are named."""
    epsilon_low: float = 0.0
    epsilon_high: float = 0.0
    """Chances of a random move between which each minimax draws its own, unless its spec has
    one."""
    strata: int = 1
    """The number of examples in a row over which everything is spread evenly."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= _SEEDS:
            raise RulesError(f"a seed is a whole number from 0 to 2^62, not {self.seed}")
        if self.strata < 1:
            raise RulesError(f"there is at least one stratum, not {self.strata}")
        if not 0 <= self.epsilon_low <= self.epsilon_high <= 1:
            raise RulesError(
                "epsilon_low and epsilon_high are chances from 0 to 1, the lower one first, not "
                f"{self.epsilon_low} and {self.epsilon_high}"
            )
        for tie in self.ties:
            if tie not in KEYS["tie"]:
                raise SpecError(f"unknown tie {tie!r}: valid are {', '.join(KEYS['tie'])}")
        if not self.specs:
            raise SpecError("name at least one tie or one opponent")

    @property
    def specs(self) -> tuple[str, ...]:
        """Every opponent, canonical, before its chance of a random move is drawn."""
        named = self.opponents or tuple(f"minimax:tie={tie}" for tie in self.ties)
        return tuple(str(parse(spec)) for spec in named)

    def example(self, number: int) -> Example:
        """The example of a number from 0."""
        if number < 0:
            raise IndexError(number)
        mark, opener = self._seat(self._place(number, _SEAT))
        return Example(self.seed + number, opener, mark, self._opponent(number))

    def _seat(self, place: float) -> tuple[Mark, Mark]:
        """The model's mark and the opener: half of the places open where either is left open."""
        if self.mark is None and self.opener is None:
            quarter = int(place * 4)
            return (Mark.X, Mark.O)[quarter % 2], (Mark.X, Mark.O)[quarter // 2]
        opens = place < 0.5
        if self.mark is None:
            assert self.opener is not None
            return self.opener if opens else self.opener.other, self.opener
        return self.mark, self.opener or (self.mark if opens else self.mark.other)

    def _opponent(self, number: int) -> str:
        specs = self.specs
        engine = parse(specs[int(self._place(number, _OPPONENT) * len(specs))])
        if isinstance(engine, Minimax) and not engine.epsilon and self.epsilon_high:
            width = self.epsilon_high - self.epsilon_low
            epsilon = self.epsilon_low + width * self._place(number, _EPSILON)
            with_epsilon = "minimax:" + ",".join(
                f"{key}={value}"
                for key, value in (
                    ("value", engine.value.value),
                    ("tie", engine.tie),
                    ("opening", engine.opening),
                    ("epsilon", f"{epsilon:.{_DECIMALS}f}"),
                )
            )
            return str(parse(with_epsilon))
        return str(engine)

    def _place(self, number: int, stream: int) -> float:
        """Where on the scale from 0 up to 1 an example stands."""
        batch, bucket = divmod(number, self.strata)
        slices = _shuffled(self.strata, _draw(self.seed, batch, stream, 0))
        within = _draw(self.seed, number, stream, 1) / (1 << 64)
        # Rounding must not lead into the next slice, nor to 1.
        return min((slices[bucket] + within) / self.strata, 1 - 2**-53)


@lru_cache(maxsize=64)
def _shuffled(size: int, draw: int) -> Sequence[int]:
    """The numbers below a size in an order that a 64-bit number settles."""
    return sorted(range(size), key=lambda number: (mix(draw + number * _GOLDEN), number))


def _draw(seed: int, number: int, stream: int, use: int) -> int:
    """64 bits that depend on all four."""
    return mix(mix(mix(seed + 1) + number * _GOLDEN) + 2 * stream + use + 1)
