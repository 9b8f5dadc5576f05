"""The environment: one model against an engine, one trace a game."""
# mypy: disable-error-code="import-untyped, misc, no-any-unimported"
# The library carries no types.

from __future__ import annotations

import verifiers.v1 as vf
from verifiers.v1.agent import TimeoutConfig

from arena.board import Mark
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer, Player
from models.environment.conversation import (
    Conversation,
    player_of,
    prepare,
    refuse_void,
    why_void,
)
from models.environment.facts import KEY, facts_of
from models.environment.harness import Connections

ROLLOUT_S = 3600.0
"""The longest a game may take, unless the run says otherwise."""
SEAT = vf.AgentConfig(runtime=vf.SubprocessConfig(), timeout=TimeoutConfig(rollout=ROLLOUT_S))
"""A seat's defaults. The runtime is a folder on this machine, in which nothing is started."""


class TableConfig(vf.SingleAgentEnvConfig):
    """The one seat."""

    agent: vf.AgentConfig = SEAT


class TableEnv(vf.SingleAgentEnv, vf.Env[TableConfig]):
    """The arena's referee between a model and an engine."""

    async def start(self) -> None:
        """Open what all games of the run share."""
        self._connections = Connections()

    async def stop(self) -> None:
        """Close it."""
        connections = getattr(self, "_connections", None)
        if connections is not None:
            await connections.aclose()

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one game; its facts go to `trace.info["game"]`.

        Raises:
            VoidGameError: the game counts for nobody.
        """
        agent, data = agents.agent, task.data
        config, form = self.taskset.config, self.taskset.form
        harness = prepare(agent, self._connections)
        async with agent.interaction(task) as interaction:
            conversation = Conversation(interaction, harness, seeds=config.sampling_seeds)
            model = player_of(agent, config, form, conversation)
            engine = EnginePlayer(parse(data.opponent))
            players: dict[Mark, Player] = {data.mark: model, data.mark.other: engine}
            identities = {mark: player.identity for mark, player in players.items()}
            game = data.game()
            try:
                await finish(game, players[Mark.X], players[Mark.O])
            finally:
                facts = facts_of(game, data.mark, identities, form, why_void(game))
                interaction.trace.info[KEY] = facts
            refuse_void(game, [interaction.trace])
