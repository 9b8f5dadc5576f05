"""Lists and counts of games, fast at a million: an index is walked from its end, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, func, not_, select, union_all
from sqlalchemy.orm import Session

from arena.board import Mark, Outcome
from arena.game import Termination
from storage import players
from storage.filters import GameFilter, select_games
from storage.players import StoredPlayer
from storage.records import GAMES
from storage.tables import Source


@dataclass(frozen=True)
class GameSummary:
    """A line of a list of games."""

    id: str
    serial: int
    """The game's place in the order of arrival; where the next page goes on."""
    x: StoredPlayer
    o: StoredPlayer
    opener: Mark
    seed: int
    source: Source
    rollout: int
    moves: tuple[int, ...]
    outcome: Outcome | None
    termination: Termination | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    demonstration: bool


def find(session: Session, filter: GameFilter, limit: int, before: int | None) -> list[GameSummary]:
    """The newest games that a filter lets through, of those older than serial `before`."""
    selection = select_games(session, filter)
    page = [selection.game] + ([] if before is None else [GAMES.c.serial < before])
    branches: Sequence[Sequence[ColumnElement[bool]]] = [[selection.where]]
    if selection.by_player:
        # Each branch follows its own seat's index in the order that is asked for; with one `or`
        # SQLite would gather and sort all games of the player.
        x, o = selection.seats[Mark.X], selection.seats[Mark.O]
        branches = [[x], [o, not_(x)]]
    serials = union_all(*(select(GAMES.c.serial).where(*page, *each) for each in branches))
    wanted = serials.order_by(GAMES.c.serial.desc()).limit(limit)
    found = session.execute(wanted).scalars().all()
    rows = session.execute(
        select(GAMES).where(GAMES.c.serial.in_(found)).order_by(GAMES.c.serial.desc())
    ).all()
    known = players.by_id(session, {id for row in rows for id in (row.x_id, row.o_id)})
    return [
        GameSummary(
            id=row.id,
            serial=row.serial,
            x=known[row.x_id],
            o=known[row.o_id],
            opener=Mark(row.opener),
            seed=row.seed,
            source=Source(row.source),
            rollout=row.rollout,
            moves=tuple(map(int, row.moves)),
            outcome=None if row.outcome is None else Outcome(row.outcome),
            termination=None if row.termination is None else Termination(row.termination),
            created_at=row.created_at,
            updated_at=row.updated_at,
            finished_at=row.finished_at,
            demonstration=row.demonstration,
        )
        for row in rows
    ]


def count(session: Session, filter: GameFilter) -> int:
    """How many games a filter lets through."""
    if not filter.distinct_only:
        passing = select_games(session, filter).where
        return session.execute(select(func.count()).select_from(GAMES).where(passing)).scalar_one()
    # As many lines as there are games that are the first of theirs, and faster to count.
    passing = select_games(session, replace(filter, distinct_only=False)).where
    line = (GAMES.c.x_id, GAMES.c.o_id, GAMES.c.opener, GAMES.c.moves)
    lines = select(*line).where(passing, GAMES.c.outcome != Outcome.VOID).distinct().subquery()
    return session.execute(select(func.count()).select_from(lines)).scalar_one()
