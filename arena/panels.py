"""Panels: named lists of opponents, the built-in ones and those that a user describes.

One opponent proves nothing: a model may know its tie-breaks by heart. A panel's opponents differ in
them, and in how often they err.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.board import Mark
from arena.errors import ConfigError, SpecError
from arena.opponents import parse, symmetric_opponents

_TIES = ("uniform", "first", "last", "center", "corner", "edge")
_KEYS = ("name", "opponents", "mark")
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Panel:
    """A named list of opponents."""

    name: str
    opponents: tuple[str, ...]
    """Canonical specs, each once."""
    mark: Mark | None = None
    """The checkpoint's mark in every game, where it was trained so; None: X opening, O replying."""


def canonical_specs(specs: Iterable[str]) -> tuple[str, ...]:
    """The opponents that these specs name, in their canonical form and in this order.

    Raises:
        SpecError: one names no engine, or two name the same, or there is none.
    """
    found: dict[str, str] = {}
    for spec in specs:
        name = str(parse(spec))
        if name in found:
            twice = f"{found[name]!r} and {spec!r}" if found[name] != spec else repr(spec)
            raise SpecError(f"the opponent {name} is named twice: {twice}")
        found[name] = spec
    if not found:
        raise SpecError("name at least one opponent")
    return tuple(found)


PANELS: Mapping[str, Panel] = {
    panel.name: panel
    for panel in (
        Panel(
            "standard",
            canonical_specs(
                (
                    "random",
                    *(f"minimax:tie={tie}" for tie in _TIES),
                    *(f"minimax:epsilon={chance}" for chance in ("0.25", "0.5")),
                )
            ),
        ),
        Panel("memorisation", canonical_specs((*symmetric_opponents(), "minimax"))),
        Panel("course", canonical_specs(("random", "minimax")), Mark.X),
    )
}
"""The built-in panels, by name."""


def panel_from(table: Mapping[str, Any]) -> Panel:
    """The panel that a table of the user's describes: `name`, `opponents`, and perhaps `mark`.

    Raises:
        ConfigError: the table describes none; the message names panel, key and reason.
    """
    name = table.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        raise ConfigError(f"a panel's 'name' must be a text of 1 to {_LONGEST_NAME} characters")
    which = f"panel {name!r}"
    for key in table:
        if key not in _KEYS:
            raise ConfigError(f"{which}: unknown key {key!r}: valid are {', '.join(_KEYS)}")
    specs = table.get("opponents")
    if not isinstance(specs, list) or not all(isinstance(spec, str) for spec in specs):
        raise ConfigError(f"{which}: 'opponents' must be a list of opponent specs")
    mark = table.get("mark")
    if mark is not None and mark not in list(Mark):
        raise ConfigError(f"{which}: 'mark' must be X or O, or be left out")
    try:
        opponents = canonical_specs(specs)
    except SpecError as error:
        raise ConfigError(f"{which}: 'opponents': {error}") from None
    return Panel(name, opponents, None if mark is None else Mark(mark))


def panels_from(tables: Iterable[Mapping[str, Any]]) -> dict[str, Panel]:
    """The built-in panels and a user's, by name.

    Raises:
        ConfigError: a table describes no panel, or a name is taken.
    """
    found = dict(PANELS)
    for table in tables:
        panel = panel_from(table)
        if panel.name in found:
            taken = "is built in" if panel.name in PANELS else "is there twice"
            raise ConfigError(f"panel {panel.name!r} {taken}: give this one another name")
        found[panel.name] = panel
    return found
