"""The pages' queries over a thousand to a million games: `python -m benchmarks.bench_scale`.

One database grows from size to size. Its games are an evaluation's, of twenty checkpoints against
both built-in panels. The checkpoints are engines under models' names; no replies are stored, and
none of these queries reads any. Games go in by the thousand, and what is kept of them is counted
from them afterwards, by the statements that count it anew. Up to 1,000 games the same games land in
a second database as every game lands, and both must hold the same.

Beside each query stands the same answer counted from scratch: the leaderboard's from all games, a
checkpoint's from its games, a list's without an index.
"""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from sqlalchemy import insert, text

from arena.board import Mark
from arena.game import Game
from arena.opponents import Engine, parse
from arena.panels import PANELS
from arena.players import Identity, Kind
from storage import players
from storage.aggregates import moves_text
from storage.checkpoints import checkpoint
from storage.database import Database
from storage.filters import GameFilter, Result
from storage.games import Games, Recording
from storage.mistakes import by_ply, losing_lines, traps
from storage.ranking import leaderboard_of
from storage.records import GAMES
from storage.recount import TABLES, recount
from storage.standings import Tally, recompute
from storage.tables import EntryRow, Source, table_of

OPPONENTS = tuple(dict.fromkeys((*PANELS["standard"].opponents, *PANELS["memorisation"].opponents)))
_COMPARED = 1_000
"""Up to so many games the database is compared with one in which they landed."""
_CHUNK = 10_000
_COMPARED_TABLES = ("lines", "entries", *TABLES)
_REPEATS = 15


class Player(NamedTuple):
    """A seat: who is stored there, and what chooses the moves."""

    identity: Identity
    engine: Engine


def checkpoints() -> list[Player]:
    """Four families of five steps, from poor play to good."""
    # Shared by the families: an engine works out each board's policy once, and that takes longest.
    engines = [
        parse(f"minimax:epsilon={chance}") for chance in ("0.8", "0.5", "0.25", "0.1", "0.03")
    ]
    sampling = {"sampling": {"temperature": 1.0}}
    return [
        Player(
            Identity(Kind.MODEL, f"{family}-{step}", family, step, "tags", "0", sampling),
            engine,
        )
        for family in "abcd"
        for step, engine in zip(range(0, 500, 100), engines, strict=True)
    ]


def games_of_all() -> Iterator[Recording]:
    """Endless games, seeds outermost, as an evaluation plays them."""
    opponents = [
        Player(Identity(Kind.ENGINE, spec, deterministic=engine.deterministic), engine)
        for spec in OPPONENTS
        for engine in (parse(spec),)
    ]
    players = checkpoints()
    for seed in count():
        for opponent in opponents:
            for place, player in enumerate(players):
                # The checkpoints would draw alike, seed by seed.
                salt = Game(seed=seed * len(players) + place + 1).salt
                for mark in Mark:
                    yield _played(player, opponent, mark, seed, salt)


def _played(player: Player, opponent: Player, mark: Mark, seed: int, salt: int) -> Recording:
    game = Game(Mark.X, seed)
    while game.outcome is None:
        own = game.to_move is mark
        engine = player.engine if own else opponent.engine
        game.move(engine.choose(game.board, salt if own else game.salt))
    x, o = (player, opponent) if mark is Mark.X else (opponent, player)
    return Recording(game, x.identity, o.identity)


class Timing(NamedTuple):
    """Milliseconds of a query."""

    median: float
    cpu: float
    """Of this process: what it would take were nobody else at work."""
    scratch: float
    """Of the same answer counted anew, once."""
    scratch_cpu: float


def milliseconds(ask: Callable[[], object]) -> tuple[float, float]:
    """How long it takes, once, and how much of the processor's time."""
    began, cpu = time.perf_counter(), time.process_time()
    ask()
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - cpu)


def timing(ask: Callable[[], object], scratch: Callable[[], object]) -> Timing:
    """A query's times."""
    ask()
    took = [milliseconds(ask) for _ in range(_REPEATS)]
    median, cpu = map(statistics.median, zip(*took, strict=True))
    return Timing(median, cpu, *milliseconds(scratch))


def timings(db: Database, games: Games) -> dict[str, Timing]:
    """Each page's queries."""
    who = leaderboard_of(db, PANELS["standard"]).checkpoints[7]
    assert who.id is not None
    id = who.id
    opponent = who.versus[0].opponent_id
    wanted = GameFilter(player=id, opponent=opponent, result=Result.LOSS, rated=True)

    def page() -> None:
        checkpoint(db, id)
        by_ply(db, id)
        traps(db, id)
        losing_lines(db, id)

    return {
        "leaderboard, standard panel": timing(
            lambda: _shown(db, "standard"), lambda: _all_anew(db)
        ),
        "leaderboard, memorisation panel": timing(
            lambda: _shown(db, "memorisation"), lambda: _all_anew(db)
        ),
        "a checkpoint's page": timing(page, lambda: _anew(db, [id])),
        "a filtered games list": timing(
            lambda: games.find(wanted), lambda: _without_index(db, id, opponent)
        ),
    }


def _shown(db: Database, panel: str) -> None:
    """The leaderboard with all that it shows."""
    for row in leaderboard_of(db, PANELS[panel]).checkpoints:
        _ = row.worst_opening, row.worst_replying, row.total, [each.mean for each in row.versus]


def _all_anew(db: Database) -> None:
    recompute(db)
    _anew(db, None)


def _anew(db: Database, of: Iterable[int] | None) -> None:
    with db.write() as session:
        recount(session, of)
        session.rollback()


def _without_index(db: Database, player: int, opponent: int | None) -> None:
    """The same list by looking at every game."""
    with db.read() as session:
        session.execute(
            text("""
                SELECT * FROM games NOT INDEXED
                WHERE (x_id = :player AND o_id = :opponent AND outcome = 'o'
                OR o_id = :player AND x_id = :opponent AND outcome = 'x') AND source <> 'play'
                ORDER BY created_at DESC, id LIMIT 50
            """),
            {"player": player, "opponent": opponent},
        ).all()


def fill(db: Database, recordings: Iterable[Recording]) -> None:
    """Put games in, and count what is kept of all games anew."""
    at = datetime.now(UTC)
    rest = iter(recordings)
    known: dict[int, int] = {}
    while chunk := list(islice(rest, _CHUNK)):
        with db.write() as session:
            for who in (who for each in chunk for who in (each.x, each.o)):
                if id(who) not in known:
                    known[id(who)] = players.ensure(session, who).id
            rows = [_row(each, known[id(each.x)], known[id(each.o)], at) for each in chunk]
            session.execute(insert(GAMES), rows)
    with db.write() as session:
        session.execute(text("DELETE FROM lines"))
        session.execute(text(_LINES))
    entries = [
        {
            "player_id": entry.player.id,
            "opponent_id": entry.opponent.id,
            "opening": opening,
            "rated": True,
            **asdict(tally),
            "last_at": entry.last_at,
        }
        for entry in recompute(db)
        for opening, tally in ((True, entry.opening), (False, entry.replying))
        if tally != Tally()
    ]
    with db.write() as session:
        session.execute(text("DELETE FROM entries"))
        session.execute(insert(table_of(EntryRow)), entries)
        recount(session)


def _row(each: Recording, x: int, o: int, at: datetime) -> dict[str, Any]:
    game = each.game
    return {
        "id": secrets.token_urlsafe(9),
        "x_id": x,
        "o_id": o,
        "opener": game.opener,
        "seed": game.seed,
        "source": Source.EVALUATION,
        "rollout": game.rollout,
        "ply": len(game.moves),
        "moves": moves_text(game),
        "outcome": game.outcome,
        "termination": game.termination,
        "created_at": at,
        "updated_at": at,
        "finished_at": at,
    }


_LINES = """
INSERT INTO lines (x_id, o_id, rated, opener, moves, count)
SELECT x_id, o_id, 1, opener, moves, count(*) FROM games
GROUP BY x_id, o_id, opener, moves
"""


def contents(db: Database) -> dict[str, list[tuple[object, ...]]]:
    """What is kept of the games, apart from when they ended."""
    with db.read() as session:
        return {
            table: sorted(
                tuple(value for name, value in row._mapping.items() if name != "last_at")
                for row in session.execute(text(f"SELECT * FROM {table}"))
            )
            for table in _COMPARED_TABLES
        }


def check(db: Database, games: int) -> None:
    """Let the same games land elsewhere, and hold one database against the other."""
    with tempfile.TemporaryDirectory() as folder:
        other = Database.open(Path(folder) / "landed.db")
        landing = Games(other, lambda: datetime.now(UTC))
        landing.record_many(islice(games_of_all(), games), Source.EVALUATION)
        assert contents(other) == contents(db)
        other.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--folder", type=Path, help="where the database is to be, and to stay")
    given = parser.parse_args()
    # Alembic tells of each migration.
    logging.disable(logging.INFO)

    console = Console(width=110)
    table = Table(title="Milliseconds, by games stored", title_justify="left")
    for column in ("query", "games", "median", "CPU", "from scratch", "CPU"):
        table.add_column(column, justify="left" if column == "query" else "right")
    with tempfile.TemporaryDirectory() as folder:
        db = Database.open((given.folder or Path(folder)) / "scale.db")
        games = Games(db, lambda: datetime.now(UTC))
        endless, stored = games_of_all(), 0
        found: dict[str, dict[int, Timing]] = {}
        for size in sorted(given.sizes):
            began = time.perf_counter()
            fill(db, islice(endless, size - stored))
            stored, seconds = size, time.perf_counter() - began
            said = ""
            if size <= _COMPARED:
                check(db, size)
                said = "; all is as if they had landed"
            mb = db.path.stat().st_size / 2**20
            console.print(f"{size:,} games after {seconds:.0f} s more, {mb:,.0f} MB{said}")
            for query, each in timings(db, games).items():
                found.setdefault(query, {})[size] = each
        db.close()
    for query, sizes in found.items():
        for size, each in sizes.items():
            numbers = (f"{size:,}", *(f"{number:,.1f}" for number in each))
            table.add_row(query, *numbers, end_section=size == max(sizes))
    console.print(table)
    console.print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
