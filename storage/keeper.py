"""Keeps the games of a series as they finish, many in a transaction where they are cheap."""

from __future__ import annotations

import asyncio

from arena.game import Game
from arena.players import Kind, Player
from storage.games import Games, Recording
from storage.tables import Source

_CHUNK = 500


class Keeper:
    """Takes finished games of two players and stores them."""

    def __init__(self, games: Games, x: Player, o: Player, source: Source = Source.STORE) -> None:
        self._games = games
        self._players = x.identity, o.identity
        self._source = source
        # A model's game is worth more than a transaction.
        self._chunk = 1 if Kind.MODEL in (x.identity.kind, o.identity.kind) else _CHUNK
        self._waiting: list[Recording] = []
        self.stored = 0
        """Games that are new in the database."""
        self.known = 0
        """Games whose cell (players, opener, seed) was there already, and counts once."""

    async def add(self, game: Game) -> None:
        """Take a finished game; it is stored now, or with others soon."""
        self._waiting.append(Recording(game, *self._players))
        if len(self._waiting) >= self._chunk:
            await asyncio.to_thread(self.flush)

    def flush(self) -> None:
        """Store what waits."""
        waiting, self._waiting = self._waiting, []
        ids = self._games.record_many(waiting, self._source)
        self.stored += sum(each is not None for each in ids)
        self.known += sum(each is None for each in ids)
