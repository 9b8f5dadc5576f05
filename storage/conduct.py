"""Plays an evaluation in this process: the run, its games stored, signs of life, what is wanted."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from arena.board import Mark
from arena.control import CellGame, Control, Event, OnEvent, State, Stored
from arena.errors import StorageError
from arena.evaluation import Ended, Sleep, run
from arena.game import Termination
from arena.lanes import FIRST_PAUSE_S
from arena.players import Player
from storage.cells import done_cells
from storage.evaluations import Evaluation, Evaluations, Wanted
from storage.games import Games, Recording
from storage.tables import Source

Clock = Callable[[], float]

BEAT_S = 1.0
_WINDOW_S = 30.0
"""What a rate is measured over."""
_MOST_SHOWN = 64


class Meter:
    """What a run does, for whoever watches: rates over the last half minute, boards, time left."""

    def __init__(
        self, control: Control, players: Sequence[Player], left: int, clock: Clock
    ) -> None:
        """Args:
        control: of the run.
        players: the checkpoints, in their order.
        left: how many games are to be played.
        clock: seconds that only go up.
        """
        self._control = control
        self._names = [player.identity.name for player in players]
        self._left = left
        self._clock = clock
        self._begun = clock()
        self._recent: deque[tuple[float, Counter[str]]] = deque()

    def add(self, played: CellGame) -> None:
        """Count a game that is stored."""
        game = played.game
        attempts = game.attempts_of(played.cell.mark)
        done = game.termination is not Termination.PROVIDER_ERROR
        self._left -= done
        counts = Counter(
            games=int(done),
            requests=sum(len(attempt.requests) for attempt in attempts) + len(game.failed),
            tokens=sum(attempt.completion_tokens or 0 for attempt in attempts),
        )
        now = self._clock()
        # A second each: what is kept does not grow with the games.
        if self._recent and int(self._recent[-1][0]) == int(now):
            self._recent[-1][1].update(counts)
        else:
            self._recent.append((now, counts))

    def snapshot(self) -> dict[str, Any]:
        """What goes on now, as plain JSON.

        `requests_per_s`, `tokens_per_s` (of replies) and `games_per_s`; `seconds_left`, None where
        that cannot be said; `down`, a message for each player that pauses because of its endpoint;
        `in_flight`, how many games are under way; and `boards`, the oldest of these.
        """
        now = self._clock()
        while self._recent and self._recent[0][0] < now - _WINDOW_S:
            self._recent.popleft()
        measured = max(1.0, min(_WINDOW_S, now - self._begun))
        sums: Counter[str] = Counter()
        for _, counts in self._recent:
            sums.update(counts)
        rates = {name: sums[name] / measured for name in ("requests", "tokens", "games")}
        flying = list(self._control.in_flight.values())
        return {
            **{f"{name}_per_s": round(rate, 2) for name, rate in rates.items()},
            "seconds_left": round(self._left / rates["games"]) if rates["games"] else None,
            "down": {self._names[place]: why for place, why in self._control.down.items()},
            "in_flight": len(flying),
            "boards": [self._board(played) for played in flying[:_MOST_SHOWN]],
        }

    def _board(self, played: CellGame) -> dict[str, Any]:
        cell, board = played.cell, played.game.board
        return {
            "player": self._names[played.player],
            "opponent": cell.opponent,
            "mark": cell.mark,
            "opening": cell.opening,
            "seed": cell.seed,
            "rollout": cell.rollout,
            "squares": list(board.squares),
            "to_move": board.to_move,
        }


async def conduct(
    evaluations: Evaluations,
    games: Games,
    evaluation: Evaluation,
    players: Sequence[Player],
    *,
    control: Control | None = None,
    on_event: OnEvent | None = None,
    sleep: Sleep = asyncio.sleep,
    clock: Clock = time.monotonic,
    first_pause_s: float = FIRST_PAUSE_S,
) -> Ended:
    """Play what is missing of an evaluation, as the one process that does.

    Args:
        evaluations: where it is stored.
        games: where its games are stored; of the same database.
        evaluation: from `Evaluations.open`.
        players: its checkpoints, in its order.
        control: steers it from this process; what is `wanted` of it, from any other.
        on_event: told what happens.
        sleep: how pauses are made.
        clock: seconds that only go up.
        first_pause_s: until an endpoint that is down is tried again.

    Returns:
        How it ended, which is stored too.

    Raises:
        BusyError: another process plays it.
        ConflictError: its settings were changed since it was opened.
        StorageError: a game could not be stored.
    """
    if [p.identity for p in players] != [p.identity for p in evaluation.players]:
        raise ValueError("these are not the players of the evaluation")
    control = control or Control()
    with evaluations.hold(evaluation):
        done = await asyncio.to_thread(done_cells, evaluations.db, evaluation)
        left = sum(len(evaluation.plan) - len(each) for each in done)
        meter = Meter(control, players, left, clock)

        async def keep(batch: Sequence[CellGame]) -> None:
            recordings = [_recording(played, players, evaluation) for played in batch]
            await asyncio.to_thread(games.record_many, recordings, Source.EVALUATION)

        def tell(event: Event) -> None:
            if isinstance(event, Stored):
                meter.add(event.played)
            if on_event is not None:
                on_event(event)

        pulse = _Pulse(evaluations, evaluation, control, meter, clock)
        beating = asyncio.create_task(pulse.go_on())
        ended = Ended(State.STOPPED, "", 0)
        try:
            ended = await run(
                evaluation.plan,
                players,
                done,
                keep,
                concurrency=evaluation.concurrency,
                control=control,
                on_event=tell,
                sleep=sleep,
                first_pause_s=first_pause_s,
            )
        except Exception as error:
            ended = Ended(State.FAILED, str(error), 0)
            raise
        finally:
            pulse.over.set()
            await beating
            await asyncio.to_thread(
                evaluations.end, evaluation, ended.state, ended.message, pulse.passed()
            )
        return ended


def _recording(played: CellGame, players: Sequence[Player], evaluation: Evaluation) -> Recording:
    place = evaluation.plan.opponents.index(played.cell.opponent)
    player, opponent = players[played.player].identity, evaluation.opponents[place].identity
    x, o = (player, opponent) if played.cell.mark is Mark.X else (opponent, player)
    return Recording(played.game, x, o)


class _Pulse:
    """Says every second what goes on, and does what is wanted."""

    def __init__(
        self,
        evaluations: Evaluations,
        evaluation: Evaluation,
        control: Control,
        meter: Meter,
        clock: Clock,
    ) -> None:
        self._evaluations = evaluations
        self._evaluation = evaluation
        self._control = control
        self._meter = meter
        self._clock = clock
        self._last = clock()
        self._wanted = Wanted.RUN
        self.over = asyncio.Event()
        """Set when there will be no more beats: a late one would undo the end."""

    def passed(self) -> float:
        """The seconds since the last beat."""
        last, self._last = self._last, self._clock()
        return self._last - last

    async def go_on(self) -> None:
        """Beat until it is over."""
        while not self.over.is_set():
            down = self._control.down
            idle = self._control.paused or len(down) == len(self._evaluation.players)
            message = "; ".join(down.values())
            try:
                wanted = await asyncio.to_thread(
                    self._evaluations.beat,
                    self._evaluation,
                    State.PAUSED if idle else State.RUNNING,
                    message,
                    self._meter.snapshot(),
                    self.passed(),
                )
            except StorageError:
                # A game that cannot be stored says so; a sign of life can be left out.
                wanted = self._wanted
            if wanted is not self._wanted:
                self._wanted = wanted
                _do(self._control, wanted)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), BEAT_S)


def _do(control: Control, wanted: Wanted) -> None:
    if wanted is Wanted.STOP:
        control.stop()
    elif wanted is Wanted.PAUSE:
        control.pause()
    else:
        control.resume()
