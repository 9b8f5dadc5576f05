"""The program that plays a seat: none. Requests go out from the process that runs the rollouts.

Each reply is one request to the rollout's own endpoint, which relays it to the model and records
it. The arena's `Endpoint` asks, so that rate limits, failing servers and broken connections are
waited out, `Retry-After` is honoured, and nothing waits for ever.
"""
# mypy: disable-error-code="import-untyped, misc, no-any-unimported"
# The library carries no types.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from arena.game import Message
from models.completion import Completion, Fault
from models.endpoint import Endpoint, Patience
from models.transport import Transport

_SECRET = "ROLLOUT_SECRET"
_SPARE_S = 30.0
"""By which the request outlasts the relay's own waiting for the model, so that the relay's word
comes first, and a request that was given up is not answered behind our back."""


class DirectConfig(vf.HarnessConfig):
    """How long a reply is waited for."""

    read_timeout: float = Field(default=300.0, gt=0)
    """Seconds for one reply, to its last byte."""
    max_tries: int = Field(default=20, ge=1)
    max_wait: float = Field(default=600.0, ge=0)
    """Seconds from the first try of a reply to the start of the last."""


class Connections:
    """The connections to the rollouts' endpoints; used on one event loop, and closed."""

    def __init__(self) -> None:
        self._transports: dict[str, Transport] = {}

    def to(self, base_url: str, timeout_s: float) -> Transport:
        """The connection to one of them."""
        if base_url not in self._transports:
            transport = Transport(base_url, timeout_s, through_proxy=False)
            self._transports[base_url] = transport
        return self._transports[base_url]

    async def aclose(self) -> None:
        """Close them all."""
        transports, self._transports = self._transports, {}
        for transport in transports.values():
            await transport.aclose()


@dataclass
class Ask:
    """One reply that a seat wants, in place of the conversation so far."""

    messages: tuple[Message, ...]
    seed: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    reasoning_field: str = "reasoning_content"
    answer: Completion | Fault | None = None
    """Set once it came."""


class DirectHarness(vf.Harness[DirectConfig]):
    """Answers a prompt, or the next message of a chat, by one request."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    def __init__(self, config: DirectConfig) -> None:
        super().__init__(config)
        self.ask: Ask | None = None
        """What the next turn asks instead of its conversation; the seat sets it."""
        self._shared: Connections | None = None
        self._own = Connections()

    def share(self, connections: Connections) -> None:
        """Use connections that somebody else closes."""
        self._shared = connections

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,  # noqa: ARG002 - the relay keeps it
        runtime: vf.Runtime,  # noqa: ARG002 - nothing is started
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002 - there are no tools
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask for one reply, to the whole chat that `ask` or the task's prompt holds.

        Raises:
            ProviderError: no reply came; the message says why.
        """
        ask, self.ask = self.ask or Ask(self._chat(data)), None
        connections = self._shared or self._own
        config = self.config
        patience = Patience(
            timeout_s=config.read_timeout + _SPARE_S,
            max_tries=config.max_tries,
            max_wait_s=config.max_wait,
        )
        model = Endpoint(
            endpoint,
            ctx.model,
            api_key_env=_SECRET,
            patience=patience,
            connect=lambda timeout_s: connections.to(endpoint, timeout_s),
            environ={_SECRET: secret},
        )
        ask.answer = await model.complete(
            ask.messages, ask.seed, ask.parameters, reasoning_field=ask.reasoning_field
        )
        if isinstance(ask.answer, Fault):
            raise vf.ProviderError(ask.answer.message)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def resume(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        messages: vf.Messages,
        tool_interception_url: str | None = None,  # noqa: ARG002 - there are no tools
    ) -> vf.ProgramResult:
        """The next reply: to what the seat asks, else to the chat so far and `messages`."""
        if self.ask is None:
            return await super().resume(
                ctx, trace, runtime, endpoint, secret, mcp_urls, data, messages
            )
        return await self.launch(ctx, trace, runtime, endpoint, secret, mcp_urls, data)

    async def cleanup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:  # noqa: ARG002
        """Close the rollout's own connections."""
        await self._own.aclose()

    def _chat(self, data: vf.TaskData) -> tuple[Message, ...]:
        system, prompt = self.resolve_prompt(data)
        begin = () if system is None else (Message("system", system),)
        if isinstance(prompt, str):
            return (*begin, Message("user", prompt))
        return (*begin, *(Message(each.role, _text(each.content)) for each in prompt or ()))


def _text(content: Any) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(getattr(part, "text", "") for part in content)
