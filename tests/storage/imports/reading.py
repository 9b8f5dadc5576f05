"""What a database holds, as games."""

from __future__ import annotations

from sqlalchemy import select

from storage import Database
from storage.records import GAMES, StoredGame, load


def stored_games(db: Database) -> list[StoredGame]:
    """All of them, in the order in which they came."""
    with db.read() as session:
        serials = session.scalars(select(GAMES.c.serial).order_by(GAMES.c.serial))
        return load(session, list(serials))
