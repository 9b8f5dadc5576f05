"""Where a player goes wrong, read from what is kept as games land.

Examined are all games of a model that count, and an engine's against engines; those of the browser
are apart (`rated=False`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, attrgetter
from typing import NamedTuple

from sqlalchemy.orm import Session

from arena.traps import Status, Trap, atlas, status_of
from storage.database import Database
from storage.lessons import COUNTS


@dataclass(frozen=True)
class Mistakes:
    """Moves of the kinds of `arena.analysis`; a move may be of several. They add up."""

    moves: int = 0
    win_to_draw: int = 0
    win_to_loss: int = 0
    draw_to_loss: int = 0
    missed_wins: int = 0
    missed_blocks: int = 0
    fork_traps: int = 0
    """Entered."""
    let_offs: int = 0

    @property
    def loses_value(self) -> int:
        """Moves that gave up a win or a draw."""
        return self.win_to_draw + self.win_to_loss + self.draw_to_loss

    @property
    def keeps_value(self) -> int:
        """All others."""
        return self.moves - self.loses_value

    def __add__(self, other: Mistakes) -> Mistakes:
        return Mistakes(*map(add, _counts_of(self), _counts_of(other)))


_counts_of = attrgetter(*COUNTS)


class TrapCounts(NamedTuple):
    """Moves made in fork traps."""

    met: int = 0
    failed: int = 0


@dataclass(frozen=True)
class TrapStanding:
    """What a player's games say of one fork trap, up to symmetry."""

    trap: Trap
    met: int
    failed: int
    example_failed: str | None
    """The id of the first game in which it fell in."""
    example_passed: str | None

    @property
    def status(self) -> Status:
        """Passed, failed at least once, or never met."""
        return status_of(self.met, self.failed)


@dataclass(frozen=True)
class LosingLine:
    """Moves by which a player lost on the board, up to symmetry."""

    moves: tuple[int, ...]
    """The least of the eight images."""
    opening: bool
    """Whether the player moved first."""
    count: int
    share: float
    """Of all its games in this seat that were lost on the board."""
    example: str
    """The id of the first such game."""


def by_ply(
    db: Database, player_id: int, opponent: str | None = None, *, rated: bool = True
) -> dict[tuple[bool, int], Mistakes]:
    """A player's moves by seat (whether it opened) and ply, where it made any.

    Args:
        db: where its games are.
        player_id: who.
        opponent: an engine's spec, or the name of whoever else; everybody by default.
        rated: rated games, or those of the browser.
    """
    with db.read() as session:
        rows = session.connection().exec_driver_sql(
            _BY_PLY, {"player": player_id, "rated": rated, "opponent": opponent}
        )
        return {(ply % 2 == 0, ply): Mistakes(*counts) for ply, *counts in rows}


def totals(session: Session, player_ids: Sequence[int]) -> dict[int, Mistakes]:
    """Each player's moves in all its rated games."""
    rows = session.connection().exec_driver_sql(_TOTALS, (json.dumps(list(player_ids)),))
    found = {player: Mistakes(*counts) for player, *counts in rows}
    return {id: found.get(id, Mistakes()) for id in player_ids}


def trap_totals(session: Session, player_ids: Sequence[int]) -> dict[int, TrapCounts]:
    """How often each player met a fork trap in its rated games, and failed."""
    rows = session.connection().exec_driver_sql(_TRAP_TOTALS, (json.dumps(list(player_ids)),))
    found = {player: TrapCounts(met, failed) for player, met, failed in rows}
    return {id: found.get(id, TrapCounts()) for id in player_ids}


def traps(db: Database, player_id: int, *, rated: bool = True) -> list[TrapStanding]:
    """Every fork trap up to symmetry, in the atlas's order, those never met too."""
    with db.read() as session:
        rows = session.connection().exec_driver_sql(_TRAPS, (player_id, rated))
        found = {trap: rest for trap, *rest in rows}
    return [TrapStanding(trap, *found.get(trap.key, (0, 0, None, None))) for trap in atlas()]


def losing_lines(
    db: Database,
    player_id: int,
    limit: int = 12,
    *,
    opening: bool | None = None,
    rated: bool = True,
) -> list[LosingLine]:
    """The lines that a player lost by most often, up to symmetry; forfeits are none.

    Args:
        db: where its games are.
        player_id: who.
        limit: how many at most.
        opening: those in which it moved first, or second; both by default.
        rated: rated games, or those of the browser.
    """
    told = {"player": player_id, "rated": rated, "opening": opening, "limit": limit}
    with db.read() as session:
        connection = session.connection()
        lost = {row[0]: row[1] for row in connection.exec_driver_sql(_LOST, told)}
        rows = connection.exec_driver_sql(_LINES, told).all()
    return [
        LosingLine(tuple(map(int, moves)), bool(seat), count, count / lost[seat], example)
        for seat, moves, count, example in rows
    ]


_SUMS = ", ".join(f"sum({name})" for name in COUNTS)

_BY_PLY = f"""
SELECT ply, {_SUMS}
FROM mistakes
WHERE player_id = :player AND rated = :rated
AND (:opponent IS NULL OR opponent_id IN (SELECT id FROM players WHERE name = :opponent))
GROUP BY ply
ORDER BY ply
"""

_TOTALS = f"""
SELECT player_id, {_SUMS}
FROM json_each(?) CROSS JOIN mistakes ON player_id = value AND rated
GROUP BY player_id
"""

_TRAP_TOTALS = """
SELECT player_id, sum(met), sum(failed)
FROM json_each(?) CROSS JOIN traps ON player_id = value AND rated
GROUP BY player_id
"""

_TRAPS = """
SELECT trap, met, failed, fell.id, stood.id
FROM traps
LEFT JOIN games AS fell ON fell.serial = example_failed
LEFT JOIN games AS stood ON stood.serial = example_passed
WHERE player_id = ? AND rated = ?
"""

_LOST = """
SELECT opening, sum(count) FROM lost_lines
WHERE player_id = :player AND rated = :rated
GROUP BY opening
"""

_LINES = """
SELECT opening, lost_lines.moves, count, games.id
FROM lost_lines INDEXED BY ix_lost_lines_count
JOIN games ON games.serial = example
WHERE player_id = :player AND rated = :rated
AND (:opening IS NULL OR opening = :opening)
ORDER BY count DESC, opening DESC, lost_lines.moves
LIMIT :limit
"""
