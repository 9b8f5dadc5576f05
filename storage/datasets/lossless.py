"""Text and numbers that not every reader of JSON and Parquet takes.

A model's reply may hold half of a surrogate pair, and a whole number of any length. UTF-8, and so
Parquet, has no form for the one, and 64 bits none for the other; JSON has, but the readers that
trainers use stop at both. So a row of a dataset holds a replacement character, or no number, and
says what stood there: each row can be read everywhere, and nothing is lost silently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_INT64 = range(-(1 << 63), 1 << 63)
NUMBERS = ("square", "seed")
"""Of a reply: what may be a number of any size."""

Kept = dict[str, Any]
"""What was replaced: by path, as in `turns.2.attempts.0.reply`, a list of [place, surrogate in hex]
for a text, or the digits of a number."""


def clean(text: str) -> tuple[str, int]:
    """A text that UTF-8 can hold, and how many characters of it are replacements.

    The two halves of a pair that came one after the other become the character that they mean.
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text, 0
    whole = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.subn(REPLACEMENT, whole)


def fits(values: Iterable[Any]) -> bool:
    """Whether every reader takes these values, and all that is in them."""
    for each in values:
        # By the type itself: members of an enumeration are ASCII, and most rows need no change.
        kind = type(each)
        if kind is str:
            if not each.isascii() and _SURROGATE.search(each):
                return False
        elif kind is int:
            if each not in _INT64:
                return False
        elif kind is dict:
            if not fits(each.values()):
                return False
        elif kind is list and each and not fits(each):
            return False
    return True


def tidied(row: dict[str, Any]) -> dict[str, Any]:
    """A row for training: each text cleaned, and in `replaced` how many characters that cost."""
    replaced = 0

    def tidy(value: Any) -> Any:
        nonlocal replaced
        if isinstance(value, str):
            text, gone = clean(value)
            replaced += gone
            return text
        if isinstance(value, list):
            return [tidy(each) for each in value]
        return {key: tidy(each) for key, each in value.items()} if type(value) is dict else value

    tidy_row: dict[str, Any] = row if fits(row.values()) else tidy(row)
    return tidy_row | {"replaced": replaced}


def take_out(row: dict[str, Any]) -> tuple[dict[str, Any], Kept]:
    """A row that every reader takes, and what was taken out of it."""
    kept: Kept = {}
    return (row if fits(row.values()) else _fit(row, "", kept)), kept


def put_back(row: dict[str, Any], kept: Kept) -> None:
    """Undo `take_out`, in place.

    Raises:
        ValueError: this was not taken out of that row.
    """
    for path, what in kept.items():
        *way, last = path.split(".")
        try:
            holder: Any = row
            for step in way:
                holder = holder[int(step) if isinstance(holder, list) else step]
            key: Any = int(last) if isinstance(holder, list) else last
            holder[key] = _restored(holder[key], what, last)
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"nothing was taken out at {path}") from error


def _fit(value: Any, path: str, kept: Kept) -> Any:
    if isinstance(value, str):
        if value.isascii() or not (found := list(_SURROGATE.finditer(value))):
            return value
        kept[path] = [[each.start(), f"{ord(each[0]):x}"] for each in found]
        return _SURROGATE.sub(REPLACEMENT, value)
    if isinstance(value, int) and value not in _INT64:
        kept[path] = str(value)
        return None
    if isinstance(value, dict | list):
        fitting = {key: _fit(each, _join(path, key), kept) for key, each in _items(value)}
        return fitting if isinstance(value, dict) else list(fitting.values())
    return value


def _items(value: dict[str, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    return iter(value.items()) if isinstance(value, dict) else enumerate(value)


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _restored(there: Any, what: Any, path_end: str) -> Any:
    if isinstance(what, str):
        if (
            path_end not in NUMBERS
            or there is not None
            or not re.fullmatch(r"-?[0-9]{19,4000}", what)
        ):
            raise ValueError
        return int(what)
    characters = list(there)
    for place, code in what:
        surrogate = chr(int(code, 16))
        if characters[place] != REPLACEMENT or not _SURROGATE.fullmatch(surrogate):
            raise ValueError
        characters[place] = surrogate
    return "".join(characters)


def text_of(kept: Kept) -> str | None:
    """What was taken out, as the text that a row carries; None where nothing was."""
    return json.dumps(kept, sort_keys=True, separators=(",", ":")) if kept else None
