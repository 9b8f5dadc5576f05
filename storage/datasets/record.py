"""The flavour `games`: all that is stored of a game but the seats' secrets. What `storage.imports`
takes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.board import Mark
from arena.game import Attempt, Request
from storage.columns import canonical_json
from storage.datasets.facts import message_list, time
from storage.datasets.lossless import take_out, text_of
from storage.players import StoredPlayer
from storage.records import StoredGame

SCHEMA = "tictactoe-arena/games/1"
"""What a row calls itself."""


def game_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    """The one row of a game."""
    game = stored.game
    row, kept = take_out(
        {
            "schema": SCHEMA,
            "game": stored.id,
            "x": _player(stored.x),
            "o": _player(stored.o),
            "opener": game.opener,
            "outcome": game.outcome,
            "termination": game.termination,
            "moves": list(game.moves),
            "seed": game.seed,
            "rollout": game.rollout,
            "source": stored.source,
            "demonstration": stored.demonstration,
            "created_at": time(stored.created_at),
            "updated_at": time(stored.updated_at),
            "finished_at": time(stored.finished_at),
            "turns": [
                {
                    "mark": turn.mark,
                    "square": turn.square,
                    "at": None if at is None else time(at),
                    "attempts": [_attempt(attempt) for attempt in turn.attempts],
                }
                for turn, at in zip(game.turns, stored.times, strict=True)
            ],
            "unanswered": [_attempt(attempt) for attempt in game.unanswered],
            "failed": [_request(request) for request in game.failed],
        }
    )
    yield row | {"replaced": text_of(kept)}


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
