"""Looks that cost much, at which many may want to look at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Seen = TypeVar("Seen")


class Crowd:
    """Computes one look at a time, each in a worker thread; whoever waits for the same one shares
    it. What somebody is shown was never read before they asked. On one event loop.
    """

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._waiting: dict[Hashable, asyncio.Task[Any]] = {}

    async def look(self, at: Hashable, compute: Callable[[], Seen]) -> Seen:
        """What `compute` returns, or raises, for all who ask for the same before it begins.

        Args:
            at: what is looked at; equal for what may be shared.
            compute: is called in a worker thread.
        """
        task = self._waiting.get(at)
        if task is None:
            task = self._waiting[at] = asyncio.create_task(self._compute(at, compute))
        # Whoever goes does not take it from the others.
        seen: Seen = await asyncio.shield(task)
        return seen

    async def _compute(self, at: Hashable, compute: Callable[[], Any]) -> Any:
        async with self._one:
            # Whoever comes from now on might miss what is written meanwhile: theirs is the next.
            del self._waiting[at]
            return await asyncio.to_thread(compute)
