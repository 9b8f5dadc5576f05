"""An endpoint's key and secret headers: read from the environment for each request, kept nowhere.

Servers quote headers in their errors, so every text that comes from one goes through `redact`.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

NO_KEY = "none"
"""Sent where an entry names no key: some servers want the header all the same."""

_HIDDEN = "[hidden]"
_BEARER = re.compile(r"(bearer\s+)[^\s'\"\\,;&<>]+", re.IGNORECASE)


class UnusableError(Exception):
    """An environment variable is missing or cannot be sent; the message names it, not its value."""


class Secrets(NamedTuple):
    """What one request carries. Its text shows nothing of it."""

    headers: Mapping[str, str]
    values: tuple[str, ...]

    def __repr__(self) -> str:
        return "Secrets(...)"

    def redact(self, text: str) -> str:
        """The text without any of the values, however they were escaped."""
        for value in sorted(self.values, key=len, reverse=True):
            for form in {value, html.escape(value), quote(value), json.dumps(value)[1:-1]}:
                text = text.replace(form, _HIDDEN)
        return _BEARER.sub(rf"\1{_HIDDEN}", text)

    def hide(self, data: Any) -> Any:
        """A reply's parsed JSON without any of the values. Other text stays as it came."""
        if isinstance(data, str):
            for value in self.values:
                data = data.replace(value, _HIDDEN)
            return data
        if isinstance(data, list):
            return [self.hide(each) for each in data]
        if isinstance(data, dict):
            return {key: self.hide(each) for key, each in data.items()}
        return data

    def redact_json(self, data: object) -> object:
        """Parsed JSON without any of the values; None where it is too deep to look through."""
        try:
            cleaned: object = json.loads(self.redact(json.dumps(data, ensure_ascii=False)))
        except (ValueError, RecursionError):
            return None
        return cleaned


def read(
    environ: Mapping[str, str], api_key_env: str | None, headers_env: Mapping[str, str]
) -> Secrets:
    """The headers of a request.

    Args:
        environ: the process's environment.
        api_key_env: the variable that holds the key, if there is one.
        headers_env: further headers, each with the variable that holds its value.

    Raises:
        UnusableError: a variable is not set, or holds what no header can carry.
    """
    key = _value(environ, api_key_env) if api_key_env else None
    headers = {name: _value(environ, variable) for name, variable in headers_env.items()}
    values = tuple(value for value in (key, *headers.values()) if value)
    return Secrets({"Authorization": f"Bearer {key or NO_KEY}", **headers}, values)


def _value(environ: Mapping[str, str], variable: str) -> str:
    value = environ.get(variable, "").strip()
    if not value:
        raise UnusableError(f"the environment variable {variable} is not set")
    if not (value.isascii() and value.isprintable()):
        raise UnusableError(
            f"the environment variable {variable} holds characters that no HTTP header can carry"
        )
    return value
