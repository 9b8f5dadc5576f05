"""Cells that two players both played: the same opponent, marks, opener, seed and rollout."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from arena.board import Mark, Outcome
from arena.comparisons import Pairs
from arena.game import Termination
from storage.checkpoints import known_player
from storage.database import Database
from storage.entries import engines, met_by
from storage.filters import Result

Found = Mapping[tuple[str, bool, int], Pairs]
"""By opponent, whether the two opened, and seed."""


class PlayedCell(NamedTuple):
    """What became of a cell for one of the two."""

    id: str
    """The game's."""
    result: Result
    moves: tuple[int, ...]
    termination: Termination


class DifferingCell(NamedTuple):
    """A cell that one of two checkpoints lost and the other did not."""

    opponent: str
    mark: Mark
    """Of both."""
    opener: Mark
    seed: int
    rollout: int
    first: PlayedCell
    second: PlayedCell

    @property
    def opening(self) -> bool:
        """Whether the two moved first in it."""
        return self.mark is self.opener


def met_by_both(session: Session, first: int, second: int) -> list[str]:
    """The engines that two players met in rated games, in the order of the first's."""
    theirs = set(met_by(session, second))
    return [spec for spec in met_by(session, first) if spec in theirs]


def pairs(session: Session, first: int, second: int, specs: Iterable[str]) -> Found:
    """Cells that both players played to an end that counts."""
    told = _told(session, first, second, specs)
    rows = session.connection().exec_driver_sql(_PAIRED, told)
    return {(spec, bool(opening), seed): Pairs(*counts) for spec, opening, seed, *counts in rows}


def differing_cells(
    db: Database,
    first_id: int,
    second_id: int,
    *,
    opponent: str | None = None,
    opening: bool | None = None,
    limit: int = 50,
    offset: int = 0,
) -> list[DifferingCell]:
    """The cells that one of two players lost and the other did not, by opponent, seat and seed.

    Args:
        db: where their games are.
        first_id: one of them.
        second_id: the other.
        opponent: an engine's spec; every one by default.
        opening: the cells in which the two moved first, or second; both by default.
        limit: how many at most.
        offset: how many to pass over.

    Raises:
        NotFoundError: there is no such player.
    """
    with db.read() as session:
        for id in (first_id, second_id):
            known_player(session, id)
        specs = met_by_both(session, first_id, second_id)
        told = _told(session, first_id, second_id, [s for s in specs if opponent in (None, s)])
        told |= {"opening": opening, "limit": limit, "offset": offset}
        rows = session.connection().exec_driver_sql(_DIFFERING, told).all()
    return [
        DifferingCell(
            opponent=row.name,
            mark=(mark := Mark(row.mark)),
            opener=Mark(row.opener),
            seed=row.seed,
            rollout=row.rollout,
            first=_played(mark, row[5:9]),
            second=_played(mark, row[9:13]),
        )
        for row in rows
    ]


def _played(mark: Mark, columns: Sequence[str]) -> PlayedCell:
    id, outcome, moves, termination = columns
    results = {Outcome.win(mark): Result.WIN, Outcome.win(mark.other): Result.LOSS}
    result = results.get(Outcome(outcome), Result.DRAW)
    return PlayedCell(id, result, tuple(map(int, moves)), Termination(termination))


def _told(session: Session, first: int, second: int, specs: Iterable[str]) -> dict[str, Any]:
    opponents = [[each.id, spec] for spec, each in engines(session, specs).items()]
    return {"first": first, "second": second, "opponents": json.dumps(opponents)}


_COUNTED = "{0}.source <> 'play' AND {0}.outcome <> 'void'"

_SAME_CELL = f"""
    {_COUNTED.format("b")}
    AND b.opener = a.opener
    AND b.seed = a.seed
    AND b.rollout = a.rollout
"""

# Each cell of the first is looked up among those of the second, in the index that keeps it unique.
_CELLS = f"""
WITH opponent AS MATERIALIZED (
    SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS name
    FROM json_each(:opponents)
), cell AS (
    SELECT
        name, 'X' AS mark, a.opener = 'X' AS opening, a.serial AS one, b.serial AS other,
        a.seed AS seed, a.outcome <> 'o' AS kept, b.outcome <> 'o' AS other_kept
    FROM opponent
    CROSS JOIN games AS a INDEXED BY ux_games_cell
        ON a.x_id = :first AND a.o_id = opponent.id AND {_COUNTED.format("a")}
    CROSS JOIN games AS b INDEXED BY ux_games_cell
        ON b.x_id = :second AND b.o_id = opponent.id AND {_SAME_CELL}
    UNION ALL
    SELECT
        name, 'O', a.opener = 'O', a.serial, b.serial,
        a.seed, a.outcome <> 'x', b.outcome <> 'x'
    FROM opponent
    CROSS JOIN games AS a INDEXED BY ux_games_cell
        ON a.o_id = :first AND a.x_id = opponent.id AND {_COUNTED.format("a")}
    CROSS JOIN games AS b INDEXED BY ux_games_cell
        ON b.o_id = :second AND b.x_id = opponent.id AND {_SAME_CELL}
)
"""

_PAIRED = f"""
{_CELLS}
SELECT
    name, opening, seed,
    sum(kept AND other_kept), sum(kept AND NOT other_kept),
    sum(other_kept AND NOT kept), sum(NOT kept AND NOT other_kept)
FROM cell
GROUP BY name, opening, seed
"""

_DIFFERING = f"""
{_CELLS}
SELECT
    name, mark, a.opener, a.seed, a.rollout,
    a.id, a.outcome, a.moves, a.termination,
    b.id, b.outcome, b.moves, b.termination
FROM cell
JOIN games AS a ON a.serial = one
JOIN games AS b ON b.serial = other
WHERE kept <> other_kept AND (:opening IS NULL OR opening = :opening)
ORDER BY name, opening DESC, a.seed, a.rollout, mark DESC
LIMIT :limit OFFSET :offset
"""
