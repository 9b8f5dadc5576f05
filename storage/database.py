"""The database: one SQLite file, opened once a process and used from any thread.

Every transaction says at its begin whether it will write. A writing one takes SQLite's write lock
at once (`BEGIN IMMEDIATE`) and waits for it: one that read first and wrote later could not wait,
and would fail with `database is locked` when another process had written in between.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlalchemy.orm import Session

from arena.analysis import counts
from arena.board import Mark
from arena.errors import StorageError
from storage.upgrade import upgrade

_BUSY_SECONDS = 30.0


class Database:
    """An open database at the newest revision. Made by `open`; safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = _engine(path, foreign_keys=True)
        self._writer = self._engine.execution_options(write=True)
        # SQLite's waiters poll, and the unlucky ones starve; threads of one process queue here.
        self._writing = threading.Lock()

    @classmethod
    def open(cls, path: Path | str) -> Database:
        """Open a database, made if it is not there and upgraded if it is older than the code.

        Raises:
            StorageError: it cannot be opened, read or written, is no database of the arena's, or
                is newer than the code.
        """
        path = Path(path).absolute()
        _check_file(path)
        migrator = _engine(path, foreign_keys=False, poolclass=NullPool)
        try:
            with _sentences(path):
                upgrade(migrator, path)
        finally:
            migrator.dispose()
        return cls(path)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that reads one state of the database, and never waits for a writer.

        Raises:
            StorageError: the database cannot be read.
        """
        with _sentences(self.path), Session(self._engine) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that writes: all of it, or nothing where the block raises.

        Raises:
            StorageError: the database cannot be written, or another process held it for too long.
        """
        with (
            self._writing,
            _sentences(self.path),
            Session(self._writer) as session,
            session.begin(),
        ):
            yield session

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._engine.dispose()


def _check_file(path: Path) -> None:
    """Find in advance what SQLite has no good words for."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"the folder {path.parent} cannot be made: {error.strerror}") from error
    if path.is_dir():
        raise StorageError(f"{path} is a folder: name a file for the database")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise StorageError(f"{path} may not be read and written: check its permissions")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise StorageError(
            f"the folder {path.parent} may not be written, and the database keeps files there"
        )


def _engine(path: Path, *, foreign_keys: bool, **options: Any) -> Engine:
    """An engine whose transactions are begun by us: see SQLAlchemy's page on SQLite,
    "Using SQLAlchemy to emit BEGIN in lieu of SQLite's transaction control".
    """
    if "poolclass" not in options:
        # As many connections as there are threads at work; five stay open.
        options["max_overflow"] = -1
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS}, **options)

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, record: object) -> None:  # noqa: ARG001
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout = {_BUSY_SECONDS * 1000:.0f}",
            f"foreign_keys = {foreign_keys:d}",
            "synchronous = NORMAL",
        ):
            connection.execute(f"PRAGMA {pragma}").close()
        connection.create_function("value_losing", 3, _value_losing, deterministic=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@lru_cache(maxsize=1 << 16)
def _value_losing(opener: str, moves: str, mark: str) -> int:
    """How many moves of a player gave up a win or a draw; for use in SQL."""
    return counts(map(int, moves), Mark(opener))[Mark(mark)].value_losing


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn what SQLite refuses into a sentence. A broken constraint is a fault of ours: kept."""
    try:
        yield
    except IntegrityError:
        raise
    except (DatabaseError, sqlite3.DatabaseError) as error:
        said = error.orig if isinstance(error, DatabaseError) else error
        raise StorageError(f"the database {path} cannot be used: {said}") from error
    except PermissionError as error:
        raise StorageError(f"{error.filename or path} may not be written") from error
