"""A model behind an OpenAI-compatible server: asked until it answers, or until it is certain that
it does not.

Retries and adaptations are ours, so that each request is kept. What a server or a network does
wrong never raises: it comes back as a `Fault`.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.game import Message, Request, Termination
from models import adapt, faults, keys
from models.adapt import Adaptation, Learnt
from models.completion import Completion, Fault, OnDelta, OnRequest, completion_of, request_of
from models.faults import Diagnosis, Kind
from models.keys import Secrets

if TYPE_CHECKING:
    from models.transport import Answer, Transport

_LONGEST_BACKOFF_S = 30.0
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an endpoint is waited for."""

    timeout_s: float = 300.0
    """For one request, to its last byte."""
    max_tries: int = 20
    max_wait_s: float = 600.0
    """From the first try to the start of the last."""
    backoff_s: float = 0.5
    """The first pause; each further one is twice as long, up to half a minute."""


class Endpoint:
    """One model at one server, with what has been learnt of it.

    Args:
        base_url: the server's address, usually ending in /v1.
        model: the name under which the server knows the model.
        api_key_env: the environment variable that holds the key.
        headers_env: header names, each with the environment variable that holds its value.
        patience: timeouts and limits to retries.
        connect: makes the connections to the server from a timeout, where that takes more than
            its address.
        environ, generator, sleep, clock: where secrets, jitter, pauses and time come from.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key_env: str | None = None,
        headers_env: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        connect: Callable[[float], Transport] | None = None,
        environ: Mapping[str, str] = os.environ,
        generator: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.base_url = base_url
        self.model = model
        self._api_key_env = api_key_env
        self._headers_env = dict(headers_env or {})
        self._patience = patience or Patience()
        self._connect = connect
        self._environ = environ
        self._generator = generator or random.Random()
        self._sleep = sleep
        self._clock = clock
        self._learnt = Learnt()
        self._transport: Transport | None = None

    def __repr__(self) -> str:
        return f"<Endpoint {self.model!r} at {self.base_url}>"

    @property
    def adaptations(self) -> tuple[Adaptation, ...]:
        """What the server has forced us to change about requests, so far."""
        return self._learnt.adaptations

    async def aclose(self) -> None:
        """Close the connections of this event loop; the endpoint can be used again."""
        if self._transport is not None:
            await self._transport.aclose()

    async def get(self, path: str, *, root: bool = False) -> Answer:
        """One request for what the server has at a path; nothing is retried, all is redacted.

        Args:
            path: below the base URL.
            root: below the server's root instead.
        """
        transport = await self._connected()
        try:
            carried = keys.read(self._environ, self._api_key_env, self._headers_env)
        except keys.UnusableError as error:
            from models.transport import Answer

            return Answer(None, failure=str(error), fatal=True)
        return _redacted(await transport.get(path, carried.headers, root=root), carried)

    async def complete(
        self,
        messages: Iterable[Message],
        seed: int | None,
        parameters: Mapping[str, Any] | None = None,
        *,
        reasoning_field: str = "reasoning_content",
        on_delta: OnDelta | None = None,
        on_request: OnRequest | None = None,
        max_tries: int | None = None,
    ) -> Completion | Fault:
        """Ask for the next message of a chat.

        Args:
            messages: the chat; system first, then user and assistant in turn.
            seed: the sampling seed to send.
            parameters: the request's other parameters: temperature, max_tokens and so on.
            reasoning_field: what to call a message's separate thinking in the request.
            on_delta: given, the reply is streamed to it. A failed request may have streamed a
                part of a reply already: `on_request` says so.
            on_request: called after each request.
            max_tries: of this reply, where that is fewer than the endpoint's patience allows.
        """
        wanted = {**(parameters or {})}
        if seed is not None:
            wanted["seed"] = seed
        if on_delta is not None:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        tries = min(max_tries or self._patience.max_tries, self._patience.max_tries)
        call = _Call(tuple(messages), wanted, reasoning_field, on_delta, on_request, tries)
        try:
            carried = keys.read(self._environ, self._api_key_env, self._headers_env)
        except keys.UnusableError as error:
            call.add(Request(None, 0.0, {}, str(error)))
            return self._fault(call, Diagnosis(Kind.FATAL, str(error)))
        return await self._ask(call, carried)

    async def _ask(self, call: _Call, carried: Secrets) -> Completion | Fault:
        begun, tries = self._clock(), 0
        while True:
            # Read before it is sent: another reply may teach us more while this one is under way.
            in_force = self._learnt.in_force(fewer_tokens=call.tokens is not None)
            sent = self._learnt.parameters(call.wanted, call.tokens)
            chat = self._learnt.messages(call.messages)
            answer, seconds = await self._send(call, sent, chat, carried)
            if faults.is_completion(answer):
                if carried.values:
                    answer = answer._replace(data=carried.hide(answer.data))
                call.add(request_of(answer, seconds, sent))
                seconds = self._clock() - begun
                return completion_of(answer, sent, chat, seconds, call.requests, in_force)
            # Redacted before anything reads it: servers quote the headers that they got.
            answer = _redacted(answer, carried)
            diagnosis = faults.diagnose(answer)
            call.add(request_of(answer, seconds, sent, diagnosis.reason))
            verdict = self._adapt(call, answer, sent, chat, diagnosis)
            if verdict is None:
                continue
            tries += 1
            waited = self._clock() - begun
            pause = max(verdict.wait_s, self._backoff(tries))
            if (
                verdict.kind is Kind.RETRY
                and tries < call.max_tries
                and waited + pause <= self._patience.max_wait_s
            ):
                await self._sleep(pause)
                continue
            if verdict.kind is Kind.RETRY and tries > 1:
                tried = f"{verdict.reason} (tried {tries} times in {waited:.0f} s)"
                verdict = verdict._replace(reason=tried)
            elif verdict.unknown_model:
                offered = await self._offered(carried)
                verdict = verdict._replace(reason=verdict.reason + offered)
            return self._fault(call, verdict)

    async def _send(
        self,
        call: _Call,
        sent: Mapping[str, Any],
        chat: Iterable[Message],
        carried: Secrets,
    ) -> tuple[Answer, float]:
        body = {
            "model": self.model,
            "messages": [_in_json(message, call.reasoning_field) for message in chat],
            **sent,
        }
        transport = await self._connected()
        begun = self._clock()
        answer = await transport.post(body, carried.headers, _hiding(call.on_delta, carried))
        return answer, self._clock() - begun

    def _adapt(
        self,
        call: _Call,
        answer: Answer,
        sent: Mapping[str, Any],
        chat: Iterable[Message],
        diagnosis: Diagnosis,
    ) -> Diagnosis | None:
        """Learn from a refusal and return None, or return what the answer means as it stands."""
        if call.tokens is None and (tokens := adapt.fewer_tokens(answer, sent)) is not None:
            call.tokens = tokens
            self._learnt.fewer_tokens = True
            return None
        if diagnosis.kind is Kind.CONTEXT:
            return diagnosis
        if adapt.refuses_system(answer):
            if not any(message.role == "system" for message in chat):
                return diagnosis._replace(kind=Kind.FATAL)
            self._learnt.system_in_user = True
            return None
        name = adapt.refused_parameter(answer, sent)
        if name is None:
            return diagnosis
        if not adapt.droppable(name):
            reason = f"the parameter {name} of the model's entry is refused: {diagnosis.reason}"
            return Diagnosis(Kind.FATAL, reason)
        self._learnt.refused.add(name)
        return None

    def _backoff(self, tries: int) -> float:
        longest = min(_LONGEST_BACKOFF_S, self._patience.backoff_s * (1 << min(tries - 1, 16)))
        return longest * (0.5 + self._generator.random() / 2)

    async def _offered(self, carried: Secrets) -> str:
        """What the server lists, for the user who named a model that it does not know."""
        listed = await (await self._connected()).models(carried.headers)
        if not listed:
            return ""
        shown = ", ".join(faults.shorten(carried.redact(name)) for name in listed[:_MOST_LISTED])
        more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
        return f"; it offers {shown}{more}"

    def _fault(self, call: _Call, diagnosis: Diagnosis) -> Fault:
        in_context = diagnosis.kind is Kind.CONTEXT
        return Fault(
            Termination.CONTEXT_EXCEEDED if in_context else Termination.PROVIDER_ERROR,
            f"{self.model} at {self.base_url}: {diagnosis.reason}.",
            diagnosis.kind is Kind.FATAL,
            tuple(call.requests),
        )

    async def _connected(self) -> Transport:
        if "models.transport" not in sys.modules:
            # Most of a second, in which nobody else should have to wait.
            await asyncio.to_thread(importlib.import_module, "models.transport")
        # Without a pause from here on: many games that begin at once share one transport.
        if self._transport is None:
            from models.transport import Transport

            timeout_s = self._patience.timeout_s
            connect = self._connect
            self._transport = connect(timeout_s) if connect else Transport(self.base_url, timeout_s)
        return self._transport


@dataclass
class _Call:
    """One reply that is asked for, over all requests that it takes."""

    messages: tuple[Message, ...]
    wanted: Mapping[str, Any]
    reasoning_field: str
    on_delta: OnDelta | None
    on_request: OnRequest | None
    max_tries: int
    tokens: int | None = None
    """A lower cap on tokens, once the server has said that what is wanted does not fit."""
    requests: list[Request] = field(default_factory=list)

    def add(self, request: Request) -> None:
        """Keep a request."""
        self.requests.append(request)
        if self.on_request is not None:
            self.on_request(request)


def _redacted(answer: Answer, carried: Secrets) -> Answer:
    return answer._replace(data=carried.redact_json(answer.data), text=carried.redact(answer.text))


def _hiding(on_delta: OnDelta | None, carried: Secrets) -> OnDelta | None:
    """Tells the same, without any secret that the server echoes in one piece."""
    if on_delta is None or not carried.values:
        return on_delta
    return lambda kind, text: on_delta(kind, carried.hide(text))


def _in_json(message: Message, reasoning_field: str) -> dict[str, str]:
    fields = {"role": message.role, "content": message.content}
    return fields | ({reasoning_field: message.reasoning} if message.reasoning else {})
