"""Whether what is stored of a reply is what it says: for games that come from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.board import Board
from arena.game import Attempt, Verdict
from arena.players import Identity
from models.formats import PromptFormat
from models.reply import Reading, read

Reread = Callable[[Identity, Board, Attempt], str | None]
"""Given a model, the board that it was to answer and its reply: what is stored of it wrongly."""

_UNTOLD = {Verdict.REFUSAL, Verdict.EMPTY, Verdict.NO_MOVE}
"""What a server's fields decided that are not stored: the reply's text cannot contradict it."""


def rereader(formats: Mapping[str, PromptFormat]) -> Reread:
    """A check of replies to prompts of these formats; others are not known, and borne.

    Args:
        formats: the shipped ones and the operator's own, by name.
    """
    by_hash = {form.hash: form.answer for form in formats.values()}

    def reread(player: Identity, board: Board, attempt: Attempt) -> str | None:
        form = by_hash.get(player.prompt_hash or "")
        if form is None:
            return None
        message = {"content": attempt.reply, "reasoning": attempt.reasoning}
        found = read(message, attempt.finish_reason, form, board)
        untold = attempt.verdict is Verdict.REFUSAL or {found.verdict, attempt.verdict} <= _UNTOLD
        if untold or (found.verdict, found.square) == (attempt.verdict, attempt.square):
            return _format_fault(found, attempt)
        said, told = (
            verdict if square is None else f"{verdict} on square {square}"
            for verdict, square in (
                (found.verdict, found.square),
                (attempt.verdict, attempt.square),
            )
        )
        return f"a reply is read as {said}, and the line says {told}"

    return reread


def _format_fault(found: Reading, attempt: Attempt) -> str | None:
    for check in ("contains", "exact"):
        follows, told = getattr(found, check), getattr(attempt, check)
        if follows is not told:
            said = "follows" if follows else "does not follow"
            return f"a reply {said} the format ({check}), and the line says {str(told).lower()}"
    return None
