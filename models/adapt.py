"""What a server refuses of a request, and the request that it may take instead.

Adaptations are learnt once for an endpoint and model, and remembered. None can loop: each answers
a parameter or a role that the refused request itself carried, and a request made after it is
learnt never carries that again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from arena.game import NO_SEED, NO_TEMPERATURE, Message
from models.faults import error_of, full_text

if TYPE_CHECKING:
    from models.transport import Answer

TOKEN_PARAMETERS = ("max_tokens", "max_completion_tokens")
_BAD_REQUEST = (400, 422)
_TEMPLATE_ERRORS = (400, 422, 500)

_REFUSED = re.compile(
    r"unsupported|not supported|does(?:n't| not) support|unrecogni[sz]ed|unknown|unexpected"
    r"|not permitted|not allowed|not accepted|extra (?:inputs|fields)|extra_forbidden"
    r"|invalid (?:argument|parameter|field)|deprecated|cannot be used",
    re.IGNORECASE,
)
_NOT_ZERO = re.compile(r"positive|greater than 0|> ?0|non-?zero", re.IGNORECASE)
_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,20}\b(?:not|un)[ -]?(?:supported|allowed)"
    r"|roles must alternate|not support (?:the )?system|only (?:supports? )?user and assistant"
    r"|(?:unexpected|unsupported|invalid|unknown) role\W+system|developer instruction is not",
    re.IGNORECASE,
)
_CONTEXT_SIZE = re.compile(r"maximum context length (?:is|of) (\d{1,9})", re.IGNORECASE)
_PROMPT_SIZE = re.compile(
    r"(\d{1,9}) (?:tokens )?in (?:the |your )?(?:messages|prompt)"
    r"|(\d{1,9}) (?:prompt|input) tokens",
    re.IGNORECASE,
)
_MOST_OUTPUT = re.compile(r"at most (\d{1,9}) (?:completion|output) tokens", re.IGNORECASE)


class Adaptation(StrEnum):
    """A change of the request that a server has forced."""

    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    MAX_TOKENS = "max_tokens"
    NO_TOKEN_LIMIT = "no_token_limit"
    FEWER_TOKENS = "fewer_tokens"
    NO_TEMPERATURE = NO_TEMPERATURE
    NO_TOP_P = "no_top_p"
    NO_SEED = NO_SEED
    SYSTEM_IN_USER = "system_in_user"
    NO_STREAM = "no_stream"
    NO_STREAM_OPTIONS = "no_stream_options"

    @property
    def description(self) -> str:
        """What it means for a game, in plain words."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    Adaptation.MAX_COMPLETION_TOKENS: "the cap on tokens is sent as max_completion_tokens",
    Adaptation.MAX_TOKENS: "the cap on tokens is sent as max_tokens",
    Adaptation.NO_TOKEN_LIMIT: "played without a cap on tokens: the server takes none",
    Adaptation.FEWER_TOKENS: "near the end of its context, the model was asked for fewer tokens",
    Adaptation.NO_TEMPERATURE: "played at the server's default temperature: not greedy",
    Adaptation.NO_TOP_P: "played at the server's default top_p",
    Adaptation.NO_SEED: "played unseeded: the server takes no seed",
    Adaptation.SYSTEM_IN_USER: "the system text stands at the head of the first user message",
    Adaptation.NO_STREAM: "replies come whole: the server does not stream",
    Adaptation.NO_STREAM_OPTIONS: "streamed replies come without a count of their tokens",
}
_DROPPED = {
    "temperature": Adaptation.NO_TEMPERATURE,
    "top_p": Adaptation.NO_TOP_P,
    "seed": Adaptation.NO_SEED,
    "stream": Adaptation.NO_STREAM,
    "stream_options": Adaptation.NO_STREAM_OPTIONS,
}


@dataclass
class Learnt:
    """What is known of an endpoint and model. It only ever grows."""

    refused: set[str] = field(default_factory=set)
    """Parameters that the server does not take."""
    system_in_user: bool = False
    fewer_tokens: bool = False

    @property
    def adaptations(self) -> tuple[Adaptation, ...]:
        """The changes that are in force."""
        found = [_DROPPED[name] for name in _DROPPED if name in self.refused]
        if "stream" in self.refused and Adaptation.NO_STREAM_OPTIONS in found:
            found.remove(Adaptation.NO_STREAM_OPTIONS)
        refused = [name for name in TOKEN_PARAMETERS if name in self.refused]
        if len(refused) == len(TOKEN_PARAMETERS):
            found.append(Adaptation.NO_TOKEN_LIMIT)
        elif refused:
            found.append(Adaptation(_other_token_parameter(refused[0])))
        if self.fewer_tokens:
            found.append(Adaptation.FEWER_TOKENS)
        if self.system_in_user:
            found.append(Adaptation.SYSTEM_IN_USER)
        return tuple(found)

    def in_force(self, *, fewer_tokens: bool) -> tuple[str, ...]:
        """The names of the changes of one request.

        Args:
            fewer_tokens: whether it asks for fewer tokens, which not every later one does.
        """
        passing = None if fewer_tokens else Adaptation.FEWER_TOKENS
        return tuple(found.value for found in self.adaptations if found is not passing)

    def parameters(self, wanted: Mapping[str, Any], tokens: int | None) -> dict[str, Any]:
        """The parameters to send.

        Args:
            wanted: what the model's entry says.
            tokens: a lower cap on tokens, for this request only.
        """
        sent = {name: value for name, value in wanted.items() if name not in self.refused}
        for name in TOKEN_PARAMETERS:
            if name not in wanted:
                continue
            other = _other_token_parameter(name)
            if name in self.refused and other not in self.refused:
                sent[other] = wanted[name]
        if tokens is not None:
            sent |= {name: tokens for name in TOKEN_PARAMETERS if name in sent}
        if "stream" not in sent:
            sent.pop("stream_options", None)
        return sent

    def messages(self, wanted: Iterable[Message]) -> tuple[Message, ...]:
        """The messages to send."""
        chat = tuple(wanted)
        if not self.system_in_user or not chat or chat[0].role != "system":
            return chat
        system, *rest = chat
        if rest and rest[0].role == "user":
            content = f"{system.content}\n\n{rest[0].content}"
            return (rest[0]._replace(content=content), *rest[1:])
        return (Message("user", system.content), *rest)


def refused_parameter(answer: Answer, sent: Mapping[str, Any]) -> str | None:
    """The parameter of this very request that the server says it does not take, if any."""
    if answer.status not in _BAD_REQUEST:
        return None
    names = [name for name in sent if name != "model"]
    error, text = error_of(answer.data), full_text(answer)
    temperature = error.get("param") == "temperature" or _mentions(text, "temperature")
    if temperature and sent.get("temperature") == 0 and _NOT_ZERO.search(text):
        return "temperature"
    if not _REFUSED.search(text):
        return None
    if error.get("param") in names:
        return str(error["param"])
    found = [(place, name) for name in names if (place := _mentions(text, name))]
    return min(found)[1] if found else None


def droppable(name: str) -> bool:
    """Whether a request without this parameter still asks for the same thing."""
    return name in _DROPPED or name in TOKEN_PARAMETERS


def refuses_system(answer: Answer) -> bool:
    """Whether the server's chat template takes no system message, or may not."""
    return answer.status in _TEMPLATE_ERRORS and bool(_SYSTEM.search(full_text(answer)))


def fewer_tokens(answer: Answer, sent: Mapping[str, Any]) -> int | None:
    """How many tokens to ask for where prompt and reply together are too long, the prompt is not.

    None where that is not what the server said, or nothing would be left for a reply.
    """
    asked = next((sent[name] for name in TOKEN_PARAMETERS if name in sent), None)
    if not isinstance(asked, int) or answer.status not in _TEMPLATE_ERRORS:
        return None
    text = full_text(answer)
    size, prompt, most = (p.search(text) for p in (_CONTEXT_SIZE, _PROMPT_SIZE, _MOST_OUTPUT))
    if size and prompt:
        left = int(size[1]) - int(prompt[1] or prompt[2])
    elif most:
        left = int(most[1])
    else:
        return None
    return left if 1 <= left < asked else None


def _other_token_parameter(name: str) -> str:
    return next(other for other in TOKEN_PARAMETERS if other != name)


def _mentions(text: str, name: str) -> int:
    """Where a text names a parameter, from 1; 0 where it does not."""
    bare = "" if name == "stream" else rf"|(?<![\w.]){re.escape(name)}(?!\w)"
    found = re.search(rf"['\"`.]{re.escape(name)}(?!\w){bare}", text)
    return found.start() + 1 if found else 0
