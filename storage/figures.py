"""What the games of an evaluation come to, entry by entry. They may be read while it is played.

The database adds up; what comes back is one row an entry, however many games there are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.orm import Session

from arena.reward import DEFAULT_WEIGHTS, Check, Reward, Weights
from arena.statistics import Sums
from storage.cells import ENTRIES, PLAYED, PLAYED_AGAIN, VOID, Entry, entries_of, parameters
from storage.costs import Costs
from storage.database import Database
from storage.evaluations import Evaluation


@dataclass(frozen=True)
class Figures:
    """An entry's games. Where nothing else is said, those that count: not void, and no repeats."""

    entry: Entry
    planned: int
    """Cells: each is one of `games`, `repeats`, `void` and `context_exceeded`, or is to come."""
    wins: int
    draws: int
    losses: int
    forfeits: int
    """Part of the losses: by the player's own replies."""
    repeats: int
    """Games of a known line, where both players are deterministic."""
    void: int
    """Cells that an endpoint's fault made void, and that were not played since; also where not
    even the first turn fitted the context."""
    context_exceeded: int
    """Cells whose game outgrew the model's context."""
    distinct: int
    """Different sequences of moves."""
    attempts: int
    invalid_attempts: int
    contains: int
    exact: int
    """Attempts that follow the format, by either check."""
    default_temperature: int
    """Attempts that were drawn at the server's default temperature, whatever was asked."""
    not_lost: Sums
    """Of 1 for a win or a draw and 0 for a loss; the clusters are the seeds."""
    reward: Sums
    parts: Reward | None
    """The means of the reward's parts; None where there are no games."""
    costs: Costs

    @property
    def games(self) -> int:
        """The games that count: what a rate is a share of."""
        return self.wins + self.draws + self.losses

    @property
    def played(self) -> int:
        """The cells that are done."""
        return self.games + self.repeats + self.context_exceeded

    @property
    def is_exact(self) -> bool:
        """Whether the games are all that there can be, so that a rate has no interval."""
        shown = self.entry.claims_it and self.distinct == 1 and not self.default_temperature
        return self.entry.deterministic or shown


def figures(
    db: Database,
    evaluation: Evaluation,
    *,
    check: Check = Check.CONTAINS,
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[Figures]:
    """The figures of each entry, in the order of `entries_of`."""
    told = parameters(evaluation)
    weighed = told | asdict(weights)
    # With one game a seed, each is a cluster of its own, and there is nothing to look up.
    clustered = evaluation.plan.rollouts > 1
    with db.read() as session:
        played = _by_entry(session, _PLAYED[check], weighed)
        clusters = _by_entry(session, _CLUSTERS[check], weighed) if clustered else {}
        void = _by_entry(session, _VOID, told)
    planned = evaluation.plan.per_entry
    return [
        _figures(entry, planned, weights, played.get(n), clusters.get(n), void.get(n))
        for n, entry in enumerate(entries_of(evaluation))
    ]


def _by_entry(session: Session, statement: TextClause, told: dict[str, object]) -> dict[int, _Row]:
    return {row.n: row._asdict() for row in session.execute(statement, told)}


def _figures(
    entry: Entry,
    planned: int,
    weights: Weights,
    row: _Row | None,
    clusters: _Row | None,
    void: _Row | None,
) -> Figures:
    counts = {name: row[name] if row else 0 for name in _COUNTS}
    games = counts["wins"] + counts["draws"] + counts["losses"]
    parts = None
    if row and games:
        outcomes = zip(("wins", "draws", "losses"), ("win", "draw", "loss"), strict=True)
        parts = Reward(
            sum(counts[name] * getattr(weights, worth) for name, worth in outcomes) / games,
            weights.format * row["shares"] / games,
            0.0 - weights.invalid * row["spoilt"] / games,
        )
    kept = counts["wins"] + counts["draws"]
    reward, squares = (row["reward"], row["reward_squares"]) if row else (0.0, 0.0)
    return Figures(
        entry=entry,
        planned=planned,
        **counts,
        void=void["void"] if void else 0,
        context_exceeded=void["context_exceeded"] if void else 0,
        not_lost=_sums(games, kept, kept, clusters, "kept"),
        reward=_sums(games, reward, squares, clusters, "reward"),
        parts=parts,
        costs=_costs(row) + _costs(void),
    )


def _costs(row: _Row | None) -> Costs:
    if row is None:
        return Costs()
    return Costs(
        games=row["stored"],
        requests=row["requests"],
        attempts=row["replies"],
        uncounted=row["uncounted"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        seconds=row["milliseconds"] / 1000,
    )


def _sums(n: int, total: float, squares: float, clusters: _Row | None, name: str) -> Sums:
    if clusters is None:
        return Sums(n, n, total, squares, n, squares, total, squares)
    of = (clusters[f"{name}_{which}"] for which in ("totals_squared", "products", "means"))
    return Sums(clusters["seeds"], n, total, squares, clusters["sizes_squared"], *of)


_Row = dict[str, Any]
_OF_SEATS = ("attempts", "invalid_attempts", "contains", "exact", "default_temperature")
_COUNTS = ("wins", "draws", "losses", "forfeits", "repeats", "distinct", *_OF_SEATS)
_SPENT = ("requests", "uncounted", "prompt_tokens", "completion_tokens", "milliseconds")
_SEAT = "LEFT JOIN seats ON seats.game = games.serial AND seats.mark = entry.mark"


def _each(names: tuple[str, ...], form: str) -> str:
    return ",\n    ".join(form.format(name) for name in names)


def _judged(check: Check) -> str:
    """The games, with what each was for the entry's player."""
    return f"""
WITH {ENTRIES},
played AS (
    SELECT
        n,
        seed,
        moves,
        games.outcome = win AS won,
        games.outcome = 'draw' AS drawn,
        termination IN ('forfeit_invalid', 'forfeit_truncated') AS forfeit,
        CASE WHEN exact_pair AND coalesce(default_temperature, 0) = 0 THEN EXISTS (
            SELECT 1
            FROM games AS earlier INDEXED BY ix_games_line
            WHERE earlier.x_id = games.x_id
            AND earlier.o_id = games.o_id
            AND earlier.opener = games.opener
            AND earlier.moves = games.moves
            AND earlier.serial < games.serial
            AND earlier.seed >= :first
            AND earlier.seed < :after
            AND earlier.rollout < :rollouts
            AND earlier.source <> 'play'
            AND earlier.outcome <> 'void'
        ) ELSE 0 END AS repeated,
        iif(attempts > 0, 1.0 * {check.value} / attempts, 0) AS share,
        {_each((*_OF_SEATS, *_SPENT), "coalesce(seats.{0}, 0) AS {0}")}
    FROM entry {PLAYED} {_SEAT}
),
judged AS MATERIALIZED (
    SELECT
        *,
        NOT repeated AS counts,
        CASE WHEN won THEN :win WHEN drawn THEN :draw ELSE :loss END
            + :format * share - iif(invalid_attempts > 0, :invalid, 0) AS reward
    FROM played
)
"""


def _played(check: Check) -> str:
    return f"""{_judged(check)}
SELECT
    n,
    sum(counts AND won) AS wins,
    sum(counts AND drawn) AS draws,
    sum(counts AND NOT won AND NOT drawn) AS losses,
    sum(counts AND NOT won AND NOT drawn AND forfeit) AS forfeits,
    sum(repeated) AS repeats,
    count(DISTINCT iif(counts, moves, NULL)) AS "distinct",
    total(iif(counts, share, 0)) AS shares,
    sum(counts AND invalid_attempts > 0) AS spoilt,
    total(iif(counts, reward, 0)) AS reward,
    total(iif(counts, reward * reward, 0)) AS reward_squares,
    {_each(_OF_SEATS, "sum(iif(counts, {0}, 0)) AS {0}")},
    {_each(_SPENT, "sum({0}) AS {0}")},
    sum(attempts) AS replies,
    count(*) AS stored
FROM judged
GROUP BY n
"""


def _clusters(check: Check) -> str:
    of_each = _each(
        ("kept", "reward"),
        "sum({0} * {0}) AS {0}_totals_squared, sum(games * {0}) AS {0}_products, "
        "total(1.0 * {0} * {0} / games) AS {0}_means",
    )
    return f"""{_judged(check)},
by_seed AS MATERIALIZED (
    SELECT n, count(*) AS games, sum(won OR drawn) AS kept, total(reward) AS reward
    FROM judged
    WHERE counts
    GROUP BY n, seed
)
SELECT n, count(*) AS seeds, sum(games * games) AS sizes_squared, {of_each}
FROM by_seed
GROUP BY n
"""


_PLAYED = {check: text(_played(check)) for check in Check}
_CLUSTERS = {check: text(_clusters(check)) for check in Check}

_VOID = text(f"""
WITH {ENTRIES},
spoilt AS (
    SELECT
        n,
        max(termination = 'context_exceeded' AND coalesce(attempts, 0) > 0) AS outgrown,
        NOT {PLAYED_AGAIN} AS is_void,
        count(*) AS stored,
        sum(coalesce(attempts, 0)) AS replies,
        {_each(_SPENT, "sum(coalesce(seats.{0}, 0)) AS {0}")}
    FROM entry {VOID} {_SEAT}
    GROUP BY n, games.seed, games.rollout
)
SELECT
    n,
    sum(is_void AND NOT outgrown) AS void,
    sum(is_void AND outgrown) AS context_exceeded,
    {_each((*_SPENT, "replies", "stored"), "sum({0}) AS {0}")}
FROM spoilt
GROUP BY n
""")
