"""What rows of every flavour say of a game, as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any

from arena.board import Mark, Outcome
from arena.game import Message
from storage.filters import Result
from storage.records import StoredGame


def provenance(stored: StoredGame, mark: Mark) -> dict[str, Any]:
    """Where a row about a model's seat came from."""
    game, player, opponent = stored.game, stored.player(mark), stored.player(mark.other)
    return {
        "game": stored.id,
        "player": player.identity.name,
        "family": player.identity.family,
        "step": player.identity.step,
        "opponent": opponent.identity.name,
        "mark": mark,
        "opener": game.opener,
        "outcome": game.outcome,
        "termination": game.termination,
        "result": result(game.outcome, mark),
        "moves": list(game.moves),
        "seed": game.seed,
        "rollout": game.rollout,
        "source": stored.source,
        "demonstration": stored.demonstration,
        "prompt_format": player.identity.prompt,
        "prompt_hash": player.identity.prompt_hash,
        "settings": player.settings,
        "finished_at": time(stored.finished_at),
    }


def result(outcome: Outcome | None, mark: Mark) -> Result | None:
    """What a game was for the player of a mark; None where it counts for nobody."""
    if outcome is None or outcome is Outcome.VOID:
        return None
    if outcome is Outcome.DRAW:
        return Result.DRAW
    return Result.WIN if outcome is Outcome.win(mark) else Result.LOSS


def message_list(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The messages as chat templates take them; reasoning only where there is some."""
    return [
        {"role": role, "content": content}
        if reasoning is None
        else {"role": role, "content": content, "reasoning_content": reasoning}
        for role, content, reasoning in messages
    ]


@lru_cache(maxsize=1 << 10)
def time(at: datetime | None) -> str | None:
    """A moment, to the millisecond that is stored. A game's are mostly the same."""
    return None if at is None else at.isoformat(timespec="milliseconds")
