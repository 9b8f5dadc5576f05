"""What the operator's TOML files have in common: reading them, and naming a mistake in one."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arena.errors import ConfigError

_MOST_SHOWN = 5


def read_toml(path: Path) -> dict[str, Any]:
    """A file's tables; none where there is no such file.

    Raises:
        ConfigError: it cannot be read, or is no TOML; the message says where.
    """
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def nearest(word: str, valid: Iterable[str]) -> str:
    """A hint for a word that is not valid: `did you mean …?` where one is near, else the list."""
    choices = list(valid)
    near = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"valid are {', '.join(choices)}" if choices else "there is none"


def problems(error: ValidationError, model: type[BaseModel]) -> str:
    """What is wrong with a table, key by key. Values are never shown: one may be a key."""
    found = [_problem(each, model) for each in error.errors(include_url=False)]
    more = len(found) - _MOST_SHOWN
    return "; ".join(found[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _problem(details: ErrorDetails, model: type[BaseModel]) -> str:
    *tables, last = [str(part) for part in details["loc"]] or [""]
    key = ".".join([*tables, last])
    if details["type"] == "extra_forbidden":
        return f"unknown key {key!r}: {nearest(last, _keys(model, tables))}"
    if details["type"] == "missing":
        return f"the key {key!r} is missing"
    reason = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{key!r} {reason}" if key else reason


def _keys(model: type[BaseModel], tables: list[str]) -> list[str]:
    """The valid keys of a table within a model's table."""
    for table in tables:
        field = model.model_fields.get(table)
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return list(model.model_fields)


def tables_of(path: Path, data: Mapping[str, Any], name: str) -> Any:
    """The one top-level key that a file may have, or None.

    Raises:
        ConfigError: the file has another one.
    """
    for key in data:
        if key != name:
            raise ConfigError(f"{path}: unknown key {key!r}: {nearest(key, [name])}")
    return data.get(name)
