"""Templates of prompts: literal text with `{placeholders}`, and no more than that.

A brace itself is written twice, `{{` or `}}`, as in Python's format strings; attributes, indices,
conversions and format specs are refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from models.config import nearest

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


class TemplateError(ValueError):
    """A template that cannot be used."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line
        """The template's line, from 0."""


@lru_cache(maxsize=1024)
def parse(template: str) -> tuple[tuple[str, str | None], ...]:
    """A template as pairs of literal text and the placeholder that follows it, if any.

    Raises:
        TemplateError: a brace that is neither doubled nor part of a placeholder.
    """
    parts: list[tuple[str, str | None]] = []
    literal, at = "", 0
    for token in _TOKEN.finditer(template):
        literal += template[at : token.start()]
        at = token.end()
        text, name = token[0], token[1]
        if name is not None:
            parts.append((literal, name))
            literal = ""
        elif len(text) == 2:
            literal += text[0]
        else:
            line = template.count("\n", 0, token.start())
            raise TemplateError(f"a single {text!r}: write {text * 2!r} for the sign itself", line)
    parts.append((literal + template[at:], None))
    return tuple(parts)


def placeholders(template: str) -> set[str]:
    """The placeholders that a template uses."""
    return {name for _, name in parse(template) if name is not None}


def check(template: str, valid: Collection[str]) -> None:
    """See that a template uses only valid placeholders.

    Raises:
        TemplateError: it does not; the reason names the nearest valid one.
    """
    for name in (name for _, name in parse(template) if name is not None):
        if name not in valid:
            line = template[: template.index(f"{{{name}}}")].count("\n")
            hint = nearest(name, sorted(valid))
            raise TemplateError(f"unknown placeholder {{{name}}}: {hint}", line)


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text of a template that was checked."""
    return "".join(
        literal + (values[name] if name is not None else "") for literal, name in parse(template)
    )
