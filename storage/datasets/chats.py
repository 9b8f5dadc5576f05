"""The flavour `messages`: for each model that played a game the chat, each reply as received.

Where the chat was begun anew on the way (a fresh prompt each turn), or what was sent back is not
what was received (an empty reply left out, a separate reasoning dropped), the chat is cut there and
within each turn, and each piece is a row of its own; its last message is the one to learn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.board import Mark
from arena.game import Attempt, Message, Verdict
from arena.players import Kind
from storage.datasets.facts import message_list, provenance
from storage.records import StoredGame


def chat_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """The chats of those seats in which a model sat."""
    for mark in seats:
        attempts = stored.game.attempts_of(mark)
        if stored.player(mark).identity.kind is not Kind.MODEL or not attempts:
            continue
        if len(_pieces(attempts)) == 1:
            yield _chat(stored, mark, None, attempts)
            continue
        for ply, made in by_turn(stored, mark):
            for piece in _pieces(made):
                yield _chat(stored, mark, ply, piece)


def by_turn(stored: StoredGame, mark: Mark) -> Iterator[tuple[int, Sequence[Attempt]]]:
    """The ply and the attempts of each turn of a mark, and of the one that it did not take."""
    game = stored.game
    for ply, turn in enumerate(game.turns):
        if turn.mark is mark:
            yield ply, turn.attempts
    if game.to_move is mark:
        yield len(game.turns), game.unanswered


def reply_of(attempt: Attempt) -> Message:
    """The message that a reply was."""
    return Message("assistant", attempt.reply, attempt.reasoning)


def _pieces(attempts: Sequence[Attempt]) -> list[list[Attempt]]:
    """Cut a chat wherever a prompt is not the one before it, its reply as received, and more."""
    pieces: list[list[Attempt]] = []
    for attempt in attempts:
        if pieces and _goes_on(pieces[-1][-1], attempt):
            pieces[-1].append(attempt)
        else:
            pieces.append([attempt])
    return pieces


def _goes_on(before: Attempt, attempt: Attempt) -> bool:
    so_far = (*before.prompt, reply_of(before))
    return attempt.prompt[: len(so_far)] == so_far


def _chat(
    stored: StoredGame, mark: Mark, ply: int | None, attempts: Sequence[Attempt]
) -> dict[str, Any]:
    """A row of `messages`; `ply` where it is a part of a game's chat."""
    return provenance(stored, mark) | {
        "ply": ply,
        "replies": len(attempts),
        "invalid": sum(a.verdict is not Verdict.OK for a in attempts),
        "contains": sum(a.contains for a in attempts),
        "exact": sum(a.exact for a in attempts),
        "messages": message_list((*attempts[-1].prompt, reply_of(attempts[-1]))),
    }
