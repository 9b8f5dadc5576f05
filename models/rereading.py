"""Whether a stored verdict is what a reply says: for games that come from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.board import Board
from arena.game import Attempt, Verdict
from arena.players import Identity
from models.formats import PromptFormat
from models.reply import read

Reread = Callable[[Identity, Board, Attempt], str | None]
"""Given a model, the board that it was to answer and its reply: what is wrong with the verdict."""

_UNTOLD = (Verdict.REFUSAL, Verdict.EMPTY, Verdict.NO_MOVE)
"""What a server's fields decided that are not stored: the reply's text cannot contradict it."""


def rereader(formats: Mapping[str, PromptFormat]) -> Reread:
    """A check of replies to prompts of these formats; others are not known, and borne.

    Args:
        formats: the shipped ones and the operator's own, by name.
    """
    by_hash = {form.hash: form.answer for form in formats.values()}

    def reread(player: Identity, board: Board, attempt: Attempt) -> str | None:
        form = by_hash.get(player.prompt_hash or "")
        if form is None or attempt.verdict is Verdict.REFUSAL:
            return None
        message = {"content": attempt.reply, "reasoning": attempt.reasoning}
        found = read(message, attempt.finish_reason, form, board)
        if found.verdict in _UNTOLD and attempt.verdict in _UNTOLD:
            return None
        if (found.verdict, found.square) == (attempt.verdict, attempt.square):
            return None
        said, told = (
            verdict if square is None else f"{verdict} on square {square}"
            for verdict, square in (
                (found.verdict, found.square),
                (attempt.verdict, attempt.square),
            )
        )
        return f"a reply is read as {said}, and the line says {told}"

    return reread
