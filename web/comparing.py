"""Two checkpoints side by side as the routes give them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from arena.board import Mark
from arena.game import Termination
from storage.comparisons import Comparison, Duel
from storage.filters import Result
from storage.pairs import DifferingCell, PlayedCell
from web.number_views import checkpoint_out, interval_out, seat_out
from web.numbers import CheckpointOut, SeatOut
from web.standings import IntervalOut
from web.verdict import percent
from web.views import game_url

_SIGNIFICANT = 0.05


class PairedOut(BaseModel):
    """On the cells that both played to an end that counts."""

    cells: int
    both: int = Field(description="cells that neither lost")
    first: int = Field(description="cells that the second alone lost")
    second: int = Field(description="cells that the first alone lost")
    neither: int = Field(description="cells that both lost")
    seeds: int
    first_share: float = Field(description="of these cells, not lost by the first")
    second_share: float
    difference: float
    interval: IntervalOut = Field(description="95 %, Newcombe's for paired shares, over seeds")
    p_value: float = Field(description="exact McNemar; over whole seeds where cells share them")


class UnpairedOut(BaseModel):
    """Over all games of either, whether or not on the same cells."""

    difference: float
    interval: IntervalOut | None = Field(description="95 %, Newcombe's; null where both are exact")


class ComparisonOut(BaseModel):
    """The share not lost of the first less that of the second, in one seat."""

    opponent: str | None = Field(description="null over all opponents")
    opening: bool
    first: SeatOut = Field(
        description="over all opponents its rate is the mean of those against each"
    )
    second: SeatOut
    paired: PairedOut | None = Field(
        description="null where no cell is common, or both entries are exact"
    )
    unpaired: UnpairedOut | None = Field(description="null where one has no game")
    exact: bool = Field(description="both are exact: no interval and no test")
    needed: int | None = Field(
        description="independent games of each that would tell these shares apart (5 %, power "
        "0.8); null over all opponents"
    )


class DuelOut(BaseModel):
    """Two checkpoints against all opponents that both met."""

    title: str = Field(description="what the comparison shows, in words")
    text: str
    first: CheckpointOut
    second: CheckpointOut
    opening: ComparisonOut
    replying: ComparisonOut
    rows: list[ComparisonOut]
    differing: int = Field(description="cells that one lost and the other did not")


class PlayedOut(BaseModel):
    """A game of a cell."""

    id: str
    url: str
    result: Result = Field(description="for the checkpoint")
    moves: str = Field(description="the squares in order, one digit each")
    termination: Termination


class DifferingCellOut(BaseModel):
    """A cell that one lost and the other did not."""

    opponent: str
    mark: Mark = Field(description="the checkpoints'")
    opener: Mark
    opening: bool
    seed: int
    rollout: int
    first: PlayedOut
    second: PlayedOut


class DifferingOut(BaseModel):
    """A page of them."""

    cells: list[DifferingCellOut]
    more: bool


def duel_out(duel: Duel) -> DuelOut:
    """A comparison, with what it shows."""
    opening, replying = comparison_out(duel.opening), comparison_out(duel.replying)
    first, second = duel.first.identity.name, duel.second.identity.name
    if opening.paired or replying.paired:
        title = _title(opening, replying, first, second)
        text = " ".join(filter(None, (_told(each, first, second) for each in (replying, opening))))
    elif any(row.unpaired for row in duel.rows):
        title = f"{first} and {second} have played no cell in common"
        text = "Against each opponent their rates stand below as those of two samples."
    else:
        title, text = "These two have met no opponent in common", ""
    return DuelOut(
        title=title,
        text=text,
        first=checkpoint_out(duel.first),
        second=checkpoint_out(duel.second),
        opening=opening,
        replying=replying,
        rows=[comparison_out(each) for each in duel.rows],
        differing=duel.differing,
    )


def comparison_out(found: Comparison) -> ComparisonOut:
    """A row."""
    paired, unpaired = found.paired, found.unpaired
    return ComparisonOut(
        opponent=found.opponent,
        opening=found.opening,
        first=seat_out(found.first),
        second=seat_out(found.second),
        paired=paired
        and PairedOut(
            **paired.pairs._asdict(),
            cells=paired.pairs.n,
            seeds=paired.seeds,
            first_share=(paired.pairs.both + paired.pairs.first) / paired.pairs.n,
            second_share=(paired.pairs.both + paired.pairs.second) / paired.pairs.n,
            difference=paired.difference,
            interval=IntervalOut(low=paired.interval.low, high=paired.interval.high),
            p_value=paired.p_value,
        ),
        unpaired=unpaired
        and UnpairedOut(difference=unpaired.difference, interval=interval_out(unpaired.interval)),
        exact=found.exact,
        # Over all opponents the games are of several kinds: no one number of them is enough.
        needed=None if found.opponent is None else found.needed,
    )


def differing_out(cells: Sequence[DifferingCell], *, more: bool) -> DifferingOut:
    """A page of cells."""
    return DifferingOut(
        cells=[
            DifferingCellOut(
                opponent=cell.opponent,
                mark=cell.mark,
                opener=cell.opener,
                opening=cell.opening,
                seed=cell.seed,
                rollout=cell.rollout,
                first=_played(cell.first),
                second=_played(cell.second),
            )
            for cell in cells
        ],
        more=more,
    )


def _played(cell: PlayedCell) -> PlayedOut:
    return PlayedOut(
        id=cell.id,
        url=game_url(cell.id),
        result=cell.result,
        moves="".join(map(str, cell.moves)),
        termination=cell.termination,
    )


def _title(opening: ComparisonOut, replying: ComparisonOut, first: str, second: str) -> str:
    """Who is ahead in which seat, where chance is a poor explanation."""
    seats = {"opening": opening.paired, "replying": replying.paired}
    ahead = {
        seat: first if paired.difference > 0 else second
        for seat, paired in seats.items()
        if paired and _is_sure(paired)
    }
    leaders = set(ahead.values())
    if not leaders:
        return f"{first} and {second} cannot be told apart by these games"
    if len(leaders) == 2:
        return f"{ahead['opening']} loses less opening, {ahead['replying']} replying"
    [leader] = leaders
    other = second if leader == first else first
    where = "" if len(ahead) == 2 else f", {next(iter(ahead))}"
    return f"{leader} loses less than {other}{where}"


def _is_sure(paired: PairedOut) -> bool:
    """Whether both the interval and the test say that there is a difference."""
    excluded = paired.interval.low > 0 or paired.interval.high < 0
    return excluded and paired.p_value < _SIGNIFICANT


def _told(row: ComparisonOut, first: str, second: str) -> str | None:
    """A seat's numbers as a sentence."""
    paired = row.paired
    if paired is None:
        return None
    seat = "Opening" if row.opening else "Replying"
    low, high = (100 * end for end in (paired.interval.low, paired.interval.high))
    return (
        f"{seat}, on {paired.cells:,} common cells, {first} does not lose "
        f"{percent(paired.first_share)} and {second} {percent(paired.second_share)}: a difference "
        f"of {100 * paired.difference:+.1f} points ({low:+.1f} to {high:+.1f}), "
        f"p {_p(paired.p_value)}."
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
