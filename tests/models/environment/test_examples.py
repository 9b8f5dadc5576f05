"""Which games an environment plays: the same for the same options, and evenly spread."""

from __future__ import annotations

from collections import Counter

import pytest

from arena.board import Mark
from arena.errors import ArenaError, RulesError
from arena.game import Game, Termination, Turn, Verdict
from arena.opponents import Minimax, parse
from arena.players import EnginePlayer
from models.environment.examples import Example, Mix
from models.environment.facts import UNPLAYED, facts_of, game_of
from models.library import TAGS
from tests.storage.samples import attempt

EITHER = Mix(mark=None, opener=None, epsilon_high=1.0, opponents=("random", "minimax"))


def test_these_are_the_examples_for_ever():
    """A taskset that changes cannot be resumed, nor compared with what it was."""
    mix = Mix(mark=None, opener=Mark.X, ties=("uniform", "first"), epsilon_high=0.5, strata=4)
    assert [mix.example(number) for number in range(4)] == FIRST_FOUR


FIRST_FOUR = [
    Example(0, Mark.X, Mark.X, "minimax:epsilon=0.281"),
    Example(1, Mark.X, Mark.X, "minimax:epsilon=0.496"),
    Example(2, Mark.X, Mark.O, "minimax:tie=first,epsilon=0.086"),
    Example(3, Mark.X, Mark.O, "minimax:tie=first,epsilon=0.161"),
]


def minimax(spec: str) -> Minimax:
    engine = parse(spec)
    assert isinstance(engine, Minimax)
    return engine


def test_each_batch_is_spread_evenly():
    size = 12
    mix = Mix(
        seed=5,
        mark=None,
        opponents=("minimax:tie=first", "minimax:tie=trap", "minimax:value=plain"),
        epsilon_low=0.1,
        epsilon_high=0.7,
        strata=size,
    )
    orders = set()
    for batch in range(20):
        examples = [mix.example(batch * size + bucket) for bucket in range(size)]
        engines = [minimax(example.opponent) for example in examples]
        assert Counter(example.mark for example in examples) == {Mark.X: 6, Mark.O: 6}
        kinds = Counter((engine.tie, engine.value.value) for engine in engines)
        assert set(kinds.values()) == {4}
        slices = sorted(int((float(each.epsilon) - 0.1) / 0.05 + 1e-9) for each in engines)
        # An epsilon has three decimals, and may so be rounded over the edge of its slice.
        assert all(abs(place - bucket) <= 1 for bucket, place in enumerate(slices))
        orders.add(tuple(example.mark for example in examples))
    assert len(orders) > 10


def test_alone_each_example_draws_for_itself():
    examples = [EITHER.example(number) for number in range(4000)]
    seats = Counter((example.mark, example.opener) for example in examples)
    assert len(seats) == 4
    assert all(abs(count - 1000) < 150 for count in seats.values())
    random = sum(example.opponent == "random" for example in examples)
    assert abs(random - 2000) < 200
    assert [example.seed for example in examples] == list(range(4000))


def test_what_is_fixed_stays():
    mix = Mix(mark=Mark.O, opener=None, opponents=("minimax:epsilon=0.25",), epsilon_high=1.0)
    examples = [mix.example(number) for number in range(200)]
    assert {example.mark for example in examples} == {Mark.O}
    assert {example.opener for example in examples} == set(Mark)
    # A chance that a spec names is its own.
    assert {example.opponent for example in examples} == {"minimax:epsilon=0.25"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": -1}, "from 0 to 2"),
        ({"strata": 0}, "at least one stratum"),
        ({"epsilon_low": 0.5, "epsilon_high": 0.2}, "the lower one first"),
        ({"epsilon_high": 1.5}, "from 0 to 1"),
        ({"ties": ("odd",)}, "unknown tie 'odd'"),
        ({"ties": ()}, "at least one"),
        ({"opponents": ("minimal",)}, "unknown engine 'minimal'"),
    ],
)
def test_options_that_make_no_sense(options, said):
    with pytest.raises(ArenaError, match=said):
        Mix(**options)


def seats(mark):
    engine = EnginePlayer(parse("minimax")).identity
    return {mark: engine, mark.other: engine}


def test_facts_give_a_game_back():
    wrong = attempt((), "9", Verdict.OUT_OF_RANGE, None, contains=True, exact=False)
    right = attempt((), "0", square=0)
    game = Game(Mark.O, 7)
    game.add(Turn(Mark.O, 4))
    game.add(Turn(Mark.X, 0, (wrong, right)))
    game.add(Turn(Mark.O, 8))
    game.end(Termination.FORFEIT_INVALID, Mark.X, attempts=[wrong])
    again = game_of(facts_of(game, Mark.X, seats(Mark.X), TAGS))
    assert (again.opener, again.seed, again.moves) == (game.opener, game.seed, game.moves)
    assert (again.outcome, again.termination) == ("o", Termination.FORFEIT_INVALID)
    kept = [(a.verdict, a.square, a.contains, a.exact) for a in again.attempts_of(Mark.X)]
    assert kept == [(a.verdict, a.square, a.contains, a.exact) for a in (wrong, right, wrong)]


def test_a_game_under_way_and_one_that_nobody_played():
    game = Game(seed=3)
    game.add(Turn(Mark.X, 4))
    again = game_of(facts_of(game, Mark.O, seats(Mark.O), TAGS))
    assert (again.moves, again.outcome) == ((4,), None)
    assert game_of(UNPLAYED).moves == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"squares": [4, 4]},
        {"squares": [0, 3, 1, 4, 2], "outcome": "o"},
        {"squares": None},
        {"outcome": "x"},
        {"opener": "Z"},
        {"termination": "resigned", "outcome": "draw"},
        {"attempts": [{"ply": 5, "verdict": "ok", "square": 1, "contains": True, "exact": True}]},
        {"attempts": [{"ply": 0}]},
    ],
)
def test_facts_of_no_game(changes):
    with pytest.raises(RulesError):
        game_of({**UNPLAYED, **changes})
