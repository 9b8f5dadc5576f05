"""Tic-tac-toe games of uniformly random players in other packages, driven from Python.

Runs in a venv of its own, as a process that `benchmarks.bench_engine` starts: `python
benchmarks/elsewhere.py NAME`. For each line on standard input, a number of games, it plays so many
and prints the CPU seconds that they took. Every game is kept: its moves and its result.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable

Play = Callable[[int], object]


def open_spiel() -> Play:
    """OpenSpiel's game, in the shortest loop that plays it."""
    import pyspiel  # type: ignore[import-not-found]

    game = pyspiel.load_game("tic_tac_toe")

    def play(games: int) -> object:
        kept = []
        for _ in range(games):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(random.choice(state.legal_actions()))
            kept.append((state.history(), state.returns()))
        return kept

    return play


def open_spiel_bots() -> Play:
    """OpenSpiel's game, with its bots in the seats."""
    import numpy as np
    import pyspiel
    from open_spiel.python.bots.uniform_random import UniformRandomBot  # type: ignore[import-not-found]

    game = pyspiel.load_game("tic_tac_toe")
    generator = np.random.RandomState(0)
    bots = [UniformRandomBot(player, generator) for player in range(2)]

    def play(games: int) -> object:
        kept = []
        for _ in range(games):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(bots[state.current_player()].step(state))
            kept.append((state.history(), state.returns()))
        return kept

    return play


def pettingzoo() -> Play:
    """PettingZoo's environment, in the loop of its documentation."""
    from pettingzoo.classic import tictactoe_v3  # type: ignore[import-not-found]

    env = tictactoe_v3.env()

    def play(games: int) -> object:
        kept = []
        for seed in range(games):
            env.reset(seed=seed)
            moves, rewards = [], {}
            for agent in env.agent_iter():
                observation, reward, over, cut, _ = env.last()
                if over or cut:
                    rewards[agent] = reward
                    env.step(None)
                else:
                    free = [s for s, legal in enumerate(observation["action_mask"]) if legal]
                    moves.append(random.choice(free))
                    env.step(moves[-1])
            kept.append((moves, rewards))
        return kept

    return play


def textarena() -> Play:
    """TextArena's environment, whose players read and write text."""
    import textarena as ta  # type: ignore[import-not-found]

    def play(games: int) -> object:
        kept = []
        for seed in range(games):
            # One that is reset remembers more with each game, and gets slower.
            env = ta.make("TicTacToe-v0")
            env.reset(num_players=2, seed=seed)
            moves: list[int] = []
            over = False
            while not over:
                env.get_observation()
                free = [square for square in range(9) if square not in moves]
                moves.append(random.choice(free))
                over, _ = env.step(f"[{moves[-1]}]")
            kept.append((moves, env.close()))
        return kept

    return play


CONTESTANTS: dict[str, Callable[[], Play]] = {
    "OpenSpiel": open_spiel,
    "OpenSpiel's bots": open_spiel_bots,
    "PettingZoo": pettingzoo,
    "TextArena": textarena,
}


def main(name: str) -> None:
    play = CONTESTANTS[name]()
    # What packages print as they are imported or play has gone by now, or goes elsewhere.
    out, sys.stdout = sys.stdout, sys.stderr
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        gc.collect()
        began = time.process_time()
        play(int(line))
        print(time.process_time() - began, file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
