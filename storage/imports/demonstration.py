"""Games that come with the arena, so that the first start shows something; and their removal.

They are real games of the checkpoints that come with it, and count as what they are: evaluation
games. An evaluation of the same cells finds them played. Each is marked, and all of them leave by
one call, with their share in every figure; they do not come back by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from storage import records
from storage.aggregates import Landing, take_off
from storage.database import Database
from storage.imports.load import OnProgress, Report, import_files
from storage.records import GAMES
from storage.tables import AttemptRow, DemonstrationRow, RequestRow, SeatRow, TurnRow, table_of

SHIPPED = Path(__file__).parents[1] / "demo" / "games.jsonl.gz"
"""The demonstration that is imported into a new database, if it is there."""
_DEMONSTRATIONS = table_of(DemonstrationRow)
_DETAILS = [table_of(row) for row in (RequestRow, AttemptRow, TurnRow, SeatRow)]
_BATCH = 200


def import_demonstration(
    db: Database,
    path: Path,
    now: Callable[[], datetime],
    *,
    on_progress: OnProgress | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Report:
    """Import a file whose games are marked as a demonstration.

    Args:
        db: where they go.
        path: the file.
        now: the clock.
        on_progress: is told the share that was read, 0 to 1.
        is_stopped: ends the import where it says so; the next start of the arena goes on with it.

    Raises:
        StorageError: the file cannot be read, or the database not be written.
    """
    with db.write() as session:
        new = insert(_DEMONSTRATIONS).values(name=path.name, begun_at=now())
        begun = session.execute(new.returning(_DEMONSTRATIONS.c.id)).scalar_one()
    this = _DEMONSTRATIONS.c.id == begun
    stays = select(_DEMONSTRATIONS.c.id).where(this, _DEMONSTRATIONS.c.removed_at.is_(None))

    def wanted(session: Session) -> bool:
        # Somebody may remove what has come in so far.
        return not is_stopped() and session.execute(stays).first() is not None

    report = import_files(db, [path], demonstration=True, on_progress=on_progress, wanted=wanted)
    if report.complete:
        with db.write() as session:
            session.execute(update(_DEMONSTRATIONS).where(this).values(finished_at=now()))
    return report


def show_something(
    db: Database,
    now: Callable[[], datetime],
    *,
    path: Path = SHIPPED,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Report | None:
    """Import the shipped demonstration where it belongs: into a database that never held a game,
    or where its import was broken off. None where there is nothing to do.

    Raises:
        StorageError: the file cannot be read, or the database not be written.
    """
    if not path.exists():
        return None
    rows = select(_DEMONSTRATIONS.c.finished_at, _DEMONSTRATIONS.c.removed_at)
    with db.read() as session:
        came = session.execute(rows).all()
        empty = session.execute(select(GAMES.c.serial).limit(1)).first() is None
    if any(row.finished_at or row.removed_at for row in came) or not (came or empty):
        return None
    return import_demonstration(db, path, now, is_stopped=is_stopped)


def count_demonstration(db: Database) -> int:
    """How many demonstration games are stored."""
    with db.read() as session:
        return session.execute(
            select(func.count()).select_from(GAMES).where(GAMES.c.demonstration)
        ).scalar_one()


def remove_demonstration(
    db: Database,
    now: Callable[[], datetime],
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Remove every demonstration game, and what it adds to the figures.

    Some hundreds a transaction: other writers wait a fraction of a second, and what is broken off
    leaves true figures.

    Args:
        db: where they are stored.
        now: the clock.
        on_progress: is told how many games each transaction removed.

    Returns:
        How many games there were.
    """
    with db.write() as session:
        here = update(_DEMONSTRATIONS).where(_DEMONSTRATIONS.c.removed_at.is_(None))
        session.execute(here.values(removed_at=now()))
    removed = 0
    while True:
        with db.write() as session:
            some = _remove_some(session)
        if not some:
            return removed
        removed += some
        if on_progress:
            on_progress(some)


def _remove_some(session: Session) -> int:
    few = select(GAMES.c.serial).where(GAMES.c.demonstration).limit(_BATCH)
    serials = session.execute(few).scalars().all()
    games = records.load(session, serials)
    for table in _DETAILS:
        session.execute(delete(table).where(table.c.game.in_(serials)))
    session.execute(delete(GAMES).where(GAMES.c.serial.in_(serials)))
    take_off(
        session,
        [
            Landing(each.serial, each.game, each.x, each.o, each.source, each.finished_at)
            for each in games
            if each.finished_at is not None
        ],
    )
    return len(serials)
