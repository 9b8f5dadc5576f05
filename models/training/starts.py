"""How games begin: against whom, who opens, which moves are forced.

The same generator gives the same starts.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from arena.board import SQUARES, Mark, start
from arena.game import Game, Turn
from models.training.settings import Mixed

_EPSILON_STEP = 0.05
"""Chances of random moves are rounded to this, so that engines are shared between games."""
_SEED_BITS = 62


class Start(NamedTuple):
    """How a game begins."""

    opponent: str
    """A canonical spec."""
    mark: Mark
    """The model's."""
    opener: Mark
    seed: int
    forced: tuple[int, ...] = ()
    """The first moves, of whichever side."""

    def game(self) -> Game:
        """A new game that stands where the players take over."""
        game = Game(opener=self.opener, seed=self.seed)
        for square in self.forced:
            game.add(Turn(game.to_move, square))
        return game


def starts(mix: Mixed, count: int, generator: random.Random) -> list[Start]:
    """So many starts, stratified: opponents by their weights, chances of random moves evenly over
    their range, seats by halves, first forced squares equally often. Which goes with which is
    drawn.
    """
    specs = _shares(mix.opponents, count, generator)
    low, high = mix.epsilon
    epsilons = [low + (high - low) * (n + generator.random()) / count for n in range(count)]
    opening = [n % 2 == 0 for n in range(count)]
    o_opens = _part(mix.opener_o, count, generator)
    forced = _part(mix.forced, count, generator)
    first = [n % len(SQUARES) for n in range(count)]
    for strata in (epsilons, opening, first):
        generator.shuffle(strata)
    made = []
    for n in range(count):
        epsilon = min(high, max(low, round(epsilons[n] / _EPSILON_STEP) * _EPSILON_STEP))
        opener = Mark.O if o_opens[n] else Mark.X
        moves = _moves(first[n], generator.randint(*mix.forced_moves), generator)
        made.append(
            Start(
                mix.spec(specs[n], epsilon),
                opener if opening[n] else opener.other,
                opener,
                generator.getrandbits(_SEED_BITS),
                moves if forced[n] else (),
            )
        )
    return made


def _shares(weights: dict[str, float], count: int, generator: random.Random) -> list[str]:
    """Each name as often as its weight says, to within one, in a drawn order."""
    total = sum(weights.values())
    names: list[str] = []
    at, begin = 0.0, generator.random()
    for name, weight in weights.items():
        at += count * weight / total
        names += [name] * (int(at + begin) - len(names))
    names += [name] * (count - len(names))
    del names[count:]
    generator.shuffle(names)
    return names


def _part(share: float, count: int, generator: random.Random) -> list[bool]:
    """Which of so many, to within one of the share."""
    chosen = int(share * count + generator.random())
    flags: list[bool] = [n < chosen for n in range(count)]
    generator.shuffle(flags)
    return flags


def _moves(first: int, count: int, generator: random.Random) -> tuple[int, ...]:
    """Random legal moves after a first one; fewer where the next would end the game."""
    board = start(Mark.X).after(first)
    moves = [first]
    while len(moves) < count:
        going = [s for s in board.free if board.after(s).outcome is None]
        if not going:
            break
        moves.append(generator.choice(going))
        board = board.after(moves[-1])
    return tuple(moves)


def of_groups(starts: Sequence[Start], size: int) -> list[Start]:
    """Each start so many times, one after the other."""
    return [each for each in starts for _ in range(size)]
