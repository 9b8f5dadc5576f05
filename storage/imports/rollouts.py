"""Rollouts of any environment: a reward in its parts, and the chat that earned it.

They are no games, so they move no rate: a run is looked at for itself, n examples with r rollouts
each, its rewards' distribution and its transcripts (`storage.rewards`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from storage.columns import canonical_json
from storage.imports.boards import Followed, Unfollowed, follow
from storage.imports.write import Fate
from storage.reward_tables import ROLLOUTS, RUNS

_TOLD = ("example", "model", "seat", "reward", "parts", "why_void", "messages")
"""What a file tells of a rollout, and cannot tell otherwise later."""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """One, as a file tells it."""

    run: str
    """What its run is known by."""
    run_name: str
    environment: str
    file_hash: str | None = None
    """SHA-256 of the file it stands in, where that tells runs apart."""
    key: str
    """What it is known by, within its run."""
    example: str
    """Equal for rollouts of the same example."""
    model: str = ""
    seat: str = ""
    """Where several play."""
    reward: float | None = None
    """None where it counts for nobody."""
    parts: dict[str, Any] = field(default_factory=dict)
    """By reward function: [score, weight], or null where it gave none."""
    why_void: str | None = None
    timeout: bool = False
    """Whether the file calls it a success, and it ran out of time."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    at: datetime | None = None
    unknown: tuple[str, ...] = ()

    @cached_property
    def followed(self) -> Followed | Unfollowed | None:
        """The game of tic-tac-toe in the chat; None where there is none."""
        return follow(self.messages)

    @property
    def contradiction(self) -> str | None:
        """Why its game is not believed; None where nothing speaks against it."""
        found = self.followed
        return found.why if isinstance(found, Unfollowed) and found.contradicts else None


def write_rollouts(session: Session, batch: Sequence[Rollout]) -> list[Fate]:
    """Store those that are new; what became of each. One that is stored with another reward,
    other parts or another chat stays as it is.

    Args:
        session: a writing transaction.
        batch: some hundreds.
    """
    runs = {each.run: _run(session, each) for each in batch}
    statement = insert(ROLLOUTS).on_conflict_do_nothing().returning(ROLLOUTS.c.id)
    fates = []
    for each in batch:
        row = {
            "run_id": runs[each.run],
            "key": each.key,
            "example": each.example,
            "model": each.model,
            "seat": each.seat,
            "reward": each.reward,
            "parts": each.parts,
            "why_void": each.why_void,
            "messages": each.messages,
            "at": each.at,
            **_game(each),
        }
        if session.execute(statement, row).scalar_one_or_none() is not None:
            fates.append(Fate.IMPORTED)
        else:
            fates.append(Fate.KNOWN if _is_stored(session, row) else Fate.OTHER_GAME)
    added = zip(batch, fates, strict=True)
    hashes = {each.run: each.file_hash for each, fate in added if fate is Fate.IMPORTED}
    for run, file_hash in hashes.items():
        if file_hash:
            session.execute(update(RUNS).where(RUNS.c.key == run).values(file_hash=file_hash))
    return fates


def run_of_file(session: Session, file_hash: str) -> str | None:
    """What the run is known by that has come from a file of this content; None where none has."""
    known = select(RUNS.c.key).where(RUNS.c.file_hash == file_hash).limit(1)
    return session.execute(known).scalar_one_or_none()


def _is_stored(session: Session, row: dict[str, Any]) -> bool:
    """Whether the rollout of this key is stored as it is told here."""
    columns = [ROLLOUTS.c[name] for name in _TOLD]
    known = select(*columns).where(ROLLOUTS.c.run_id == row["run_id"], ROLLOUTS.c.key == row["key"])
    stored = session.execute(known).one()
    # As JSON: what is no number is not equal to itself.
    return canonical_json(list(stored)) == canonical_json([row[name] for name in _TOLD])


def _game(rollout: Rollout) -> dict[str, Any]:
    found = rollout.followed
    if isinstance(found, Followed):
        moves = "".join(map(str, found.moves))
        return {"opener": found.opener, "mark": found.mark, "moves": moves, "unfollowed": None}
    why = found.why if found else None
    return {"opener": None, "mark": None, "moves": None, "unfollowed": why}


def _run(session: Session, rollout: Rollout) -> int:
    known = select(RUNS.c.id).where(RUNS.c.key == rollout.run)
    found = session.execute(known).scalar_one_or_none()
    if found is None:
        row = {
            "key": rollout.run,
            "name": rollout.run_name,
            "environment": rollout.environment,
        }
        found = session.execute(insert(RUNS).values(row).returning(RUNS.c.id)).scalar_one()
    return int(found)
