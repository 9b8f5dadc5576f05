"""Games in which a model is to move: the task that plays each on, and who watches it.

A task ends when a person is to move or the game is over. It is started by a look at the game, so
that it begins anew after a restart of the server.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress

from arena.board import Mark
from arena.errors import ArenaError, ConflictError
from arena.game import Game, Request, Termination
from arena.match import play
from arena.players import Kind
from storage.games import Games
from storage.records import StoredGame
from web.channel import Channel, Delta, Ping, Thought, Turned
from web.seating import Seating

log = logging.getLogger(__name__)


class Tasks:
    """The games of this process that are played on or watched.

    Args:
        games: where they are stored.
        seating: who plays, and counts for how many games.
        clock: seconds, for what is said of how long a model has thought.
    """

    def __init__(self, games: Games, seating: Seating, clock: Callable[[], float]) -> None:
        self._games = games
        self._seating = seating
        self._clock = clock
        self._channels: dict[str, Channel] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._looks: set[asyncio.Task[None]] = set()
        self._asked: set[str] = set()
        self.stopped: set[str] = set()
        """The games in which the reply of the model that is to move was broken off."""

    async def look(self, game_id: str) -> StoredGame:
        """The game as it is stored. A model that is to move is set to work, if it is not.

        Raises:
            NotFoundError: there is no such game.
        """
        stored = await self.load(game_id)
        self._wake(stored)
        return stored

    def thought(self, game_id: str) -> tuple[Thought, float] | None:
        """What the model that is to move has said, and for how many seconds it has thought."""
        channel = self._channels.get(game_id)
        if channel is None or channel.thought is None:
            return None
        return channel.thought, self._clock() - channel.thought.since

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

    async def load(self, game_id: str) -> StoredGame:
        """The game as it is stored.

        Raises:
            NotFoundError: there is no such game.
        """
        return await asyncio.to_thread(self._games.load, game_id)

    async def store(self, write: Callable[[str, Game], None], stored: StoredGame) -> None:
        """Write to the database to the end and tell viewers, even where the task is cancelled
        meanwhile.
        """
        writing = asyncio.create_task(asyncio.to_thread(write, stored.id, stored.game))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            if writing.exception() is None:
                self.turned(stored)
            raise
        self.turned(stored)

    def turned(self, stored: StoredGame) -> None:
        """The stored game has changed: tell viewers, and count it no longer once it is over."""
        if stored.game.outcome is not None:
            self.stopped.discard(stored.id)
            self._seating.release(stored.id, (stored.x.identity, stored.o.identity))
        channel = self._channels.get(stored.id)
        if channel is not None:
            channel.turned()

    async def interrupt(self, game_id: str) -> None:
        """End the task that plays a game, and wait until what it stores is stored."""
        task = self._tasks.get(game_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """Stop every model's task; their games go on after the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _wake(self, stored: StoredGame) -> None:
        """Set the model that is to move to work, if it is not."""
        game = stored.game
        if game.outcome is not None or stored.id in self.stopped:
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
        stored = await self.load(game_id)
        game = stored.game
        seats = {mark: stored.player(mark).identity for mark in Mark}
        players = {mark: self._seating.player(seat, channel) for mark, seat in seats.items()}
        x, o = players[Mark.X], players[Mark.O]
        if x is not None and o is not None:
            channel.think(Thought(self._clock()))
            async for _ in play(game, x, o):
                await self.store(self._games.append, stored)
                if game.outcome is None and stored.player(game.to_move).identity.kind is Kind.MODEL:
                    channel.think(Thought(self._clock()))
        else:
            gone = next(seat.name for mark, seat in seats.items() if players[mark] is None)
            reason = f"the model {gone} is not registered any more as it was when the game began"
            fault = Request(None, 0.0, {}, error=reason)
            game.end(Termination.PROVIDER_ERROR, requests=[fault])
        if game.outcome is not None and game.board.outcome is None:
            await self.store(self._games.finish, stored)

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
