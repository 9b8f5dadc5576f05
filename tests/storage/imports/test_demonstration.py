"""Games that came with the arena: marked, counted, and gone without a trace once removed."""

import pytest
from sqlalchemy import text

from arena.board import Mark
from arena.plan import Plan
from storage import Database, Games, Recording, Source, leaderboard, matrix, recompute
from storage.cells import with_demonstration
from storage.evaluations import Evaluations
from storage.imports import (
    count_demonstration,
    import_demonstration,
    import_files,
    remove_demonstration,
    show_something,
)
from storage.imports import load as loading
from storage.setups import Setup
from tests.storage.conftest import Clock
from tests.storage.imports.samples import (
    FIRST,
    LAST,
    RANDOM,
    dump,
    exported,
    fill,
    game_between,
)
from tests.storage.samples import MODEL


@pytest.fixture
def shipped(tmp_path):
    """A file of 66 games."""
    db = Database.open(tmp_path / "there.db")
    fill(Games(db, Clock()))
    path = tmp_path / "games.jsonl"
    exported(db, path)
    db.close()
    return path


def imported(*arguments, **more):
    """The report of an import that there was."""
    report = show_something(*arguments, **more)
    assert report is not None
    return report


def is_counted_right(db):
    return all(matrix(db, rated=rated) == recompute(db, rated=rated) for rated in (True, False))


def test_a_new_database_shows_something_once(db, clock, shipped):
    report = imported(db, clock, path=shipped)
    assert report.imported == count_demonstration(db) == 66
    assert is_counted_right(db)
    assert all(each.demonstration for each in leaderboard(db))
    assert show_something(db, clock, path=shipped) is None


def test_an_evaluation_that_is_made_of_them_is_named(db, clock, shipped):
    imported(db, clock, path=shipped)
    evaluations = Evaluations(db, clock)
    for name, seed in (("theirs", 0), ("own", 10_000)):
        plan = Plan((LAST.name,), games=1, seed=seed)
        evaluations.open(name, Setup((FIRST,), plan))
    assert with_demonstration(evaluations) == {"theirs": 2}
    remove_demonstration(db, clock)
    assert with_demonstration(evaluations) == {}


def test_where_there_is_no_file_there_is_nothing_to_do(db, clock, tmp_path):
    assert show_something(db, clock, path=tmp_path / "none.jsonl.gz") is None


def test_a_database_with_games_of_its_own_gets_none(db, clock, games, shipped):
    games.record(game_between(FIRST, LAST), FIRST, LAST, Source.STORE)
    assert show_something(db, clock, path=shipped) is None
    assert count_demonstration(db) == 0


def test_removed_games_are_gone_and_do_not_come_back(db, clock, shipped):
    show_something(db, clock, path=shipped)
    told: list[int] = []
    assert remove_demonstration(db, clock, told.append) == sum(told) == 66
    left = dump(db)
    assert {name for name, rows in left.items() if rows} == {
        *("alembic_version", "demonstrations", "players")
    }
    assert leaderboard(db) == []
    assert show_something(db, clock, path=shipped) is None
    assert remove_demonstration(db, clock) == 0
    assert count_demonstration(db) == 0


def test_games_of_ones_own_stay_and_so_do_their_figures(db, clock, shipped, tmp_path):
    """Own games of the same players, some on the very lines of the demonstration; before and after
    they are counted as though there had never been one."""
    own = [
        Recording(game_between(x, o, seed, opener), x, o)
        for seed in range(1000, 1006)
        for x, o in ((FIRST, LAST), (MODEL, RANDOM), (LAST, FIRST), (MODEL, FIRST))
        for opener in Mark
    ]
    before_at, after_at = own[::2], own[1::2]
    alone = Database.open(tmp_path / "alone.db")
    games, lonely = Games(db, clock), Games(alone, Clock())
    games.record_many(before_at, Source.EVALUATION)
    import_demonstration(db, shipped, clock)
    games.record_many(after_at, Source.STORE)
    assert is_counted_right(db)
    by_name = {each.player.identity.name: each.demonstration for each in leaderboard(db)}
    assert by_name[MODEL.name] == 3 * 8 + 4
    remove_demonstration(db, clock)
    lonely.record_many(before_at, Source.EVALUATION)
    lonely.record_many(after_at, Source.STORE)
    assert is_counted_right(db)
    strip = [(e.player.identity, e.opponent.identity, e.opening, e.replying) for e in matrix(db)]
    assert strip == [
        (e.player.identity, e.opponent.identity, e.opening, e.replying) for e in matrix(alone)
    ]
    assert games.count() == len(own)
    assert all(each.demonstration == 0 for each in leaderboard(db))
    alone.close()


def test_after_every_transaction_of_the_removal_the_figures_are_true(
    db, clock, shipped, monkeypatch
):
    monkeypatch.setattr("storage.imports.demonstration._BATCH", 5)
    games = Games(db, clock)
    games.record(game_between(MODEL, RANDOM, 77), MODEL, RANDOM, Source.STORE)
    import_demonstration(db, shipped, clock)
    seen = []

    def look(removed):
        seen.append(removed)
        assert is_counted_right(db)

    remove_demonstration(db, clock, look)
    assert len(seen) == 14
    assert games.count() == 1


def test_an_import_that_was_broken_off_goes_on_at_the_next_start(db, clock, shipped, monkeypatch):
    monkeypatch.setattr(loading, "BATCH", 10)
    answers = iter([False, False, True])
    report = imported(db, clock, path=shipped, is_stopped=lambda: next(answers))
    assert (report.complete, report.imported) == (False, 20)
    report = imported(db, clock, path=shipped)
    assert (report.complete, report.imported, report.known) == (True, 46, 20)
    assert is_counted_right(db)
    assert show_something(db, clock, path=shipped) is None


def test_what_is_removed_while_it_comes_in_stops_coming(db, clock, shipped, monkeypatch):
    monkeypatch.setattr(loading, "BATCH", 10)
    removed: list[int] = []

    def remove(share):
        if not removed:
            removed.append(remove_demonstration(db, clock))

    report = import_demonstration(db, shipped, clock, on_progress=remove)
    assert (removed, report.complete) == ([10], False)
    assert count_demonstration(db) == 0
    assert show_something(db, clock, path=shipped) is None


def test_the_mark_survives_a_round_trip_and_own_games_are_not_marked(db, clock, shipped, tmp_path):
    import_demonstration(db, shipped, clock)
    Games(db, clock).record(game_between(MODEL, RANDOM, 77), MODEL, RANDOM, Source.STORE)
    before = exported(db, tmp_path / "all.jsonl")
    other = Database.open(tmp_path / "other.db")
    import_files(other, [tmp_path / "all.jsonl"])
    assert exported(other) == before
    assert count_demonstration(other) == 66
    with other.read() as session:
        own = session.execute(text("SELECT count(*) FROM games WHERE NOT demonstration")).scalar()
    assert own == 1
    other.close()
