"""Tables that are counted from the games as they land, and can be counted anew: `storage.recount`.

    clusters      the games of an entry by seed, as sums: what intervals and splits of seeds need
    relatives     the same of a symmetric opponent's seven relatives taken together
    mistakes      what a player's moves were, by ply
    traps         which fork traps it met, and what became of it there
    lost_lines    the games that it lost on the board, up to symmetry

Clusters are kept of rated games against engines, mistakes and what follows of the seats that
`storage.lessons.is_examined` names. Neither holds a game that is void, nor a repeat.
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import Index, Text
from sqlalchemy.orm import Session
from sqlmodel import Field

from storage.tables import Table

DERIVED = 1
"""What these tables mean, by number: a database that was filled by another one is counted anew."""


def driver_of(session: Session) -> sqlite3.Connection:
    """The driver's own connection, within the session's transaction: SQLAlchemy takes longer over a
    small statement than SQLite does, and these tables take several for each game that lands.
    """
    found = session.connection().connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found


class ClusterRow(Table, table=True):
    """Sums over the seeds of an entry of one parity. None where both always answer alike: there
    each line is counted once, whatever the seed.
    """

    __tablename__ = "clusters"
    __table_args__ = ({"sqlite_with_rowid": False},)

    player_id: int = Field(foreign_key="players.id", primary_key=True)
    opponent_id: int = Field(foreign_key="players.id", primary_key=True)
    opening: bool = Field(primary_key=True)
    odd: bool = Field(primary_key=True)
    """Whether the seeds are."""
    seeds: int
    games: int
    kept: int
    """Games that were not lost."""
    games_squared: int
    """Of each seed, the number of its games, squared."""
    kept_squared: int
    """Of each seed, the number of its games that were not lost, squared."""
    products: int
    """Of each seed, the one times the other."""


class RelativesRow(Table, table=True):
    """Sums over odd seeds of a player's games, replying, against the seven relatives of one
    symmetric opponent: see `arena.memorisation`.
    """

    __tablename__ = "relatives"
    __table_args__ = ({"sqlite_with_rowid": False},)

    player_id: int = Field(foreign_key="players.id", primary_key=True)
    opponent: str = Field(sa_type=Text, primary_key=True)
    """Whose relatives they are: a canonical spec, of an engine that may never have played."""
    seeds: int
    games: int
    kept: int
    games_squared: int
    kept_squared: int
    products: int


class MistakesRow(Table, table=True):
    """What a player's moves at one ply were, against one opponent, of the kinds of
    `arena.analysis`. A move may be of several.
    """

    __tablename__ = "mistakes"
    __table_args__ = ({"sqlite_with_rowid": False},)

    player_id: int = Field(foreign_key="players.id", primary_key=True)
    opponent_id: int = Field(foreign_key="players.id", primary_key=True)
    rated: bool = Field(primary_key=True)
    ply: int = Field(primary_key=True)
    """Even where the player opened."""
    moves: int
    win_to_draw: int
    win_to_loss: int
    draw_to_loss: int
    missed_wins: int
    missed_blocks: int
    fork_traps: int
    let_offs: int


class TrapRow(Table, table=True):
    """How often a player met the fork traps of a class, and fell into one."""

    __tablename__ = "traps"
    __table_args__ = ({"sqlite_with_rowid": False},)

    player_id: int = Field(foreign_key="players.id", primary_key=True)
    rated: bool = Field(primary_key=True)
    trap: str = Field(sa_type=Text, primary_key=True)
    """The class, by its key in `arena.traps`."""
    met: int
    failed: int
    example_failed: int | None
    """The serial of the first game in which it fell in."""
    example_passed: int | None


class LostLineRow(Table, table=True):
    """How often a player lost a game on the board by these moves or an image of them."""

    __tablename__ = "lost_lines"
    __table_args__ = (
        Index("ix_lost_lines_count", "player_id", "rated", "count"),
        {"sqlite_with_rowid": False},
    )

    player_id: int = Field(foreign_key="players.id", primary_key=True)
    rated: bool = Field(primary_key=True)
    opening: bool = Field(primary_key=True)
    moves: str = Field(sa_type=Text, primary_key=True)
    """The canonical ones of the eight images, a digit each."""
    count: int
    example: int
    """The serial of the first such game."""
