from collections import defaultdict
from typing import Any

import pytest

from arena.board import Mark, Outcome
from arena.comparisons import Pairs, compare
from arena.errors import NotFoundError
from arena.panels import Panel
from arena.statistics import difference
from storage import Result, Source, players
from storage.comparisons import compare_two
from storage.pairs import differing_cells
from storage.ranking import leaderboard_of
from tests.storage.panels import OTHER, always_alike, careless, engine, play, recorded
from tests.storage.samples import GREEDY, MODEL

SPECS = ("minimax", "random")


def kept(game, mark):
    return game.outcome != Outcome.win(mark.other)


@pytest.fixture
def both(games):
    """The recordings of two players: the same cells, and more of the second's."""
    first = recorded(MODEL, careless(0.6), SPECS, range(6), rollouts=2)
    second = recorded(OTHER, careless(0.2, key=1), SPECS, range(8), rollouts=2)
    for some in (first, second):
        games.record_many(some, Source.EVALUATION)
    return first, second


def ids(db, *identities):
    rows = leaderboard_of(db, Panel("both", SPECS)).checkpoints
    return [next(row.id for row in rows if row.identity == who) for who in identities]


def compared(db, first, second, panel=None) -> Any:
    """A duel, without a question whether anything was measured."""
    return compare_two(db, first, second, panel)


def pairs_of(both, opening, spec=None):
    """The pairs of each seed, from the games."""
    cells: Any = defaultdict(dict)
    for place, (who, some) in enumerate(zip((MODEL, OTHER), both, strict=True)):
        for game, x, o in some:
            mark = Mark.X if x == who else Mark.O
            opponent = (o if x == who else x).name
            if (mark is game.opener) == opening and spec in (None, opponent):
                key = (game.seed, opponent, game.rollout)
                cells[key][place] = kept(game, mark)
    seeds = defaultdict(list)
    for (seed, *_), found in cells.items():
        if len(found) == 2:
            one, other = found[0], found[1]
            seeds[seed].append(
                (one and other, one and not other, other and not one, not one and not other)
            )
    return [Pairs(*map(sum, zip(*each, strict=True))) for each in seeds.values()]


def test_the_same_cells_are_paired(db, both):
    duel = compared(db, *ids(db, MODEL, OTHER))
    assert [(row.opponent, row.opening) for row in duel.rows] == [
        (spec, opening) for spec in SPECS for opening in (True, False)
    ]
    for row in duel.rows:
        assert row.paired == compare(pairs_of(both, row.opening, row.opponent))
        assert row.paired.pairs.n == 12
        one, other = row.first.rate, row.second.rate
        assert row.unpaired.difference == one.share - other.share
        assert row.unpaired.interval == difference(
            one.share, one.interval, other.share, other.interval
        )
    for opening, over_all in ((True, duel.opening), (False, duel.replying)):
        assert over_all.opponent is None
        assert over_all.paired == compare(pairs_of(both, opening))
        rows = [row for row in duel.rows if row.opening == opening]
        mean = sum(row.first.rate.share for row in rows) / 2
        assert over_all.first.rate.share == pytest.approx(mean)
        assert over_all.first.tally == rows[0].first.tally + rows[1].first.tally
        halves = [row.first.rate.interval for row in rows]
        assert over_all.first.rate.interval.low == pytest.approx(sum(i.low for i in halves) / 2)


def test_the_cells_that_differ(games, db, both):
    first, second = ids(db, MODEL, OTHER)
    duel = compared(db, first, second)
    found = differing_cells(db, first, second, limit=1000)
    counted = sum(sum(p.first + p.second for p in pairs_of(both, o)) for o in (True, False))
    assert len(found) == duel.differing == counted > 3
    for cell in found:
        for played, who in ((cell.first, MODEL), (cell.second, OTHER)):
            stored = games.load(played.id)
            game = stored.game
            assert stored.player(cell.mark).identity == who
            assert stored.player(cell.mark.other).identity.name == cell.opponent
            assert (game.opener, game.seed, game.rollout) == (cell.opener, cell.seed, cell.rollout)
            assert (game.moves, game.termination) == (played.moves, played.termination)
            assert kept(game, cell.mark) == (played.result is not Result.LOSS)
        assert (cell.first.result is Result.LOSS) != (cell.second.result is Result.LOSS)
    assert differing_cells(db, first, second, limit=2, offset=1) == found[1:3]
    some = [c for c in found if c.opponent == "random" and not c.opening]
    assert differing_cells(db, first, second, opponent="random", opening=False) == some
    swapped = differing_cells(db, second, first, limit=1000)
    assert [(c.second, c.first) for c in swapped] == [(c.first, c.second) for c in found]


def test_different_cells_are_not_paired(games, db):
    games.record_many(recorded(MODEL, careless(0.6), SPECS, range(6)), Source.STORE)
    games.record_many(recorded(OTHER, careless(0.2), SPECS, range(6, 12)), Source.STORE)
    duel = compared(db, *ids(db, MODEL, OTHER))
    assert {row.paired for row in (*duel.rows, duel.opening)} == {None}
    assert duel.differing == 0
    assert duel.replying.unpaired.interval is not None
    assert duel.rows[-1].needed is None or duel.rows[-1].needed > 1


def test_an_opponent_that_one_never_met(games, db):
    games.record_many(recorded(MODEL, careless(0.6), SPECS, range(2)), Source.STORE)
    game = play(careless(0.6), "minimax", Mark.O)
    games.record(game, engine("minimax"), OTHER, Source.STORE)
    first, second = ids(db, MODEL, OTHER)
    assert [row.opponent for row in compared(db, first, second).rows] == ["minimax"] * 2
    rows = {
        (row.opponent, row.opening): row
        for row in compared(db, first, second, Panel("both", SPECS)).rows
    }
    assert rows["random", True].unpaired is rows["random", True].needed is None
    assert rows["minimax", True].unpaired is None
    assert rows["minimax", False].paired.pairs.n == 1
    duel = compared(db, first, second, Panel("both", SPECS))
    assert duel.opening.first.rate is duel.opening.unpaired is duel.opening.paired is None


def test_what_is_known_exactly_needs_no_test(games, db):
    first, spec = engine("minimax:tie=last"), "minimax:tie=first"
    games.record_many(recorded(first, always_alike, (spec,), range(2)), Source.STORE)
    games.record_many(recorded(GREEDY, always_alike, (spec,), range(2)), Source.STORE)
    with db.read() as session:
        one, other = (players.ensure(session, who).id for who in (first, GREEDY))
    row = compared(db, one, other).rows[0]
    assert row.exact
    assert row.paired is row.needed is None
    assert row.unpaired == (0, None)


def test_nobody_of_that_number(db):
    with pytest.raises(NotFoundError):
        compared(db, 1, 2)
    with pytest.raises(NotFoundError):
        differing_cells(db, 1, 2)
