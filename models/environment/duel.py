"""Another environment: model against model, each seat with a trace of its own.

The seats are `x` and `o`: `--env.x.model`, `--env.o.client.base-url` and so on; what a seat does
not say is the run's. Only who opens and the seed are taken of an example.
"""
# mypy: disable-error-code="import-untyped, misc, no-any-unimported"
# The library carries no types.

from __future__ import annotations

import verifiers.v1 as vf

from arena.board import Mark
from arena.match import finish
from models.environment.conversation import (
    Conversation,
    player_of,
    prepare,
    refuse_void,
    why_void,
)
from models.environment.facts import KEY, facts_of
from models.environment.harness import Connections
from models.environment.table import SEAT


class DuelConfig(vf.EnvConfig):
    """The two seats."""

    x: vf.AgentConfig = SEAT
    o: vf.AgentConfig = SEAT


class DuelEnv(vf.Env[DuelConfig]):
    """The arena's referee between two models."""

    async def start(self) -> None:
        """Open what all games of the run share."""
        self._connections = Connections()

    async def stop(self) -> None:
        """Close it."""
        connections = getattr(self, "_connections", None)
        if connections is not None:
            await connections.aclose()

    async def setup(self, agents: vf.Agents) -> None:
        """A seat with a model of its own is a sparring partner, and learns nothing."""
        for name in ("x", "o"):
            getattr(agents, name).trainable = getattr(self.config, name).model is None

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one game; its facts go to `trace.info["game"]` of both traces.

        Raises:
            VoidGameError: the game counts for nobody.
        """
        config, form = self.taskset.config, self.taskset.form
        seats = {Mark.X: agents.x, Mark.O: agents.o}
        tasks = {
            mark: task.with_data(mark=mark, opponent=seats[mark.other].ctx.model) for mark in Mark
        }
        harnesses = {mark: prepare(seats[mark], self._connections) for mark in Mark}
        async with (
            seats[Mark.X].interaction(tasks[Mark.X]) as x,
            seats[Mark.O].interaction(tasks[Mark.O]) as o,
        ):
            held = {Mark.X: x, Mark.O: o}
            players = {
                mark: player_of(
                    seats[mark],
                    config,
                    form,
                    Conversation(held[mark], harnesses[mark], seeds=config.sampling_seeds),
                )
                for mark in Mark
            }
            identities = {mark: player.identity for mark, player in players.items()}
            game = task.data.game()
            try:
                await finish(game, players[Mark.X], players[Mark.O])
            finally:
                for mark in Mark:
                    facts = facts_of(game, mark, identities, form, why_void(game))
                    held[mark].trace.info[KEY] = facts
            refuse_void(game, [x.trace, o.trace])
