"""The games of an evaluation, found by its cells.

An engine that is evaluated against itself opens and replies in the same games: each of them is a
cell of both entries, stored once, and each entry counts it from its own seat.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Integer, text

from arena.board import Mark, Outcome
from arena.plan import Numbers
from storage.columns import LosslessText
from storage.database import Database
from storage.evaluations import Evaluation, Evaluations
from storage.players import StoredPlayer, always_alike


class Entry(NamedTuple):
    """All cells of one player against one opponent, opening or replying."""

    player: StoredPlayer
    opponent: StoredPlayer
    opening: bool
    mark: Mark
    """The player's."""
    opener: Mark

    @property
    def deterministic(self) -> bool:
        """Whether both are certain to answer a board alike each time."""
        return always_alike(self.player) and always_alike(self.opponent)

    @property
    def claims_it(self) -> bool:
        """Whether both do as far as their settings tell: a greedy model's do."""
        return self.player.identity.deterministic and self.opponent.identity.deterministic


def entries_of(evaluation: Evaluation) -> list[Entry]:
    """The entries of each player in turn: each opponent, opening and replying."""
    return [
        Entry(player, opponent, opening, *evaluation.plan.marks(opening))
        for player in evaluation.players
        for opponent in evaluation.opponents
        for opening in (True, False)
    ]


def parameters(evaluation: Evaluation) -> dict[str, object]:
    """What the statements below are told."""
    plan = evaluation.plan
    rows = []
    for player, opponent, _, mark, opener in (entries := entries_of(evaluation)):
        x, o = (player, opponent) if mark is Mark.X else (opponent, player)
        rows.append([x.id, o.id, mark, opener, Outcome.win(mark)])
    for row, entry in zip(rows, entries, strict=True):
        row.append(int(entry.deterministic))
    seeds = {"first": plan.seed, "after": plan.seed + plan.games}
    return {"entries": json.dumps(rows), "rollouts": plan.rollouts, **seeds}


ENTRIES = """
entry AS MATERIALIZED (
    SELECT
        key AS n,
        json_extract(value, '$[0]') AS x_id,
        json_extract(value, '$[1]') AS o_id,
        json_extract(value, '$[2]') AS mark,
        json_extract(value, '$[3]') AS opener,
        json_extract(value, '$[4]') AS win,
        json_extract(value, '$[5]') AS exact_pair
    FROM json_each(:entries)
)
"""
"""The entries as a table; `n` is their place in `entries_of`."""

OF_CELLS = """
    games.x_id = entry.x_id
    AND games.o_id = entry.o_id
    AND games.opener = entry.opener
    AND games.seed >= :first
    AND games.seed < :after
    AND games.rollout < :rollouts
    AND games.source <> 'play'
"""
"""What joins games to the entries that plan them."""

PLAYED_AGAIN = """
EXISTS (
    SELECT 1
    FROM games AS again INDEXED BY ux_games_cell
    WHERE again.x_id = games.x_id
    AND again.o_id = games.o_id
    AND again.opener = games.opener
    AND again.seed = games.seed
    AND again.rollout = games.rollout
    AND again.source <> 'play'
    AND again.outcome <> 'void'
)
"""
"""Whether the cell of a void game was played since, and counts."""

# SQLite keeps no statistics here, and would take an index that goes through all seeds.
PLAYED = f"CROSS JOIN games INDEXED BY ux_games_cell ON {OF_CELLS} AND games.outcome <> 'void'"
VOID = f"CROSS JOIN games INDEXED BY ix_games_void ON {OF_CELLS} AND games.outcome = 'void'"

_DONE = text(f"""
WITH {ENTRIES}
SELECT n, seed, rollout FROM entry {PLAYED}
UNION ALL
SELECT n, seed, rollout FROM entry {VOID}
JOIN seats ON seats.game = games.serial AND seats.mark = entry.mark
WHERE games.termination = 'context_exceeded' AND attempts > 0
""")


def done_cells(db: Database, evaluation: Evaluation) -> list[Numbers]:
    """For each player the cells that are not to be played: stored, or known not to fit.

    Games that an endpoint's fault made void are to be played again; so are those in which not even
    the first turn fitted the context, which stopped the run: somebody may have seen to it.
    """
    plan = evaluation.plan
    found = [Numbers(len(plan)) for _ in evaluation.players]
    with db.read() as session:
        for n, seed, rollout in session.execute(_DONE, parameters(evaluation)).yield_per(1000):
            rest, replying = divmod(n, 2)
            player, opponent = divmod(rest, len(plan.opponents))
            found[player].add(plan.number(opponent, not replying, seed, rollout))
    return found


_SHIPPED = text(f"""
WITH {ENTRIES}
SELECT count(DISTINCT games.serial) FROM entry {PLAYED} AND games.demonstration
""")


def with_demonstration(evaluations: Evaluations) -> dict[str, int]:
    """The evaluations that are made of games that came with the arena, and of how many."""
    found = {}
    for evaluation in evaluations.all():
        with evaluations.db.read() as session:
            games = session.execute(_SHIPPED, parameters(evaluation)).scalar_one()
        if games:
            found[evaluation.name] = games
    return found


_REASONS = text(f"""
WITH {ENTRIES},
ends AS (
    SELECT games.serial, max(requests.id) AS request
    FROM entry {VOID}
    JOIN requests ON requests.game = games.serial
    WHERE NOT {PLAYED_AGAIN}
    GROUP BY games.serial
)
SELECT error, count(*) AS times
FROM ends JOIN requests ON requests.id = ends.request
WHERE error IS NOT NULL
GROUP BY error
ORDER BY times DESC, error
LIMIT :most
""").columns(error=LosslessText, times=Integer)


def void_reasons(db: Database, evaluation: Evaluation, most: int = 3) -> list[tuple[str, int]]:
    """Why games are void whose cells were not played since: the commonest faults, and of how many
    games each was the last. A game that was void again is counted again.
    """
    with db.read() as session:
        found = session.execute(_REASONS, parameters(evaluation) | {"most": most})
        return [(row.error, row.times) for row in found]
