"""What stands beside older result rows: `metadata.json`, in which verifiers told of the whole run.

The rows themselves rarely say which model answered, and never which environment asked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from storage.imports.files import open_file
from storage.imports.troubles import LineError, Trouble

NAME = "metadata.json"
_LARGEST = 1 << 20
"""Bytes: it is a page of settings."""
_LONGEST = 1000
"""Characters of a name."""


class Metadata(NamedTuple):
    """Of a run; empty where nothing says it."""

    environment: str = ""
    model: str = ""


def beside(path: Path) -> Metadata:
    """What the metadata beside a file of rows says; nothing where there is none.

    Raises:
        LineError: it cannot be read, or is not what verifiers writes.
    """
    file = path.parent / NAME
    if not file.exists():
        return Metadata()
    try:
        with open_file(file) as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        why = f"it cannot be read: {error.strerror or error}"
        raise LineError(Trouble.UNREADABLE, why) from None
    if len(content) > _LARGEST:
        raise LineError(Trouble.FORM, f"longer than {_LARGEST >> 20} MB: no metadata of a run")
    try:
        told = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise LineError(Trouble.NOT_JSON, f"no JSON: {error}") from None
    if not isinstance(told, dict):
        raise LineError(Trouble.FORM, "no JSON object")
    return Metadata(environment=_name(told, "env_id"), model=_name(told, "model"))


def _name(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise LineError(Trouble.FORM, f"{key}: {value!r:.40} is no name")
    return value
