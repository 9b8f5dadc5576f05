"""The reward, part by part."""

from collections.abc import Sequence

import pytest

from arena.board import Mark
from arena.game import Attempt, Game, Message, Termination, Turn, Verdict
from arena.reward import Check, Reward, Weights, reward

X_WINS = (0, 3, 1, 4, 2)
DRAW = (0, 1, 2, 4, 3, 5, 7, 6, 8)


def said(verdict: Verdict = Verdict.OK, contains: bool = True, exact: bool = True) -> Attempt:
    return Attempt((Message("user", "?"),), "", verdict, None, contains=contains, exact=exact)


def game_of(moves: Sequence[int], mark: Mark = Mark.X, *attempts: Sequence[Attempt]) -> Game:
    """A game in which the turns of a mark had these attempts, one good one by default."""
    game, turns = Game(), iter(attempts)
    for square in moves:
        made = next(turns, [said()]) if game.to_move is mark else ()
        game.add(Turn(game.to_move, square, tuple(made)))
    return game


def test_what_an_outcome_is_worth() -> None:
    assert reward(game_of(X_WINS), Mark.X) == Reward(1.0, 0.2, 0.0)
    assert reward(game_of(X_WINS, Mark.O), Mark.O) == Reward(0.0, 0.2, 0.0)
    assert reward(game_of(DRAW), Mark.X).total == pytest.approx(0.7)
    assert reward(game_of(X_WINS[:4]), Mark.X) == Reward(0.0, 0.2, 0.0)


def test_an_engine_has_no_share_of_format() -> None:
    assert reward(game_of(X_WINS), Mark.O) == Reward(0.0, 0.0, 0.0)
    assert reward(Game(), Mark.X).total == 0


def test_format_is_a_share_and_an_invalid_attempt_costs_once() -> None:
    bad = said(Verdict.MALFORMED, contains=False, exact=False)
    loose = said(exact=False)
    game = game_of(X_WINS, Mark.X, [bad, bad, loose], [said()])
    assert reward(game, Mark.X) == Reward(1.0, 0.2 * (3 / 5), -0.1)
    assert reward(game, Mark.X, check=Check.EXACT).format == pytest.approx(0.2 * 2 / 5)


def test_attempts_that_led_to_no_turn_count() -> None:
    game = game_of(X_WINS[:4])
    bad = said(Verdict.TRUNCATED, contains=False)
    game.end(Termination.FORFEIT_TRUNCATED, Mark.X, attempts=[bad, bad])
    assert reward(game, Mark.X) == Reward(0.0, 0.1, -0.1)
    assert reward(game, Mark.O).total == 1


def test_weights_are_the_callers() -> None:
    weights = Weights(win=2, draw=1, loss=-1, format=0, invalid=3)
    bad = said(Verdict.OCCUPIED)
    assert reward(game_of(X_WINS, Mark.X, [bad, said()]), Mark.X, weights=weights).total == -1
    assert reward(game_of(X_WINS, Mark.O), Mark.O, weights=weights).total == -1
    assert reward(game_of(DRAW), Mark.X, weights=weights).total == 1


def test_a_void_game_has_none() -> None:
    game = game_of(X_WINS[:2])
    game.end(Termination.PROVIDER_ERROR)
    with pytest.raises(ValueError, match="void"):
        reward(game, Mark.X)
