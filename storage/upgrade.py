"""Brings a database file to the newest revision, whoever else is opening it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.orm import Session

from arena.errors import StorageError
from storage.derived import DERIVED
from storage.migrations import HEAD
from storage.recount import recount

if TYPE_CHECKING:
    from alembic.config import Config

_PATIENCE = 300.0
"""Seconds to wait for another process's upgrade."""


def upgrade(engine: Engine, path: Path) -> None:
    """Bring the database to the newest revision, in one transaction, under a lock file beside it;
    and count anew what is derived from its games, where that means something else than it did.

    Args:
        engine: from `storage.database`, without the enforcement of foreign keys, since a step that
            builds a table anew must be able to drop the old one.
        path: the database file.

    Raises:
        StorageError: the database is newer than the code, is another program's, or another
            process has been upgrading it for too long.
    """
    try:
        with FileLock(f"{path}.lock", timeout=_PATIENCE):
            # Only now: whoever held the lock before may have upgraded it.
            with engine.connect() as connection:
                revision = _revision(connection, path)
                derived = connection.exec_driver_sql("PRAGMA user_version").scalar()
            if (revision, derived) != (HEAD, DERIVED):
                with engine.execution_options(write=True).begin() as connection:
                    if revision != HEAD:
                        _to_head(connection, revision, path)
                    recount(Session(connection))
                    connection.exec_driver_sql(f"PRAGMA user_version = {DERIVED}")
            _set_wal(engine)
    except Timeout as error:
        raise StorageError(
            f"another process has been upgrading {path} for {_PATIENCE:.0f} seconds: "
            "try again later"
        ) from error


def _set_wal(engine: Engine) -> None:
    """Have the file use a write-ahead log, from now on. Not possible within a transaction."""
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _to_head(connection: Connection, revision: str | None, path: Path) -> None:
    # A quarter of a second that a start at head does not pay.
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config(connection)
    known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise StorageError(
            f"{path} was written by a newer version of the arena (its revision is {revision}, "
            f"this version knows up to {HEAD}): upgrade the arena, or name another database"
        )
    command.upgrade(config, HEAD)
    if connection.execute(text("PRAGMA foreign_key_check")).first() is not None:
        raise StorageError(f"{path} could not be upgraded: a row refers to nothing")


def alembic_config(connection: Connection) -> Config:
    """What Alembic's commands need to work on this connection, in its transaction."""
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).parent / "migrations"
    # Alembic reads its options as templates in which a percent sign is special.
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.attributes["connection"] = connection
    return config


def _revision(connection: Connection, path: Path) -> str | None:
    """The revision that the database is at; None for an empty one."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if "alembic_version" not in tables or "games" not in tables:
        raise StorageError(f"{path} is a database, but not of the arena: name another file")
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)
