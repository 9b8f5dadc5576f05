"""The share of games that were not lost, as a table shows it, and the lowest of several.

An entry says what it may and no more: an interval where its games are a sample, none where they
are all that can happen, and bounds where games that a model could not finish say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from arena.statistics import Interval, Sums, clustered, merged, sums_of


class Measured(NamedTuple):
    """The games of an entry."""

    not_lost: Sums
    """Of 1 for a win or a draw and 0 for a loss, over the games that count; clusters: seeds."""
    exact: bool = False
    """Both sides always answer a board alike: the games are all that there can be."""
    unknown: int = 0
    """Games that outgrew the model's context: each may have been lost or not."""


class Rate(NamedTuple):
    """A share and how far it is to be trusted."""

    share: float
    """Of the games that count."""
    interval: Interval | None
    """Around the share, and around the bounds where there are any; None where it is exact."""
    bounds: Interval | None = None
    """The share if all unknown games were lost, and if none was; None where there are none."""

    @property
    def least(self) -> float:
        """The share if all unknown games were lost."""
        return self.bounds.low if self.bounds else self.share

    @property
    def most(self) -> float:
        """The share if no unknown game was lost."""
        return self.bounds.high if self.bounds else self.share

    @property
    def range(self) -> Interval:
        """Where the true share lies: the interval, else the bounds, else the share itself."""
        return self.interval or self.bounds or Interval(self.share, self.share)


def rate(measured: Measured, confidence: float = 0.95) -> Rate | None:
    """The rate of an entry; None where no game counts.

    With unknown games the interval runs from the lower end of the one in which all of them were
    lost to the upper end of the one in which none was. Each of them is a seed of its own.

    Args:
        measured: the entry's games.
        confidence: the share of such intervals that hold the true value.
    """
    sums, exact, unknown = measured
    if not sums.n:
        return None
    if not unknown:
        around = None if exact else clustered(sums, confidence)
        return Rate(sums.total / sums.n, around)
    lost = merged(sums, sums_of([(1, 0)] * unknown))
    kept = merged(sums, sums_of([(1, 1)] * unknown))
    bounds = Interval(lost.total / lost.n, kept.total / kept.n)
    below, above = clustered(lost, confidence), clustered(kept, confidence)
    interval = None if exact or not below or not above else Interval(below.low, above.high)
    return Rate(sums.total / sums.n, interval, bounds)


def even_mean(opening: Rate | None, replying: Rate | None) -> Rate | None:
    """The mean of both seats, each counting one half however many games it has.

    The seats are independent: in a game of the same seed a player moves at other plies, so that
    neither its sampling nor the engine's draws are the same. Hence the squares of the intervals'
    halves are added, as in `arena.statistics.difference`.

    Returns:
        None where a seat has no rate.
    """
    if opening is None or replying is None:
        return None
    share = (opening.share + replying.share) / 2
    bounds = interval = None
    least, most = (opening.least + replying.least) / 2, (opening.most + replying.most) / 2
    if opening.bounds or replying.bounds:
        bounds = Interval(least, most)
    if opening.interval or replying.interval:
        seats = (opening, replying)
        down = sum((seat.least - seat.range.low) ** 2 for seat in seats)
        up = sum((seat.range.high - seat.most) ** 2 for seat in seats)
        interval = Interval(least - sqrt(down) / 2, most + sqrt(up) / 2)
    return Rate(share, interval, bounds)


class Worst(NamedTuple):
    """The lowest of the rates against several opponents."""

    opponents: tuple[str, ...]
    """Who has it: several where they tie."""
    share: float
    """The lowest rate that was found; games that are unknown count as lost."""
    interval: Interval | None
    """Of the lowest true rate; None where that is known exactly."""
    of: int
    """How many opponents there are, the missing ones too."""
    missing: tuple[str, ...]
    """Against whom no game counts yet: the lowest rate may be theirs."""


def worst(entries: Mapping[str, Measured], confidence: float = 0.95) -> Worst | None:
    """The lowest rate of a player against k opponents.

    The lowest of k estimates is too low by choice. So each gets an interval at
    1 - (1 - confidence) / k: then all of them hold their true values at once in `confidence` of
    the cases, whatever the games share, and with them the interval from the lowest lower end to
    the lowest upper end holds the lowest true rate. Where all have the same number of independent
    games, this is the interval of the worst entry itself.

    Source: C. E. Bonferroni's inequality, over the intervals of `rate`.

    Args:
        entries: each opponent's games, missing ones with empty sums.
        confidence: of the result.

    Returns:
        None where no game counts against anybody.
    """
    each = 1 - (1 - confidence) / max(1, len(entries))
    rates = {name: found for name, entry in entries.items() if (found := rate(entry, each))}
    if not rates:
        return None
    lowest = min(found.least for found in rates.values())
    around = Interval(*(min(ends) for ends in zip(*(r.range for r in rates.values()), strict=True)))
    return Worst(
        opponents=tuple(name for name, found in rates.items() if found.least == lowest),
        share=lowest,
        interval=around if around.low < around.high else None,
        of=len(entries),
        missing=tuple(name for name in entries if name not in rates),
    )
