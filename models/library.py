"""The prompt formats that a model's entry can name: the shipped ones and a user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from arena.errors import ConfigError
from models.config import problems, read_toml, tables_of
from models.formats import MoveLog, PromptFormat
from models.reply import AnswerForm
from models.template import TemplateError

_RULES = """\
You are playing tic-tac-toe. You are {mark} and your opponent is {opponent}; {opener} moves first.
The squares are numbered {first_square} to {last_square}, row by row from the top left. \
Three {mark} in a row, a column or a diagonal win the game for you; three {opponent} lose it.
"""

_POSITION = """\
The board, with the numbers of the free squares:

{board}

Free squares: {free}
You are {mark}. Your move."""

TAGS = PromptFormat(
    name="tags",
    system=_RULES
    + """
Each turn, think about your move first, then give the number of one free square. \
Reply in exactly this form, with nothing before or after it:
<think>your thinking</think>{answer_open}number{answer_close}""",
    opening="The board is empty and you move first. " + _POSITION,
    first="Your opponent took square {opponent_move}. " + _POSITION,
    next="Your opponent took square {opponent_move}. " + _POSITION,
    invalid="""\
That is not a valid move: {reason}. It is still your turn.
Free squares: {free}
Reply in the form <think>your thinking</think>{answer_open}number{answer_close}""",
)
"""Thinking and move tags, a numbered board, a list of free squares. The default."""

MOVE_ONLY = PromptFormat(
    name="move-only",
    system=_RULES
    + """
Each turn, give the number of one free square. \
Reply in exactly this form, with nothing before or after it:
{answer_open}number{answer_close}""",
    opening="The board is empty and you move first. " + _POSITION,
    first="Your opponent took square {opponent_move}. " + _POSITION,
    next="Your opponent took square {opponent_move}. " + _POSITION,
    invalid="""\
That is not a valid move: {reason}. It is still your turn.
Free squares: {free}
Reply in the form {answer_open}number{answer_close}""",
    answer=AnswerForm(thinking=False),
)
"""The same without thinking."""

BLIND = PromptFormat(
    name="blind",
    system=_RULES
    + """
You play blindfold: you are told the moves, and never shown the board. \
Each turn, think about your move first, then give the number of one free square. \
Reply in exactly this form, with nothing before or after it:
<think>your thinking</think>{answer_open}number{answer_close}""",
    opening="No moves have been made and you move first. You are {mark}. Your move.",
    first="The moves so far: {moves}.\nYou are {mark}. Your move.",
    next="The moves so far: {moves}.\nYou are {mark}. Your move.",
    invalid="""\
That is not a valid move: {reason}. It is still your turn.
Reply in the form <think>your thinking</think>{answer_open}number{answer_close}""",
    log=MoveLog(entry="{mark} {square}", between=", "),
)
"""The move log only: the model has to keep the board in mind."""

SHIPPED: Mapping[str, PromptFormat] = {form.name: form for form in (TAGS, MOVE_ONLY, BLIND)}
DEFAULT = TAGS.name

_LONG_STRINGS = ('"""', "'''")


def load_formats(path: Path) -> dict[str, PromptFormat]:
    """The shipped formats and those of a file with a table `[format.NAME]` for each.

    Args:
        path: the TOML file; a missing one adds nothing.

    Raises:
        ConfigError: the file or one of its formats cannot be used; the message names file, line,
            format, key and reason.
    """
    tables = tables_of(path, read_toml(path), "format") or {}
    if not isinstance(tables, dict):
        raise ConfigError(f"{path}: a format is a table: [format.NAME]")
    formats = dict(SHIPPED)
    for name, table in tables.items():
        if name in SHIPPED:
            raise ConfigError(f"{path}: {name!r} is a shipped format: choose another name")
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: a format is a table: [format.{name}]")
        try:
            formats[name] = PromptFormat.model_validate({**table, "name": name})
        except ValidationError as error:
            place = _place(path.read_text("utf-8-sig"), name, error)
            reason = problems(error, PromptFormat)
            raise ConfigError(f"{path}, {place}format {name!r}: {reason}") from None
    return formats


def _place(text: str, name: str, error: ValidationError) -> str:
    """Where in the file the first mistake is, as `line N, `; "" where that cannot be told."""
    details = error.errors(include_url=False)[0]
    lines = text.splitlines()
    quoted = rf"""["']?{re.escape(name)}["']?"""
    *inner, key = [str(part) for part in details["loc"]] or [""]
    header = rf"\s*\[\s*format\s*\.\s*{quoted}" + "".join(rf"\s*\.\s*{part}" for part in inner)
    start = _find(lines, header + r"\s*\]", 0)
    if start is None:
        return ""
    at = _find(lines, rf"""\s*["']?{re.escape(key)}["']?\s*=""", start) if key else None
    if at is None:
        return f"line {start + 1}, "
    cause = details.get("ctx", {}).get("error")
    value = lines[at].partition("=")[2].strip()
    if isinstance(cause, TemplateError) and value.startswith(_LONG_STRINGS):
        # A line end right after the opening quotes is no part of the text.
        at += cause.line + (value in _LONG_STRINGS)
    return f"line {at + 1}, "


def _find(lines: list[str], pattern: str, begin: int) -> int | None:
    matches = (number for number in range(begin, len(lines)) if re.match(pattern, lines[number]))
    return next(matches, None)
