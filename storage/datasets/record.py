"""The flavour `games`: all that is stored of a game but the seats' secrets. What `storage.imports`
takes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from arena.board import SQUARES, Mark
from arena.game import Attempt, Request, Turn
from storage.columns import canonical_json
from storage.datasets.facts import message_list, time
from storage.datasets.lossless import Kept, fits, take_out, text_of
from storage.players import StoredPlayer
from storage.records import StoredGame

SCHEMA = "tictactoe-arena/games/1"
"""What a row calls itself."""


def game_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    """The one row of a game."""
    game = stored.game
    row: dict[str, Any] = {
        "schema": SCHEMA,
        "game": stored.id,
        "x": _player(stored.x),
        "o": _player(stored.o),
        "opener": game.opener,
        "outcome": game.outcome,
        "termination": game.termination,
        "moves": [turn.square for turn in game.turns],
        "seed": game.seed,
        "rollout": game.rollout,
        "source": stored.source,
        "demonstration": stored.demonstration,
        "created_at": time(stored.created_at),
        "updated_at": time(stored.updated_at),
        "finished_at": time(stored.finished_at),
        "turns": [
            _turn(turn, at)
            if turn.attempts or at is not None
            else _PLAIN[turn.mark is Mark.X][turn.square]
            for turn, at in zip(game.turns, stored.times, strict=True)
        ],
        "unanswered": [_attempt(attempt) for attempt in game.unanswered],
        "failed": [_request(request) for request in game.failed],
    }
    said = [turn for turn in row["turns"] if turn["attempts"]]
    kept: Kept = {}
    # What is looked at is what people and models wrote.
    if not fits((row["x"], row["o"], said, row["unanswered"], row["failed"])):
        row, kept = take_out(row)
    row["replaced"] = text_of(kept)
    yield row


def _turn(turn: Turn, at: datetime | None) -> dict[str, Any]:
    return {
        "mark": turn.mark,
        "square": turn.square,
        "at": time(at),
        "attempts": [_attempt(attempt) for attempt in turn.attempts],
    }


# Made once, and shared by rows: a turn that is nothing but its square. Millions of small objects
# that wait to be written would keep the collector of garbage busy.
_PLAIN = tuple(tuple(_turn(Turn(mark, s), None) for s in SQUARES) for mark in (Mark.O, Mark.X))


def _player(player: StoredPlayer) -> dict[str, Any]:
    identity = player.identity
    return {
        "kind": identity.kind,
        "name": identity.name,
        "family": identity.family,
        "step": identity.step,
        "prompt_format": identity.prompt,
        "prompt_hash": identity.prompt_hash,
        "settings": player.settings,
        "deterministic": identity.deterministic,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "prompt": message_list(attempt.prompt),
        "reply": attempt.reply,
        "reasoning": attempt.reasoning,
        "reasoning_field": attempt.reasoning_field,
        "verdict": attempt.verdict,
        "square": attempt.square,
        "contains": attempt.contains,
        "exact": attempt.exact,
        "finish_reason": attempt.finish_reason,
        "seed": attempt.seed,
        "prompt_tokens": attempt.prompt_tokens,
        "completion_tokens": attempt.completion_tokens,
        "seconds": attempt.seconds,
        "adaptations": list(attempt.adaptations),
        "requests": [_request(request) for request in attempt.requests],
    }


def _request(request: Request) -> dict[str, Any]:
    return {
        "status": request.status,
        "seconds": request.seconds,
        "sent": canonical_json(dict(request.sent)),
        "error": request.error,
        "finish_reason": request.finish_reason,
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": request.completion_tokens,
    }
