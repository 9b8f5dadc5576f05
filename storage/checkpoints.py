"""Checkpoints against a panel: the leaderboard's rows, and one checkpoint by itself.

Read from what is kept as games land, so that the time depends on how many entries there are and not
on how many games; an evaluation's own figures are counted from its games (`storage.evaluated`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sqlalchemy.orm import Session

from arena.errors import NotFoundError
from arena.memorisation import RELATIVES, Gap, NoGap, exact_gap, gap_between, pick
from arena.panels import Panel
from arena.players import Identity
from arena.rates import Measured, Worst, worst
from storage import players
from storage.clusters import SUMS, sums_of_row
from storage.columns import Instant
from storage.database import Database
from storage.players import StoredPlayer
from storage.seats import Seat, Versus, is_perfect, seat_of
from storage.standings import Tally

_INSTANT = Instant()
_SEATS = ("opening", "replying")


@dataclass(frozen=True)
class Checkpoint:
    """A player against the opponents of a panel, in rated games."""

    identity: Identity
    id: int | None
    """None for a reference that is computed, not played."""
    versus: tuple[Versus, ...]
    """In the panel's order, those too that it never met."""
    gap: Gap | NoGap
    """From all of its games, whichever panel is shown."""
    last_at: datetime | None
    """When the last of the games ended that these numbers speak of."""

    @cached_property
    def opening(self) -> Tally:
        """Over all opponents."""
        return sum((each.opening.tally for each in self.versus), Tally())

    @cached_property
    def replying(self) -> Tally:
        """Over all opponents."""
        return sum((each.replying.tally for each in self.versus), Tally())

    @cached_property
    def total(self) -> Tally:
        """Over both seats: for what is no rate, as replies, tokens and forfeits."""
        return self.opening + self.replying

    @property
    def games(self) -> int:
        """Those that count."""
        return self.total.games

    @cached_property
    def worst_opening(self) -> Worst | None:
        """The lowest rate against the panel's perfect opponents; against all, if it has none."""
        return worst(self._compared("opening"))

    @cached_property
    def worst_replying(self) -> Worst | None:
        """The lowest rate against the panel's perfect opponents; against all, if it has none."""
        return worst(self._compared("replying"))

    @cached_property
    def worst(self) -> Worst | None:
        """The lowest of both seats' rates; its names say the seat too, as in `minimax opening`."""
        return worst(
            {
                f"{spec} {seat}": measured
                for seat in _SEATS
                for spec, measured in self._compared(seat).items()
            }
        )

    @property
    def tokens_per_move(self) -> float | None:
        """Tokens of a reply; None where there is none."""
        return _share(self.total.completion_tokens, self.total.attempts)

    @property
    def seconds_per_move(self) -> float | None:
        """From a request to its reply."""
        return _share(self.total.milliseconds / 1000, self.total.attempts)

    @property
    def format_followed(self) -> float | None:
        """The share of replies that follow the format, by the check `contains`."""
        return _share(self.total.contains, self.total.attempts)

    @property
    def invalid_share(self) -> float | None:
        """The share of replies that named no free square."""
        return _share(self.total.invalid_attempts, self.total.attempts)

    @property
    def temperature(self) -> float | None:
        """What its replies are drawn at; None where nothing says it."""
        return temperature_of(self.identity)

    @property
    def prompt(self) -> str | None:
        """The name of its prompt format."""
        return self.identity.prompt

    def _compared(self, seat: str) -> dict[str, Measured]:
        perfect = [each for each in self.versus if each.perfect] or self.versus
        return {each.opponent: getattr(each, seat).measured for each in perfect}


SeatKey = tuple[int, int, bool]
"""Player, opponent, opening."""


def checkpoint(db: Database, player_id: int, panel: Panel | None = None) -> Checkpoint:
    """One player's numbers.

    Args:
        db: where its games are.
        player_id: who.
        panel: against whom; by default every engine that it met, the perfect ones first.

    Raises:
        NotFoundError: there is no such player.
    """
    with db.read() as session:
        player = known_player(session, player_id)
        specs = panel.opponents if panel else met_by(session, player_id)
        return checkpoints_of(session, {player_id: player}, specs)[0]


def known_player(session: Session, player_id: int) -> StoredPlayer:
    """The player of a number.

    Raises:
        NotFoundError: there is none.
    """
    found = players.by_id(session, [player_id])
    if player_id not in found:
        raise NotFoundError(f"there is no player {player_id}")
    return found[player_id]


def checkpoints_of(
    session: Session, chosen: Mapping[int, StoredPlayer], specs: Sequence[str]
) -> list[Checkpoint]:
    """Each player's numbers against these opponents, in the order given."""
    opponents = engines(session, {*specs, *RELATIVES})
    against = {each.id: each for spec, each in opponents.items() if spec in set(specs)}
    seats, last = _seats_of(session, chosen, against)
    gaps = _gaps(session, chosen, opponents)
    return [
        Checkpoint(
            identity=player.identity,
            id=id,
            versus=versus_of(id, specs, opponents, seats),
            gap=gaps[id],
            last_at=last.get(id),
        )
        for id, player in chosen.items()
    ]


def engines(session: Session, specs: Iterable[str]) -> dict[str, StoredPlayer]:
    """The stored engines of these specs, by spec."""
    asked = (json.dumps(sorted(specs)),)
    ids = session.connection().exec_driver_sql(_ENGINES, asked).scalars().all()
    return {each.identity.name: each for each in players.by_id(session, ids).values()}


def versus_of(
    player: int,
    specs: Iterable[str],
    opponents: Mapping[str, StoredPlayer],
    seats: Mapping[SeatKey, Seat],
) -> tuple[Versus, ...]:
    """A player against each opponent."""
    found = []
    for spec in specs:
        opponent = opponents.get(spec)
        both = [seats.get((player, opponent.id, o)) if opponent else None for o in (True, False)]
        met = any(both)
        opening, replying = (seat or Seat() for seat in both)
        found.append(Versus(spec, opponent.id if opponent and met else None, opening, replying))
    return tuple(found)


def gap_of_rates(seats: Mapping[str, Seat]) -> Gap | NoGap | None:
    """The gap from seats against the symmetric opponents, replying, where all are exact."""
    met = {spec: seat.measured for spec, seat in seats.items() if seat.measured.not_lost.n}
    if met and all(each.exact for each in met.values()):
        return exact_gap({spec: each.not_lost.mean or 0.0 for spec, each in met.items()})
    return None


def temperature_of(identity: Identity) -> float | None:
    """The temperature in a player's settings."""
    sampling = identity.settings.get("sampling")
    found = sampling.get("temperature") if isinstance(sampling, Mapping) else None
    return float(found) if isinstance(found, int | float) else None


def met_by(session: Session, player: int) -> list[str]:
    """The engines that a player met in rated games: the perfect ones first, then by spec."""
    rows = session.connection().exec_driver_sql(_MET, (player,)).scalars().all()
    return sorted(rows, key=lambda spec: (not is_perfect(spec), spec))


def _seats_of(
    session: Session, chosen: Mapping[int, StoredPlayer], opponents: Mapping[int, StoredPlayer]
) -> tuple[dict[SeatKey, Seat], dict[int, datetime]]:
    """The seats in which these players met, and when each player's last game ended."""
    asked = (json.dumps(list(chosen)), json.dumps(list(opponents)))
    connection = session.connection()
    seats: dict[SeatKey, Seat] = {}
    last: dict[int, int] = {}
    rows = connection.exec_driver_sql(_ENTRIES, asked).all()
    for player, opponent, opening, at, *numbers in rows:
        tally, by_seed = Tally(*numbers[: -len(SUMS)]), sums_of_row(numbers[-len(SUMS) :])
        seat = seat_of(chosen[player], opponents[opponent], tally, by_seed)
        seats[player, opponent, bool(opening)] = seat
        last[player] = max(at, last.get(player, at))
    times = {id: _INSTANT.process_result_value(at, connection.dialect) for id, at in last.items()}
    return seats, {id: at for id, at in times.items() if at}


def _gaps(
    session: Session, chosen: Mapping[int, StoredPlayer], opponents: Mapping[str, StoredPlayer]
) -> dict[int, Gap | NoGap]:
    symmetric = {opponents[spec].id: spec for spec in RELATIVES if spec in opponents}
    gaps: dict[int, Gap | NoGap] = {}
    # Only of these can the games be all that there are.
    alike = {id: player for id, player in chosen.items() if player.identity.deterministic}
    if alike:
        against = {id: opponents[spec] for id, spec in symmetric.items()}
        seats, _ = _seats_of(session, alike, against)
        for id in alike:
            replying = {
                spec: seats[id, opponent, False]
                for opponent, spec in symmetric.items()
                if (id, opponent, False) in seats
            }
            if exact := gap_of_rates(replying):
                gaps[id] = exact
    sampled = [id for id in chosen if id not in gaps]
    even: dict[int, dict[str, float]] = {id: {} for id in sampled}
    odd: dict[int, set[str]] = {id: set() for id in sampled}
    asked = (json.dumps(sampled), json.dumps(list(symmetric)))
    connection = session.connection()
    for id, opponent, parity, games, kept in connection.exec_driver_sql(_REPLYING, asked):
        if parity:
            odd[id].add(symmetric[opponent])
        else:
            even[id][symmetric[opponent]] = kept / games
    for id in sampled:
        picked = pick(even[id], odd[id])
        if isinstance(picked, NoGap):
            gaps[id] = picked
            continue
        told = {"player": id, "opponent": opponents[picked].id, "spec": picked}
        own, others = map(sums_of_row, connection.exec_driver_sql(_MEASURED, told).all())
        gaps[id] = gap_between(picked, own, others)
    return gaps


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _columns(names: Iterable[str], table: str) -> str:
    return ", ".join(f'{table}."{name}"' for name in names)


_ENGINES = """
SELECT players.id FROM json_each(?) CROSS JOIN players ON players.name = value
WHERE kind = 'engine'
"""

_MET = """
SELECT DISTINCT name
FROM entries JOIN players ON players.id = opponent_id
WHERE player_id = ? AND rated AND kind = 'engine'
"""

_PAIRS = "json_each(?) AS player CROSS JOIN json_each(?) AS opponent CROSS JOIN"

_BOTH_PARITIES = ", ".join(f"coalesce(even.{it}, 0) + coalesce(odd.{it}, 0)" for it in SUMS)

_OF_ENTRY = """
    {0}.player_id = entries.player_id
    AND {0}.opponent_id = entries.opponent_id
    AND {0}.opening = entries.opening
"""

_ENTRIES = f"""
SELECT
    entries.player_id, entries.opponent_id, entries.opening, last_at,
    {_columns(Tally.__dataclass_fields__, "entries")}, {_BOTH_PARITIES}
FROM {_PAIRS} entries
    ON entries.player_id = player.value AND entries.opponent_id = opponent.value
LEFT JOIN clusters AS even ON {_OF_ENTRY.format("even")} AND even.odd = 0
LEFT JOIN clusters AS odd ON {_OF_ENTRY.format("odd")} AND odd.odd = 1
WHERE rated
"""

_REPLYING = f"""
SELECT player_id, opponent_id, odd, games, kept
FROM {_PAIRS} clusters
    ON player_id = player.value AND opponent_id = opponent.value AND opening = 0
"""

_MEASURED = f"""
SELECT * FROM (
    SELECT {", ".join(SUMS)} FROM clusters
    WHERE player_id = :player AND opponent_id = :opponent AND opening = 0 AND odd = 1
)
UNION ALL
SELECT {", ".join(SUMS)} FROM relatives WHERE player_id = :player AND opponent = :spec
"""
