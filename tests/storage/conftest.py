from datetime import UTC, datetime, timedelta

import pytest

from storage import Database, Games


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def db(tmp_path):
    with_file = Database.open(tmp_path / "arena.db")
    yield with_file
    with_file.close()


@pytest.fixture
def games(db, clock):
    return Games(db, clock)
