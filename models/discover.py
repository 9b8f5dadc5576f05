"""What a server offers, and the entries of `models.toml` that would play it.

Ids that differ in one number, such as the adapters of a training run, become one entry with
`steps`. Nothing is written: the proposal is text for the operator to look through.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from arena.errors import ArenaError, ConfigError, NotFoundError
from models.config import problems
from models.endpoint import Endpoint, Patience
from models.entries import STEP, Entry
from models.faults import diagnose, shorten
from models.listing import Listed, listing_of

_TIMEOUT_S = 30.0
_MOST_MODELS = 1000
_LONGEST_NAME = 70
# Neither a part of a version (4.1) or of a word, nor a size (7b, 0.6B, 128k).
_NUMBER = re.compile(r"(?<![\d.])(\d{1,9})(?!\d|\.\d|[bBmMkK](?![a-zA-Z]))")
_ESCAPES = {'"': '\\"', "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a server lists."""

    base_url: str
    """Where it lists it: the address that was asked for, or that with /v1."""
    models: tuple[Listed, ...]
    toml: str
    """The proposal: entries for `models.toml`, with comments."""
    notes: tuple[str, ...] = ()
    """What the operator should know, a sentence each."""

    def to_json(self) -> dict[str, Any]:
        """The discovery as plain JSON values."""
        return {
            "base_url": self.base_url,
            "models": [
                {"id": model.id, "parent": model.parent, "context": model.context}
                for model in self.models
            ],
            "toml": self.toml,
            "notes": list(self.notes),
        }


async def discover(
    base_url: str,
    api_key_env: str | None = None,
    make_endpoint: Callable[..., Endpoint] = Endpoint,
) -> Discovery:
    """Ask a server what it offers.

    Args:
        base_url: the server's address, usually ending in /v1; where there is no list, the address
            with /v1 is tried too.
        api_key_env: the environment variable that holds the key.
        make_endpoint: builds an endpoint; called with `Endpoint`'s arguments.

    Raises:
        ConfigError: the address or the variable cannot be used.
        NotFoundError: the server lists no model.
        ArenaError: there is no list to be had.
    """
    base_url = _checked(base_url, api_key_env)
    endpoint = make_endpoint(
        base_url, "", api_key_env=api_key_env, patience=Patience(timeout_s=_TIMEOUT_S)
    )
    notes: list[str] = []
    try:
        answer = await endpoint.get("/models")
        listed = listing_of(answer)
        nowhere = answer.status is None or answer.status in (401, 403)
        if listed is None and not nowhere and not base_url.endswith("/v1"):
            listed = listing_of(await endpoint.get("/v1/models"))
            if listed is not None:
                notes.append(f"There is no list at {base_url}, but there is one at {base_url}/v1.")
                base_url += "/v1"
    finally:
        await endpoint.aclose()
    if listed is None:
        if answer.status is None:
            kind = ConfigError if answer.fatal else ArenaError
            raise kind(f"{base_url}: {answer.failure}.")
        if answer.status in (200, 404, 405):
            raise ArenaError(
                f"{base_url}: the server lists no models there (status {answer.status}): "
                "a base URL usually ends in /v1."
            )
        raise ArenaError(f"{base_url}: {diagnose(answer).reason}.")
    if not listed:
        raise NotFoundError(f"{base_url}: the server's list of models is empty.")
    models = tuple(listed.values())
    if len(models) > _MOST_MODELS:
        notes.append(f"Only the first {_MOST_MODELS} of {len(models)} models are proposed.")
    proposal = _Proposal(base_url, api_key_env)
    proposal.add(models[:_MOST_MODELS])
    return Discovery(base_url, models, proposal.toml, (*notes, *proposal.notes))


def _checked(base_url: str, api_key_env: str | None) -> str:
    table = {"name": "x", "model": "x", "base_url": base_url, "api_key_env": api_key_env}
    try:
        checked = Entry.model_validate(table).base_url
    except ValidationError as error:
        raise ConfigError(problems(error, Entry)) from None
    assert checked is not None
    return checked


class _Proposal:
    """Entries in the making."""

    def __init__(self, base_url: str, api_key_env: str | None) -> None:
        self._base_url = base_url
        self._api_key_env = api_key_env
        self._names: set[str] = set()
        self._repeats: Counter[str] = Counter()
        self._entries: list[str] = []
        self.notes: list[str] = []

    @property
    def toml(self) -> str:
        """The entries as text."""
        return "\n".join(self._entries)

    def add(self, models: Sequence[Listed]) -> None:
        """Propose entries for all models, in their order."""
        families = _families(models)
        done: set[str] = set()
        for model in models:
            if model.id in done:
                continue
            pattern, members = families.get(model.id, ("", [model]))
            done |= {member.id for member in members}
            if not self._family(pattern, members):
                for member in members:
                    self._single(member, pattern)

    def _family(self, pattern: str, members: Sequence[Listed]) -> bool:
        numbers = [_number(pattern, member.id) for member in members]
        name = _name(pattern if pattern != STEP else f"checkpoint-{STEP}")
        # A step is written without leading zeros where it is put in.
        if STEP not in name or any(str(int(number)) != number for number in numbers):
            return False
        steps = sorted(map(int, numbers))
        return self._entry(name, members[0], {"model": pattern, "steps": steps})

    def _single(self, model: Listed, pattern: str) -> None:
        own: dict[str, Any] = {"model": model.id}
        if pattern:
            own["family"] = _name(pattern.replace(STEP, "").strip(" -_/.:@") or "checkpoint")
            own["step"] = int(_number(pattern, model.id))
        if not self._entry(_name(model.id), model, own):
            self.notes.append(f"No entry can name {shorten(repr(model.id))}: it is left out.")

    def _entry(self, name: str, model: Listed, own: dict[str, Any]) -> bool:
        """Add an entry, if it can be one."""
        while True:
            self._repeats[name] += 1
            number = self._repeats[name]
            unique = name if number == 1 else f"{name} ({number})"
            table = {"name": unique, "base_url": self._base_url, **own}
            if self._api_key_env is not None:
                table["api_key_env"] = self._api_key_env
            try:
                text = "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
                names = [entry.name for entry in Entry.model_validate(table).expand()]
            except (ValidationError, UnicodeEncodeError):
                return False
            if self._names.isdisjoint(names):
                break
        self._names.update(names)
        comments = "".join(f"# {words}\n" for words in _comments(model, family="steps" in own))
        self._entries.append(f"[[model]]\n{comments}{text}")
        return True


def _families(models: Iterable[Listed]) -> dict[str, tuple[str, list[Listed]]]:
    """By id: the pattern that it shares with most others, and those; without the lone ones."""
    groups: dict[tuple[str, str | None, int | None], list[Listed]] = {}
    ranked: list[tuple[int, tuple[str, str | None, int | None]]] = []
    for model in models:
        for place, pattern in _patterns(model.id):
            key = (pattern, model.parent, model.context)
            if key not in groups:
                ranked.append((place, key))
            groups.setdefault(key, []).append(model)
    # The largest first; among equals the one whose number stands nearest to the end.
    ranked.sort(key=lambda each: (-len(groups[each[1]]), -each[0]))
    found: dict[str, tuple[str, list[Listed]]] = {}
    for _, key in ranked:
        members = [member for member in groups[key] if member.id not in found]
        if len(members) > 1:
            found |= {member.id: (key[0], members) for member in members}
    return found


def _patterns(name: str) -> Iterator[tuple[int, str]]:
    """The id with `{step}` for one of its numbers, each in turn, and where that stands."""
    if STEP in name:
        return
    for number in _NUMBER.finditer(name):
        if number[0].isascii():
            yield number.start(), f"{name[: number.start()]}{STEP}{name[number.end() :]}"


def _number(pattern: str, name: str) -> str:
    """What stands for `{step}` in an id that follows a pattern."""
    before, _, after = pattern.partition(STEP)
    return name[len(before) : len(name) - len(after)]


def _name(wanted: str) -> str:
    """A valid name of an entry that is as near as can be."""
    name = "".join(c if c.isprintable() else "-" for c in wanted)
    if len(name) > _LONGEST_NAME:
        # What tells models apart stands at the end more often than not.
        name = f"…{name[1 - _LONGEST_NAME :]}"
    name = name.strip() or "model-without-a-name"
    for valid in (name, name.replace(":", "-"), f"llm-{name.replace(':', '-')}"):
        try:
            Entry.model_validate({"name": valid.replace(STEP, "1"), "model": "x", "gguf": "x"})
        except ValidationError:
            continue
        return valid
    return name


def _comments(model: Listed, *, family: bool) -> Iterator[str]:
    if family:
        yield "One entry for all, if the number that they differ in is the training's step."
    if model.parent is not None:
        yield f"an adapter of {shorten(model.parent)}"
    if model.context is not None:
        yield f"context: {model.context} tokens"


def _toml(value: object) -> str:
    """A value in TOML.

    Raises:
        UnicodeEncodeError: no TOML can hold the text.
    """
    if not isinstance(value, str):
        return str(value)
    value.encode()
    return f'"{"".join(map(_escaped, value))}"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    return char if char.isprintable() else f"\\U{ord(char):08x}"
