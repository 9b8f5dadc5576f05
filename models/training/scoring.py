"""What games of the policy's were worth, and a step's figures of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena import reasons
from arena.board import Board, Outcome, start
from arena.game import Attempt, Verdict
from arena.reward import Check, reward
from models.reply import END_THINK, THINK
from models.training.curves import Row
from models.training.rollouts import Played
from models.training.settings import Worth


class Score(NamedTuple):
    """A game's reward in its parts."""

    outcome: float
    format: float
    invalid: float
    reason: float

    @property
    def total(self) -> float:
        """The reward that advantages are taken from."""
        return sum(self)


def score(played: Played, worth: Worth) -> Score:
    """The arena's own reward of a game by the `exact` check, and what true reasons add to it."""
    parts = reward(played.game, played.start.mark, check=Check.EXACT, weights=worth.weights)
    return Score(*parts, worth.reason * share_of_true_reasons(played))


def share_of_true_reasons(played: Played) -> float:
    """Of a game's replies, the share that give a reason that is true; 0 where there are none."""
    judged = [true for _, true in judged_reasons(played)]
    return sum(judged) / len(judged) if judged else 0.0


def judged_reasons(played: Played) -> Iterable[tuple[Attempt, bool]]:
    """Each reply of the policy's, and whether its thinking is a reason true of board and move."""
    board = start(played.game.opener)
    for turn in played.game.turns:
        for attempt in turn.attempts:
            yield attempt, _is_reasoned(attempt, board)
        board = board.after(turn.square)
    for attempt in played.game.unanswered:
        yield attempt, False


def figures(games: Sequence[Played], scored: Sequence[Score]) -> Row:
    """The curve's figures of a step's games."""
    n = len(games)
    judged = [pair for game in games for pair in judged_reasons(game)]
    replies = max(1, len(judged))
    samples = [each for game in games for each in game.samples]
    wins, draws, forfeits = (
        sum(map(test, games)) / n
        for test in (
            lambda each: each.game.outcome is Outcome.win(each.start.mark),
            lambda each: each.game.outcome is Outcome.DRAW,
            lambda each: each.game.termination.is_forfeit,
        )
    )
    tokens = sum(len(each.completion) for each in samples)
    return {
        "reward": sum(each.total for each in scored) / n,
        "outcome": sum(each.outcome for each in scored) / n,
        "format": sum(each.format for each in scored) / n,
        "invalid": sum(each.invalid for each in scored) / n,
        "reason": sum(each.reason for each in scored) / n,
        "won": wins,
        "drawn": draws,
        "not_lost": wins + draws,
        "forfeits": forfeits,
        "exact": sum(attempt.exact for attempt, _ in judged) / replies,
        "valid": sum(attempt.verdict is Verdict.OK for attempt, _ in judged) / replies,
        "true_reasons": sum(true for _, true in judged) / replies,
        "entropy": -sum(sum(each.logprobs) for each in samples) / max(1, tokens),
    }


def _is_reasoned(attempt: Attempt, board: Board) -> bool:
    if attempt.square is None or attempt.verdict is not Verdict.OK:
        return False
    thinking = attempt.reply.rpartition(END_THINK)[0].rpartition(THINK)[2]
    return reasons.is_true(thinking, board, attempt.square)
