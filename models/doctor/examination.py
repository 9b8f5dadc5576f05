"""The whole examination: which probes, in which order, within which limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import NamedTuple

from models.doctor import contact, context, replies, requests
from models.doctor.card import Card, Outcome, Probe
from models.doctor.subject import SpentError, StopError, Subject
from models.endpoint import Patience
from models.registry import Registry

OnStep = Callable[[str], None]
"""Called with what is looked at next, in words."""

_TIMEOUT_S = 120.0
_TRIES = 3
_MAX_WAIT_S = 20.0


class _Step(NamedTuple):
    words: str
    probes: Callable[[Subject], AsyncGenerator[Probe, None]]
    names: tuple[str, ...]
    """Of the probes that it makes."""


_OF_GAMES = (
    _Step(
        "looking for the server, and asking for a first reply",
        contact.contact,
        (contact.REACHABLE, contact.KEY, contact.MODEL),
    ),
    _Step("asking for first moves", replies.first_moves, (replies.FORMAT, replies.LATENCY)),
    _Step("having a reply streamed", replies.streaming, (replies.STREAMING,)),
)
"""What they make the server refuse, it refuses in games too."""
_OF_THE_SERVER = (
    _Step("looking what becomes of a system message", requests.system_role, (requests.SYSTEM,)),
    _Step("trying which roles may follow each other", requests.roles, (requests.ROLES,)),
    _Step("measuring the context", context.context, (context.CONTEXT,)),
    _Step("trying whether the seed counts", requests.seed, (requests.SEED,)),
    _Step(
        "asking the same again at temperature 0, alone and at once",
        requests.greedy,
        (requests.TEMPERATURE, requests.REPEATS, requests.CONCURRENCY),
    ),
)


async def examine(
    registry: Registry,
    name: str,
    on_step: OnStep | None = None,
    *,
    deadline_s: float = 300.0,
    most_requests: int = 40,
    clock: Callable[[], float] = time.monotonic,
) -> Card:
    """Look at how a model's endpoint behaves.

    Args:
        registry: where the model is.
        name: its name.
        on_step: told what is looked at next.
        deadline_s: after which what is left is left out.
        most_requests: after which what is left is left out.
        clock: where time comes from.

    Raises:
        NotFoundError: there is no such model.
    """
    entry = registry.get(name)
    patience = Patience(
        timeout_s=min(entry.timeout_s, _TIMEOUT_S),
        max_tries=min(entry.max_tries, _TRIES),
        max_wait_s=min(entry.max_wait_s, _MAX_WAIT_S),
    )
    endpoint = registry.fresh_endpoint(name, patience)
    subject = Subject(entry, registry.formats[entry.prompt], endpoint, most_requests, clock)
    examination = _Examination(subject, on_step)
    limit = asyncio.timeout(deadline_s)
    try:
        async with limit:
            await examination.run()
    except TimeoutError:
        if not limit.expired():
            raise
        examination.leave_out(f"{deadline_s:g} s were over")
    except SpentError:
        examination.leave_out(f"{most_requests} requests were sent")
    finally:
        await endpoint.aclose()
    return examination.card()


class _Examination:
    def __init__(self, subject: Subject, on_step: OnStep | None) -> None:
        self._subject = subject
        self._on_step = on_step
        self._found: list[Probe] = []
        self._stopped: str | None = None

    async def run(self) -> None:
        """Make the probes, one after the other."""
        try:
            for step in _OF_GAMES:
                await self._make(step)
            self._subject.leave_game()
            for step in _OF_THE_SERVER:
                await self._make(step)
        except StopError as stop:
            self._stopped = str(stop)

    def leave_out(self, reason: str) -> None:
        """Say of the probes that were not made why they were not."""
        made = {probe.name for probe in self._found}
        if replies.FORMAT not in made:
            self._stopped = f"No first move had come when {reason}."
            return
        self._found += [
            Probe(name, Outcome.UNKNOWN, f"Not tried: {reason}.")
            for step in (*_OF_GAMES, *_OF_THE_SERVER)
            for name in step.names
            if name not in made
        ]

    def card(self) -> Card:
        """What was found."""
        if self._stopped is None:
            self._found += replies.overview(self._subject)
        return Card(
            model=self._subject.entry.name,
            prompt=self._subject.form.name,
            probes=tuple(self._found),
            adaptations=self._subject.adaptations,
            requests=self._subject.requests,
            stopped=self._stopped,
        )

    async def _make(self, step: _Step) -> None:
        if self._on_step is not None:
            self._on_step(step.words)
        async with aclosing(step.probes(self._subject)) as probes:
            async for probe in probes:
                self._found.append(probe)
