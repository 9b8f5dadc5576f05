"""Prompt formats: a named, hashed set of templates, a board drawing and an answer form.

A format holds every word that a model is sent, so that a checkpoint can be asked exactly as it
was trained. `models.library` has the shipped ones and reads a user's own; `models.prompt` makes
chats with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from arena.board import Board, Mark
from arena.game import Turn, Verdict
from models import template
from models.config import nearest
from models.reply import END_THINK, THINK, AnswerForm

_SEATED = ("mark", "opponent", "opener", "first_square", "last_square")
_TAGS = ("answer_open", "answer_close")
_POSITION = ("board", "free", "moves")

PLACEHOLDERS: dict[str, tuple[str, ...]] = {
    "system": (*_SEATED, *_TAGS),
    "opening": (*_SEATED, *_TAGS, *_POSITION),
    "first": (*_SEATED, *_TAGS, *_POSITION, "opponent_move"),
    "next": (*_SEATED, *_TAGS, *_POSITION, "opponent_move"),
    "invalid": (*_SEATED, *_TAGS, *_POSITION, "reason"),
    "reasons": (*_SEATED, *_TAGS, *_POSITION, "square"),
}
"""What each template may use."""

REASONS: dict[Verdict, str] = {
    Verdict.OCCUPIED: "square {square} is taken already",
    Verdict.OUT_OF_RANGE: "the squares are numbered {first_square} to {last_square}",
    Verdict.MALFORMED: "between {answer_open} and {answer_close} stands only one digit",
    Verdict.NO_MOVE: "there was no {answer_open}number{answer_close}",
    Verdict.TRUNCATED: "your reply was cut off before its move, so think more briefly",
    Verdict.EMPTY: "your reply was empty",
    Verdict.REFUSAL: "you named no square",
}
"""Why a reply was no move, unless the format says it in words of its own."""

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class BoardDrawing(BaseModel):
    """How the nine squares are drawn."""

    model_config = _STRICT

    x: str = "X"
    o: str = "O"
    free: str = "{number}"
    """A free square: text, or its `{number}` in the format's base."""
    between_cells: str = " | "
    between_rows: str = "\n---------\n"
    row_start: str = ""
    row_end: str = ""
    between_free: str = ", "
    """Stands between the numbers that `{free}` lists."""

    @field_validator("free")
    @classmethod
    def _only_its_number(cls, value: str) -> str:
        template.check(value, ("number",))
        return value

    def draw(self, board: Board, base: int) -> str:
        """The board as text."""
        marks = {Mark.X: self.x, Mark.O: self.o}
        cells = [
            marks[mark] if mark else template.fill(self.free, {"number": str(square + base)})
            for square, mark in enumerate(board.squares)
        ]
        rows = (self.between_cells.join(cells[row : row + 3]) for row in (0, 3, 6))
        return self.between_rows.join(f"{self.row_start}{row}{self.row_end}" for row in rows)


class MoveLog(BaseModel):
    """How `{moves}` lists the moves so far."""

    model_config = _STRICT

    entry: str = "{turn}. {mark} takes {square}"
    between: str = "\n"
    nothing: str = "(no moves yet)"

    @field_validator("entry")
    @classmethod
    def _only_a_move(cls, value: str) -> str:
        template.check(value, ("turn", "mark", "square"))
        return value

    def write(self, turns: Sequence[Turn], base: int) -> str:
        """The moves as text."""
        entries = (
            {"turn": str(number), "mark": turn.mark.value, "square": str(turn.square + base)}
            for number, turn in enumerate(turns, 1)
        )
        return self.between.join(template.fill(self.entry, each) for each in entries) or (
            self.nothing
        )


class PromptFormat(BaseModel):
    """A named set of templates. Equal formats have equal hashes, in any process and version."""

    model_config = _STRICT

    name: str = Field(min_length=1, max_length=60, pattern=r"^[\w.:/@+-]+$")
    system: str = ""
    """The system message; none where this is empty."""
    opening: str | None = None
    """Asks for a move on the empty board. None: `first` does."""
    first: str
    """Asks for the first move of the game; each turn where the history is `board`."""
    next: str
    """Asks for any later move."""
    invalid: str
    """Answers a reply that was no move."""
    reasons: dict[str, str] = Field(default={}, validate_default=True)
    """Verdict to words for `{reason}`; those of `REASONS` where a file leaves one out."""
    board: BoardDrawing = BoardDrawing()
    log: MoveLog = MoveLog()
    answer: AnswerForm = AnswerForm()
    mark: str | None = Field(default=None, pattern="^[XO]$")
    """The mark that a checkpoint trained on one side only always plays: seat it so."""

    @field_validator("system", "opening", "first", "next", "invalid")
    @classmethod
    def _only_placeholders(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None:
            template.check(value, PLACEHOLDERS[str(info.field_name)])
        return value

    @field_validator("reasons")
    @classmethod
    def _only_verdicts(cls, value: dict[str, str]) -> dict[str, str]:
        valid = [verdict.value for verdict in REASONS]
        for verdict, words in value.items():
            if verdict not in valid:
                raise ValueError(f"unknown verdict {verdict!r}: {nearest(verdict, valid)}")
            template.check(words, PLACEHOLDERS["reasons"])
        return {verdict.value: words for verdict, words in REASONS.items()} | value

    @model_validator(mode="after")
    def _shows_the_game(self) -> PromptFormat:
        used = {
            name: template.placeholders(text)
            for name in ("system", "opening", "first", "next", "invalid")
            if (text := getattr(self, name)) is not None
        }
        if self.opening is None and "opponent_move" in used["first"]:
            raise ValueError(
                "first uses {opponent_move}, but on an empty board there is none: "
                "give an opening template too"
            )
        if not used["first"] & {"board", "moves"}:
            raise ValueError("first needs the placeholder {board} or {moves}")
        if not used["next"] & {"board", "moves", "opponent_move"}:
            raise ValueError("next needs the placeholder {board}, {moves} or {opponent_move}")
        if self.mark is None and not any("mark" in names for names in used.values()):
            raise ValueError(
                "the placeholder {mark} is missing: say which mark the model plays, "
                'or fix it with mark = "X" or "O"'
            )
        return self

    def example(self, square: int) -> str:
        """A reply that keeps to the format exactly."""
        thinking = f"{THINK}...{END_THINK}" if self.answer.thinking else ""
        return f"{thinking}{self.answer.opening}{square + self.answer.base}{self.answer.closing}"

    @property
    def hash(self) -> str:
        """A short, stable hash over all fields, the name too."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
