"""Engine games per second through the real referee: `python -m benchmarks.bench_engine`.

One core, CPU time, every game a whole record. Samples of the pairings alternate, because a
machine's clock drifts; compare medians of one run with each other, not with another day's.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time

from rich.console import Console
from rich.table import Table

from arena.game import Game
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer

PAIRINGS = (("random", "random"), ("minimax", "random"), ("random", "minimax:epsilon=0.25"))


def games_per_second(x: str, o: str, games: int) -> float:
    """Play this many games of X against O, seeds from 0 on, and keep them all.

    Returns:
        Games per second of CPU time.
    """
    player_x, player_o = EnginePlayer(parse(x)), EnginePlayer(parse(o))

    async def play() -> list[Game]:
        return [await finish(Game(seed=seed), player_x, player_o) for seed in range(games)]

    gc.collect()
    began = time.process_time()
    asyncio.run(play())
    return games / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description="Engine games per second, one core.")
    parser.add_argument("--games", type=int, default=5000, help="games a sample")
    parser.add_argument("--samples", type=int, default=9)
    given = parser.parse_args()

    samples: dict[tuple[str, str], list[float]] = {pairing: [] for pairing in PAIRINGS}
    for pairing in PAIRINGS:
        # Boards, solutions and policies are built at first use: not what is measured.
        games_per_second(*pairing, given.games)
    for _ in range(given.samples):
        for pairing, found in samples.items():
            found.append(games_per_second(*pairing, given.games))

    table = Table("X", "O", "games/s (median)", "least", "most")
    for (x, o), found in samples.items():
        numbers = (statistics.median(found), min(found), max(found))
        table.add_row(x, o, *(f"{number:,.0f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    main()
