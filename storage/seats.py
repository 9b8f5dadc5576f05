"""A player in one seat against one opponent: what was counted, and the rate that it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import NamedTuple

from arena.opponents import Minimax, parse
from arena.rates import Measured, Rate, even_mean, rate
from arena.statistics import Sums
from storage.players import StoredPlayer, always_alike
from storage.standings import Tally

_COUNTED = ("wins", "draws", "losses", "forfeits", "opponent_forfeits")


class Shares(NamedTuple):
    """Of the games that count; their sum is 1."""

    wins: float
    draws: float
    losses: float


@dataclass(frozen=True)
class Seat:
    """Opening or replying, against one opponent."""

    tally: Tally = field(default_factory=Tally)
    """Where the entry is exact, each line is counted once."""
    measured: Measured = field(default_factory=lambda: Measured(Sums()))
    """The games that count, as rates take them."""
    known: Shares | None = None
    """What was computed rather than played."""
    mean: Rate | None = None
    """Where this is several seats as one: the mean of their rates."""

    @property
    def exact(self) -> bool:
        """Whether the games are all that there can be, or nothing had to be played."""
        return self.measured.exact

    @cached_property
    def rate(self) -> Rate | None:
        """The share that was not lost; None where no game counts."""
        return self.mean or rate(self.measured)

    @property
    def shares(self) -> Shares | None:
        """Wins, draws and losses; None where no game counts."""
        if self.known or not self.tally.games:
            return self.known
        tally, n = self.tally, self.tally.games
        return Shares(tally.wins / n, tally.draws / n, tally.losses / n)


@dataclass(frozen=True)
class Versus:
    """A player against one opponent."""

    opponent: str
    """A canonical spec."""
    opponent_id: int | None
    """None where the two never met."""
    opening: Seat = field(default_factory=Seat)
    replying: Seat = field(default_factory=Seat)

    @property
    def perfect(self) -> bool:
        """Whether the opponent never gives up value."""
        return is_perfect(self.opponent)

    @cached_property
    def mean(self) -> Rate | None:
        """The even mean of both seats; None where one has no rate."""
        return even_mean(self.opening.rate, self.replying.rate)


@cache
def is_perfect(spec: str) -> bool:
    """Whether an opponent never gives up value."""
    engine = parse(spec)
    return isinstance(engine, Minimax) and engine.epsilon == 0


def seat_of(player: StoredPlayer, opponent: StoredPlayer, tally: Tally, by_seed: Sums) -> Seat:
    """A seat from what is kept of its games.

    Two engines that always answer alike play one line for each opener. So do a greedy model and
    such an engine, as far as the model's settings tell: more lines than one say that it does not,
    and then its games are a sample.

    Args:
        player: who sits there.
        opponent: who sits opposite.
        tally: of the games.
        by_seed: their sums over seeds; empty where they are not kept by seed.
    """
    claimed = player.identity.deterministic and opponent.identity.deterministic
    one = claimed and tally.distinct == 1 and not tally.default_temperature
    exact = tally.games > 0 and (one or (always_alike(player) and always_alike(opponent)))
    if exact:
        tally = _once(tally)
    unknown = tally.context_exceeded
    if exact or not by_seed.n:
        return Seat(tally, Measured(_each_a_seed(tally), exact, unknown))
    return Seat(tally, Measured(by_seed, unknown=unknown))


def _once(tally: Tally) -> Tally:
    """An exact entry with each line counted once: repetitions are no evidence."""
    if tally.games == tally.distinct:
        return tally
    once = {name: min(1, getattr(tally, name)) for name in _COUNTED}
    return replace(tally, **once, repeats=tally.repeats + tally.games - tally.distinct)


def _each_a_seed(tally: Tally) -> Sums:
    n, kept = tally.games, tally.wins + tally.draws
    return Sums(n, n, kept, kept, n, kept, kept, kept)
