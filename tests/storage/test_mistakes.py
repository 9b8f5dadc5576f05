import pytest

from arena.board import Mark
from arena.game import Termination
from arena.traps import Status, atlas
from storage import Source
from storage.mistakes import (
    Mistakes,
    by_ply,
    losing_lines,
    trap_totals,
    traps,
)
from tests.storage.panels import engine
from tests.storage.samples import DRAW, MODEL, OPENER_WINS, PERSON, RANDOM, game_of

# X, O, and so on: the reply at an edge to the corner gives the draw away, and X takes it.
FORK = (0, 1, 4, 8, 3, 5, 6)
STORE = Source.STORE


@pytest.fixture
def number(games, db):
    """A model's number, once it has lost a game, replying."""
    games.record(game_of(OPENER_WINS), RANDOM, MODEL, STORE)
    return 2


def test_nothing_played(db):
    assert by_ply(db, 1) == {}
    assert losing_lines(db, 1) == []
    standings = traps(db, 1)
    assert [each.trap for each in standings] == list(atlas())
    assert {each.status for each in standings} == {Status.NEVER_MET}


def test_moves_by_ply_and_kind(db, number):
    # X takes a corner, and O the edge below it: lost. X goes on along the row: now it is a draw
    # again, if O blocks. O does not.
    assert by_ply(db, number) == {
        (False, 1): Mistakes(moves=1, draw_to_loss=1, fork_traps=1),
        (False, 3): by_ply(db, number)[False, 3],
    }
    third = by_ply(db, number)[False, 3]
    assert (third.moves, third.missed_blocks) == (1, 1)
    assert by_ply(db, number, "random") == by_ply(db, number)
    assert by_ply(db, number, "minimax") == {}
    assert by_ply(db, number, rated=False) == {}


def test_an_engine_is_examined_against_engines_alone(games, db, number):
    assert by_ply(db, 1) == {}
    games.record(game_of(OPENER_WINS, seed=1), RANDOM, engine("minimax"), STORE)
    assert sum((each for each in by_ply(db, 1).values()), Mistakes()).moves == 3


def test_mistakes_add_up():
    one = Mistakes(moves=3, win_to_draw=1, draw_to_loss=1, let_offs=1)
    both = one + Mistakes(moves=2, win_to_loss=1, missed_wins=1)
    assert (both.moves, both.loses_value, both.keeps_value) == (5, 3, 2)
    assert (both.missed_wins, both.let_offs) == (1, 1)


def test_traps_with_an_example_of_either_end(games, db, number):
    failed = games.find()[0].id
    passed = games.record(game_of((0, 4, 8, 1, 7, 6, 2, 5, 3), seed=1), RANDOM, MODEL, STORE)
    reply = next(each for each in traps(db, number) if each.trap.key == "O ........X")
    assert (reply.met, reply.failed) == (2, 1)
    assert reply.status is Status.FAILED
    assert (reply.example_failed, reply.example_passed) == (failed, passed)
    with db.read() as session:
        counts = trap_totals(session, [number, 7])
    assert counts[number].met == sum(each.met for each in traps(db, number)) >= 3
    assert 0 < counts[number].failed < counts[number].met
    assert counts[7] == (0, 0)


def test_losing_lines_up_to_symmetry(games, db, number):
    turned = [(2, 1, 5, 4, 8), (6, 3, 7, 4, 8), (6, 7, 3, 4, 0)]
    for seed, moves in enumerate(turned, start=1):
        games.record(game_of(moves, Mark.O, seed=seed), MODEL, RANDOM, STORE)
    games.record(game_of(FORK, seed=7), RANDOM, MODEL, STORE)
    games.record(game_of((0, 3, 1, 4, 8, 5), seed=8), MODEL, RANDOM, STORE)
    games.record(game_of(DRAW, seed=9), RANDOM, MODEL, STORE)
    forfeit = game_of((0, 3), seed=10)
    forfeit.end(Termination.FORFEIT_INVALID, Mark.X)
    games.record(forfeit, MODEL, RANDOM, STORE)
    found = losing_lines(db, number)
    assert (found[0].count, found[0].opening, found[0].share) == (4, False, 0.8)
    assert found[0].moves == (0, 1, 3, 4, 6)
    assert games.load(found[0].example).game.moves == OPENER_WINS
    assert sorted((each.count, each.opening) for each in found[1:]) == [(1, False), (1, True)]
    assert losing_lines(db, number, 1) == found[:1]
    assert [each.share for each in losing_lines(db, number, opening=True)] == [1.0]


def test_games_of_the_browser_are_apart(games, db):
    id = games.create(PERSON, MODEL, Mark.X, 0, {})
    for plies in range(1, 6):
        games.append(id, game_of(OPENER_WINS[:plies]))
    assert by_ply(db, 2) == {}
    assert set(by_ply(db, 2, rated=False)) == {(False, 1), (False, 3)}
    assert by_ply(db, 1, rated=False) == {}
    assert losing_lines(db, 2) == []
    assert losing_lines(db, 2, rated=False)[0].example == id
    assert sum(each.failed for each in traps(db, 2, rated=False)) > 0
