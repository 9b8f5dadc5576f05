"""The model under examination: asked within limits, and all that it said remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.board import Mark, start
from arena.game import Game, Message, Request
from models.adapt import TOKEN_PARAMETERS, Adaptation
from models.completion import Completion, Fault, OnDelta
from models.endpoint import Endpoint
from models.entries import Entry
from models.formats import PromptFormat
from models.listing import Listed
from models.prompt import messages
from models.reply import Reading, read

if TYPE_CHECKING:
    from models.transport import Answer

ANY_SEED = 11
"""The seed where it does not matter which."""


class SpentError(Exception):
    """No request is left."""


class StopError(Exception):
    """Nothing else can work; the message says why, in a sentence."""


class Reply(NamedTuple):
    """A reply, and what was asked for."""

    completion: Completion
    reading: Reading
    cap: int
    """How many tokens it might have."""

    @property
    def words(self) -> tuple[str, str]:
        """Thinking and text, to be compared with those of another reply."""
        return self.reading.reasoning or "", self.reading.text

    @property
    def blank(self) -> bool:
        """Whether it says nothing at all."""
        return not any(part.strip() for part in self.words)


class Subject:
    """One model.

    Args:
        entry: what `models.toml` says of it.
        form: the prompt format that the entry names.
        endpoint: an endpoint that has learnt nothing yet.
        most_requests: how many it may be sent.
        clock: where time comes from.
    """

    def __init__(
        self,
        entry: Entry,
        form: PromptFormat,
        endpoint: Endpoint,
        most_requests: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.entry = entry
        self.form = form
        self.endpoint = endpoint
        self.clock = clock
        self.replies: list[Reply] = []
        """Every reply so far."""
        self.requests = 0
        """How many were sent, fetches of lists among them."""
        self.listed: dict[str, Listed] | None = None
        """What the server lists, by its id; None where it does not."""
        self._most_requests = most_requests
        self._adaptations: tuple[Adaptation, ...] | None = None

    @property
    def token_parameter(self) -> str:
        """The parameter that caps the tokens, as the entry says it."""
        return next(name for name in TOKEN_PARAMETERS[::-1] if name in self._sampling)

    @property
    def most_tokens(self) -> int:
        """The entry's cap on tokens."""
        cap: int = self._sampling[self.token_parameter]
        return cap

    @property
    def greedy(self) -> bool:
        """Whether the entry wants the likeliest reply."""
        return self.entry.sampling.temperature == 0

    @property
    def adaptations(self) -> tuple[Adaptation, ...]:
        """What the server has forced us to change about requests such as a game's."""
        return self.endpoint.adaptations if self._adaptations is None else self._adaptations

    def leave_game(self) -> None:
        """From now on, ask what no game asks for: what is learnt of it is not a game's."""
        self._adaptations = self.adaptations

    def first_prompt(self) -> tuple[Message, ...]:
        """What a game begins with, where the model opens."""
        return messages(self._game(), self._game().to_move, (), self.form)

    async def ask(
        self,
        *chat: Message,
        tokens: int | None = None,
        temperature: float | None = None,
        seed: int = ANY_SEED,
        on_delta: OnDelta | None = None,
        tries: int | None = None,
    ) -> Reply | Fault:
        """Ask as a game would, but for what is given. A fault's message says only why, not where.

        Raises:
            SpentError: there have been requests enough.
        """
        left = self._most_requests - self.requests
        if left < 1:
            raise SpentError
        cap = tokens or self.most_tokens
        parameters = {**self._sampling, **self.entry.extra_body, self.token_parameter: cap}
        if temperature is not None:
            parameters["temperature"] = temperature
        completion = await self.endpoint.complete(
            chat,
            seed,
            parameters,
            on_delta=on_delta,
            on_request=self._count,
            max_tries=min(tries or left, left),
        )
        if isinstance(completion, Fault):
            where = f"{self.endpoint.model} at {self.endpoint.base_url}: "
            return replace(completion, message=sentence(completion.message.removeprefix(where)))
        board = start(self._game().opener)
        reading = read(completion.message, completion.finish_reason, self.form.answer, board)
        self.replies.append(Reply(completion, reading, cap))
        return self.replies[-1]

    def room_for(self, requests: int) -> None:
        """See that so many requests are left.

        Raises:
            SpentError: there are not.
        """
        if self.requests + requests > self._most_requests:
            raise SpentError

    async def fetch(self, path: str, *, root: bool = False) -> Answer:
        """What the server has at a path.

        Raises:
            SpentError: there have been requests enough.
        """
        self.room_for(1)
        self.requests += 1
        return await self.endpoint.get(path, root=root)

    @property
    def _sampling(self) -> dict[str, Any]:
        return self.entry.sampling.parameters()

    def _game(self) -> Game:
        return Game(opener=Mark(self.form.mark or "X"))

    def _count(self, request: Request) -> None:
        # Without a parameter it never left: a variable of the environment was missing.
        self.requests += bool(request.sent)


def sentence(words: str) -> str:
    """Words as a sentence."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def refused(fault: Fault) -> bool:
    """Whether the server answered, and would answer the same again."""
    status = fault.requests[-1].status
    return status is not None and (fault.fatal or status in (400, 422))


def chat(user: str, system: str | None = None) -> Iterable[Message]:
    """The messages of a first question."""
    if system:
        yield Message("system", system)
    yield Message("user", user)
