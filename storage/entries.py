"""Who met whom, opening and replying: read from what is kept as games land."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from storage import players
from storage.clusters import SUMS, sums_of_row
from storage.columns import Instant
from storage.players import StoredPlayer
from storage.seats import Seat, Versus, is_perfect, seat_of
from storage.standings import Tally

_INSTANT = Instant()

SeatKey = tuple[int, int, bool]
"""Player, opponent, opening."""


def engines(session: Session, specs: Iterable[str]) -> dict[str, StoredPlayer]:
    """The stored engines of these specs, by spec."""
    asked = (json.dumps(sorted(specs)),)
    ids = session.connection().exec_driver_sql(_ENGINES, asked).scalars().all()
    return {each.identity.name: each for each in players.by_id(session, ids).values()}


def met_by(session: Session, player: int) -> list[str]:
    """The engines that a player met in rated games: the perfect ones first, then by spec."""
    rows = session.connection().exec_driver_sql(_MET, (player,)).scalars().all()
    return sorted(rows, key=lambda spec: (not is_perfect(spec), spec))


def seats_of(
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

PAIRS = "json_each(?) AS player CROSS JOIN json_each(?) AS opponent CROSS JOIN"
"""What a statement begins with that is told numbers of players and of opponents, as JSON."""

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
FROM {PAIRS} entries
    ON entries.player_id = player.value AND entries.opponent_id = opponent.value
LEFT JOIN clusters AS even ON {_OF_ENTRY.format("even")} AND even.odd = 0
LEFT JOIN clusters AS odd ON {_OF_ENTRY.format("odd")} AND odd.odd = 1
WHERE rated
"""
