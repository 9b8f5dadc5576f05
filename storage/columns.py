"""Column types that give back exactly what was stored.

SQLite's text is UTF-8, but a model may reply with anything that a Python string can hold.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_INT64 = range(-(1 << 63), 1 << 63)
# Made once: `json.dumps` makes one anew each time.
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class LosslessText(TypeDecorator[str]):
    """Any string, lone surrogates and NUL included.

    Ordinary text is stored as text. What UTF-8 does not allow, and NUL, at which the shell and
    SQLite's own functions stop, is stored as a blob of UTF-8 with surrogates passed through; the
    type of the stored value says which it is.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | bytes | None:  # noqa: ARG002
        return None if value is None else _store(value)

    def process_result_value(self, value: str | bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else _restore(value)


class Json(TypeDecorator[Any]):
    """A JSON value, readable in the shell; its strings are as lossless as `LosslessText`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | bytes:  # noqa: ARG002
        return _store(canonical_json(value))

    def process_result_value(self, value: str | bytes | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(_restore(value))


class Whole(TypeDecorator[int]):
    """A whole number of any size: a model may name square 10^30. Above 64 bits, a blob in hex."""

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | bytes | None:  # noqa: ARG002
        return value if value is None or value in _INT64 else hex(value).encode()

    def process_result_value(self, value: int | bytes | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return int(value, 16) if isinstance(value, bytes) else value


class Instant(TypeDecorator[datetime]):
    """A moment, as whole milliseconds since 1970 in UTC; read back in UTC."""

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else (value - _EPOCH) // _MILLISECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else _EPOCH + value * _MILLISECOND


def as_stored(value: datetime | None) -> datetime | None:
    """A moment as an `Instant` gives it back."""
    return None if value is None else _EPOCH + (value - _EPOCH) // _MILLISECOND * _MILLISECOND


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, and every character as itself."""
    # Escapes would merge two lone surrogates in a row into one character on reading.
    return _CANONICAL.encode(value)


def _store(text: str) -> str | bytes:
    if "\0" not in text:
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return text.encode("utf-8", "surrogatepass")


def _restore(stored: str | bytes) -> str:
    return stored.decode("utf-8", "surrogatepass") if isinstance(stored, bytes) else stored
