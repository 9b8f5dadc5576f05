"""Requests per second of an evaluation beside bare clients: `python -m benchmarks.bench_evaluate`.

The evaluation is the real one: plan, prompts, endpoint, reading, referee, and a SQLite file in
which every game is stored before it counts. Beside it, bare loops send the same requests and look
at nothing that comes back but its text. The server is a process of its own that answers at once.

The contestants take turns, in rounds of some seconds each, because a machine's clock drifts: what
counts is the ratio within a round, and, where others use the processor too, that of the CPU seconds
a request takes in the client's process.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import openai
from rich.console import Console
from rich.table import Table

from arena.control import CellGame, Control, Event, Stored
from arena.panels import PANELS
from arena.plan import Plan
from models.entries import Entry
from models.registry import Registry
from storage.conduct import conduct
from storage.database import Database
from storage.evaluations import Evaluations
from storage.games import Games
from storage.setups import Setup

_ENDLESS = 10_000
_BODIES = 400

Body = dict[str, Any]
Asks = Callable[[Body], Awaitable[object]]


class Sample(NamedTuple):
    """What a contestant did in a round."""

    requests: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of CPU a request."""
        return 1000 * self.cpu_seconds / self.requests


@contextmanager
def quick_server() -> Iterator[str]:
    """The server in a process of its own; its address."""
    command = [sys.executable, "-m", "benchmarks.quick_server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


async def evaluate(
    db: Database,
    url: str,
    name: str,
    concurrency: int,
    games: int,
    *,
    control: Control | None = None,
    on_game: Callable[[CellGame], None] = lambda _: None,
) -> int:
    """Conduct an evaluation of `games` seeds against the standard panel; how many requests."""
    registry = Registry((Entry(name=name, base_url=url, model="quick"),))
    player = registry.player(name)
    plan = Plan(PANELS["standard"].opponents, games)
    evaluations = Evaluations(db, lambda: datetime.now(UTC))
    setup = Setup((player.identity,), plan, "standard", concurrency)
    evaluation = evaluations.open(name, setup)
    requests = 0

    def count(event: Event) -> None:
        nonlocal requests
        if isinstance(event, Stored):
            played = event.played
            requests += sum(len(a.requests) for a in played.game.attempts_of(played.cell.mark))
            on_game(played)

    try:
        await conduct(
            evaluations,
            Games(db, lambda: datetime.now(UTC)),
            evaluation,
            [player],
            control=control,
            on_event=count,
        )
    finally:
        await registry.close()
    return requests


async def evaluation_for(db: Database, url: str, concurrency: int, seconds: float) -> int:
    """An evaluation that begins no game after so many seconds."""
    control = Control()
    asyncio.get_running_loop().call_later(seconds, control.stop)
    name = f"bench {time.monotonic_ns()}"
    return await evaluate(db, url, name, concurrency, _ENDLESS, control=control)


async def bodies_of(db: Database, url: str) -> list[Body]:
    """Requests as an evaluation sends them."""
    found: list[Body] = []

    def keep(played: CellGame) -> None:
        for attempt in played.game.attempts_of(played.cell.mark):
            messages = [{"role": m.role, "content": m.content} for m in attempt.prompt]
            sent = attempt.requests[-1].sent
            found.append({"model": "quick", "messages": messages, **sent})

    await evaluate(db, url, "bodies", 8, 8, on_game=keep)
    return found[:_BODIES]


async def bare(asks: Asks, bodies: Sequence[Body], concurrency: int, seconds: float) -> int:
    """Send one request after the other in so many tasks, for some seconds; how many."""
    rest = itertools.cycle(bodies)
    until = time.perf_counter() + seconds
    sent = 0

    async def work() -> None:
        nonlocal sent
        while time.perf_counter() < until:
            await asks(next(rest))
            sent += 1

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return sent


async def with_openai(
    url: str, bodies: Sequence[Body], concurrency: int, seconds: float, *, on_aiohttp: bool
) -> int:
    """The `openai` client as its own documentation uses it."""
    http_client = openai.DefaultAioHttpClient() if on_aiohttp else None
    async with openai.AsyncOpenAI(
        api_key="-", base_url=url, max_retries=0, http_client=http_client
    ) as client:

        async def ask(body: Body) -> object:
            answer = await client.chat.completions.create(**body)
            return answer.choices[0].message.content

        return await bare(ask, bodies, concurrency, seconds)


async def with_aiohttp(url: str, bodies: Sequence[Body], concurrency: int, seconds: float) -> int:
    """No client but aiohttp's."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(body: Body) -> object:
            async with session.post(url + "/chat/completions", json=body) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        return await bare(ask, bodies, concurrency, seconds)


def sample(run: Callable[[], Awaitable[int]]) -> Sample:
    """Run a contestant on an event loop of its own."""

    async def whole() -> int:
        return await run()

    gc.collect()
    began, cpu = time.perf_counter(), time.process_time()
    requests = asyncio.run(whole())
    return Sample(requests, time.perf_counter() - began, time.process_time() - cpu)


def compete(
    db: Database, url: str, bodies: Sequence[Body], concurrency: int, rounds: int, seconds: float
) -> dict[str, list[Sample]]:
    """Each contestant's sample in each round."""
    contestants: dict[str, Callable[[], Awaitable[int]]] = {
        "arena evaluate": lambda: evaluation_for(db, url, concurrency, seconds),
        "AsyncOpenAI": lambda: with_openai(url, bodies, concurrency, seconds, on_aiohttp=False),
        "AsyncOpenAI on aiohttp": lambda: with_openai(
            url, bodies, concurrency, seconds, on_aiohttp=True
        ),
        "aiohttp": lambda: with_aiohttp(url, bodies, concurrency, seconds),
    }
    found: dict[str, list[Sample]] = {name: [] for name in contestants}
    for number in range(rounds):
        order = list(contestants.items())
        # Whoever comes first in one round comes last in the next.
        for name, run in order if number % 2 else reversed(order):
            found[name].append(sample(run))
    return found


def table_of(concurrency: int, found: dict[str, list[Sample]]) -> Table:
    """Medians, and the evaluation's share of each contestant's speed with its spread."""
    table = Table(title=f"{concurrency} in flight", title_justify="left")
    table.add_column("client")
    for column in ("requests/s", "CPU ms/request", "evaluate : it", "by CPU"):
        table.add_column(column, justify="right")
    ours = found["arena evaluate"]
    for name, samples in found.items():
        rates = [a.rate / b.rate for a, b in zip(ours, samples, strict=True)]
        costs = [b.cost / a.cost for a, b in zip(ours, samples, strict=True)]
        table.add_row(
            name,
            f"{statistics.median(each.rate for each in samples):,.0f}",
            f"{statistics.median(each.cost for each in samples):.2f}",
            *(
                f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
                for ratios in (rates, costs)
            ),
        )
    return table


def resident_mb() -> float:
    """The memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(db: Database, url: str, games: int, console: Console) -> None:
    """Play so many games at 128 in flight, and tell the memory every tenth of them."""
    opponents = len(PANELS["standard"].opponents)
    seeds = max(1, games // (2 * opponents))
    total = seeds * 2 * opponents
    stored = 0

    def look(_: CellGame) -> None:
        nonlocal stored
        stored += 1
        if stored % max(1, total // 10) == 0:
            console.print(f"{stored:7,} games stored: {resident_mb():.0f} MB")

    gc.collect()
    console.print(f"memory before {total:,} games: {resident_mb():.0f} MB")
    asyncio.run(evaluate(db, url, "memory", 128, seeds, on_game=look))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a contestant in a round")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 32, 128])
    parser.add_argument(
        "--memory-games", type=int, default=20_000, help="0: leave the memory alone"
    )
    given = parser.parse_args()
    # Alembic tells of each migration.
    logging.disable(logging.INFO)

    console = Console(width=110)
    with quick_server() as url, tempfile.TemporaryDirectory() as folder:
        db = Database.open(Path(folder) / "bench.db")
        bodies = asyncio.run(bodies_of(db, url))
        for concurrency in given.concurrency:
            found = compete(db, url, bodies, concurrency, given.rounds, given.seconds)
            console.print(table_of(concurrency, found))
        if given.memory_games:
            memory(db, url, given.memory_games, console)
        console.print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        db.close()


if __name__ == "__main__":
    main()
