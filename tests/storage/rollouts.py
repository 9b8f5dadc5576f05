"""Rollouts of other environments, as an import stores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storage import Database
from storage.imports.rollouts import Rollout, write_rollouts


def store(db: Database, *rewards: Any, run: str = "a run", **same: Any) -> None:
    """A rollout for each reward; of pairs, the first is its example. None is void."""
    write(db, [rollout(number, each, run, **same) for number, each in enumerate(rewards)])


def rollout(number: int, reward: Any, run: str = "a run", **more: Any) -> Rollout:
    example, worth = reward if isinstance(reward, tuple) else (str(number), reward)
    facts = {"why_void": "it failed" if worth is None else None, "key": f"{number}"} | more
    return Rollout(
        run=run, run_name=run, environment="lines", example=example, reward=worth, **facts
    )


def write(db: Database, rollouts: Sequence[Rollout]) -> None:
    with db.write() as session:
        write_rollouts(session, rollouts)
