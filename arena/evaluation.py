"""Plays the cells of a plan, many at once, and hands over each game as it finishes.

    plan ── cells that are not done ──> workers ── finished games ──> keep (stores, in batches)
                 void: again at the end <──┘

A fault is data, and what it means is decided here:

- A game that an endpoint's fault made void is played again at the end, once; then it stays void.
- Five such games of one player in a row mean that its endpoint is down. The player pauses, one of
  these games is tried again now and then, and when one comes to an end, play goes on. An outage
  uses up no game's second chance.
- A game that outgrew the model's context is void and is not played again. It says nothing against
  the endpoint. Where not even the first turn fits, nothing will: the run stops.
- A fault that no game can survive, of which `Control.fail` is told, stops the run within seconds.

A game counts once it is stored. As many may wait for that as may be under way: those and no more
are lost when the process is killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import NamedTuple

from arena.board import Mark, Outcome
from arena.control import Began, CellGame, Control, Down, Moved, OnEvent, State, Stored, Up
from arena.game import Game, Termination
from arena.lanes import FIRST_PAUSE_S, Job, Lane
from arena.match import play
from arena.opponents import parse
from arena.plan import Numbers, Plan
from arena.players import EnginePlayer, Kind, Player

GRACE_S = 2.0
"""So long may the games in flight still take after a fatal fault."""

Sleep = Callable[[float], Awaitable[object]]
Keep = Callable[[Sequence[CellGame]], Awaitable[None]]
"""Stores finished games, void ones too: all of them, or it raises."""


class Ended(NamedTuple):
    """How a run ended."""

    state: State
    """Stopped, finished or failed."""
    message: str
    """Why it failed; else empty."""
    void: int
    """Games that stayed void after their second chance; a later run plays them again."""


async def run(
    plan: Plan,
    players: Sequence[Player],
    done: Sequence[Numbers],
    keep: Keep,
    *,
    concurrency: int,
    control: Control | None = None,
    on_event: OnEvent | None = None,
    sleep: Sleep = asyncio.sleep,
    first_pause_s: float = FIRST_PAUSE_S,
) -> Ended:
    """Play what is not done of a plan with each of some players.

    Args:
        plan: which cells each player has.
        players: the checkpoints; they share the run, and each has its own faults.
        done: for each player the cells that are stored already, by their numbers.
        keep: stores finished games; one call at a time.
        concurrency: how many games are under way at once, of all players together.
        control: steers the run from outside.
        on_event: told what happens.
        sleep: how pauses are made.
        first_pause_s: until an endpoint that is down is tried again; each next pause is longer.

    Raises:
        ValueError: a player is a person, or there is not one set of cells for each player.
        Exception: what `keep` or a player raised; the run has ended then.
    """
    if len(done) != len(players) or any(p.identity.kind is Kind.HUMAN for p in players):
        raise ValueError("an evaluation needs players that are no persons, and what each has done")
    lanes = [Lane(place, plan, done[place], first_pause_s) for place in range(len(players))]
    tell = on_event or (lambda _: None)
    played = _Run(plan, players, lanes, keep, concurrency, control or Control(), tell, sleep)
    return await played.run()


class _Run:
    def __init__(
        self,
        plan: Plan,
        players: Sequence[Player],
        lanes: Sequence[Lane],
        keep: Keep,
        concurrency: int,
        control: Control,
        tell: OnEvent,
        sleep: Sleep,
    ) -> None:
        self._plan = plan
        self._players = players
        self._opponents = {spec: EnginePlayer(parse(spec)) for spec in plan.opponents}
        self._lanes = lanes
        self._turn = 0
        self._keep = keep
        self._concurrency = concurrency
        self._control = control
        self._tell = tell
        self._sleep = sleep
        self._naps: dict[int, asyncio.Task[None]] = {}
        self._keys = count()
        self._finished: list[CellGame] = []
        self._unstored = 0
        self._arrived = asyncio.Event()
        self._closing = False

    async def run(self) -> Ended:
        storing = asyncio.create_task(self._store())
        halted = asyncio.create_task(self._control.halt.wait())
        left = sum(lane.left for lane in self._lanes)
        workers = {
            asyncio.create_task(self._work()) for _ in range(max(1, min(self._concurrency, left)))
        }
        try:
            await self._wait_for(workers, storing, halted)
        finally:
            others = [*workers, halted, *self._naps.values()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            self._closing = True
            self._arrived.set()
            await storing
        if self._control.failure:
            return Ended(State.FAILED, self._control.failure, self._void)
        state = State.FINISHED if all(lane.over for lane in self._lanes) else State.STOPPED
        return Ended(state, "", self._void)

    async def _wait_for(
        self,
        workers: set[asyncio.Task[None]],
        storing: asyncio.Task[None],
        halted: asyncio.Task[bool],
    ) -> None:
        """Until all workers have ended, or need not be waited for; a fault of one is raised."""
        pending = set(workers)
        while pending and not halted.done():
            ended, _ = await asyncio.wait(
                {*pending, storing, halted}, return_when=asyncio.FIRST_COMPLETED
            )
            for task in ended:
                task.result()
            pending -= ended
        if pending and self._control.failure:
            await asyncio.wait(pending, timeout=GRACE_S)

    async def _work(self) -> None:
        while (found := await self._next()) is not None:
            await self._play(*found)
            while self._unstored > self._concurrency:
                await self._control.change()

    async def _next(self) -> tuple[Lane, Job] | None:
        """The next game to be played, once there is one; None when there will be none."""
        while not self._control.stopping:
            if not self._control.paused:
                for _ in self._lanes:
                    # In turn, so that the players advance alike.
                    self._turn = (self._turn + 1) % len(self._lanes)
                    lane = self._lanes[self._turn]
                    if (job := lane.take()) is not None:
                        return lane, job
                if all(lane.over for lane in self._lanes):
                    self._control.notify()
                    return None
            await self._control.change()
        return None

    async def _play(self, lane: Lane, job: Job) -> None:
        cell = self._plan.cell(job.number)
        game = Game(cell.opener, cell.seed, rollout=cell.rollout)
        played = CellGame(lane.place, cell, game)
        player, opponent = self._players[lane.place], self._opponents[cell.opponent]
        seats = (player, opponent) if cell.mark is Mark.X else (opponent, player)
        key = next(self._keys)
        self._control.in_flight[key] = played
        self._tell(Began(played))
        try:
            async for _ in play(game, *seats):
                self._tell(Moved(played))
        finally:
            del self._control.in_flight[key]
        # From here to its place among the finished there is no `await` at which it could be lost.
        self._finished.append(played)
        self._unstored += 1
        self._arrived.set()
        self._land(lane, job, played)
        self._control.notify()

    def _land(self, lane: Lane, job: Job, played: CellGame) -> None:
        game = played.game
        outgrown = game.termination is Termination.CONTEXT_EXCEEDED
        lane.land(job, void=game.outcome is Outcome.VOID and not outgrown)
        name = self._players[lane.place].identity.name
        if outgrown and not game.attempts_of(played.cell.mark):
            self._control.fail(
                f"{name}: not even the first turn fits the model's context: {_reason(game)}"
            )
        if not lane.down:
            if lane.place in self._control.down:
                del self._control.down[lane.place]
                self._naps.pop(lane.place).cancel()
                self._tell(Up(lane.place))
        elif not self._control.stopping and (job.probe or lane.place not in self._control.down):
            message = f"{name}: {lane.voids} games in a row were void: {_reason(game)}"
            self._control.down[lane.place] = message
            pause_s = lane.next_pause()
            self._naps[lane.place] = asyncio.create_task(self._nap(lane, pause_s))
            self._tell(Down(lane.place, message, pause_s))

    async def _nap(self, lane: Lane, pause_s: float) -> None:
        await self._sleep(pause_s)
        lane.rested = True
        self._control.notify()

    async def _store(self) -> None:
        """Store what is finished, all that waits at once, until the run is closing."""
        while True:
            self._arrived.clear()
            batch, self._finished = self._finished, []
            if batch:
                await self._keep(batch)
                self._unstored -= len(batch)
                for played in batch:
                    self._tell(Stored(played))
                self._control.notify()
            elif self._closing:
                return
            else:
                await self._arrived.wait()

    @property
    def _void(self) -> int:
        return sum(lane.left_void for lane in self._lanes)


def _reason(game: Game) -> str:
    """What the endpoint's last fault was, in words."""
    error = game.failed[-1].error if game.failed else None
    return error or "the endpoint did not answer"
