"""What `models.toml` may say of a model. Every mistake is named; no value that could be a key is
ever repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from models.library import DEFAULT
from models.local import CONTEXT
from models.prompt import History, ReasoningHistory

STEP = "{step}"
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_LIKE_A_KEY = re.compile(r"(?=.*[a-z])(?=.*[0-9]).{20,}")
_SECRET = re.compile(r"(^|_|-)(key|apikey|secret|password|authorization|bearer)$", re.IGNORECASE)
_CURRENCY = re.compile(r"[A-Z]{3}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
RESERVED = frozenset({"human", "person", "engine", "model", "random", "minimax"})
_WITH_STEPS = ("name", "model", "base_url", "gguf")
_OF_A_SERVER = ("api_key_env", "headers_env")
_OF_A_FILE = ("threads", "context")
_OURS = frozenset({"model", "messages", "stream", "stream_options", "n", "seed"})

_Probability = Annotated[float, Field(ge=0, le=1)]


class Sampling(BaseModel):
    """How replies are drawn. Always sent, since servers have defaults of their own."""

    model_config = _STRICT

    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    """Sent instead of `max_tokens` where it is given."""
    top_k: int | None = None
    min_p: _Probability | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    stop: list[str] | None = None
    reasoning_effort: str | None = None

    def parameters(self) -> dict[str, Any]:
        """The request's parameters."""
        said = self.model_dump(exclude_none=True)
        if self.max_completion_tokens is not None:
            del said["max_tokens"]
        return said


class Prices(BaseModel):
    """What a server asks for tokens. No part of who a model is."""

    model_config = _STRICT

    input: float = Field(ge=0)
    """For a million tokens of prompts."""
    output: float = Field(ge=0)
    """For a million tokens of replies, thinking included."""
    currency: str = "USD"

    @field_validator("currency")
    @classmethod
    def _is_a_code(cls, value: str) -> str:
        if not _CURRENCY.fullmatch(value):
            raise ValueError("has to be a currency's three capital letters, such as USD or EUR")
        return value


class Entry(BaseModel):
    """One model, or with `steps` a family of them."""

    model_config = _STRICT

    name: str
    base_url: str | None = None
    """The server's address; an entry has either this or `gguf`."""
    gguf: str | None = Field(default=None, min_length=1, max_length=4000)
    """A file that the arena itself serves. A relative path starts where `models.toml` lies."""
    threads: int = Field(default=1, ge=1, le=1024)
    """How many compute for a GGUF file."""
    context: int = Field(default=CONTEXT, ge=128, le=1 << 24)
    """Tokens of a chat with a GGUF file, reply included."""
    model: str = Field(min_length=1, max_length=300)
    """The name under which the server knows it; a file's own name by default."""
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    headers_env: dict[str, str] = {}
    """Further headers, each with the environment variable that holds its value."""
    family: str | None = Field(default=None, min_length=1, max_length=80)
    step: int | None = Field(default=None, ge=0)
    steps: list[Annotated[int, Field(ge=0)]] | None = Field(default=None, min_length=1)
    prompt: str = DEFAULT
    history: Annotated[History, Field(strict=False)] = History.FULL
    reasoning_history: Annotated[ReasoningHistory, Field(strict=False)] = ReasoningHistory.DROP
    max_replies: int = Field(default=8, ge=1, le=1000)
    """Replies in a game, legal ones included."""
    sampling: Sampling = Sampling()
    extra_body: dict[str, Any] = {}
    """Further parameters, sent as they are."""
    public: bool = False
    """Whether visitors may play it."""
    max_games: int = Field(default=4, ge=1)
    """How many games visitors may have in flight with it at once."""
    timeout_s: float = Field(default=300.0, gt=0)
    """For one request, to its last byte."""
    max_tries: int = Field(default=20, ge=1)
    max_wait_s: float = Field(default=600.0, ge=0)
    prices: Prices | None = None
    """What its tokens cost, where somebody has to pay for them."""

    @field_validator("name")
    @classmethod
    def _is_no_other_player(cls, value: str) -> str:
        if not 1 <= len(value) <= 80 or not value.isprintable() or value != value.strip():
            raise ValueError("has to be 1 to 80 printable characters without blanks around them")
        if value.partition(":")[0].strip().lower() in RESERVED:
            raise ValueError("must not be read as an engine or a person: choose another name")
        return value

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value.replace(STEP, "1"))
            host, _ = parts.hostname, parts.port
        except ValueError:
            host, parts = None, urlsplit("")
        if parts.scheme not in ("http", "https") or not host or not value.isprintable():
            raise ValueError("has to be an address such as http://localhost:8000/v1")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError(
                "must hold no user, password or query: name secrets in api_key_env or headers_env"
            )
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        if value is not None:
            _check_variable(value)
        return value

    @field_validator("headers_env")
    @classmethod
    def _names_variables(cls, value: dict[str, str]) -> dict[str, str]:
        for header, variable in value.items():
            if not _HEADER.fullmatch(header):
                raise ValueError("has a key that is no header's name")
            _check_variable(variable)
        return value

    @field_validator("extra_body")
    @classmethod
    def _is_sendable(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key in value:
            if key in _OURS:
                raise ValueError(f"must not hold {key!r}: the arena sets it")
            if key in Sampling.model_fields:
                raise ValueError(f"must not hold {key!r}: it belongs under sampling")
            if _SECRET.search(key):
                raise ValueError(
                    f"must not hold {key!r}: it is stored with the games, so a key never stands "
                    "there; api_key_env or headers_env name the variable that holds it"
                )
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError("has a value that JSON cannot hold") from None
        return value

    @model_validator(mode="before")
    @classmethod
    def _is_called_like_its_file(cls, table: Any) -> Any:
        if isinstance(table, dict) and isinstance(gguf := table.get("gguf"), str):
            return {"model": Path(gguf).name or gguf, **table}
        return table

    @model_validator(mode="after")
    def _is_reached_in_one_way(self) -> Entry:
        if self.base_url is None and self.gguf is None:
            raise ValueError("one of the keys 'base_url' and 'gguf' is missing")
        if self.base_url is not None and self.gguf is not None:
            raise ValueError("'base_url' and 'gguf' exclude each other")
        other, one = (_OF_A_SERVER, "base_url") if self.gguf else (_OF_A_FILE, "gguf")
        for key in other:
            if key in self.model_fields_set:
                raise ValueError(f"{key!r} goes with {one!r} only")
        return self

    @model_validator(mode="after")
    def _steps_are_told_apart(self) -> Entry:
        used = [key for key in _WITH_STEPS if STEP in (getattr(self, key) or "")]
        if self.steps is None:
            if used:
                raise ValueError(f"{used[0]!r} holds {STEP}, but there are no 'steps'")
            return self
        if self.step is not None:
            raise ValueError("'step' and 'steps' exclude each other")
        if len(set(self.steps)) != len(self.steps):
            raise ValueError("'steps' names a step twice")
        if "name" not in used or len(used) < 2:
            raise ValueError(
                f"with 'steps', {STEP} stands in 'name' and in 'model', 'base_url' or 'gguf'"
            )
        return self

    @property
    def address(self) -> str:
        """Where the model is: its server's base URL, or its file."""
        return self.base_url or self.gguf or ""

    def expand(self) -> Iterator[Entry]:
        """The models of the family in the order of their steps; without `steps` itself."""
        if self.steps is None:
            yield self
            return
        family = self.family or self.name.replace(STEP, "").strip(" -_/.:@") or self.name
        for step in sorted(self.steps):
            own = {
                key: text.replace(STEP, str(step))
                for key in _WITH_STEPS
                if (text := getattr(self, key)) is not None
            }
            yield self.model_copy(update={**own, "step": step, "steps": None, "family": family})


def _check_variable(value: str) -> None:
    if not _VARIABLE.fullmatch(value) or _LIKE_A_KEY.fullmatch(value):
        raise ValueError(
            "has to be the name of an environment variable, such as OPENAI_API_KEY, "
            "never the secret itself"
        )
