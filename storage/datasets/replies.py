"""The flavours `turns` and `kto`: a model's replies one by one, each with the prompt it answers.

`turns` has the replies that became moves. `kto` has all, with a label: a reply is wanted that names
a free square, keeps what was held (a win stays a win, a draw a draw) and follows the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.analysis import grade
from arena.board import Board, Mark, start
from arena.game import Attempt, Verdict
from arena.players import Kind
from storage.datasets.chats import reply_of
from storage.datasets.facts import message_list, provenance
from storage.records import StoredGame


class Reply(NamedTuple):
    """One reply of a model."""

    board: Board
    """What it answers."""
    number: int
    """From 1, within the turn."""
    attempt: Attempt

    @property
    def is_legal(self) -> bool:
        """Whether it became a move."""
        return self.attempt.verdict is Verdict.OK

    @property
    def square(self) -> int | None:
        """The square that it took."""
        return self.attempt.square if self.is_legal else None

    @property
    def loses_value(self) -> bool | None:
        """Whether it gave up a win or a draw; None where it was no move."""
        return None if self.square is None else grade(self.board, self.square).loses_value


def turn_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """The replies that became moves."""
    for mark in seats:
        origin = provenance(stored, mark)
        for reply in replies(stored, mark):
            if reply.is_legal:
                yield {**origin, **reply_facts(reply), **_prompt_and_completion(reply)}


def labelled_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """All replies, wanted or not."""
    for mark in seats:
        origin = provenance(stored, mark)
        for reply in replies(stored, mark):
            facts = reply_facts(reply)
            wanted = facts["loses_value"] is False and reply.attempt.contains
            yield {**origin, **facts, **_prompt_and_completion(reply), "label": wanted}


def replies(stored: StoredGame, mark: Mark) -> Iterator[Reply]:
    """Every reply of the model that has a mark, if one has; in order."""
    if stored.player(mark).identity.kind is not Kind.MODEL:
        return
    game = stored.game
    board = start(game.opener)
    for turn in game.turns:
        if turn.mark is mark:
            for number, attempt in enumerate(turn.attempts, start=1):
                yield Reply(board, number, attempt)
        board = board.after(turn.square)
    if game.to_move is mark:
        for number, attempt in enumerate(game.unanswered, start=1):
            yield Reply(board, number, attempt)


def reply_facts(reply: Reply) -> dict[str, Any]:
    """What a row says of a reply beside its text and where it came from."""
    attempt = reply.attempt
    return {
        "ply": reply.board.ply,
        "board": drawn(reply.board),
        "number": reply.number,
        "verdict": attempt.verdict,
        "square": reply.square,
        "loses_value": reply.loses_value,
        "contains": attempt.contains,
        "exact": attempt.exact,
        "finish_reason": attempt.finish_reason,
    }


def drawn(board: Board) -> str:
    """The nine squares, `.` where free."""
    return "".join(mark or "." for mark in board.squares)


def _prompt_and_completion(reply: Reply) -> dict[str, Any]:
    return {
        "prompt": message_list(reply.attempt.prompt),
        "completion": message_list([reply_of(reply.attempt)]),
    }
