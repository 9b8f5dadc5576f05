"""The reward of one game, the same function in training, in evaluations and in datasets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from arena.board import Mark, Outcome
from arena.game import Game, Verdict


class Check(StrEnum):
    """By which check a reply follows the format; see `arena.game.Attempt`."""

    CONTAINS = "contains"
    EXACT = "exact"


@dataclass(frozen=True)
class Weights:
    """What each part is worth."""

    win: float = 1.0
    draw: float = 0.5
    loss: float = 0.0
    """Of an unfinished game too."""
    format: float = 0.2
    """Times the share of attempts that follow the format."""
    invalid: float = 0.1
    """Taken off once if any attempt was invalid."""


DEFAULT_WEIGHTS = Weights()


class Reward(NamedTuple):
    """A reward in its parts."""

    outcome: float
    format: float
    invalid: float
    """Zero or less."""

    @property
    def total(self) -> float:
        """The reward."""
        return self.outcome + self.format + self.invalid


def reward(
    game: Game,
    mark: Mark,
    *,
    check: Check = Check.CONTAINS,
    weights: Weights = DEFAULT_WEIGHTS,
) -> Reward:
    """What a game was worth to the player of a mark.

    A void game has no reward: leave it out. A player that makes no attempts, such as an engine,
    has no share of format.

    Raises:
        ValueError: the game is void.
    """
    if game.outcome is Outcome.VOID:
        raise ValueError("a void game has no reward")
    worth = {Outcome.win(mark): weights.win, Outcome.DRAW: weights.draw}
    outcome = weights.loss if game.outcome is None else worth.get(game.outcome, weights.loss)
    attempts = game.attempts_of(mark)
    followed = sum(a.contains if check is Check.CONTAINS else a.exact for a in attempts)
    invalid = any(attempt.verdict is not Verdict.OK for attempt in attempts)
    return Reward(
        outcome,
        weights.format * (followed / len(attempts)) if attempts else 0.0,
        -weights.invalid if invalid else 0.0,
    )
