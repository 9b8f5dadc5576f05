"""What one player of an evaluation has still to play, and what its void games mean."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from arena.plan import Numbers, Plan

VOID_IN_A_ROW = 5
"""So many void games in a row say that the endpoint is down."""
FIRST_PAUSE_S = 5.0
LONGEST_PAUSE_S = 300.0
CHANCES = 2
"""How often a game is played that turns out void, outages apart."""


class Job(NamedTuple):
    """A cell to be played."""

    number: int
    strikes: int = 0
    """How often it was void already, outages apart."""
    probe: bool = False
    """Whether it is to find out that an endpoint is back."""


class Lane:
    """One player's way through a plan. Every job that is taken must land, or the run is over.

    Void games are held back until the next game that is not void tells what they were: single
    faults, which use up a chance, or an outage, which does not.
    """

    def __init__(self, place: int, plan: Plan, done: Numbers, first_pause_s: float) -> None:
        self.place = place
        self.down = False
        """Whether the endpoint is taken to be down: only probes are played."""
        self.rested = False
        """Whether it is time for a probe."""
        self.voids = 0
        """Void games in a row."""
        self.left_void = 0
        """Games that stay void."""
        self.left = len(plan) - len(done)
        """Cells that were never taken."""
        self._done = done
        self._next = 0
        self._again: deque[Job] = deque()
        self._held: list[Job] = []
        self._in_flight = 0
        self._first_pause_s = self._pause_s = first_pause_s

    @property
    def over(self) -> bool:
        """Whether nothing is left to play, and nothing is under way."""
        return not (self.left or self._again or self._held or self._in_flight)

    def take(self) -> Job | None:
        """The next cell to play; None where there is none, or none yet."""
        job = self._probe() if self.down else self._following()
        self._in_flight += job is not None
        return job

    def land(self, job: Job, *, void: bool) -> None:
        """Take back a job whose game is over.

        Args:
            job: from `take`.
            void: whether an endpoint's fault made it void.
        """
        self._in_flight -= 1
        if void:
            self._held.append(job._replace(probe=False))
            self.voids += 1
            self.down = self.down or self.voids >= VOID_IN_A_ROW
            return
        if self.down:
            self._again.extend(self._held)
            self._held.clear()
        self._settle()
        self.voids = 0
        self.down = self.rested = False
        self._pause_s = self._first_pause_s

    def next_pause(self) -> float:
        """How long to wait for the next probe: longer each time."""
        pause_s = self._pause_s
        self._pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        return pause_s

    def _following(self) -> Job | None:
        while self.left:
            number = self._next
            self._next += 1
            if number not in self._done:
                self.left -= 1
                return Job(number)
        if not self._again and not self._in_flight:
            self._settle()
        return self._again.popleft() if self._again else None

    def _probe(self) -> Job | None:
        if not self.rested:
            return None
        self.rested = False
        return self._held.pop()._replace(probe=True)

    def _settle(self) -> None:
        """What is held back were single faults."""
        for job in self._held:
            if job.strikes + 1 < CHANCES:
                self._again.append(job._replace(strikes=job.strikes + 1))
            else:
                self.left_void += 1
        self._held.clear()
