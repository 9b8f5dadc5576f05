"""How a run of an evaluation is watched and steered while it plays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from arena.game import Game
from arena.plan import Cell


class State(StrEnum):
    """How it stands with an evaluation."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


class CellGame(NamedTuple):
    """The game of a cell, under way or finished."""

    player: int
    """The checkpoint's place among those of the run."""
    cell: Cell
    game: Game


class Began(NamedTuple):
    """A game begins."""

    played: CellGame


class Moved(NamedTuple):
    """A game has taken a turn: its last."""

    played: CellGame


class Stored(NamedTuple):
    """A game is over, and stored."""

    played: CellGame


class Down(NamedTuple):
    """A player pauses: its endpoint has answered with faults only, for some games in a row."""

    player: int
    message: str
    pause_s: float
    """Until it is tried again."""


class Up(NamedTuple):
    """A player that had paused plays on."""

    player: int


Event = Began | Moved | Stored | Down | Up
OnEvent = Callable[[Event], None]
"""Called on the event loop; returns at once."""


class Control:
    """Steers a run and watches it. For the event loop on which it plays, and for one run."""

    def __init__(self) -> None:
        self.paused = False
        """Whether no game may begin, because somebody said so."""
        self.stopping = False
        """Whether no game will begin any more."""
        self.failure = ""
        """Why nothing can be played, where that is so."""
        self.in_flight: dict[int, CellGame] = {}
        """The games under way, oldest first; only to be read."""
        self.down: dict[int, str] = {}
        """The players that pause because of their endpoint, by place, and why; only to be read."""
        self.halt = asyncio.Event()
        """Set when games in flight are not waited for."""
        self._changed = asyncio.Event()

    def pause(self) -> None:
        """Begin no game until told to resume. Games in flight go on."""
        self.paused = True

    def resume(self) -> None:
        """Begin games again."""
        self.paused = False
        self.notify()

    def stop(self) -> None:
        """Begin no game any more; the run ends with the games in flight."""
        self.stopping = True
        self.notify()

    def stop_now(self) -> None:
        """End the run at once. The games in flight are lost; finished ones are stored."""
        self.stop()
        self.halt.set()

    def fail(self, message: str) -> None:
        """End the run, because no game can succeed. The first message stays."""
        self.failure = self.failure or message
        self.stop_now()

    def notify(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()

    async def change(self) -> None:
        """Wait until something has changed."""
        self._changed.clear()
        await self._changed.wait()
