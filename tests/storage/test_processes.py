"""Two real processes on one file, and one that is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from storage import Database, GameFilter, Games, Source, matrix, recompute

ROOT = Path(__file__).parents[2]


def start(path, first_seed, count):
    command = [sys.executable, "-m", "tests.storage.writer", path, str(first_seed), str(count)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "arena.db"


def check(path, clock, stored):
    """The file holds these seeds' games, once each, and its figures are right."""
    db = Database.open(path)
    games = Games(db, clock)
    assert games.count(GameFilter(source=Source.STORE)) == stored
    assert matrix(db) == recompute(db)
    assert sum(entry.opening.games for entry in matrix(db)) == stored
    return db, games


def test_two_open_an_empty_file_and_write_at_once(path, clock):
    """The second half of the one's games is the first half of the other's: each is stored once."""
    one, two = start(path, 0, 200), start(path, 100, 200)
    out = [finish(one), finish(two)]
    seeds = [word for words in out for word in words[:-10]]
    assert sorted(map(int, seeds)) == list(range(300))
    db, games = check(path, clock, 300)
    assert games.count(GameFilter(source=Source.PLAY, finished=True)) == 2
    db.close()


@pytest.mark.parametrize("lines", [1, 30, 203])
def test_a_killed_process_loses_nothing_that_it_had_answered(path, clock, lines):
    process = start(path, 0, 200)
    said = [process.stdout.readline().split() for _ in range(lines)]
    process.kill()
    # `communicate` would lose what `readline` has read ahead.
    said += [line.split() for line in process.stdout]
    process.communicate(timeout=60)
    seeds = [words for words in said if len(words) == 1]
    plies = [words for words in said if len(words) == 2]
    db = Database.open(path)
    games = Games(db, clock)
    # The kill may have come between a commit and its line.
    stored = games.count(GameFilter(source=Source.STORE))
    assert stored in (len(seeds), len(seeds) + 1)
    if plies:
        id, ply = plies[-1]
        assert len(games.load(id).game.turns) in (int(ply), int(ply) + 1)
    db.close()
    db, games = check(path, clock, stored)
    db.close()
    assert len(finish(start(path, 0, 200))) == 200 - stored + 10
    check(path, clock, 200)[0].close()
