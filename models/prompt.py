"""The chat that asks a model for its move: made from the game alone, the same after a restart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from arena.board import SQUARES, Board, Mark, start
from arena.game import Attempt, Game, Message, Turn, Verdict
from models import template
from models.formats import PromptFormat

_SURROGATES = re.compile("[\ud800-\udfff]")


class History(StrEnum):
    """What of the game a model is sent each turn."""

    FULL = "full"
    """The chat so far: every prompt, reply and correction."""
    BOARD = "board"
    """A fresh prompt each turn; only this turn's invalid replies follow it."""


class ReasoningHistory(StrEnum):
    """Whether thinking that came in a field of its own is sent back with its reply."""

    DROP = "drop"
    KEEP = "keep"


def messages(
    game: Game,
    mark: Mark,
    attempts: Iterable[Attempt],
    form: PromptFormat,
    history: History = History.FULL,
    reasoning_history: ReasoningHistory = ReasoningHistory.DROP,
) -> tuple[Message, ...]:
    """The chat that asks `mark` for its move on the game's open board.

    Args:
        game: the game so far; it is `mark`'s turn.
        mark: the model's seat.
        attempts: its invalid replies since the last turn.
        form: the prompt format.
        history: the chat so far, or a fresh prompt.
        reasoning_history: whether separate thinking goes back with its reply.

    Replies go back verbatim, except that a lone surrogate, which no request can carry, becomes
    U+FFFD. There are never two user messages in a row: a blank reply is left out, and what would
    have answered it joins the user message before.
    """
    keep = reasoning_history is ReasoningHistory.KEEP
    chat = _Chat()
    if form.system:
        chat.add("system", template.fill(form.system, _seat_values(form, mark, game.opener)))
    turns = list(_own_turns(game, mark, attempts))
    for number, turn in enumerate(turns[-1:] if history is History.BOARD else turns):
        values = _values(form, mark, turn.board, game.turns[: turn.board.ply])
        chat.add("user", template.fill(_ask(form, turn.board, first=number == 0), values))
        for attempt in turn.attempts:
            chat.add("assistant", attempt.reply, attempt.reasoning if keep else None)
            if attempt.verdict is not Verdict.OK:
                chat.add("user", _feedback(form, attempt, values))
    return chat.messages


class _Asked(NamedTuple):
    """A board that the model was or is asked to answer, and its replies."""

    board: Board
    attempts: tuple[Attempt, ...]


class _Chat:
    """Messages in the making."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def add(self, role: str, content: str, reasoning: str | None = None) -> None:
        """Append a message; leave out a blank reply, join two in a row of the user's."""
        if role == "assistant" and not content.strip():
            return
        if role == "user" and self._messages and self._messages[-1].role == role:
            content = f"{self._messages.pop().content}\n\n{content}"
        thinking = _sendable(reasoning) if reasoning else None
        self._messages.append(Message(role, _sendable(content), thinking))


def _own_turns(game: Game, mark: Mark, attempts: Iterable[Attempt]) -> Iterator[_Asked]:
    board = start(game.opener)
    for turn in game.turns:
        if turn.mark is mark:
            yield _Asked(board, turn.attempts)
        board = board.after(turn.square)
    yield _Asked(board, tuple(attempts))


def _ask(form: PromptFormat, board: Board, *, first: bool) -> str:
    if not first:
        return form.next
    return form.first if board.ply or form.opening is None else form.opening


def _feedback(form: PromptFormat, attempt: Attempt, values: Mapping[str, str]) -> str:
    square = "" if attempt.square is None else str(attempt.square + form.answer.base)
    words = form.reasons[attempt.verdict.value]
    reason = template.fill(words, {**values, "square": square})
    return template.fill(form.invalid, {**values, "reason": reason})


def _seat_values(form: PromptFormat, mark: Mark, opener: Mark) -> dict[str, str]:
    base = form.answer.base
    return {
        "mark": mark.value,
        "opponent": mark.other.value,
        "opener": opener.value,
        "first_square": str(SQUARES[0] + base),
        "last_square": str(SQUARES[-1] + base),
        "answer_open": form.answer.opening,
        "answer_close": form.answer.closing,
    }


def _values(form: PromptFormat, mark: Mark, board: Board, turns: Sequence[Turn]) -> dict[str, str]:
    base = form.answer.base
    return _seat_values(form, mark, board.opener) | {
        "board": form.board.draw(board, base),
        "free": form.board.between_free.join(str(square + base) for square in board.free),
        "moves": form.log.write(turns, base),
        "opponent_move": str(turns[-1].square + base) if turns else "",
    }


def _sendable(text: str) -> str:
    """The text as UTF-8 can carry it."""
    return _SURROGATES.sub("\ufffd", text)
