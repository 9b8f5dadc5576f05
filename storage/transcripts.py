"""What was said in the rollouts of an imported run, those of one example together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select

from arena.board import Mark
from storage.database import Database
from storage.reward_tables import ROLLOUTS
from storage.rewards import row_of
from storage.shown_games import ShownGame

_MOST = 1000
"""Transcripts at once."""


class Order(StrEnum):
    """In which order examples come, and the rollouts of each."""

    GIVEN = "given"
    """As they were imported."""
    BEST = "best"
    """The best mean and the best reward first; without either, last."""
    WORST = "worst"


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
    game: ShownGame | None
    """Of tic-tac-toe, where one can be followed in it."""
    unfollowed: str | None
    """Why none can, though boards are drawn."""


@dataclass(frozen=True)
class Kept:
    """Which of a run's rollouts are asked for."""

    example: str | None = None
    """Those of one example."""
    like: int | None = None
    """Those of the same example as the rollout of this number."""
    void: bool | None = None
    """Those that count for nobody, or all others."""


def transcripts(
    db: Database,
    id: int,
    kept: Kept = Kept(),
    *,
    order: Order = Order.GIVEN,
    skip: int = 0,
    limit: int = 50,
) -> list[Transcript]:
    """A run's rollouts, by example.

    Args:
        db: where they are.
        id: the run's number.
        kept: which of them.
        order: of the examples, and of the rollouts within each.
        skip: leave out so many.
        limit: so many at most, and never more than a thousand.

    Raises:
        NotFoundError: there is no such run.
    """
    conditions = _conditions(id, kept)
    reward, example = ROLLOUTS.c.reward, ROLLOUTS.c.example
    first, mean = func.min(ROLLOUTS.c.id).label("first"), func.avg(reward).label("mean")
    # Over all rollouts of an example, so that its place does not hang on which are asked for.
    own = _conditions(id, Kept(kept.example, kept.like))
    examples = select(example, first, mean).where(*own).group_by(example).subquery()
    turned = {
        Order.GIVEN: (examples.c.first,),
        Order.BEST: (examples.c.mean.desc().nulls_last(), examples.c.first),
        Order.WORST: (examples.c.mean.asc().nulls_last(), examples.c.first),
    }
    within = {
        Order.GIVEN: (),
        Order.BEST: (reward.desc().nulls_last(),),
        Order.WORST: (reward.asc().nulls_last(),),
    }
    # The numbers first: a chat may be long, and sorting would carry it along.
    wanted = (
        select(ROLLOUTS.c.id)
        .join(examples, examples.c.example == example)
        .where(*conditions)
        .order_by(*turned[order], *within[order], ROLLOUTS.c.id)
        .limit(min(limit, _MOST))
        .offset(skip)
    )
    with db.read() as session:
        row_of(session, id)
        ids = list(session.scalars(wanted))
        rows = session.execute(select(ROLLOUTS).where(ROLLOUTS.c.id.in_(ids)))
        found = {row.id: row for row in rows}
    return [_transcript(found[each]) for each in ids]


def count_transcripts(db: Database, id: int, kept: Kept = Kept()) -> int:
    """How many rollouts there are.

    Raises:
        NotFoundError: there is no such run.
    """
    with db.read() as session:
        row_of(session, id)
        counted = select(func.count()).select_from(ROLLOUTS).where(*_conditions(id, kept))
        return session.execute(counted).scalar_one()


def _conditions(id: int, kept: Kept) -> Sequence[ColumnElement[bool]]:
    found = [ROLLOUTS.c.run_id == id]
    if kept.example is not None:
        found.append(ROLLOUTS.c.example == kept.example)
    if kept.like is not None:
        # An alias: it is not the row that is asked about.
        other = ROLLOUTS.alias()
        same = select(other.c.example).where(other.c.id == kept.like, other.c.run_id == id)
        found.append(ROLLOUTS.c.example == same.scalar_subquery())
    if kept.void is not None:
        reward = ROLLOUTS.c.reward
        found.append(reward.is_(None) if kept.void else reward.is_not(None))
    return found


def _transcript(row: Row[Any]) -> Transcript:
    game = None
    if row.moves is not None:
        game = ShownGame(Mark(row.opener), Mark(row.mark), tuple(map(int, row.moves)))
    return Transcript(
        id=row.id,
        example=row.example,
        model=row.model,
        seat=row.seat,
        reward=row.reward,
        parts=row.parts,
        why_void=row.why_void,
        messages=row.messages,
        game=game,
        unfollowed=row.unfollowed,
    )
