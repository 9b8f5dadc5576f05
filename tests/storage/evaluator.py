"""A process that plays an evaluation, for the tests to run beside another one, or to kill.

    python -m tests.storage.evaluator DATABASE NAME GAMES WAIT_S

Prints a line when it begins to play, one for each stored game, and how it ended. Exit code 3: the
sentence on standard output says that another process plays it.
"""

import asyncio
import sys
from datetime import UTC, datetime

from arena.control import Event, Stored
from arena.errors import BusyError
from arena.plan import Plan
from storage import Database, Games
from storage.conduct import conduct
from storage.evaluations import Evaluations
from storage.setups import Setup
from tests.storage.chatter import Chatter

OPPONENTS = ("random", "minimax:epsilon=0.5")


def now() -> datetime:
    return datetime.now(UTC)


def tell(event: Event) -> None:
    if isinstance(event, Stored):
        print("stored", flush=True)


def main(path: str, name: str, games: str, wait_s: str) -> None:
    db = Database.open(path)
    evaluations = Evaluations(db, now)
    player = Chatter(seed=int(now().timestamp() * 1000), faults=0.02, wait_s=float(wait_s))
    setup = Setup((player.identity,), Plan(OPPONENTS, int(games)), concurrency=4)
    evaluation = evaluations.open(name, setup)
    try:
        ended = asyncio.run(
            conduct(
                evaluations,
                Games(db, now),
                evaluation,
                [player],
                on_event=tell,
                first_pause_s=0.01,
            )
        )
    except BusyError as busy:
        print(busy)
        sys.exit(3)
    print(ended.state, ended.void, flush=True)
    db.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
