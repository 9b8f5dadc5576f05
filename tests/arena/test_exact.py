"""Exact results of whole policies: the figures that everything else is measured against."""

from fractions import Fraction

import pytest

from arena.board import Board, Mark
from arena.exact import BEST_VALUE, MOST_WINS, Results, Score, best_response, results
from arena.opponents import Engine, Policy, parse, symmetric_opponents
from arena.solver import Value
from tests.arena.samples import BOOK, PERFECT

RANDOM = parse("random").policy
DRAWN = Results(Fraction(0), Fraction(1), Fraction(0))


def test_random_against_random() -> None:
    found = results(RANDOM, RANDOM)
    assert found == Results(Fraction(737, 1260), Fraction(8, 63), Fraction(121, 420))
    assert [round(float(p), 4) for p in found] == [0.5849, 0.1270, 0.2881]
    assert found.of(Mark.X) == found
    assert found.of(Mark.O) == (found.o, found.draw, found.x)


def test_results_know_who_opened() -> None:
    assert results(RANDOM, RANDOM, Mark.O) == results(RANDOM, RANDOM)[::-1]
    strong = parse("minimax:tie=edge").policy
    assert results(strong, RANDOM, Mark.O) == results(RANDOM, strong, Mark.X)[::-1]


@pytest.mark.parametrize("opener", Mark)
@pytest.mark.parametrize("spec", ["random", "minimax", "minimax:tie=trap,epsilon=0.3"])
def test_of_symmetric_policies_one_board_of_each_class_is_enough(spec: str, opener: Mark) -> None:
    other = parse(spec).policy
    for x, o in ((RANDOM, other), (other, RANDOM)):
        assert results(x, o, opener, symmetric=True) == results(x, o, opener)


@pytest.mark.parametrize("value", Value)
@pytest.mark.parametrize(
    ("tie", "opening_wins", "replying_wins", "rounded"),
    [
        ("uniform", Fraction(75257, 77760), Fraction(2645, 3402), (0.9678, 0.7775)),
        ("first", Fraction(191, 192), Fraction(254, 315), (0.9948, 0.8063)),
        ("center", Fraction(187, 192), Fraction(88, 105), (0.9740, 0.8381)),
        ("corner", Fraction(95, 96), Fraction(158, 189), (0.9896, 0.8360)),
        ("edge", Fraction(91, 96), Fraction(676, 945), (0.9479, 0.7153)),
    ],
)
def test_perfect_play_against_random(
    value: Value,
    tie: str,
    opening_wins: Fraction,
    replying_wins: Fraction,
    rounded: tuple[float, float],
) -> None:
    engine = parse(f"minimax:value={value},tie={tie}").policy
    opens, replies = results(engine, RANDOM), results(RANDOM, engine)
    assert (opens.x, replies.o) == (opening_wins, replying_wins)
    assert (round(float(opens.x), 4), round(float(replies.o), 4)) == rounded
    assert (opens.o, replies.x) == (0, 0)


@pytest.mark.parametrize(
    ("mark", "score", "keep_value", "expected", "wins"),
    [
        (Mark.X, MOST_WINS, False, (Fraction(191, 192), 0, Fraction(1, 192)), 0.9948),
        (Mark.X, MOST_WINS, True, (Fraction(191, 192), Fraction(1, 192), 0), 0.9948),
        (Mark.X, BEST_VALUE, False, (Fraction(191, 192), Fraction(1, 192), 0), 0.9948),
        (Mark.O, MOST_WINS, False, (Fraction(887, 945), Fraction(4, 945), Fraction(2, 35)), 0.9386),
        (Mark.O, MOST_WINS, True, (Fraction(866, 945), Fraction(79, 945), 0), 0.9164),
        (
            Mark.O,
            BEST_VALUE,
            False,
            (Fraction(883, 945), Fraction(53, 945), Fraction(1, 105)),
            0.9344,
        ),
        (Mark.O, BEST_VALUE, True, (Fraction(866, 945), Fraction(79, 945), 0), 0.9164),
    ],
)
def test_best_responses_to_random(
    mark: Mark,
    score: Score,
    keep_value: bool,
    expected: tuple[Fraction, Fraction, Fraction],
    wins: float,
) -> None:
    found = best_response(RANDOM, mark, score=score, keep_value=keep_value).of(mark)
    assert round(float(found[0]), 4) == wins
    # Several strategies may share a score: of those that win as often, any may be found.
    assert found[0] == expected[0]
    if score == BEST_VALUE or keep_value:
        assert found == expected


def test_a_best_response_knows_who_opened() -> None:
    for mark in Mark:
        mirrored = best_response(RANDOM, mark.other, Mark.O, keep_value=True)
        assert mirrored.of(mark.other) == best_response(RANDOM, mark, keep_value=True).of(mark)


@pytest.mark.parametrize("engine", PERFECT, ids=str)
@pytest.mark.parametrize("opener", Mark)
def test_no_strategy_whatever_beats_a_perfect_engine(engine: Engine, opener: Mark) -> None:
    """A best response that wins with probability 0 covers every opponent at once."""
    for mark in Mark:
        assert best_response(engine.policy, mark, opener).of(mark)[0] == 0


def test_perfect_engines_draw_with_each_other_and_never_lose_to_random() -> None:
    for one in PERFECT:
        assert all(results(one.policy, other.policy) == DRAWN for other in PERFECT)
        assert results(one.policy, RANDOM).o == 0
        assert results(RANDOM, one.policy).x == 0


def test_mistakes_are_punished() -> None:
    for epsilon in ("0.1", "0.5", "1"):
        policy = parse(f"minimax:epsilon={epsilon}").policy
        for mark in Mark:
            assert best_response(policy, mark).of(mark)[0] > 0
    assert results(parse("minimax:epsilon=1").policy, RANDOM) == results(RANDOM, RANDOM)


def test_policies_of_floats_are_welcome() -> None:
    """Any player can be measured, not only those with exact probabilities."""

    def noisy(board: Board) -> list[float]:
        return [1 / len(board.free) if s in board.free else 0.0 for s in range(9)]

    found = results(noisy, noisy)
    assert [float(p) for p in found] == pytest.approx([float(p) for p in results(RANDOM, RANDOM)])


# A player that has learnt one opponent by heart: the figures of a real failure.


def _by_heart(board: Board) -> Policy:
    """What the book says, and a random move where it says nothing."""
    if board not in BOOK:
        return RANDOM(board)
    return tuple(Fraction(square == BOOK[board]) for square in range(9))


def _draws(replying_to: str) -> float:
    return round(float(results(parse(replying_to).policy, _by_heart).draw), 3)


def test_the_book_has_nine_entries() -> None:
    assert [BOOK[board] for board in BOOK] == [0, 7, 5, 6, 0, 1, 6, 5, 8]


def test_replying_the_book_draws_with_its_teacher_and_is_helpless_against_the_others() -> None:
    ties = ("first", "s1", "last", "s3", "s4", "s5", "s6", "s7")
    found = [_draws(f"minimax:value=plain,tie={tie},opening=center") for tie in ties]
    assert found == [1.0, 0.042, 0.062, 0.021, 0.021, 0.062, 0.042, 0.021]
    assert _draws("minimax:value=plain") == _draws("minimax") == 0.042


def test_opening_the_book_draws_with_every_perfect_engine() -> None:
    """So games that a player opens say almost nothing about it."""
    assert {results(_by_heart, engine.policy) for engine in PERFECT} == {DRAWN}


def test_the_worst_of_the_panel_tells_the_book_from_a_player() -> None:
    worst = min(_draws(spec) for spec in symmetric_opponents())
    perfect = parse("minimax").policy
    assert worst < 0.01
    assert all(results(parse(spec).policy, perfect) == DRAWN for spec in symmetric_opponents())
