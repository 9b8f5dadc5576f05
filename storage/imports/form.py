"""The form of a row of the flavour `games`, as `storage.datasets.record` writes it.

What is not in it (a row's unknown keys) is kept apart and reported, never believed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from arena.board import Mark, Outcome
from arena.game import Termination, Verdict
from arena.players import Kind
from storage.datasets.record import SCHEMA
from storage.tables import Source

_LARGEST = (1 << 63) - 1
Count = Annotated[int, Field(ge=0, le=_LARGEST)]
Whole = Annotated[int, Field(ge=-_LARGEST - 1, le=_LARGEST)]
Square = Annotated[int, Field(ge=0, le=8)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=1000)]
Moment = Annotated[
    AwareDatetime,
    Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(9999, 1, 1, tzinfo=UTC)),
]
"""What every zone and every reader can hold."""


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class MessageForm(_Form):
    """A message of a chat."""

    role: str
    content: str
    reasoning_content: str | None = None


class RequestForm(_Form):
    """One HTTP call."""

    status: Annotated[int, Field(ge=0, le=999)] | None
    seconds: Seconds
    sent: str
    error: str | None
    finish_reason: str | None
    prompt_tokens: Count | None
    completion_tokens: Count | None


class AttemptForm(_Form):
    """One reply."""

    prompt: list[MessageForm]
    reply: str
    reasoning: str | None
    reasoning_field: str | None
    verdict: Verdict
    square: Whole | None
    contains: bool
    exact: bool
    finish_reason: str | None
    seed: Whole | None
    prompt_tokens: Count | None
    completion_tokens: Count | None
    seconds: Seconds
    adaptations: list[str] = []
    requests: list[RequestForm]


class TurnForm(_Form):
    """One move."""

    mark: Mark
    square: Square
    at: Moment | None
    attempts: list[AttemptForm]


class PlayerForm(_Form):
    """Who sat in a seat."""

    kind: Kind
    name: Name
    family: Name | None
    step: Whole | None
    prompt_format: Name | None
    prompt_hash: Name | None
    settings: str
    deterministic: bool


class GameForm(_Form):
    """A whole game: a line of a file."""

    schema_: Annotated[str, Field(pattern=f"^{re.escape(SCHEMA)}$")] = Field(SCHEMA, alias="schema")
    game: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    x: PlayerForm
    o: PlayerForm
    opener: Mark
    outcome: Outcome
    termination: Termination
    moves: Annotated[list[Square], Field(max_length=9)]
    seed: Count
    rollout: Count
    source: Source
    demonstration: bool = False
    created_at: Moment
    updated_at: Moment
    finished_at: Moment
    turns: Annotated[list[TurnForm], Field(max_length=9)]
    unanswered: list[AttemptForm]
    failed: list[RequestForm]
    replaced: str | None = None
    """See `storage.datasets.lossless`."""


def unknown_keys(form: BaseModel) -> list[str]:
    """The path of each key that a row has beside those of its form, without places in lists."""
    found = list(form.model_extra or {})
    for name in _INNER.get(type(form), ()):
        value: Any = getattr(form, name)
        for each in value if isinstance(value, list) else (value,):
            found += [f"{name}.{key}" for key in unknown_keys(each)]
    return found


_INNER: dict[type[BaseModel], tuple[str, ...]] = {
    AttemptForm: ("prompt", "requests"),
    TurnForm: ("attempts",),
    GameForm: ("x", "o", "turns", "unanswered", "failed"),
}
"""The keys of a form under which others are."""
