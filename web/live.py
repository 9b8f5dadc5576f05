"""Games that are being played in the browser: what the routes do.

The database is the truth. A request loads the game, plays on with the one referee, and stores each
turn before it is answered; the guard on (game, ply) in `storage.games` refuses a second move on the
same board. Engines answer within the request. A model answers in a task of its own (`web.tasks`),
which is started again, after a restart, by `resume` or by the first look at its game.

On the event loop: the referee, the engines' draws and the talk with models. In worker threads:
every access to the database.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from datetime import timedelta
from weakref import WeakValueDictionary

from arena.board import Mark
from arena.errors import AccessError, ArenaError, ConflictError
from arena.game import Termination
from arena.match import play
from arena.opponents import parse
from arena.players import EnginePlayer, Kind, Person, Player
from models.registry import Registry
from storage.games import Games
from storage.records import StoredGame
from web.schemas import HumanSeat, ModelSeat, Move, NewGame
from web.seating import Seating
from web.tasks import Tasks

ABANDONED_AFTER = timedelta(hours=24)
"""A person who made no move for this long has left the game."""
_SWEEP_SECONDS = 600

log = logging.getLogger(__name__)


class Live:
    """The games of this process; see the module."""

    def __init__(
        self, games: Games, registry: Registry, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._games = games
        self._seating = Seating(registry, clock)
        self.tasks = Tasks(games, self._seating, clock)
        """What goes on in games in which a model is to move, and who watches."""
        self._admission = asyncio.Lock()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def create(self, new: NewGame, *, operator: bool) -> tuple[StoredGame, dict[Mark, str]]:
        """Begin a game; engines that open have moved when it returns.

        Returns:
            The game, and a secret for each seat that a person holds.

        Raises:
            SpecError: an engine that does not exist.
            NotFoundError: a model that is not registered.
            AccessError: a model that visitors may not play.
            BusyError: a model that plays as many games as it may.
        """
        seats = {Mark.X: new.x, Mark.O: new.o}
        models = {seat.name for seat in seats.values() if isinstance(seat, ModelSeat)}
        who = {mark: self._seating.identity(seat) for mark, seat in seats.items()}
        tokens = {
            mark: secrets.token_urlsafe(16)
            for mark, seat in seats.items()
            if isinstance(seat, HumanSeat)
        }
        seed = secrets.randbelow(1 << 53) if new.seed is None else new.seed
        # One at a time, so that two at once do not take the last place both.
        async with self._admission if models else nullcontext():
            for model in models:
                self._seating.admit(model, operator=operator)
            game_id = await asyncio.to_thread(
                self._games.create, who[Mark.X], who[Mark.O], new.opener, seed, tokens
            )
            if not operator:
                self._seating.begin(game_id, models)
        async with self._lock(game_id):
            await self._advance(await self.tasks.load(game_id))
        return await self.look(game_id), tokens

    async def look(self, game_id: str) -> StoredGame:
        """The game as it is stored. A model that is to move is set to work, if it is not.

        Raises:
            NotFoundError: there is no such game.
        """
        return await self.tasks.look(game_id)

    async def move(self, game_id: str, move: Move) -> StoredGame:
        """Make a person's move, and the engine's that answers it.

        The same move twice (a double click, a retry) is answered like the first, and played once.

        Raises:
            NotFoundError: there is no such game.
            AccessError: the token holds no seat, or not the one that is to move.
            RulesError: the square is taken.
            ConflictError: the game has gone on since, or is over.
        """
        async with self._lock(game_id):
            stored = await self.tasks.load(game_id)
            game = stored.game
            seats = await self._require_seat(game_id, move.token)
            if move.ply < len(game.turns):
                made = game.turns[move.ply]
                if made.square == move.square and made.mark in seats:
                    return stored
                raise ConflictError("the game has gone on in another tab")
            if game.outcome is not None:
                raise ConflictError("the game is over")
            if move.ply > len(game.turns):
                raise ConflictError("that board has not been reached yet")
            if game.to_move not in seats:
                raise AccessError(f"it is {game.to_move}'s turn, and that seat is not yours")
            game.board.after(move.square)
            self._seating.touch(game_id, (stored.x.identity, stored.o.identity))
            await self._advance(stored, move.square)
        return await self.look(game_id)

    async def resign(self, game_id: str, token: str) -> StoredGame:
        """Give up, on whosever turn. With both seats (one browser), whoever is to move does.

        Raises:
            NotFoundError, AccessError, ConflictError: as `move`.
        """
        async with self._lock(game_id):
            stored = await self.tasks.load(game_id)
            seats = await self._require_seat(game_id, token)
            if stored.game.outcome is not None:
                raise ConflictError("the game is over")
            loser = stored.game.to_move if stored.game.to_move in seats else min(seats)
            stored.game.end(Termination.RESIGNED, loser)
            await self.tasks.store(self._games.finish, stored)
        await self.tasks.interrupt(game_id)
        return await self.tasks.load(game_id)

    async def stop(self, game_id: str, token: str) -> StoredGame:
        """Break off the reply of the model that is to move. It is asked anew by `go_on`, or after
        a restart of the server.

        Raises:
            NotFoundError, AccessError: as `move`.
        """
        await self._require_seat(game_id, token)
        if (await self.tasks.load(game_id)).game.outcome is not None:
            raise ConflictError("the game is over")
        self.tasks.stopped.add(game_id)
        await self.tasks.interrupt(game_id)
        stored = await self.look(game_id)
        self.tasks.turned(stored)
        return stored

    async def go_on(self, game_id: str, token: str) -> StoredGame:
        """Ask the model again whose reply was broken off.

        Raises:
            NotFoundError, AccessError: as `move`.
        """
        await self._require_seat(game_id, token)
        self.tasks.stopped.discard(game_id)
        return await self.look(game_id)

    def is_stopped(self, game_id: str) -> bool:
        """Whether the reply of the model that is to move was broken off."""
        return game_id in self.tasks.stopped

    async def resume(self) -> None:
        """Set to work every model whose turn it was when the server stopped."""
        for game_id in await asyncio.to_thread(self._games.unfinished_ids):
            with suppress(ArenaError):
                await self.look(game_id)

    async def sweep(self) -> None:
        """For ever: close the games that people have left."""
        while True:
            closed = await asyncio.to_thread(self._games.abandon, ABANDONED_AFTER)
            if closed:
                log.info("%d games were abandoned", closed)
            await asyncio.sleep(_SWEEP_SECONDS)

    async def _require_seat(self, game_id: str, token: str) -> frozenset[Mark]:
        """The seats that a secret holds. Raises AccessError where there is none."""
        seats = await asyncio.to_thread(self._games.seat_of, game_id, token)
        if not seats:
            raise AccessError("this is not your game: the seat's secret does not fit")
        return seats

    async def _advance(self, stored: StoredGame, square: int | None = None) -> None:
        """Play on within a request: the person's move, then engines. A model is not asked here:
        its seat says "not yet".
        """
        moves = [] if square is None else [square]
        to_move = stored.game.to_move

        def sit(mark: Mark) -> Player:
            seat = stored.player(mark).identity
            if seat.kind is Kind.ENGINE:
                return EnginePlayer(parse(seat.name))
            return Person(seat.name, moves if mark is to_move else [])

        x, o = sit(Mark.X), sit(Mark.O)
        async for _ in play(stored.game, x, o):
            await self.tasks.store(self._games.append, stored)

    def _lock(self, game_id: str) -> asyncio.Lock:
        """One request at a time changes a game; the lock lives while somebody holds it."""
        return self._locks.setdefault(game_id, asyncio.Lock())
