"""What the viewers of one game wait for: turns, and what a model says meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_FLUSH_SECONDS = 0.06
_PING_SECONDS = 15


@dataclass
class Thought:
    """What a model that is to move has said so far."""

    since: float
    """When it was asked, by the clock of `web.tasks`."""
    attempt: int = 1
    reasoning: str = ""
    text: str = ""
    trouble: str = ""
    """Why the last request for it failed, in words."""


@dataclass(frozen=True)
class Delta:
    """What a model has said since the last event."""

    start: bool
    """Whether it begins anew: what was said before belongs to another reply, or request."""
    attempt: int
    reasoning: str
    text: str
    trouble: str


@dataclass(frozen=True)
class Turned:
    """The stored game has changed."""


@dataclass(frozen=True)
class Ping:
    """Nothing has happened for a while; the connection lives."""


Event = Turned | Delta | Ping


@dataclass
class Channel:
    """One game's viewers, and what they have not seen yet is read from."""

    revision: int = 0
    thought: Thought | None = None
    listeners: set[asyncio.Event] = field(default_factory=set)

    def think(self, thought: Thought) -> None:
        """A model begins a reply, or begins it anew."""
        self.thought = thought
        self._notify()

    def say(self, kind: str, text: str, now: float) -> None:
        """A model has said more, as `reasoning` or `content`."""
        thought = self.thought = self.thought or Thought(now)
        if kind == "reasoning":
            thought.reasoning += text
        else:
            thought.text += text
        self._notify()

    def turned(self) -> None:
        """The stored game has changed."""
        self.revision += 1
        self.thought = None
        self._notify()

    async def events(self) -> AsyncGenerator[Event]:
        """What happens from now on, `Turned` first. What is said comes in pieces of
        `_FLUSH_SECONDS`, however fast the model is. It never ends by itself.
        """
        with self._listening() as changed:
            seen = -1
            thought: Thought | None = None
            reasoning = text = 0
            while True:
                if self.revision != seen:
                    seen, thought = self.revision, None
                    yield Turned()
                said = self.thought
                if said is not None:
                    start = said is not thought
                    if start:
                        thought, reasoning, text = said, 0, 0
                    news = said.reasoning[reasoning:], said.text[text:]
                    reasoning, text = len(said.reasoning), len(said.text)
                    yield Delta(start, said.attempt, *news, said.trouble)
                try:
                    await asyncio.wait_for(changed.wait(), _PING_SECONDS)
                except TimeoutError:
                    yield Ping()
                changed.clear()
                await asyncio.sleep(_FLUSH_SECONDS)

    @contextmanager
    def _listening(self) -> Iterator[asyncio.Event]:
        changed = asyncio.Event()
        self.listeners.add(changed)
        try:
            yield changed
        finally:
            self.listeners.discard(changed)

    def _notify(self) -> None:
        for listener in self.listeners:
            listener.set()
