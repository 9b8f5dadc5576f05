import os
import sqlite3
import threading
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from filelock import FileLock
from sqlalchemy import URL, create_engine, text

import storage
from arena.board import Mark
from arena.errors import StorageError
from arena.game import Request, Termination, Verdict
from storage import Database, upgrade
from storage.migrations import HEAD
from storage.tables import Table
from tests.storage.samples import (
    FIRST,
    GREEDY,
    MODEL,
    OPENER_WINS,
    RANDOM,
    attempt,
    chat,
    game_of,
)

HISTORY = ScriptDirectory(str(Path(storage.__file__).parent / "migrations"))
A_PLAYER = text("INSERT INTO players VALUES (1, 'human', '', '', 0, '', '', '{}', 0, '')")
VOID = [termination for termination in Termination if termination.is_void]
REVISIONS = [step.revision for step in HISTORY.walk_revisions()][::-1]


def differences(db):
    """What the models and the database's schema do not agree on."""
    with db.read() as session:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(session.connection(), opts=options)
        return compare_metadata(context, Table.metadata)


def database_at(path, revision):
    engine = create_engine(URL.create("sqlite", database=str(path)))
    with engine.begin() as connection:
        command.upgrade(upgrade.alembic_config(connection), revision)
    engine.dispose()


def test_head_is_the_newest_migration():
    assert HISTORY.get_heads() == [HEAD]


def test_an_empty_file_becomes_what_the_models_say(tmp_path):
    path = tmp_path / "not" / "there yet" / "50% of ü?.db"
    db = Database.open(path)
    assert differences(db) == []
    db.close()
    assert path.exists()


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_earlier_revision_is_upgraded(tmp_path, revision):
    path = tmp_path / "arena.db"
    database_at(path, revision)
    db = Database.open(path)
    assert differences(db) == []
    with db.read() as session:
        assert session.scalar(text("SELECT version_num FROM alembic_version")) == HEAD
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
    db.close()


def test_an_upgrade_keeps_what_was_there(tmp_path, games, db, clock):
    id = games.record(game_of(OPENER_WINS), FIRST, RANDOM, storage.Source.STORE)
    db.close()
    again = Database.open(db.path)
    assert storage.Games(again, clock).load(id).game.moves == OPENER_WINS
    again.close()


def test_what_replies_came_to_is_counted_for_earlier_games_too(games, db):
    """As they would have been counted when they landed."""
    call = Request(200, 0.5, {})
    for seed, termination in enumerate((None, *VOID, Termination.FORFEIT_INVALID)):
        said = attempt(
            chat("s", "u"), "9", Verdict.MALFORMED, seconds=0.0625, requests=(call, call)
        )
        more = attempt(chat("s", "u"), "4", prompt_tokens=3, adaptations=("no_temperature",))
        moves = OPENER_WINS if termination is None else OPENER_WINS[: 2 + seed % 2]
        game = game_of(moves, Mark(("X", "O")[seed % 2]), seed, {0: (said, more), 1: (more,)})
        if termination is not None:
            loser = None if termination.is_void else game.to_move
            game.end(termination, loser, attempts=[said], requests=[call])
        games.record(game, MODEL, GREEDY, storage.Source.STORE)
    games.create(MODEL, RANDOM, Mark.X, 0, {})
    counted = text("SELECT * FROM seats ORDER BY game, mark")
    with db.write() as session:
        before = session.execute(counted).all()
        for name in ("ix_games_void", "ix_games_demonstration"):
            session.execute(text(f"DROP INDEX {name}"))
        session.execute(text("ALTER TABLE games DROP COLUMN demonstration"))
        counted_since = ("clusters", "relatives", "mistakes", "traps", "lost_lines")
        imported_since = ("reward_rollouts", "reward_runs")
        for name in ("seats", "evaluations", "demonstrations", *counted_since, *imported_since):
            session.execute(text(f"DROP TABLE {name}"))
        session.execute(text("UPDATE alembic_version SET version_num = '0002'"))
    again = Database.open(db.path)
    with again.read() as session:
        assert session.execute(counted).all() == before
    assert len(before) == 10
    again.close()


def test_a_failed_upgrade_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "arena.db"
    with monkeypatch.context() as patch:
        patch.setattr(upgrade, "HEAD", "no such revision")
        with pytest.raises(Exception, match="no such revision"):
            Database.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()
    Database.open(path).close()


def test_a_newer_database_is_refused_in_a_sentence(db):
    with db.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError, match=r"newer version of the arena .*9999.*upgrade the arena"):
        Database.open(db.path)


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    text_file = tmp_path / "notes.txt"
    text_file.write_text("These are notes, and there are many of them. " * 50)
    with pytest.raises(StorageError, match="file is not a database"):
        Database.open(text_file)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE games (id)")
    connection.commit()
    connection.close()
    before = other.read_bytes()
    with pytest.raises(StorageError, match="not of the arena"):
        Database.open(other)
    assert other.read_bytes() == before


def test_what_cannot_be_opened_is_said_in_a_sentence(tmp_path):
    with pytest.raises(StorageError, match="is a folder"):
        Database.open(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be made"):
        Database.open(tmp_path / "file" / "arena.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written_is_said_in_a_sentence(db):
    db.close()
    db.path.chmod(0o444)
    with pytest.raises(StorageError, match="may not be read and written"):
        Database.open(db.path)
    db.path.chmod(0o644)
    db.path.parent.chmod(0o555)
    with pytest.raises(StorageError, match="may not be written"):
        Database.open(db.path)
    db.path.parent.chmod(0o755)


def test_without_permission_access_is_checked_first(db, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != db.path)
    with pytest.raises(StorageError, match="may not be read and written"):
        Database.open(db.path)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != db.path.parent)
    with pytest.raises(StorageError, match="may not be written"):
        Database.open(db.path)


def test_an_endless_upgrade_elsewhere_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(upgrade, "_PATIENCE", 0.1)
    path = tmp_path / "arena.db"
    with FileLock(f"{path}.lock"), pytest.raises(StorageError, match="another process"):
        Database.open(path)


def test_every_connection_is_set_up(db):
    with db.read() as one, db.read() as two:
        for session in (one, two):
            for pragma, value in (
                ("journal_mode", "wal"),
                ("busy_timeout", 30_000),
                ("foreign_keys", 1),
                ("synchronous", 1),
            ):
                assert session.scalar(text(f"PRAGMA {pragma}")) == value


def test_a_broken_write_leaves_nothing(db):
    def write_and_break():
        with db.write() as session:
            session.execute(A_PLAYER)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_break()
    with db.read() as session:
        assert session.scalar(text("SELECT count(*) FROM players")) == 0


def test_a_reader_sees_one_state_and_waits_for_nobody(db):
    count = text("SELECT count(*) FROM players")
    with db.read() as reader:
        assert reader.scalar(count) == 0
        with db.write() as writer:
            writer.execute(A_PLAYER)
        assert reader.scalar(count) == 0
    with db.read() as reader:
        assert reader.scalar(count) == 1


def test_many_threads_read_then_write(db):
    """Each adds one to what it read: a lost update or a lock that cannot wait would show."""
    with db.write() as session:
        session.execute(A_PLAYER)
    failed = []

    def work():
        try:
            for _ in range(10):
                with db.write() as session:
                    step = session.scalar(text("SELECT step FROM players"))
                    session.execute(text("UPDATE players SET step = :s"), {"s": step + 1})
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with db.read() as session:
        assert session.scalar(text("SELECT step FROM players")) == 200


def test_a_fault_later_is_a_sentence_too(db):
    with db.write() as session:
        session.execute(text("DROP TABLE requests"))
    with pytest.raises(StorageError, match="cannot be used: no such table"), db.read() as session:
        session.execute(text("SELECT * FROM requests"))
