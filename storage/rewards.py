"""Imported runs of other environments: how their rollouts were rewarded.

A run has n examples with r rollouts each. Rollouts of one example are no independent cases, so what
is said of a run's mean counts examples: the mean of the examples' means, and its standard error.
What was said in them is in `storage.transcripts`, the games that can be followed there in
`storage.shown_games`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import Row, delete, func, select
from sqlalchemy.orm import Session

from arena.errors import NotFoundError
from storage.database import Database
from storage.reward_tables import ROLLOUTS, RUNS

FEW = 20
"""Different rewards that are told one by one; more fall into about as many intervals."""
_SAME = 9
"""Digits behind the point to which sums of parts are the same reward."""
_EDGE = 1e-12
"""Of an interval's width: what a quotient may lack of a whole number."""
_STEPS = (1.0, 2.0, 5.0, 10.0)
_BATCH = 500
"""Rollouts that are removed in one transaction."""


class Mean(NamedTuple):
    """A mean over examples."""

    mean: float | None
    """Of the examples' means; None where there is none."""
    standard_error: float | None
    """Of that mean, over examples; None below two."""


@dataclass(frozen=True)
class RewardRun:
    """A run in figures."""

    id: int
    name: str
    environment: str
    models: tuple[str, ...]
    examples: int
    """Of which at least one rollout counts; each once a seat where several play."""
    rollouts: int
    """That count."""
    void: int
    """Failed ones and those that ran out of time; in no other figure."""
    fewest: int
    """Rollouts of an example, void ones too: the least number of them."""
    most: int
    reasons: tuple[tuple[str, int], ...]
    """Why rollouts are void, and how many; the most frequent first."""
    mean: float | None
    standard_error: float | None
    """Both as in `Mean`."""


@dataclass(frozen=True)
class Bin:
    """How often rewards from `low` to below `high` were given; of one reward both are the same."""

    low: float
    high: float
    rollouts: int


@dataclass(frozen=True)
class Function:
    """One reward function over a run."""

    name: str
    weight: float | None
    """By which its scores are multiplied in the sum; None where the file does not say, or says
    several.
    """
    rollouts: int
    """That it scored."""
    mean: float | None
    standard_error: float | None
    """Both of its scores, as in `Mean`."""


def runs(db: Database) -> list[RewardRun]:
    """All of them, the newest first."""
    with db.read() as session:
        rows = session.execute(select(RUNS).order_by(RUNS.c.id.desc())).all()
        return [_figures(session, row) for row in rows]


def run(db: Database, id: int) -> RewardRun:
    """One of them.

    Raises:
        NotFoundError: there is none of this number.
    """
    with db.read() as session:
        return _figures(session, row_of(session, id))


def distribution(db: Database, id: int) -> list[Bin]:
    """How often each reward was given, the lowest first; void rollouts left out.

    Intervals of one width where there are more than `FEW` different ones, the empty ones between
    them too.

    Raises:
        NotFoundError: there is no such run.
    """
    with db.read() as session:
        row_of(session, id)
        reward = ROLLOUTS.c.reward
        counted = (
            select(reward, func.count())
            .where(ROLLOUTS.c.run_id == id, reward.is_not(None))
            .group_by(reward)
        )
        counts: defaultdict[float, int] = defaultdict(int)
        for value, count in session.execute(counted):
            # A zero has no sign.
            counts[round(value, _SAME) + 0.0] += count
    if len(counts) <= FEW:
        return [Bin(value, value, counts[value]) for value in sorted(counts)]
    return _bins(counts)


def functions(db: Database, id: int) -> list[Function]:
    """Each reward function of a run, by name; void rollouts left out.

    Raises:
        NotFoundError: there is no such run.
    """
    scores: defaultdict[str, defaultdict[tuple[str, str], list[float]]]
    scores = defaultdict(lambda: defaultdict(list))
    weights: defaultdict[str, set[float | None]] = defaultdict(set)
    with db.read() as session:
        row_of(session, id)
        columns = ROLLOUTS.c.example, ROLLOUTS.c.seat, ROLLOUTS.c.parts
        counting = select(*columns).where(ROLLOUTS.c.run_id == id, ROLLOUTS.c.reward.is_not(None))
        for example, seat, parts in session.execute(counting):
            for name, part in parts.items():
                scores[name]  # Named also where it never scored.
                if part is not None:
                    scores[name][example, seat].append(part[0])
                    weights[name].add(part[1])
    return [_function(name, scores[name], weights[name]) for name in sorted(scores)]


def remove(db: Database, id: int) -> int:
    """Remove a run with its rollouts. An import brings it back.

    Some hundreds a transaction: other writers wait a fraction of a second. What is broken off
    leaves a smaller run with true figures, which can be removed again.

    Returns:
        How many rollouts it had.

    Raises:
        NotFoundError: there is no such run.
    """
    with db.read() as session:
        row_of(session, id)
    removed = 0
    while some := _remove_some(db, id):
        removed += some
    return removed


def _remove_some(db: Database, id: int) -> int:
    """Remove some of its rollouts, and where there is none, the run."""
    few = select(ROLLOUTS.c.id).where(ROLLOUTS.c.run_id == id).limit(_BATCH)
    with db.write() as session:
        ids = list(session.scalars(few))
        if ids:
            session.execute(delete(ROLLOUTS).where(ROLLOUTS.c.id.in_(ids)))
        else:
            session.execute(delete(RUNS).where(RUNS.c.id == id))
    return len(ids)


def row_of(session: Session, id: int) -> Row[Any]:
    """A run's row.

    Raises:
        NotFoundError: there is none of this number.
    """
    row = session.execute(select(RUNS).where(RUNS.c.id == id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no imported run {id}")
    return row


def _figures(session: Session, row: Row[Any]) -> RewardRun:
    own, reward = ROLLOUTS.c.run_id == row.id, ROLLOUTS.c.reward
    each = (
        select(
            ROLLOUTS.c.example,
            ROLLOUTS.c.seat,
            func.avg(reward).label("mean"),
            func.count().label("all"),
            func.count(reward).label("counted"),
        )
        .where(own)
        .group_by(ROLLOUTS.c.example, ROLLOUTS.c.seat)
    )
    examples = session.execute(each).all()
    counted = sum(found.counted for found in examples)
    sizes = _sizes(examples)
    named = select(ROLLOUTS.c.model).where(own, ROLLOUTS.c.model != "").distinct()
    why = ROLLOUTS.c.why_void
    void = select(why, func.count()).where(own, reward.is_(None)).group_by(why)
    reasons = [(found or "no reward was given", count) for found, count in session.execute(void)]
    means = [found.mean for found in examples if found.mean is not None]
    return RewardRun(
        id=row.id,
        name=row.name,
        environment=row.environment,
        models=tuple(sorted(session.scalars(named))),
        examples=len(means),
        rollouts=counted,
        void=sum(found.all for found in examples) - counted,
        fewest=min(sizes, default=0),
        most=max(sizes, default=0),
        reasons=tuple(sorted(reasons, key=lambda found: (-found[1], found[0]))),
        **_mean_of(means)._asdict(),
    )


def _sizes(examples: Sequence[Row[Any]]) -> list[int]:
    """How many rollouts each example has, once a seat. One that failed before anybody sat down is
    one of each seat's.
    """
    by_example: defaultdict[str, list[int]] = defaultdict(list)
    seatless: defaultdict[str, int] = defaultdict(int)
    for each in examples:
        if each.seat == "" and each.counted == 0:
            seatless[each.example] += each.all
        else:
            by_example[each.example].append(each.all)
    return [
        size + seatless[example]
        for example in by_example.keys() | seatless.keys()
        for size in by_example.get(example, [0])
    ]


def _mean_of(means: Sequence[float]) -> Mean:
    n = len(means)
    if n == 0:
        return Mean(None, None)
    mean = math.fsum(means) / n
    if n == 1:
        return Mean(mean, None)
    squares = math.fsum((each - mean) ** 2 for each in means)
    return Mean(mean, math.sqrt(squares / (n - 1) / n))


def _function(
    name: str,
    scores: Mapping[tuple[str, str], Sequence[float]],
    weights: Iterable[float | None],
) -> Function:
    known = list(weights)
    means = [math.fsum(found) / len(found) for found in scores.values()]
    return Function(
        name=name,
        weight=known[0] if len(known) == 1 else None,
        rollouts=sum(map(len, scores.values())),
        **_mean_of(means)._asdict(),
    )


def _bins(counts: Mapping[float, int]) -> list[Bin]:
    """Intervals whose width is 1, 2 or 5 times a power of ten."""
    least, most = min(counts), max(counts)
    rough = most / FEW - least / FEW
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(step * power for step in _STEPS if step * power >= rough * (1 - 1e-9))
    first = math.floor(least / width + _EDGE)
    places: defaultdict[int, int] = defaultdict(int)
    for value, count in counts.items():
        places[math.floor(value / width + _EDGE) - first] += count
    edges = [(first + place) * width for place in range(max(places) + 2)]
    return [Bin(low, high, places[place]) for place, (low, high) in enumerate(pairwise(edges))]
