"""Games that are being played in the browser: what the routes do, and what viewers follow.

The database is the truth. A request loads the game, plays on with the one referee, and stores each
turn before it is answered; the guard on (game, ply) in `storage.games` refuses a second move on the
same board. Engines answer within the request. A model answers in a task of its own, which viewers
follow and which is started again, after a restart, by `resume` or by the first look at its game.

On the event loop: the referee, the engines' draws and the talk with models. In worker threads:
every access to the database.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, nullcontext, suppress
from datetime import timedelta
from weakref import WeakValueDictionary

from arena.board import Mark
from arena.errors import AccessError, ArenaError, ConflictError
from arena.game import Game, Request, Termination
from arena.match import play
from arena.opponents import parse
from arena.players import EnginePlayer, Kind, Person, Player
from models.registry import Registry
from storage.games import Games
from storage.records import StoredGame
from web.channel import Channel, Delta, Ping, Thought, Turned
from web.schemas import HumanSeat, ModelSeat, Move, NewGame
from web.seating import Seating

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
        self._clock = clock
        self._channels: dict[str, Channel] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._looks: set[asyncio.Task[None]] = set()
        self._asked: set[str] = set()
        self._stopped: set[str] = set()
        self._admission = asyncio.Lock()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # -- what the routes do -------------------------------------------------------------------

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
            await self._advance(await self._load(game_id))
        return await self.look(game_id), tokens

    async def look(self, game_id: str) -> StoredGame:
        """The game as it is stored. A model that is to move is set to work, if it is not.

        Raises:
            NotFoundError: there is no such game.
        """
        stored = await self._load(game_id)
        self._wake(stored)
        return stored

    def thought(self, game_id: str) -> tuple[Thought, float] | None:
        """What the model that is to move has said, and for how many seconds it has thought."""
        channel = self._channels.get(game_id)
        if channel is None or channel.thought is None:
            return None
        return channel.thought, self._clock() - channel.thought.since

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
            stored = await self._load(game_id)
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
            stored = await self._load(game_id)
            seats = await self._require_seat(game_id, token)
            if stored.game.outcome is not None:
                raise ConflictError("the game is over")
            loser = stored.game.to_move if stored.game.to_move in seats else min(seats)
            stored.game.end(Termination.RESIGNED, loser)
            await asyncio.to_thread(self._games.finish, game_id, stored.game)
        await self._interrupt(game_id)
        self._turned(stored)
        return await self._load(game_id)

    async def stop(self, game_id: str, token: str) -> StoredGame:
        """Break off the reply of the model that is to move. It is asked anew by `go_on`, or after
        a restart of the server.

        Raises:
            NotFoundError, AccessError: as `move`.
        """
        await self._require_seat(game_id, token)
        if (await self._load(game_id)).game.outcome is not None:
            raise ConflictError("the game is over")
        self._stopped.add(game_id)
        await self._interrupt(game_id)
        stored = await self.look(game_id)
        self._turned(stored)
        return stored

    async def go_on(self, game_id: str, token: str) -> StoredGame:
        """Ask the model again whose reply was broken off.

        Raises:
            NotFoundError, AccessError: as `move`.
        """
        await self._require_seat(game_id, token)
        self._stopped.discard(game_id)
        return await self.look(game_id)

    def is_stopped(self, game_id: str) -> bool:
        """Whether the reply of the model that is to move was broken off."""
        return game_id in self._stopped

    async def events(self, game_id: str) -> AsyncIterator[StoredGame | Delta | Ping]:
        """What happens in a game, from now to its end: the game after each turn, what a model
        says meanwhile, and signs of life.
        """
        channel = self._channels.setdefault(game_id, Channel())
        try:
            async with aclosing(channel.events()) as events:
                async for event in events:
                    if not isinstance(event, Turned):
                        yield event
                        continue
                    stored = await self.look(game_id)
                    yield stored
                    if stored.game.outcome is not None:
                        return
        finally:
            self._forget(game_id)

    # -- the life of the process ---------------------------------------------------------------

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

    async def close(self) -> None:
        """Stop every model's task; their games go on after the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- inside --------------------------------------------------------------------------------

    async def _load(self, game_id: str) -> StoredGame:
        return await asyncio.to_thread(self._games.load, game_id)

    async def _require_seat(self, game_id: str, token: str) -> frozenset[Mark]:
        """The seats that a secret holds. Raises AccessError where there is none."""
        seats = await asyncio.to_thread(self._games.seat_of, game_id, token)
        if not seats:
            raise AccessError("this is not your game: the seat's secret does not fit")
        return seats

    async def _interrupt(self, game_id: str) -> None:
        """End the task that plays a game, and wait until what it stores is stored."""
        task = self._tasks.get(game_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _store(self, write: Callable[[str, Game], None], stored: StoredGame) -> None:
        """Write to the database to the end, even where the task is cancelled meanwhile."""
        writing = asyncio.create_task(asyncio.to_thread(write, stored.id, stored.game))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise
        self._turned(stored)

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
            await self._store(self._games.append, stored)

    def _wake(self, stored: StoredGame) -> None:
        """Set the model that is to move to work, if it is not."""
        game = stored.game
        if game.outcome is not None or stored.id in self._stopped:
            return
        if stored.player(game.to_move).identity.kind is Kind.HUMAN:
            return
        if stored.id in self._tasks:
            # It may be about to end, without having seen the turn that we have.
            self._asked.add(stored.id)
            return
        channel = self._channels.setdefault(stored.id, Channel())
        task = asyncio.create_task(self._play_on(stored.id, channel), name=f"game {stored.id}")
        self._tasks[stored.id] = task
        task.add_done_callback(lambda done: self._done(stored.id, done))

    async def _play_on(self, game_id: str, channel: Channel) -> None:
        """Play on until a person is to move or the game is over."""
        stored = await self._load(game_id)
        game = stored.game
        seats = {mark: stored.player(mark).identity for mark in Mark}
        players = {mark: self._seating.player(seat, channel) for mark, seat in seats.items()}
        x, o = players[Mark.X], players[Mark.O]
        if x is not None and o is not None:
            channel.think(Thought(self._clock()))
            async for _ in play(game, x, o):
                await self._store(self._games.append, stored)
                if game.outcome is None and stored.player(game.to_move).identity.kind is Kind.MODEL:
                    channel.think(Thought(self._clock()))
        else:
            gone = next(seat.name for mark, seat in seats.items() if players[mark] is None)
            reason = f"the model {gone} is not registered any more as it was when the game began"
            fault = Request(None, 0.0, {}, error=reason)
            game.end(Termination.PROVIDER_ERROR, requests=[fault])
        if game.outcome is not None and game.board.outcome is None:
            await self._store(self._games.finish, stored)

    def _turned(self, stored: StoredGame) -> None:
        """The stored game has changed: tell viewers, and count it no longer once it is over."""
        if stored.game.outcome is not None:
            self._stopped.discard(stored.id)
            self._seating.release(stored.id, (stored.x.identity, stored.o.identity))
        channel = self._channels.get(stored.id)
        if channel is not None:
            channel.turned()

    def _lock(self, game_id: str) -> asyncio.Lock:
        """One request at a time changes a game; the lock lives while somebody holds it."""
        return self._locks.setdefault(game_id, asyncio.Lock())

    def _done(self, game_id: str, task: asyncio.Task[None]) -> None:
        del self._tasks[game_id]
        if game_id in self._asked:
            self._asked.discard(game_id)
            again = asyncio.create_task(self._look_again(game_id))
            self._looks.add(again)
            again.add_done_callback(self._looks.discard)
        self._forget(game_id)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, ConflictError):
            log.info("game %s ended while its model was thinking", game_id)
        elif error is not None:
            log.error("game %s stopped: %s", game_id, error, exc_info=error)

    async def _look_again(self, game_id: str) -> None:
        with suppress(ArenaError):
            await self.look(game_id)

    def _forget(self, game_id: str) -> None:
        """Drop what is kept of a game that nobody watches and no model plays."""
        channel = self._channels.get(game_id)
        if channel is not None and not channel.listeners and game_id not in self._tasks:
            del self._channels[game_id]
