"""The leaderboard as the routes and the command line give it: counts, rates and their intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from arena.players import Kind
from arena.statistics import Interval, Sums, wilson
from models.adapt import Adaptation
from storage.players import StoredPlayer
from storage.seats import Seat, seat_of
from storage.standings import Entry, Standing, Tally


class IntervalOut(BaseModel):
    """A 95 % Wilson interval of a share."""

    low: float
    high: float

    def percent(self) -> str:
        """The bounds in per cent."""
        return f"{100 * self.low:.1f} to {100 * self.high:.1f}"


class SideOut(BaseModel):
    """A player's results in one seat."""

    games: int = Field(description="games that count: neither void nor repeats")
    wins: int
    draws: int
    losses: int
    forfeits: int = Field(description="losses by invalid replies; part of the losses")
    void: int = Field(description="games that count for nobody")
    repeats: int = Field(
        description="further games of a known line between two players that always answer alike"
    )
    distinct: int = Field(description="different (opener, squares) among the games")
    not_lost: float | None = Field(description="share of wins and draws; null where none counts")
    interval: IntervalOut | None = Field(
        description="null where the result is exact, and over several opponents"
    )
    exact: bool = Field(description="both players always answer a board alike: no interval")
    replies: int = Field(description="a model's replies")
    invalid_replies: int
    format_followed: float | None = Field(description="share of replies, by the check `contains`")
    tokens_per_reply: float | None
    seconds_per_reply: float | None
    notes: list[str] = Field(description="what servers made us change, where it matters")


class RankedOut(BaseModel):
    """A player in the leaderboard."""

    id: int
    kind: Kind
    name: str
    family: str | None
    step: int | None
    detail: str = Field(description="what tells a model from another of its name")


class RowOut(BaseModel):
    """A player's row."""

    player: RankedOut
    opening: SideOut
    replying: SideOut
    people: SideOut = Field(description="games from the browser, which move no rate")
    demonstration: int = Field(description="how many of its games came with the arena")


class EntryOut(BaseModel):
    """A player against one opponent."""

    player_id: int
    opponent_id: int
    opening: SideOut
    replying: SideOut


class LeaderboardOut(BaseModel):
    """Every player's results, opening and replying apart."""

    players: list[RowOut] = Field(description="models and engines")
    people: list[RowOut]
    matrix: list[EntryOut]


def leaderboard_out(
    standings: Sequence[Standing],
    entries: Sequence[Entry],
    by_seed: Mapping[tuple[int, int, bool], Sums],
) -> LeaderboardOut:
    """The tables of `storage.standings` with rates and intervals.

    Args:
        standings: every player's row.
        entries: every pair.
        by_seed: of `storage.clusters.sums_by_seed`, where games may share a seed.
    """
    sides: defaultdict[tuple[int, str], list[Seat]] = defaultdict(list)
    matrix = []
    for entry in entries:
        seats = {}
        for place, tally in (("opening", entry.opening), ("replying", entry.replying)):
            seeds = by_seed.get((entry.player.id, entry.opponent.id, place == "opening"), Sums())
            seat = seat_of(entry.player, entry.opponent, tally, seeds)
            sides[entry.player.id, place].append(seat)
            seats[place] = _side(seat.tally, _interval(seat), exact=seat.exact)
        matrix.append(EntryOut(player_id=entry.player.id, opponent_id=entry.opponent.id, **seats))
    rows = [
        RowOut(
            player=ranked_out(each.player),
            opening=_sum(sides[each.player.id, "opening"]),
            replying=_sum(sides[each.player.id, "replying"]),
            people=_side(each.people, wilson(_kept(each.people), each.people.games)),
            demonstration=each.demonstration,
        )
        for each in standings
    ]
    return LeaderboardOut(
        players=[row for row in rows if row.player.kind is not Kind.HUMAN],
        people=[row for row in rows if row.player.kind is Kind.HUMAN],
        matrix=matrix,
    )


def _interval(seat: Seat) -> Interval | None:
    return seat.rate and seat.rate.interval


def _sum(seats: Sequence[Seat]) -> SideOut:
    """A row over all opponents.

    It has an interval where one entry alone counts. Games of a seed against several opponents are
    alike to an unknown degree, and which opponents they are is a choice, no sample.
    """
    counted = [seat for seat in seats if seat.tally.games]
    total = sum((seat.tally for seat in seats), Tally())
    interval = _interval(counted[0]) if len(counted) == 1 else None
    return _side(total, interval, exact=bool(counted) and all(seat.exact for seat in counted))


def _kept(tally: Tally) -> int:
    return tally.wins + tally.draws


def _side(tally: Tally, interval: Interval | None, *, exact: bool = False) -> SideOut:
    return SideOut(
        games=tally.games,
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.losses,
        forfeits=tally.forfeits,
        void=tally.void,
        repeats=tally.repeats,
        distinct=tally.distinct,
        not_lost=_share(_kept(tally), tally.games),
        interval=interval and IntervalOut(low=interval.low, high=interval.high),
        exact=exact and tally.games > 0,
        replies=tally.attempts,
        invalid_replies=tally.invalid_attempts,
        format_followed=_share(tally.contains, tally.attempts),
        tokens_per_reply=_share(tally.completion_tokens, tally.attempts),
        seconds_per_reply=_share(tally.milliseconds / 1000, tally.attempts),
        notes=notes_of(tally),
    )


def notes_of(tally: Tally) -> list[str]:
    """What would be wrongly believed of these games without a word."""
    changes = (
        (Adaptation.NO_TEMPERATURE, tally.default_temperature),
        (Adaptation.NO_SEED, tally.unseeded),
    )
    return [
        f"{change.description} ({count} of {tally.attempts} replies)"
        for change, count in changes
        if count
    ]


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def ranked_out(player: StoredPlayer) -> RankedOut:
    """A player, with what tells it from others of its name."""
    who = player.identity
    sampling = who.settings.get("sampling", {})
    detail = [f"prompt {who.prompt}"] if who.prompt else []
    if "temperature" in sampling:
        detail.append(f"temperature {sampling['temperature']:g}")
    return RankedOut(
        id=player.id,
        kind=who.kind,
        name=who.name,
        family=who.family,
        step=who.step,
        detail=", ".join(detail),
    )
