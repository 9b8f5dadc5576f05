"""Imported runs of other environments: how their rewards are distributed, and their transcripts.

A run has n examples with r rollouts each. Rollouts of one example are no independent cases, so what
is said of a run's mean counts examples: the mean of the examples' means, and its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from arena.errors import NotFoundError
from storage.database import Database
from storage.tables import RewardRolloutRow, RewardRunRow, table_of

_RUNS = table_of(RewardRunRow)
_ROLLOUTS = table_of(RewardRolloutRow)
_MOST = 1000
"""Transcripts at once."""


@dataclass(frozen=True)
class RewardRun:
    """A run in figures."""

    id: int
    name: str
    environment: str
    models: tuple[str, ...]
    examples: int
    """Of which at least one rollout counts."""
    rollouts: int
    """That count."""
    void: int
    """Failed ones and those that ran out of time; in no other figure."""
    mean: float | None
    """Of the examples' means; None where there is none."""
    standard_error: float | None
    """Of that mean, over examples; None below two."""


@dataclass(frozen=True)
class Transcript:
    """One rollout."""

    id: int
    example: str
    model: str
    seat: str
    reward: float | None
    parts: dict[str, Any]
    why_void: str | None
    messages: list[dict[str, Any]]


def runs(db: Database) -> list[RewardRun]:
    """All of them, the newest first."""
    with db.read() as session:
        rows = session.execute(select(_RUNS).order_by(_RUNS.c.id.desc())).all()
        return [_figures(session, row) for row in rows]


def run(db: Database, id: int) -> RewardRun:
    """One of them.

    Raises:
        NotFoundError: there is none of this number.
    """
    with db.read() as session:
        return _figures(session, _row(session, id))


def distribution(db: Database, id: int) -> list[tuple[float, int]]:
    """How often each reward was given, the lowest first; void rollouts left out.

    Raises:
        NotFoundError: there is no such run.
    """
    with db.read() as session:
        _row(session, id)
        reward = _ROLLOUTS.c.reward
        counted = (
            select(reward, func.count())
            .where(_ROLLOUTS.c.run_id == id, reward.is_not(None))
            .group_by(reward)
            .order_by(reward)
        )
        return [(value, count) for value, count in session.execute(counted)]


def transcripts(db: Database, id: int, *, after: int = 0, limit: int = 50) -> list[Transcript]:
    """A run's rollouts in the order of their numbers, void ones too.

    Args:
        db: where they are.
        id: the run's number.
        after: only those of greater numbers.
        limit: so many at most, and never more than a thousand.

    Raises:
        NotFoundError: there is no such run.
    """
    with db.read() as session:
        _row(session, id)
        wanted = (
            select(_ROLLOUTS)
            .where(_ROLLOUTS.c.run_id == id, _ROLLOUTS.c.id > after)
            .order_by(_ROLLOUTS.c.id)
            .limit(min(limit, _MOST))
        )
        return list(_transcripts(session.execute(wanted).all()))


def _transcripts(rows: Sequence[Row[Any]]) -> Iterator[Transcript]:
    for row in rows:
        yield Transcript(
            row.id,
            row.example,
            row.model,
            row.seat,
            row.reward,
            row.parts,
            row.why_void,
            row.messages,
        )


def _row(session: Session, id: int) -> Row[Any]:
    row = session.execute(select(_RUNS).where(_RUNS.c.id == id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no imported run {id}")
    return row


def _figures(session: Session, row: Row[Any]) -> RewardRun:
    own = _ROLLOUTS.c.run_id == row.id
    reward = _ROLLOUTS.c.reward
    means = list(
        session.scalars(
            select(func.avg(reward))
            .where(own, reward.is_not(None))
            .group_by(_ROLLOUTS.c.example, _ROLLOUTS.c.seat)
        )
    )
    total, counted = session.execute(select(func.count(), func.count(reward)).where(own)).one()
    named = select(_ROLLOUTS.c.model).where(own, _ROLLOUTS.c.model != "").distinct()
    n = len(means)
    mean = math.fsum(means) / n if n else None
    error = None
    if mean is not None and n > 1:
        error = math.sqrt(math.fsum((each - mean) ** 2 for each in means) / (n - 1) / n)
    return RewardRun(
        id=row.id,
        name=row.name,
        environment=row.environment,
        models=tuple(sorted(session.scalars(named))),
        examples=n,
        rollouts=counted,
        void=total - counted,
        mean=mean,
        standard_error=error,
    )
