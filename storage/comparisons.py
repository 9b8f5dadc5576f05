"""Two checkpoints: on the cells that both played, and by their rates where they played others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from arena import comparisons
from arena.comparisons import Pairs, games_needed
from arena.panels import Panel
from arena.rates import Measured, Rate
from arena.statistics import Interval, Sums, difference
from storage.checkpoints import Checkpoint, checkpoints_of, known_player
from storage.database import Database
from storage.pairs import Found, met_by_both, pairs
from storage.seats import Seat
from storage.standings import Tally


class Unpaired(NamedTuple):
    """The difference of two rates, as of independent games."""

    difference: float
    """The first's share of games not lost, less the second's."""
    interval: Interval | None
    """Newcombe's, over intervals by seed; None where both rates are exact."""


@dataclass(frozen=True)
class Comparison:
    """Two checkpoints in one seat, against one opponent or over all."""

    opponent: str | None
    """A spec; None for all opponents together that both met in this seat."""
    opening: bool
    first: Seat
    """Over all, its rate is the mean of those against each."""
    second: Seat
    paired: comparisons.Comparison | None
    """On the cells that both played; None where there are none, or where both entries are exact."""

    @property
    def exact(self) -> bool:
        """Whether both rates are all that can happen: the difference is then no estimate."""
        return self.first.exact and self.second.exact

    @cached_property
    def unpaired(self) -> Unpaired | None:
        """The difference of the two rates; None where one is missing."""
        one, other = self.first.rate, self.second.rate
        if one is None or other is None:
            return None
        around = None if self.exact else difference(one.share, one.range, other.share, other.range)
        return Unpaired(one.share - other.share, around)

    @property
    def needed(self) -> int | None:
        """How many independent games each needs for these two rates to be told apart; None where
        they are the same, exact, or one is missing.
        """
        one, other = self.first.rate, self.second.rate
        if self.exact or one is None or other is None or one.share == other.share:
            return None
        return games_needed(one.share, other.share)


@dataclass(frozen=True)
class Duel:
    """Two checkpoints, against each opponent and over all."""

    first: Checkpoint
    second: Checkpoint
    rows: tuple[Comparison, ...]
    """Each opponent, opening and replying."""
    opening: Comparison
    """Over all opponents."""
    replying: Comparison
    differing: int
    """Cells that one of them lost and the other did not."""


def compare_two(db: Database, first_id: int, second_id: int, panel: Panel | None = None) -> Duel:
    """Two players' rated games against engines.

    Args:
        db: where they are.
        first_id: one of them.
        second_id: the other.
        panel: against whom; by default every engine that both met.

    Raises:
        NotFoundError: there is no such player.
    """
    with db.read() as session:
        both = {id: known_player(session, id) for id in (first_id, second_id)}
        specs = panel.opponents if panel else met_by_both(session, first_id, second_id)
        rows = {row.id: row for row in checkpoints_of(session, both, specs)}
        found = pairs(session, first_id, second_id, specs)
    first, second = rows[first_id], rows[second_id]
    compared = []
    for one, other in zip(first.versus, second.versus, strict=True):
        for opening, of_one, of_other in (
            (True, one.opening, other.opening),
            (False, one.replying, other.replying),
        ):
            exact = of_one.exact and of_other.exact
            paired = None if exact else _paired(found, opening, {one.opponent})
            compared.append(Comparison(one.opponent, opening, of_one, of_other, paired))
    return Duel(
        first=first,
        second=second,
        rows=tuple(compared),
        opening=_over_all(True, compared, found),
        replying=_over_all(False, compared, found),
        differing=sum(each.first + each.second for each in found.values()),
    )


def _paired(found: Found, opening: bool, specs: Container[str]) -> comparisons.Comparison | None:
    """The pairs of a seat, those of one seed together."""
    seeds: defaultdict[int, list[Pairs]] = defaultdict(list)
    for (spec, opened, seed), each in found.items():
        if opened == opening and spec in specs:
            seeds[seed].append(each)
    return comparisons.compare(Pairs(*map(sum, zip(*s, strict=True))) for s in seeds.values())


def _over_all(opening: bool, rows: Iterable[Comparison], found: Found) -> Comparison:
    """A seat against all opponents that both met in it."""
    common = [row for row in rows if row.opening == opening and row.first.rate and row.second.rate]
    first, second = (_mean([getattr(row, which) for row in common]) for which in _BOTH)
    exact = first.exact and second.exact
    specs = {row.opponent for row in common if row.opponent}
    paired = None if exact else _paired(found, opening, specs)
    return Comparison(None, opening, first, second, paired)


def _mean(seats: Sequence[Seat]) -> Seat:
    """Several seats of a player as one whose rate is their mean.

    The games of a seed against different opponents may depend on each other in any way. The mean of
    the intervals' halves is as wide as the interval can be, which it is if the rates rise and fall
    together; so it is too wide rather than too narrow.
    """
    tally = sum((seat.tally for seat in seats), Tally())
    rates = [seat.rate for seat in seats if seat.rate]
    if not rates:
        return Seat(tally)
    exact = all(seat.exact for seat in seats)
    unknown = [rate.bounds or Interval(rate.share, rate.share) for rate in rates]
    mean = Rate(
        share=fmean(rate.share for rate in rates),
        interval=None if exact else _ends(rate.range for rate in rates),
        bounds=_ends(unknown) if any(rate.bounds for rate in rates) else None,
    )
    return Seat(tally, Measured(Sums(), exact), mean=mean)


def _ends(intervals: Iterable[Interval]) -> Interval:
    return Interval(*map(fmean, zip(*intervals, strict=True)))


_BOTH = ("first", "second")
