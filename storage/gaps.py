"""The memorisation gaps of players, from what is kept of their games by the parity of seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy.orm import Session

from arena.memorisation import RELATIVES, Gap, NoGap, exact_gap, gap_between, pick
from storage.clusters import SUMS, sums_of_row
from storage.entries import PAIRS, seats_of
from storage.players import StoredPlayer
from storage.seats import Seat


def gaps_of(
    session: Session, chosen: Mapping[int, StoredPlayer], opponents: Mapping[str, StoredPlayer]
) -> dict[int, Gap | NoGap]:
    """Each player's gap, by number.

    Args:
        session: a transaction.
        chosen: the players.
        opponents: the stored engines by spec, those of `RELATIVES` among them.
    """
    symmetric = {opponents[spec].id: spec for spec in RELATIVES if spec in opponents}
    gaps: dict[int, Gap | NoGap] = {}
    # Only of these can the games be all that there are.
    alike = {id: player for id, player in chosen.items() if player.identity.deterministic}
    if alike:
        against = {id: opponents[spec] for id, spec in symmetric.items()}
        seats, _ = seats_of(session, alike, against)
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


def gap_of_rates(seats: Mapping[str, Seat]) -> Gap | NoGap | None:
    """The gap from seats against the symmetric opponents, replying, where all are exact."""
    met = {spec: seat.measured for spec, seat in seats.items() if seat.measured.not_lost.n}
    if met and all(each.exact for each in met.values()):
        return exact_gap({spec: each.not_lost.mean or 0.0 for spec, each in met.items()})
    return None


_REPLYING = f"""
SELECT player_id, opponent_id, odd, games, kept
FROM {PAIRS} clusters
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
