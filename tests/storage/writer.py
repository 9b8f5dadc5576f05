"""A process that writes, for the tests to run beside another one, or to kill.

    python -m tests.storage.writer DATABASE FIRST_SEED GAMES

Records games one by one and prints each seed once its game is stored; then plays one game in the
browser's way, and prints each ply.
"""

import sys
from datetime import UTC, datetime

from arena.board import Mark
from storage import Database, Games, Source
from tests.storage.samples import FIRST, OPENER_WINS, PERSON, RANDOM, game_of


def main(path: str, first_seed: str, count: str) -> None:
    db = Database.open(path)
    games = Games(db, lambda: datetime.now(UTC))
    for seed in range(int(first_seed), int(first_seed) + int(count)):
        if games.record(game_of(OPENER_WINS, seed=seed), FIRST, RANDOM, Source.STORE):
            print(seed, flush=True)
    id = games.create(PERSON, RANDOM, Mark.X, 0, {})
    for plies in range(1, 6):
        games.append(id, game_of(OPENER_WINS[:plies]))
        print(id, plies, flush=True)
    db.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
