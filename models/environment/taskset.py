"""The taskset: endless examples, and the reward of a game by the arena's one function."""
# mypy: disable-error-code="import-untyped, misc, no-any-unimported, untyped-decorator"
# The library carries no types.

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from arena.board import Mark, Outcome
from arena.game import Game, Verdict
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer
from arena.reward import Reward, reward
from models.environment.examples import Example
from models.environment.facts import KEY, UNPLAYED, game_of
from models.environment.options import GamesConfig, RewardConfig

_TEACHER = "minimax"


class GameData(vf.TaskData):
    """One example, as a trace keeps it."""

    seed: int
    opener: Mark
    mark: Mark
    opponent: str

    def game(self) -> Game:
        """A new game of it."""
        return Game(self.opener, self.seed)


class GameTask(vf.Task[GameData, vf.State, RewardConfig]):
    """One game, from the model's seat."""

    async def validate(self, runtime: vf.Runtime) -> bool:  # noqa: ARG002 - nothing is started
        """Whether the game can be played through, and a perfect player does not lose it."""
        data = self.data
        perfect, opponent = (EnginePlayer(parse(spec)) for spec in (_TEACHER, data.opponent))
        seats = (perfect, opponent) if data.mark is Mark.X else (opponent, perfect)
        game = await finish(data.game(), *seats)
        return game.outcome in (Outcome.win(data.mark), Outcome.DRAW)

    @vf.reward
    async def outcome(self, trace: vf.Trace) -> float:
        """What winning, drawing or losing is worth."""
        return self._reward(trace).outcome

    @vf.reward
    async def format(self, trace: vf.Trace) -> float:
        """What following the format is worth."""
        return self._reward(trace).format

    @vf.reward
    async def invalid(self, trace: vf.Trace) -> float:
        """The penalty, zero or less."""
        return self._reward(trace).invalid

    @vf.metric
    async def game(self, trace: vf.Trace) -> dict[str, float]:
        """The result, and how the replies were, each as a number that can be averaged."""
        facts = trace.info.get(KEY, UNPLAYED)
        game, mark = game_of(facts), Mark(facts["mark"])
        attempts = game.attempts_of(mark)
        forfeit = game.termination is not None and game.termination.is_forfeit
        return {
            "opened": float(mark is game.opener),
            "won": float(game.outcome is Outcome.win(mark)),
            "drawn": float(game.outcome is Outcome.DRAW),
            "lost": float(game.outcome is Outcome.win(mark.other)),
            "forfeited": float(forfeit and game.outcome is Outcome.win(mark.other)),
            "replies": float(len(attempts)),
            "invalid_replies": float(sum(each.verdict is not Verdict.OK for each in attempts)),
            "followed_contains": _share(each.contains for each in attempts),
            "followed_exact": _share(each.exact for each in attempts),
        }

    def _reward(self, trace: vf.Trace) -> Reward:
        facts = trace.info.get(KEY, UNPLAYED)
        config = self.config
        return reward(
            game_of(facts), Mark(facts["mark"]), check=config.check, weights=config.weights
        )


class GamesTaskset(vf.Taskset[GameTask, GamesConfig]):
    """As many examples as a trainer takes."""

    INFINITE = True

    def __init__(self, config: GamesConfig) -> None:
        super().__init__(config)
        self.form = config.form()

    def load(self) -> Iterator[GameTask]:
        """The examples in order, for ever; the same for the same options."""
        mix = self.config.mix()
        for number in itertools.count():
            yield GameTask(_data(mix.example(number)), self.config.task)


def _data(example: Example) -> GameData:
    opens = "opens" if example.mark is example.opener else "replies"
    return GameData(
        id=str(example.seed),
        name=f"seed {example.seed}: {example.mark} {opens} against {example.opponent}",
        **example._asdict(),
    )


def _share(followed: Any) -> float:
    each = list(followed)
    return sum(each) / len(each) if each else 0.0
