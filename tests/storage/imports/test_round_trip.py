"""What an arena exports comes in again as it was."""

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.errors import NotFoundError
from storage import Database, Games, Source, leaderboard, matrix, recompute
from storage.imports import files_of, import_files, load
from storage.imports.write import write as write_games
from tests.storage.conftest import Clock
from tests.storage.imports.samples import (
    RANDOM,
    believable,
    dump,
    exported,
    fill,
    game_between,
)
from tests.storage.samples import MODEL

ROOT = Path(__file__).parents[3]


@pytest.fixture
def other(tmp_path):
    empty = Database.open(tmp_path / "other.db")
    yield empty
    empty.close()


def figures(db):
    """The leaderboard without the numbers by which a database knows its players."""
    return [
        (each.player.identity, each.opening, each.replying, each.people, each.last_at)
        for each in leaderboard(db)
    ]


def is_counted_right(db):
    return all(matrix(db, rated=rated) == recompute(db, rated=rated) for rated in (True, False))


def test_a_round_trip_gives_the_same_bytes_and_figures(games, db, other, tmp_path):
    fill(games)
    before = exported(db, tmp_path / "games.jsonl")
    report = import_files(other, [tmp_path / "games.jsonl"])
    assert report.imported == report.lines == len(before.splitlines()) == 66
    assert (report.known, report.refused, report.problems) == (0, 0, [])
    assert exported(other) == before
    assert figures(other) == figures(db)
    assert is_counted_right(other)
    seats = dump(db)["seats"]
    assert dump(other)["seats"] == seats
    assert len(seats) > 20


def test_a_second_time_nothing_changes(games, db, tmp_path):
    fill(games)
    exported(db, tmp_path / "games.jsonl")
    before = dump(db)
    report = import_files(db, [tmp_path / "games.jsonl"])
    assert (report.imported, report.known, report.lines) == (0, 66, 66)
    assert dump(db) == before


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(believable(), max_size=6))
def test_any_games_come_in_as_they_were(some):
    with TemporaryDirectory() as folder:
        path = Path(folder)
        db, other = (Database.open(path / name) for name in ("a.db", "b.db"))
        kept = [Games(db, Clock()).record(game, x, o, source) for game, x, o, source in some]
        before = exported(db, path / "games.jsonl")
        report = import_files(other, [path / "games.jsonl"])
        assert report.problems == [] or not some
        assert exported(other) == before
        assert figures(other) == figures(db)
        assert is_counted_right(other)
        for id in filter(None, kept):
            assert Games(other, Clock()).load(id).game == Games(db, Clock()).load(id).game
        db.close()
        other.close()


def test_packed_and_in_a_folder(games, db, other, tmp_path):
    fill(games)
    lines = exported(db).splitlines(keepends=True)
    folder = tmp_path / "out" / "deep"
    folder.mkdir(parents=True)
    (folder / "b.jsonl").write_bytes(b"".join(lines[30:]))
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[:30])))
    (folder / "README.md").write_text("no games")
    files = files_of(tmp_path / "out")
    assert [path.name for path in files] == ["a.jsonl.gz", "b.jsonl"]
    shares: list[float] = []
    assert import_files(other, files, on_progress=shares.append).imported == 66
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert exported(other) == exported(db)


def test_games_without_line_ends_or_with_empty_lines(games, db, other, tmp_path):
    fill(games, 1)
    path = tmp_path / "games.jsonl"
    path.write_bytes(exported(db).replace(b"\n", b"\r\n\n").strip())
    assert import_files(other, [path]).refused == 0
    assert exported(other) == exported(db)


def test_what_is_not_there(db, tmp_path):
    with pytest.raises(NotFoundError, match="there is no file"):
        files_of(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match=r"ends in \.jsonl"):
        files_of(tmp_path / "empty")
    with pytest.raises(NotFoundError, match=r"ends in \.jsonl"):
        import_files(db, [tmp_path / "empty"])


def test_an_import_that_was_killed_is_completed_by_the_next(games, db, tmp_path):
    """The child is killed as soon as its second transaction is through."""
    fill(games, 20)
    before = exported(db, tmp_path / "games.jsonl")
    program = f"""
import os, signal
from storage import Database
from storage.imports import import_files, load
load.BATCH = 50
db = Database.open({str(tmp_path / "new.db")!r})
told = []
def count(share):
    told.append(share)
    if len(told) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
from pathlib import Path
import_files(db, [Path({str(tmp_path / "games.jsonl")!r})], on_progress=count)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    again = Database.open(tmp_path / "new.db")
    assert Games(again, Clock()).count() == 100
    assert is_counted_right(again)
    report = import_files(again, [tmp_path / "games.jsonl"])
    assert report.known == 100
    assert exported(again) == before
    assert figures(again) == figures(db)
    again.close()


def test_a_cell_that_was_played_here_counts_once(games, db, other, tmp_path):
    games.record(game_between(MODEL, RANDOM, 5), MODEL, RANDOM, Source.EVALUATION)
    exported(db, tmp_path / "games.jsonl")
    mine = Games(other, Clock()).record(
        game_between(MODEL, RANDOM, 5), MODEL, RANDOM, Source.EVALUATION
    )
    before = dump(other)
    report = import_files(other, [tmp_path / "games.jsonl"])
    assert (report.imported, report.same_cell, report.refused) == (0, 1, 0)
    assert dump(other) == before
    assert json.loads(exported(other))["game"] == mine


def test_batches_are_bounded(games, db, other, tmp_path, monkeypatch):
    fill(games)
    exported(db, tmp_path / "games.jsonl")
    monkeypatch.setattr(load, "BATCH", 7)
    sizes = []

    def watched(session, batch, **more):
        sizes.append(len(batch))
        return write_games(session, batch, **more)

    monkeypatch.setattr(load, "write", watched)
    assert import_files(other, [tmp_path / "games.jsonl"]).imported == 66
    assert (max(sizes), sum(sizes)) == (7, 66)
