"""Many games at once with a policy in a seat, in one process.

The policy sits at the arena's own table: a `ModelPlayer` asks it with the arena's prompts, reads
its replies, gives it feedback and counts its replies, and `arena.match` referees. Only the endpoint
differs: instead of a request over HTTP, a chat waits until every game under way has one, and then
all of them are answered in one go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from arena.board import Mark
from arena.game import Game, Message
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer
from models.completion import Completion, Fault, OnDelta, OnRequest
from models.endpoint import Endpoint
from models.entries import Entry
from models.formats import PromptFormat
from models.library import DEFAULT, SHIPPED
from models.player import ModelPlayer
from models.prompt import History
from models.training.starts import Start
from models.training.tokens import Ids, Sample, decode, encode, prompt_text

Draw = Callable[[Sequence[Ids]], Sequence[Sample]]
"""A policy: one completion for each prompt, in their order."""

_NAME = "policy"
_NOWHERE = "http://in-this-process"


class Played(NamedTuple):
    """A finished game of the policy's."""

    start: Start
    game: Game
    samples: tuple[Sample, ...]
    """Its replies as tokens, in the order of `game.attempts_of(start.mark)`."""


def play(
    draw: Draw, starts: Sequence[Start], *, max_replies: int = 8, prompt: str = DEFAULT
) -> list[Played]:
    """Play games to their ends; the same draws give the same games.

    Args:
        draw: the policy.
        starts: how the games begin; all are under way at once.
        max_replies: of a game.
        prompt: a shipped prompt format's name.
    """
    entry = Entry(
        name=_NAME,
        base_url=_NOWHERE,
        model=_NAME,
        prompt=prompt,
        # Its template shows it the last board of a chat, so that the chat before is left out.
        history=History.BOARD,
        max_replies=max_replies,
    )
    return asyncio.run(_play(_Table(draw, len(starts)), starts, entry, SHIPPED[prompt]))


async def _play(
    table: _Table, starts: Sequence[Start], entry: Entry, form: PromptFormat
) -> list[Played]:
    async def one(start: Start) -> Played:
        seat = _Seat(table)
        players: dict[Mark, Any] = {
            start.mark: ModelPlayer(entry, form, seat),
            start.mark.other: EnginePlayer(parse(start.opponent)),
        }
        game = await finish(start.game(), players[Mark.X], players[Mark.O])
        table.leave()
        return Played(start, game, tuple(seat.samples))

    return list(await asyncio.gather(*map(one, starts)))


class _Table:
    """Where chats wait for each other."""

    def __init__(self, draw: Draw, games: int) -> None:
        self._draw = draw
        self._under_way = games
        self._waiting: list[tuple[Ids, asyncio.Future[Sample]]] = []

    async def ask(self, prompt: Ids) -> Sample:
        """A completion, once every game under way waits for one."""
        answer: asyncio.Future[Sample] = asyncio.get_running_loop().create_future()
        self._waiting.append((prompt, answer))
        self._go_on()
        return await answer

    def leave(self) -> None:
        """A game is over."""
        self._under_way -= 1
        self._go_on()

    def _go_on(self) -> None:
        if not self._waiting or len(self._waiting) < self._under_way:
            return
        waiting, self._waiting = self._waiting, []
        drawn = self._draw([prompt for prompt, _ in waiting])
        for (_, answer), each in zip(waiting, drawn, strict=True):
            answer.set_result(each)


class _Seat(Endpoint):
    """A game's way to the policy."""

    def __init__(self, table: _Table) -> None:
        super().__init__(_NOWHERE, _NAME)
        self.samples: list[Sample] = []
        self._table = table

    async def complete(
        self,
        messages: Iterable[Message],
        seed: int | None,
        parameters: Mapping[str, Any] | None = None,  # noqa: ARG002 - the draw's own
        *,
        reasoning_field: str = "reasoning_content",  # noqa: ARG002 - there is none
        on_delta: OnDelta | None = None,  # noqa: ARG002 - replies come whole
        on_request: OnRequest | None = None,  # noqa: ARG002 - there are no requests
        max_tries: int | None = None,  # noqa: ARG002 - nor a second try
    ) -> Completion | Fault:
        """The next message of a chat, drawn together with those of the other games."""
        chat = tuple(messages)
        drawn = await self._table.ask(encode(prompt_text(chat)))
        self.samples.append(drawn)
        return Completion(
            message={"role": "assistant", "content": decode(drawn.completion)},
            finish_reason="stop" if drawn.ended else "length",
            messages=chat,
            seed=seed,
            prompt_tokens=len(drawn.prompt),
            completion_tokens=len(drawn.completion),
            seconds=0.0,
            requests=(),
            adaptations=(),
        )
