"""The leaderboard's figures, read from the entries that are maintained as games land."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import add, attrgetter
from typing import Any

from sqlalchemy import Row, func, select, text
from sqlalchemy.orm import Session

from arena.players import Kind
from arena.statistics import Sums
from storage import players
from storage.clusters import SUMS, sums_of_row
from storage.database import Database
from storage.players import StoredPlayer
from storage.tables import EntryRow, GameRow, table_of

_ENTRIES = table_of(EntryRow)
_GAMES = table_of(GameRow)
_KIND_ORDER = list(Kind)[::-1]


@dataclass(frozen=True)
class Tally:
    """What is counted of some games of one player. All but `void` and `repeats` speak of the games
    that count: not void, and no repeats.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: int = 0
    """The player's own, part of its losses."""
    opponent_forfeits: int = 0
    """Part of its wins."""
    void: int = 0
    context_exceeded: int = 0
    """Part of void: the player's own prompt did not fit."""
    repeats: int = 0
    """Further games of a known line, where both players are engines that always answer alike."""
    distinct: int = 0
    attempts: int = 0
    invalid_attempts: int = 0
    contains: int = 0
    exact: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    milliseconds: int = 0
    default_temperature: int = 0
    """Attempts that were drawn at the server's default temperature, whatever was asked."""
    unseeded: int = 0
    """Attempts that were drawn without a seed."""

    @property
    def games(self) -> int:
        """The games that count: what a rate is a share of."""
        return self.wins + self.draws + self.losses

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(add, _counts_of(self), _counts_of(other)))


_counts_of = attrgetter(*Tally.__dataclass_fields__)
_COUNTS = [column for column in _ENTRIES.c if column.name in Tally.__dataclass_fields__]


@dataclass(frozen=True)
class Entry:
    """A player against one opponent."""

    player: StoredPlayer
    opponent: StoredPlayer
    opening: Tally
    replying: Tally
    last_at: datetime
    """When the last of these games ended."""


@dataclass(frozen=True)
class Standing:
    """A player's row of the leaderboard."""

    player: StoredPlayer
    opening: Tally
    """Rated games in which it moved first."""
    replying: Tally
    """Rated games in which it moved second."""
    people: Tally
    """Games from the browser, which are part of no rate."""
    last_at: datetime
    """When its last game ended, rated or not."""
    demonstration: int
    """How many of its games came with the arena."""


def leaderboard(db: Database) -> list[Standing]:
    """Every player that finished a game: models, then engines, then persons, each by name."""
    keys = (_ENTRIES.c.player_id, _ENTRIES.c.opening, _ENTRIES.c.rated)
    sums = (func.sum(column).label(column.name) for column in _COUNTS)
    last = func.max(_ENTRIES.c.last_at, type_=_ENTRIES.c.last_at.type).label("last_at")
    with db.read() as session:
        rows = session.execute(select(*keys, *sums, last).group_by(*keys)).all()
        known = players.by_id(session, {row.player_id for row in rows})
        shown = _demonstrations(session)
    tallies: defaultdict[int, defaultdict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))
    ended: dict[int, datetime] = {}
    for row in rows:
        place = "people" if not row.rated else "opening" if row.opening else "replying"
        tallies[row.player_id][place] += _tally(row)
        ended[row.player_id] = max(row.last_at, ended.get(row.player_id, row.last_at))
    standings = (
        Standing(known[id], seen["opening"], seen["replying"], seen["people"], ended[id], shown[id])
        for id, seen in tallies.items()
    )
    return sorted(standings, key=lambda standing: _order(standing.player))


def _demonstrations(session: Session) -> Counter[int]:
    """How many demonstration games each player has; read off their own index."""
    pair = (_GAMES.c.x_id, _GAMES.c.o_id)
    games = select(*pair, func.count().label("games")).where(_GAMES.c.demonstration)
    found: Counter[int] = Counter()
    for row in session.execute(games.group_by(*pair)):
        found.update({row.x_id: row.games})
        found.update({row.o_id: row.games})
    return found


def matrix(db: Database, *, rated: bool = True) -> list[Entry]:
    """Every pair of players that met, both ways round, in the leaderboard's order."""
    with db.read() as session:
        rows = session.execute(select(_ENTRIES).where(_ENTRIES.c.rated == rated)).all()
        return _entries(session, rows)


def sums_by_seed(db: Database) -> dict[tuple[int, int, bool], Sums]:
    """The rated games of each player against each engine by seed; the key: player, opponent,
    whether it opens. Where both always answer alike nothing is kept by seed.
    """
    with db.read() as session:
        rows = session.connection().exec_driver_sql(_BY_SEED).all()
    return {
        (player, opponent, bool(opening)): sums_of_row(numbers)
        for player, opponent, opening, *numbers in rows
    }


def recompute(db: Database, *, rated: bool = True) -> list[Entry]:
    """What `matrix` returns, counted anew from the games: slow, and the check on what is kept."""
    with db.read() as session:
        rows = session.execute(text(_FROM_GAMES).columns(*_ENTRIES.c), {"rated": rated}).all()
        return _entries(session, rows)


def _entries(session: Session, rows: Iterable[Row[Any]]) -> list[Entry]:
    """One entry for the opening and the replying row of each pair."""
    found: defaultdict[tuple[int, int], list[Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.player_id, row.opponent_id].append(row)
    known = players.by_id(session, {id for pair in found for id in pair})
    entries = (
        Entry(
            player=known[player],
            opponent=known[opponent],
            opening=sum((_tally(row) for row in pair if row.opening), Tally()),
            replying=sum((_tally(row) for row in pair if not row.opening), Tally()),
            last_at=max(row.last_at for row in pair),
        )
        for (player, opponent), pair in found.items()
    )
    return sorted(entries, key=lambda entry: (_order(entry.player), _order(entry.opponent)))


def _tally(row: Any) -> Tally:
    return Tally(**{column.name: getattr(row, column.name) for column in _COUNTS})


def _order(player: StoredPlayer) -> tuple[int, str, int]:
    return _KIND_ORDER.index(player.identity.kind), player.identity.name, player.id


_BY_SEED = f"""
SELECT player_id, opponent_id, opening, {", ".join(f"sum({name})" for name in SUMS)}
FROM clusters
GROUP BY player_id, opponent_id, opening
"""

_FROM_GAMES = """
WITH landed AS (
    SELECT
        games.*,
        outcome = 'void' AS void,
        x.deterministic AND x.kind = 'engine' AND o.deterministic AND o.kind = 'engine'
            AS exact_pair,
        CASE length(moves) % 2 WHEN 0 THEN opener ELSE iif(opener = 'X', 'O', 'X') END AS to_move,
        row_number() OVER (
            PARTITION BY x_id, o_id, opener, moves, outcome = 'void'
            ORDER BY finished_at, serial
        ) AS nth
    FROM games
    JOIN players AS x ON x.id = x_id
    JOIN players AS o ON o.id = o_id
    WHERE outcome IS NOT NULL AND (source <> 'play') = :rated
),
seats AS (
    SELECT *, 'X' AS mark, x_id AS player_id, o_id AS opponent_id, 'x' AS win FROM landed
    UNION ALL
    SELECT *, 'O' AS mark, o_id AS player_id, x_id AS opponent_id, 'o' AS win FROM landed
),
spoken AS (
    SELECT
        game,
        mark,
        count(*) AS attempts,
        sum(verdict <> 'ok') AS invalid_attempts,
        sum(contains) AS contains,
        sum(exact) AS exact,
        sum(prompt_tokens) AS prompt_tokens,
        sum(completion_tokens) AS completion_tokens,
        sum(CAST(seconds * 1000 + 0.5 AS INTEGER)) AS milliseconds,
        sum(adaptations LIKE '%"no_temperature"%') AS default_temperature,
        sum(adaptations LIKE '%"no_seed"%') AS unseeded
    FROM attempts
    GROUP BY game, mark
),
judged AS (
    SELECT
        seats.*,
        seats.mark AS seats_mark,
        spoken.*,
        NOT void AND exact_pair AND nth > 1 AS repeated,
        NOT void AND NOT (exact_pair AND nth > 1) AS counts,
        outcome = win AS won,
        outcome NOT IN (win, 'draw') AS lost,
        termination IN ('forfeit_invalid', 'forfeit_truncated') AS forfeit
    FROM seats
    LEFT JOIN spoken ON spoken.game = seats.serial AND spoken.mark = seats.mark
)
SELECT
    player_id,
    opponent_id,
    opener = seats_mark AS opening,
    :rated AS rated,
    sum(counts AND won),
    sum(counts AND outcome = 'draw'),
    sum(counts AND lost),
    sum(counts AND lost AND forfeit),
    sum(counts AND won AND forfeit),
    sum(void),
    sum(termination = 'context_exceeded' AND to_move = seats_mark),
    sum(repeated),
    sum(counts AND nth = 1),
    sum(iif(counts, coalesce(attempts, 0), 0)),
    sum(iif(counts, coalesce(invalid_attempts, 0), 0)),
    sum(iif(counts, coalesce(contains, 0), 0)),
    sum(iif(counts, coalesce(exact, 0), 0)),
    sum(iif(counts, coalesce(prompt_tokens, 0), 0)),
    sum(iif(counts, coalesce(completion_tokens, 0), 0)),
    sum(iif(counts, coalesce(milliseconds, 0), 0)),
    sum(iif(counts, coalesce(default_temperature, 0), 0)),
    sum(iif(counts, coalesce(unseeded, 0), 0)),
    max(finished_at)
FROM judged
GROUP BY player_id, opponent_id, opening
"""
