"""Counts the tables of `storage.derived` anew from the games: all of them where their meaning has
changed, those of some players where games of theirs were removed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Row, TextClause, text
from sqlalchemy.orm import Session

from arena.board import Mark
from arena.memorisation import RELATIVES
from storage import lessons, players
from storage.clusters import SUMS
from storage.lessons import Line
from storage.players import StoredPlayer, always_alike

TABLES = ("clusters", "relatives", "mistakes", "traps", "lost_lines")
_LOG = logging.getLogger(__name__)
_CHUNK = 5000
"""Lines that are held at once."""
_TELL = 100_000
"""After so many lines the log says how far it is."""


def recount(session: Session, of: Iterable[int] | None = None) -> None:
    """Count the tables anew.

    Args:
        session: in a writing transaction.
        of: the players whose rows are meant; all by default.
    """
    chosen = None if of is None else frozenset(of)
    told = {"chosen": json.dumps(sorted(chosen or ())), "relatives": json.dumps(_RELATIVES)}
    everybody = chosen is None
    for table in TABLES:
        where = "" if everybody else f" WHERE player_id IN {_CHOSEN}"
        session.execute(text(f"DELETE FROM {table}{where}"), {} if everybody else told)
    session.execute(_OF_CLUSTERS[everybody], told)
    session.execute(_OF_RELATIVES[everybody], told)
    known: dict[int, StoredPlayer] = {}
    rows = iter(session.execute(_OF_LINES[everybody], told).yield_per(1000))
    done = 0
    while chunk := list(islice(rows, _CHUNK)):
        ids = {id for row in chunk for id in (row.x_id, row.o_id)}
        known |= players.by_id(session, ids - known.keys())
        lessons.add(session, _lines(chunk, known), chosen)
        done += len(chunk)
        if not done % _TELL:
            _LOG.info("counted %s different lines of moves anew", f"{done:,}")


def _lines(rows: Iterable[Row[Any]], known: Mapping[int, StoredPlayer]) -> Iterator[Line]:
    for row in rows:
        x, o = known[row.x_id], known[row.o_id]
        # Of a line that two play who always answer alike, all but the first are repeats.
        times = 1 if always_alike(x) and always_alike(o) else row.times
        yield Line(x, o, bool(row.rated), Mark(row.opener), row.moves, times, row.example)


_RELATIVES = [[spec, other] for spec, others in RELATIVES.items() for other in others]

_CHOSEN = "(SELECT value FROM json_each(:chosen))"


def _both(statement: str) -> dict[bool, TextClause]:
    """A statement about everybody, and about some."""
    return {everybody: text(statement.format(**_some(everybody))) for everybody in (True, False)}


def _some(everybody: bool) -> dict[str, str]:
    seats = {"x": "x_id", "o": "o_id"}
    said = {seat: "" if everybody else f"AND {id} IN {_CHOSEN}" for seat, id in seats.items()}
    either = "" if everybody else f"WHERE x_id IN {_CHOSEN} OR o_id IN {_CHOSEN}"
    return {**said, "either": either}


_GAMES = """
FROM games
JOIN players AS x ON x.id = x_id
JOIN players AS o ON o.id = o_id
WHERE source <> 'play' AND outcome <> 'void'
AND NOT (x.deterministic AND x.kind = 'engine' AND o.deterministic AND o.kind = 'engine')
"""

_BY_SEED = f"""
WITH by_seed AS (
    SELECT player_id, opponent_id, opening, seed, count(*) AS games, sum(kept) AS kept
    FROM (
        SELECT
            x_id AS player_id, o_id AS opponent_id, opener = 'X' AS opening, seed,
            outcome <> 'o' AS kept
        {_GAMES} AND o.kind = 'engine' {{x}}
        UNION ALL
        SELECT
            o_id AS player_id, x_id AS opponent_id, opener = 'O' AS opening, seed,
            outcome <> 'x' AS kept
        {_GAMES} AND x.kind = 'engine' {{o}}
    )
    GROUP BY player_id, opponent_id, opening, seed
)
"""

_SUMS = """
    count(*), sum(games), sum(kept), sum(games * games), sum(kept * kept), sum(games * kept)
"""

_OF_CLUSTERS = _both(f"""
INSERT INTO clusters (player_id, opponent_id, opening, odd, {", ".join(SUMS)})
{_BY_SEED}
SELECT player_id, opponent_id, opening, seed & 1, {_SUMS}
FROM by_seed
GROUP BY player_id, opponent_id, opening, seed & 1
""")

_OF_RELATIVES = _both(f"""
INSERT INTO relatives (player_id, opponent, {", ".join(SUMS)})
{_BY_SEED}, related AS (
    SELECT json_extract(value, '$[0]') AS spec, json_extract(value, '$[1]') AS other
    FROM json_each(:relatives)
), together AS (
    SELECT player_id, related.spec AS opponent, seed, sum(games) AS games, sum(kept) AS kept
    FROM by_seed
    JOIN players ON players.id = opponent_id
    JOIN related ON related.other = players.name
    WHERE seed & 1 AND NOT opening
    GROUP BY player_id, related.spec, seed
)
SELECT player_id, opponent, {_SUMS}
FROM together
GROUP BY player_id, opponent
""")

_OF_LINES = _both("""
SELECT x_id, o_id, rated, opener, moves, count AS times, (
    SELECT serial
    FROM games INDEXED BY ix_games_line
    WHERE games.x_id = lines.x_id
    AND games.o_id = lines.o_id
    AND games.opener = lines.opener
    AND games.moves = lines.moves
    AND (source <> 'play') = rated
    AND outcome <> 'void'
    ORDER BY serial
    LIMIT 1
) AS example
FROM lines
{either}
""")
