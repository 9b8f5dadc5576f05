"""Engine games per second beside other packages: `python -m benchmarks.bench_engine`.

One core, CPU time, uniformly random players on both sides, and every game kept. The arena plays
through the real referee, and in batches. The others are in a venv of their own, which `make bench`
fills; what is not there is left out. Contestants take turns, because a machine's clock drifts:
what counts is the ratio within a round.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arena.batch import play_batches
from arena.game import Game
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer
from benchmarks.elsewhere import CONTESTANTS

_ROOT = Path(__file__).parents[1]
_PYTHON = _ROOT / ".venv-bench" / "bin" / "python"
_BASE = "OpenSpiel"
_REFEREE = "arena, the referee"
_BATCH = "arena, in batches"
_LEAST_S = 0.2
"""CPU seconds of a sample, at least: shorter ones are noise."""

Seconds = Callable[[int], float]
"""From a number of games to the CPU seconds that they take."""


def of_the_referee(games: int) -> float:
    """Play through the referee, seeds from 0 on, and keep all games."""
    player = EnginePlayer(parse("random"))

    async def play() -> list[Game]:
        return [await finish(Game(seed=seed), player, player) for seed in range(games)]

    gc.collect()
    began = time.process_time()
    asyncio.run(play())
    return time.process_time() - began


def of_batches(games: int) -> float:
    """Play the same games in batches, and keep all moves."""
    gc.collect()
    began = time.process_time()
    list(play_batches(parse("random"), parse("random"), range(games)))
    return time.process_time() - began


def elsewhere(name: str, stack: ExitStack) -> Seconds | None:
    """A process that plays in another package; None where that is not installed."""
    command = [str(_PYTHON), str(_ROOT / "benchmarks" / "elsewhere.py"), name]
    process = stack.enter_context(
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    stack.callback(stdin.close)
    if not stdout.readline():
        return None

    def seconds(games: int) -> float:
        stdin.write(f"{games}\n")
        stdin.flush()
        return float(stdout.readline())

    return seconds


def enough(seconds: Seconds) -> int:
    """As many games as make a sample; playing them builds what is built at first use."""
    games = 10
    while (took := seconds(games)) < _LEAST_S:
        games = max(2 * games, min(100 * games, int(games * 1.2 * _LEAST_S / max(took, 1e-4))))
    return games


def main() -> None:
    parser = argparse.ArgumentParser(description="Engine games per second, one core.")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()

    console = Console(width=100)
    with ExitStack() as stack:
        contestants: dict[str, Seconds] = {_REFEREE: of_the_referee, _BATCH: of_batches}
        for name in CONTESTANTS:
            found = elsewhere(name, stack) if _PYTHON.exists() else None
            if found is None:
                console.print(f"{name} is not installed in {_PYTHON.parents[1].name}: left out")
            else:
                contestants[name] = found
        games = {name: enough(seconds) for name, seconds in contestants.items()}
        rates: dict[str, list[float]] = {name: [] for name in contestants}
        for number in range(given.rounds):
            order = list(contestants.items())
            for name, seconds in order if number % 2 else reversed(order):
                rates[name].append(games[name] / seconds(games[name]))

    table = Table("random against random", "games/s (median)", f"ratio to {_BASE}'s loop")
    base = rates.get(_BASE)
    for name, seen in rates.items():
        ratios = [a / b for a, b in zip(seen, base, strict=True)] if base else []
        spread = (
            f"{statistics.median(ratios):.4g} ({min(ratios):.4g} to {max(ratios):.4g})"
            if ratios
            else "–"
        )
        table.add_row(name, f"{statistics.median(seen):,.0f}", spread)
    console.print(table)
    console.print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
