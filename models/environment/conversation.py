"""A model's seat in a rollout: a `ModelPlayer` whose requests go through the rollout's harness."""
# mypy: disable-error-code="import-untyped, misc, no-any-unimported"
# The library carries no types.

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import verifiers.v1 as vf

from arena.board import Outcome
from arena.game import Game, Message, Request, Termination
from models.completion import Completion, Fault, OnDelta, OnRequest
from models.endpoint import Endpoint
from models.entries import RESERVED, Entry, Sampling
from models.environment.harness import Ask, Connections, DirectHarness
from models.environment.options import GamesConfig
from models.formats import PromptFormat
from models.player import ModelPlayer

_NOWHERE = "http://in-this-rollout"
_LONGEST_NAME = 80
_ARENAS_OWN = frozenset({"model", "messages", "stream", "stream_options", "n", "seed"})


class VoidGameError(vf.RolloutError):
    """A game that no fault of the model's ended: its rollout failed, and has no reward."""


class Conversation(Endpoint):
    """A rollout as an endpoint: what it is asked, the harness asks the model.

    Args:
        interaction: the rollout, held open.
        harness: its harness.
        seeds: whether the sampling seed is sent.
    """

    def __init__(self, interaction: vf.Interaction, harness: DirectHarness, *, seeds: bool) -> None:
        super().__init__(_NOWHERE, "-")
        self._interaction = interaction
        self._harness = harness
        self._seeds = seeds

    async def complete(
        self,
        messages: Iterable[Message],
        seed: int | None,
        parameters: Mapping[str, Any] | None = None,
        *,
        reasoning_field: str = "reasoning_content",
        on_delta: OnDelta | None = None,  # noqa: ARG002 - replies come whole
        on_request: OnRequest | None = None,  # noqa: ARG002 - nobody watches
        max_tries: int | None = None,  # noqa: ARG002 - the harness's to say
    ) -> Completion | Fault:
        """The next message of a chat; a fault where the rollout ended before it came."""
        chat = tuple(messages)
        ask = Ask(chat, seed if self._seeds else None, dict(parameters or {}), reasoning_field)
        self._harness.ask = ask
        await self._interaction.turn(chat[-1].content)
        if ask.answer is None:
            why = f"the rollout ended: {self._interaction.trace.stop_condition or 'no reply'}"
            request = Request(None, 0.0, {}, why)
            return Fault(Termination.PROVIDER_ERROR, why, False, (request,))
        return ask.answer


def prepare(agent: vf.Agent, connections: Connections) -> DirectHarness:
    """An agent's harness, with the run's connections, and with limits to what it waits for.

    Raises:
        TypeError: it is another harness, which cannot ask as a game needs it.
    """
    harness = agent.harness
    if not isinstance(harness, DirectHarness):
        raise TypeError(
            f"the harness {harness.config.id!r} cannot play: leave the seat's harness.id unset"
        )
    harness.share(connections)
    client = agent.ctx.client
    if client.timeout.read is None:
        # The library's own client waits for ever.
        timeout = client.timeout.model_copy(update={"read": harness.config.read_timeout})
        patient = client.model_copy(update={"timeout": timeout})
        agent.ctx = dataclasses.replace(agent.ctx, client=patient)
    return harness


def player_of(
    agent: vf.Agent, config: GamesConfig, form: PromptFormat, endpoint: Endpoint
) -> ModelPlayer:
    """The model of a seat, known by its name and sampling as the arena knows its own entries."""
    said = agent.ctx.sampling.model_dump(exclude_none=True)
    entry = Entry(
        name=_name(agent.ctx.model),
        base_url=_NOWHERE,
        model=agent.ctx.model,
        prompt=form.name,
        history=config.history,
        reasoning_history=config.reasoning_history,
        max_replies=config.max_replies,
        sampling=Sampling.model_validate(
            {key: value for key, value in said.items() if key in Sampling.model_fields}
        ),
        extra_body={
            key: value
            for key, value in said.items()
            if key not in Sampling.model_fields and key not in _ARENAS_OWN
        },
    )
    return ModelPlayer(entry, form, endpoint)


def why_void(game: Game) -> str | None:
    """Why a game counts for nobody, in words; None where it counts."""
    if game.outcome is Outcome.VOID:
        return (game.failed[-1].error if game.failed else None) or f"{game.termination}"
    return None


def refuse_void(game: Game, traces: Sequence[vf.Trace]) -> None:
    """See that a void game is a failed rollout in each trace: never a loss, and played again.

    Raises:
        VoidGameError: it is not so yet.
    """
    if game.outcome in (None, Outcome.VOID) and not all(trace.errors for trace in traces):
        raise VoidGameError(f"the game is void: {why_void(game) or 'it was broken off'}")


def _name(model: str) -> str:
    """A served model's name as a player's."""
    printable = "".join(c if c.isprintable() else "?" for c in model).strip()
    if printable.partition(":")[0].strip().lower() in RESERVED:
        printable = f"served {printable}"
    return printable[-_LONGEST_NAME:].strip()
