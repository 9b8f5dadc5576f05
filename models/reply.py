"""Reading one reply of a model: which square it names, and whether it keeps to the format.

Everything here is pure, never raises whatever a server sent, and takes time linear in the reply:
only `str.find` and its like run over the whole text.

The text is kept as it came. It may hold NULs and lone surrogates, which JSON can spell and UTF-8
cannot: whoever stores it must be able to hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, model_validator

from arena.board import SQUARES, Board
from arena.game import Verdict

THINK = "<think>"
END_THINK = "</think>"
CUT = frozenset({"length", "model_length", "max_tokens"})
"""The finish reasons that say: cut off at a number of tokens."""

_FILTERED = "content_filter"
_DIGITS = "0123456789"
_AROUND_DIGIT = " \r\n"
_WHOLE_NUMBER = re.compile(r"-?[1-9][0-9]*|0", re.ASCII)
_REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_details")
_THINKING_PARTS = frozenset({"thinking", "reasoning"})
_TEXTS = ("text", "thinking", "summary")
_LONGEST_TAG = 40


class AnswerForm(BaseModel):
    """How a prompt format wants a move to be said."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    opening: str = "<move>"
    closing: str = "</move>"
    base: Literal[0, 1] = 0
    """The number of the first square."""
    thinking: bool = True
    """Whether `<think>…</think>` is asked for before the answer."""

    @model_validator(mode="after")
    def _tags_can_be_told_apart(self) -> AnswerForm:
        for tag in (self.opening, self.closing):
            if not tag or len(tag) > _LONGEST_TAG or any(c.isspace() for c in tag):
                raise ValueError(f"a tag has 1 to {_LONGEST_TAG} characters and no blank: {tag!r}")
            if tag.isalnum():
                raise ValueError(f"a tag needs a sign that is no letter or digit: {tag!r}")
        tags = (self.opening, self.closing, THINK, END_THINK)
        for one in tags:
            if sum(one in other for other in tags) > 1:
                raise ValueError(f"the tag {one!r} is part of another tag")
        return self


class Reading(NamedTuple):
    """What a reply says."""

    verdict: Verdict
    square: int | None
    """The square that was named, 0 to 8, also where it is occupied."""
    contains: bool
    """Format: a closed thinking and after it a closed answer, anywhere."""
    exact: bool
    """Format: nothing else before, between or after, and finish_reason `stop`."""
    text: str
    """The reply's text as it came, thinking tags included."""
    reasoning: str | None
    """Thinking that came in a field of its own."""
    reasoning_field: str | None
    """The field it came in; `content` where it was a part of that."""
    answers: tuple[str, ...]
    """Every complete answer outside the thinking, in order; the last one counts."""


def read(message: object, finish_reason: object, form: AnswerForm, board: Board) -> Reading:
    """Read an assistant's message.

    Args:
        message: the `message` of a chat completion, as parsed from JSON; anything is borne.
        finish_reason: the choice's `finish_reason`; anything is borne.
        form: how the move was to be said.
        board: the board that was to be answered.
    """
    fields: Mapping[Any, Any] = message if isinstance(message, Mapping) else {}
    content = fields.get("content")
    parts = content if isinstance(content, list) else [content]
    text = _text([part for part in parts if not _is_thinking(part)])
    reasoning, reasoning_field = _reasoning(fields, [part for part in parts if _is_thinking(part)])
    cut = isinstance(finish_reason, str) and finish_reason in CUT
    left = _after_thinking(text, form, cut=cut, thought=reasoning is not None)
    answers = tuple(_answers(left, form))
    square: int | None = None
    if _text(fields.get("refusal")) or finish_reason == _FILTERED:
        verdict = Verdict.REFUSAL
    elif answers:
        verdict, square = _judge(answers[-1], form, board)
    elif cut:
        verdict = Verdict.TRUNCATED
    elif not text.strip() and not fields.get("tool_calls"):
        verdict = Verdict.EMPTY
    else:
        verdict = Verdict.NO_MOVE
    return Reading(
        verdict,
        square,
        contains=_contains(text, form, thought=reasoning is not None),
        exact=finish_reason == "stop" and _exact(text, form, thought=reasoning is not None),
        text=text,
        reasoning=reasoning,
        reasoning_field=reasoning_field,
        answers=answers,
    )


def _text(value: object, depth: int = 4) -> str:
    """A field's text: a string, a part with a text, or a list of either; "" for anything else."""
    if isinstance(value, str):
        return value
    if depth and isinstance(value, Mapping):
        return next((text for key in _TEXTS if (text := _text(value.get(key), depth - 1))), "")
    if depth and isinstance(value, list):
        return "".join(_text(part, depth - 1) for part in value)
    return ""


def _is_thinking(part: object) -> bool:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return isinstance(kind, str) and kind in _THINKING_PARTS


def _reasoning(fields: Mapping[Any, Any], thinking: list[object]) -> tuple[str | None, str | None]:
    """Thinking in a field of its own, and the field; a blank one is none."""
    candidates = [(name, fields.get(name)) for name in _REASONING_FIELDS]
    for name, value in (*candidates, ("content", thinking)):
        text = _text(value)
        if text.strip():
            return text, name
    return None, None


def _after_thinking(text: str, form: AnswerForm, *, cut: bool, thought: bool) -> str:
    """What is left of a reply once its thinking is dropped."""
    end = text.rfind(END_THINK)
    if end >= 0:
        return text[end + len(END_THINK) :]
    if THINK in text or (cut and form.thinking and not thought):
        return ""
    return text


def _answers(text: str, form: AnswerForm) -> Iterator[str]:
    """Each closing tag's answer: what stands between it and the last opening tag before it."""
    begin = 0
    while (end := text.find(form.closing, begin)) >= 0:
        opening = text.rfind(form.opening, begin, end)
        if opening >= 0:
            yield text[opening + len(form.opening) : end]
        begin = end + len(form.closing)


def _judge(answer: str, form: AnswerForm, board: Board) -> tuple[Verdict, int | None]:
    said = answer.strip(_AROUND_DIGIT)
    if len(said) == 1 and said in _DIGITS:
        square = ord(said) - ord("0") - form.base
        if square in SQUARES:
            return (Verdict.OK if square in board.free else Verdict.OCCUPIED), square
    if _WHOLE_NUMBER.fullmatch(said):
        return Verdict.OUT_OF_RANGE, None
    return Verdict.MALFORMED, None


def _contains(text: str, form: AnswerForm, *, thought: bool) -> bool:
    thinking = (THINK, END_THINK) if form.thinking and not thought else ()
    at = 0
    for tag in (*thinking, form.opening, form.closing):
        found = text.find(tag, at)
        if found < 0:
            return False
        at = found + len(tag)
    return True


def _exact(text: str, form: AnswerForm, *, thought: bool) -> bool:
    thinking = 1 if form.thinking and not thought else 0
    wanted = {THINK: thinking, END_THINK: thinking, form.opening: 1, form.closing: 1}
    if any(text.count(tag) != times for tag, times in wanted.items()):
        return False
    rest = text.strip()
    if thinking:
        before, _, rest = rest.partition(END_THINK)
        if not before.startswith(THINK):
            return False
        rest = rest.lstrip()
    return rest.startswith(form.opening) and rest.endswith(form.closing)
