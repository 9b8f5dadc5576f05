"""Games: written move by move as a person plays, or whole as a command records them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Row, select, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from arena.board import Mark
from arena.errors import ConflictError, NotFoundError, RulesError
from arena.game import Game, Termination
from arena.players import Identity, Kind
from storage import listing, players, records
from storage.aggregates import Landing, land, moves_text
from storage.database import Database
from storage.filters import GameFilter
from storage.listing import GameSummary
from storage.players import StoredPlayer
from storage.records import GAMES, Details, StoredGame
from storage.tables import Source

_CHUNK = 500
"""Games a transaction, where many are recorded: other writers wait a fraction of a second."""

_INSERT_IF_NEW = insert(GAMES).on_conflict_do_nothing().returning(GAMES.c.serial)


class Recording(NamedTuple):
    """A finished game to be stored whole."""

    game: Game
    x: Identity
    o: Identity


class Games:
    """The games of a database. Every method is one transaction, and may be called from a thread."""

    def __init__(self, db: Database, now: Callable[[], datetime]) -> None:
        """Args:
        db: where they are stored.
        now: the clock; its times carry a zone.
        """
        self._db = db
        self._now = now

    def create(
        self, x: Identity, o: Identity, opener: Mark, seed: int, tokens: Mapping[Mark, str]
    ) -> str:
        """Begin a game in the browser.

        Args:
            x: who plays X.
            o: who plays O.
            opener: the mark that moves first.
            seed: what the engines draw by.
            tokens: the secret of each seat in which a person sits; only hashes are stored.

        Returns:
            The game's id, which cannot be guessed.
        """
        at = self._now()
        row = _new_row(Game(opener, seed), Source.PLAY, at) | {
            f"{mark.lower()}_token_hash": _hash(token) for mark, token in tokens.items()
        }
        with self._db.write() as session:
            row |= {f"{m}_id": players.ensure(session, who).id for m, who in (("x", x), ("o", o))}
            session.execute(insert(GAMES), row)
        return str(row["id"])

    def load(self, id: str) -> StoredGame:
        """A game, replayed through the rules.

        Raises:
            NotFoundError: there is no game of this id.
        """
        with self._db.read() as session:
            serial = session.execute(
                select(GAMES.c.serial).where(GAMES.c.id == id)
            ).scalar_one_or_none()
            found = [] if serial is None else records.load(session, [serial])
        if not found:
            raise NotFoundError(f"there is no game {id!r}")
        return found[0]

    def append(self, id: str, game: Game) -> None:
        """Store the last turn of a game, and how the game ended if it is over.

        Raises:
            ConflictError: what is stored is not this game without its last turn.
            NotFoundError: there is no game of this id.
        """
        self._go_on(id, game, since=len(game.turns) - 1)

    def finish(self, id: str, game: Game) -> None:
        """Store the end of a game that ended otherwise than by a move.

        Raises:
            ConflictError: what is stored is not this game before its end.
            NotFoundError: there is no game of this id.
            RulesError: the game is not over.
        """
        if game.outcome is None:
            raise RulesError("the game is not over: there is no end to store")
        self._go_on(id, game, since=len(game.turns))

    def seat_of(self, id: str, token: str) -> frozenset[Mark]:
        """The marks whose secret this is; none for a stranger's.

        Raises:
            NotFoundError: there is no game of this id.
        """
        with self._db.read() as session:
            row = session.execute(
                select(GAMES.c.x_token_hash, GAMES.c.o_token_hash).where(GAMES.c.id == id)
            ).one_or_none()
        if row is None:
            raise NotFoundError(f"there is no game {id!r}")
        given = _hash(token)
        seats = ((Mark.X, row.x_token_hash), (Mark.O, row.o_token_hash))
        return frozenset(m for m, kept in seats if hmac.compare_digest(given, kept or ""))

    def record(self, game: Game, x: Identity, o: Identity, source: Source) -> str | None:
        """Store a finished game whole.

        Returns:
            The game's id; None where its cell (players, opener, seed, rollout) is stored already.

        Raises:
            RulesError: the game is not over.
        """
        return self.record_many([Recording(game, x, o)], source)[0]

    def record_many(self, recordings: Iterable[Recording], source: Source) -> list[str | None]:
        """Store many finished games, some hundreds in a transaction.

        Returns:
            For each what `record` returns.

        Raises:
            RulesError: a game is not over; the chunks before its own are stored.
        """
        ids: list[str | None] = []
        rest = iter(recordings)
        while chunk := list(islice(rest, _CHUNK)):
            if any(each.game.outcome is None for each in chunk):
                raise RulesError("only a finished game can be recorded")
            with self._db.write() as session:
                ids += _record(session, chunk, source, self._now())
        return ids

    def abandon(self, older_than: timedelta) -> int:
        """End the games in which a person is to move and nobody moved for that long.

        Returns:
            How many there were.
        """
        at = self._now()
        quiet = GAMES.c.outcome.is_(None) & (GAMES.c.updated_at < at - older_than)
        ended, last = 0, 0
        while True:
            some = select(GAMES.c.serial).where(quiet, GAMES.c.serial > last)
            with self._db.write() as session:
                serials = (
                    session.execute(some.order_by(GAMES.c.serial).limit(_CHUNK)).scalars().all()
                )
                if not serials:
                    return ended
                last = serials[-1]
                ended += _abandon(session, records.load(session, serials), at)

    def unfinished_ids(self) -> list[str]:
        """The games under way, oldest first."""
        with self._db.read() as session:
            return list(
                session.execute(
                    select(GAMES.c.id).where(GAMES.c.outcome.is_(None)).order_by(GAMES.c.serial)
                ).scalars()
            )

    def find(
        self, filter: GameFilter | None = None, limit: int = 50, before: int | None = None
    ) -> list[GameSummary]:
        """Games, newest first.

        Args:
            filter: which ones; all by default.
            limit: how many at most.
            before: go on after the game of this serial, the last of the page before.
        """
        with self._db.read() as session:
            return listing.find(session, filter or GameFilter(), limit, before)

    def count(self, filter: GameFilter | None = None) -> int:
        """How many games a filter lets through."""
        with self._db.read() as session:
            return listing.count(session, filter or GameFilter())

    def _go_on(self, id: str, game: Game, since: int) -> None:
        """Store the turns from `since` on, and the end if there is one, if all before is stored."""
        at = self._now()
        moves = moves_text(game)
        stale = ConflictError("the game has gone on, or is over: load it again")
        with self._db.write() as session:
            row = session.execute(
                update(GAMES)
                .where(GAMES.c.id == id, GAMES.c.moves == moves[:since], GAMES.c.outcome.is_(None))
                .values(_state(game, at))
                .returning(GAMES.c.serial, GAMES.c.x_id, GAMES.c.o_id, GAMES.c.source)
            ).one_or_none()
            if row is None or since < 0:
                known = session.execute(select(GAMES.c.serial).where(GAMES.c.id == id)).first()
                raise stale if known else NotFoundError(f"there is no game {id!r}")
            details = Details()
            details.add(row.serial, game, since, at)
            details.insert(session)
            if game.outcome is not None:
                land(session, [_landing(session, game, row, at)])


def _landing(session: Session, game: Game, row: Row[Any], at: datetime) -> Landing:
    known = players.by_id(session, (row.x_id, row.o_id))
    return Landing(row.serial, game, known[row.x_id], known[row.o_id], Source(row.source), at)


def _record(
    session: Session, chunk: list[Recording], source: Source, at: datetime
) -> list[str | None]:
    """Store finished games and count them; the id of each, None where its cell was there."""
    ids: list[str | None] = []
    details = Details()
    landings: list[Landing] = []
    # Few players play many games: each is looked up once a chunk, by the object that names it.
    known: dict[int, StoredPlayer] = {}
    for game, x, o in chunk:
        for who in (x, o):
            if id(who) not in known:
                known[id(who)] = players.ensure(session, who)
        seats = known[id(x)], known[id(o)]
        row = _new_row(game, source, at)
        row |= {"x_id": seats[0].id, "o_id": seats[1].id}
        serial = session.execute(_INSERT_IF_NEW, row).scalar_one_or_none()
        ids.append(None if serial is None else row["id"])
        if serial is not None:
            details.add(serial, game)
            landings.append(Landing(serial, game, *seats, source, at))
    details.insert(session)
    land(session, landings)
    return ids


def _abandon(session: Session, games: Iterable[StoredGame], at: datetime) -> int:
    """End those games in which a person is to move; how many there were."""
    landings: list[Landing] = []
    for stored in games:
        game = stored.game
        if stored.player(game.to_move).identity.kind is Kind.HUMAN:
            game.end(Termination.ABANDONED)
            this = GAMES.c.serial == stored.serial
            session.execute(update(GAMES).where(this).values(_state(game, at)))
            landings.append(Landing(stored.serial, game, stored.x, stored.o, stored.source, at))
    land(session, landings)
    return len(landings)


def _new_row(game: Game, source: Source, at: datetime) -> dict[str, Any]:
    return {
        "id": secrets.token_urlsafe(9),
        "opener": game.opener,
        "seed": game.seed,
        "source": source,
        "rollout": game.rollout,
        "created_at": at,
        **_state(game, at),
    }


def _state(game: Game, at: datetime) -> dict[str, Any]:
    """The columns of a game that change as it goes on."""
    return {
        "ply": len(game.turns),
        "moves": moves_text(game),
        "outcome": game.outcome,
        "termination": game.termination,
        "updated_at": at,
        "finished_at": None if game.outcome is None else at,
    }


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
