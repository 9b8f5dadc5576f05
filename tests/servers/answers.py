"""What the server can do with one request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parents[1] / "data" / "payloads"


@dataclass(frozen=True)
class Say:
    """An ordinary reply; streamed in small pieces where the request asks for a stream."""

    text: str | None
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    reasoning_field: str = "reasoning_content"
    delay_s: float = 0.0
    """Before the reply."""
    break_after: int | None = None
    """The stream breaks off after so many pieces."""
    piece_delay_s: float = 0.0
    """Before each piece of a stream."""
    usage: bool = True
    """Whether tokens are reported."""
    prompt_tokens: int | None = None
    """Those that are reported; a quarter of the letters where it is not said."""

    @property
    def message(self) -> dict[str, Any]:
        thinking = {} if self.reasoning is None else {self.reasoning_field: self.reasoning}
        return {"role": "assistant", "content": self.text, **thinking}


@dataclass(frozen=True)
class Json:
    """Any JSON under any status."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass(frozen=True)
class Page:
    """A body that is no JSON."""

    status: int
    body: str | bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reset:
    """The connection breaks: at once, or within the body."""

    in_body: bool = True


@dataclass(frozen=True)
class Silence:
    """No answer at all, until the client gives up."""


@dataclass(frozen=True)
class Drip:
    """A body that comes byte by byte and never ends."""

    every_s: float = 0.02


Answer = Say | Json | Page | Reset | Silence | Drip


def payload(name: str) -> Answer:
    """A recorded answer of a real server, from `tests/data/payloads`."""
    case = json.loads((PAYLOADS / f"{name}.json").read_text("utf-8"))
    make = Page if isinstance(case["body"], str) else Json
    return make(case["status"], case["body"], case.get("headers", {}))
