"""What asking an endpoint comes to: a reply, or a fault; and the record of each request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.game import Message, Request, Termination

if TYPE_CHECKING:
    from models.transport import Answer

OnDelta = Callable[[str, str], None]
"""Called with `reasoning` or `content`, and the piece of text that has arrived."""
OnRequest = Callable[[Request], None]
"""Called after each request, failed ones too."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply."""

    message: Mapping[str, Any]
    """The assistant's message as it came."""
    finish_reason: str | None
    messages: tuple[Message, ...]
    """What was sent, as it was sent."""
    seed: int | None
    """The seed that was sent."""
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    """From the first request to the whole reply."""
    requests: tuple[Request, ...]
    adaptations: tuple[str, ...]
    """The changes of the request that the server has forced, in force for this reply."""


@dataclass(frozen=True, slots=True)
class Fault:
    """No reply, and none of the model's own doing: the game is void."""

    kind: Termination
    """`provider_error` or `context_exceeded`."""
    message: str
    """One sentence for the user."""
    fatal: bool
    """No other game can succeed either: an evaluation stops."""
    requests: tuple[Request, ...]
    """At least one; the last one's error says what the message says."""


def request_of(
    answer: Answer, seconds: float, sent: Mapping[str, Any], error: str | None = None
) -> Request:
    """The record of one call; with `error`, of one that led to no reply."""
    if error is not None:
        return Request(answer.status, seconds, dict(sent), error)
    return Request(
        answer.status,
        seconds,
        dict(sent),
        finish_reason=_finish_reason(answer),
        prompt_tokens=_tokens(answer, "prompt_tokens"),
        completion_tokens=_tokens(answer, "completion_tokens"),
    )


def completion_of(
    answer: Answer,
    sent: Mapping[str, Any],
    chat: tuple[Message, ...],
    seconds: float,
    requests: Iterable[Request],
    adaptations: tuple[str, ...],
) -> Completion:
    """The reply in an answer that holds one.

    Args:
        answer: for which `faults.is_completion` holds.
        sent: the request's parameters.
        chat: the request's messages.
        seconds: since the first request.
        requests: every request so far.
        adaptations: what was changed of the last one.
    """
    return Completion(
        message=_choice(answer)["message"],
        finish_reason=_finish_reason(answer),
        messages=chat,
        seed=sent.get("seed"),
        prompt_tokens=_tokens(answer, "prompt_tokens"),
        completion_tokens=_tokens(answer, "completion_tokens"),
        seconds=seconds,
        requests=tuple(requests),
        adaptations=adaptations,
    )


def _choice(answer: Answer) -> Mapping[str, Any]:
    data: Any = answer.data
    choice: Mapping[str, Any] = data["choices"][0]
    return choice


def _tokens(answer: Answer, name: str) -> int | None:
    usage = answer.data.get("usage") if isinstance(answer.data, dict) else None
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 <= count < 1 << 40 else None


def _finish_reason(answer: Answer) -> str | None:
    reason = _choice(answer).get("finish_reason")
    return reason if isinstance(reason, str) else None
