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
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from datetime import timedelta
from weakref import WeakValueDictionary

from arena.board import Mark
from arena.errors import AccessError, ArenaError, BusyError, ConflictError, NotFoundError
from arena.game import Attempt, Request, Termination, Verdict
from arena.match import play
from arena.opponents import parse
from arena.players import EnginePlayer, Identity, Kind, Person, Player
from models.registry import Registry
from storage.games import Games
from storage.records import StoredGame
from web.channel import Channel, Delta, Ping, Thought, Turned
from web.schemas import EngineSeat, HumanSeat, ModelSeat, Move, NewGame

ABANDONED_AFTER = timedelta(hours=24)
"""A person who made no move for this long has left the game."""
_SWEEP_SECONDS = 600
_IN_FLIGHT_SECONDS = 600

log = logging.getLogger(__name__)


class Live:
    """The games of this process; see the module."""

    def __init__(
        self, games: Games, registry: Registry, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._games = games
        self._registry = registry
        self._clock = clock
        self._channels: dict[str, Channel] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._in_flight: defaultdict[str, dict[str, float]] = defaultdict(dict)

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
        for seat in seats.values():
            if isinstance(seat, ModelSeat):
                self._admit(seat.name, operator=operator)
        players = {mark: self._sit(seat) for mark, seat in seats.items()}
        tokens = {
            mark: secrets.token_urlsafe(16)
            for mark, seat in seats.items()
            if isinstance(seat, HumanSeat)
        }
        seed = secrets.randbelow(1 << 53) if new.seed is None else new.seed
        game_id = await asyncio.to_thread(
            self._games.create,
            players[Mark.X].identity,
            players[Mark.O].identity,
            new.opener,
            seed,
            tokens,
        )
        for seat in seats.values():
            if isinstance(seat, ModelSeat):
                self._in_flight[seat.name][game_id] = self._clock()
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
            seats = await asyncio.to_thread(self._games.seat_of, game_id, move.token)
            if not seats:
                raise AccessError("this is not your game: the seat's secret does not fit")
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
            self._touch(stored)
            await self._advance(stored, move.square)
        return await self.look(game_id)

    async def resign(self, game_id: str, token: str) -> StoredGame:
        """Give up, on whosever turn. With both seats (one browser), whoever is to move does.

        Raises:
            NotFoundError, AccessError, ConflictError: as `move`.
        """
        async with self._lock(game_id):
            stored = await self._load(game_id)
            seats = await asyncio.to_thread(self._games.seat_of, game_id, token)
            if not seats:
                raise AccessError("this is not your game: the seat's secret does not fit")
            if stored.game.outcome is not None:
                raise ConflictError("the game is over")
            loser = stored.game.to_move if stored.game.to_move in seats else min(seats)
            stored.game.end(Termination.RESIGNED, loser)
            await asyncio.to_thread(self._games.finish, game_id, stored.game)
        task = self._tasks.pop(game_id, None)
        if task is not None:
            task.cancel()
        self._turned(stored)
        return await self._load(game_id)

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

    def _admit(self, name: str, *, operator: bool) -> None:
        """Whether a game with this model may begin. Raises as `create` does."""
        entry = self._registry.get(name)
        if operator:
            return
        if not entry.public:
            raise AccessError(f"{name} is not open to visitors: sign in as the operator")
        now = self._clock()
        running = {
            game_id: at
            for game_id, at in self._in_flight[name].items()
            if now - at < _IN_FLIGHT_SECONDS
        }
        self._in_flight[name] = running
        if len(running) >= entry.max_games:
            raise BusyError(f"{name} plays {len(running)} games already: try again in a minute")

    def _sit(self, seat: HumanSeat | EngineSeat | ModelSeat) -> Player:
        if isinstance(seat, HumanSeat):
            return Person(seat.name)
        if isinstance(seat, EngineSeat):
            return EnginePlayer(parse(seat.spec))
        return self._registry.player(seat.name)

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
            await asyncio.to_thread(self._games.append, stored.id, stored.game)
            self._turned(stored)

    def _wake(self, stored: StoredGame) -> None:
        """Set the model that is to move to work, if it is not."""
        game = stored.game
        if game.outcome is not None or stored.id in self._tasks:
            return
        if stored.player(game.to_move).identity.kind is Kind.HUMAN:
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
        players = {mark: self._player(seat, channel) for mark, seat in seats.items()}
        x, o = players[Mark.X], players[Mark.O]
        if x is not None and o is not None:
            channel.think(Thought(self._clock()))
            async for _ in play(game, x, o):
                await asyncio.to_thread(self._games.append, game_id, game)
                self._turned(stored)
                if game.outcome is None and stored.player(game.to_move).identity.kind is Kind.MODEL:
                    channel.think(Thought(self._clock()))
        else:
            gone = next(seat.name for mark, seat in seats.items() if players[mark] is None)
            fault = Request(None, 0.0, {}, error=f"the model {gone} is no longer registered")
            game.end(Termination.PROVIDER_ERROR, requests=[fault])
        if game.outcome is not None and game.board.outcome is None:
            await asyncio.to_thread(self._games.finish, game_id, game)
            self._turned(stored)

    def _player(self, seat: Identity, channel: Channel) -> Player | None:
        """The player in a seat of a game under way; None for a model that is gone."""
        if seat.kind is Kind.HUMAN:
            return Person(seat.name)
        if seat.kind is Kind.ENGINE:
            return EnginePlayer(parse(seat.name))

        def on_delta(kind: str, text: str) -> None:
            channel.say(kind, text, self._clock())

        def on_request(request: Request) -> None:
            if request.error:
                was = channel.thought or Thought(self._clock())
                channel.think(Thought(was.since, was.attempt, trouble=request.error))

        def on_attempt(attempt: Attempt) -> None:
            if attempt.verdict is not Verdict.OK:
                made = channel.thought.attempt if channel.thought else 1
                channel.think(Thought(self._clock(), made + 1))

        with suppress(NotFoundError):
            return self._registry.player(
                seat.name, on_delta=on_delta, on_request=on_request, on_attempt=on_attempt
            )
        return None

    def _touch(self, stored: StoredGame) -> None:
        """The game is in flight still: its person has moved."""
        for player in (stored.x, stored.o):
            running = self._in_flight.get(player.identity.name, {})
            if stored.id in running:
                running[stored.id] = self._clock()

    def _turned(self, stored: StoredGame) -> None:
        """The stored game has changed: tell viewers, and count it no longer once it is over."""
        if stored.game.outcome is not None:
            for player in (stored.x, stored.o):
                self._in_flight.get(player.identity.name, {}).pop(stored.id, None)
        channel = self._channels.get(stored.id)
        if channel is not None:
            channel.turned()

    def _lock(self, game_id: str) -> asyncio.Lock:
        """One request at a time changes a game; the lock lives while somebody holds it."""
        return self._locks.setdefault(game_id, asyncio.Lock())

    def _done(self, game_id: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(game_id) is task:
            del self._tasks[game_id]
        self._forget(game_id)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, ConflictError):
            log.info("game %s ended while its model was thinking", game_id)
        elif error is not None:
            log.error("game %s stopped: %s", game_id, error, exc_info=error)

    def _forget(self, game_id: str) -> None:
        """Drop what is kept of a game that nobody watches and no model plays."""
        channel = self._channels.get(game_id)
        if channel is not None and not channel.listeners and game_id not in self._tasks:
            del self._channels[game_id]
