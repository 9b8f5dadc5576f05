"""Engines against each other, thousands of games at once: the referee's games, move for move.

All games of a batch take their next turn together. A board is its place in a list of all boards,
and what the referee looks up for one board is a table here: where each move leads, how a game has
ended, which squares an engine takes and from which draw on. Draws are the same integers, so that
each game is the one that its seed gives anywhere else; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.board import SQUARES, Mark, Outcome, boards, mix, start
from arena.opponents import GOLDEN, Engine, salt_of

GAMES = 16_384
"""Of a batch: more gain no speed, and take memory."""
_OUTCOMES = tuple(Outcome)
_OPEN = -1


@dataclass(frozen=True)
class Batch:
    """Finished games that one mark opened."""

    opener: Mark
    seeds: range
    moves: NDArray[np.int8]
    """[games, 9]: the squares in the order in which they were taken, then -1."""
    _ends: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def outcomes(self) -> dict[Outcome, int]:
        """How many games ended how."""
        counts = np.bincount(self._ends, minlength=len(_OUTCOMES))
        return dict(zip(_OUTCOMES, counts.tolist(), strict=True))

    def outcome(self, number: int) -> Outcome:
        """How the game at a place ended."""
        return _OUTCOMES[int(self._ends[number])]

    def line(self, number: int) -> tuple[int, ...]:
        """The squares of the game at a place."""
        return _line(self.moves[number].tolist())

    def lines(self) -> Iterator[tuple[int, ...]]:
        """The different sequences of squares."""
        # A line as one number, which sorts faster than a row.
        digits = 10 ** np.arange(len(SQUARES), dtype=np.int64)
        _, first = np.unique((self.moves + 1) @ digits, return_index=True)
        return map(_line, self.moves[first].tolist())


def play_batch(x: Engine, o: Engine, seeds: range, opener: Mark = Mark.X) -> Batch:
    """Play one game for each seed.

    Args:
        x: who plays X.
        o: who plays O.
        seeds: the games' seeds; one at least.
        opener: who moves first.

    Raises:
        ValueError: a seed is negative or needs more than 63 bits.
    """
    tree = _tree(opener)
    tables = [_table(engine, opener) for engine in ((x, o) if opener is Mark.X else (o, x))]
    salts = _salts(seeds)
    moves = np.full((len(seeds), len(SQUARES)), -1, np.int8)
    at = np.full(len(seeds), tree.start)
    going = np.arange(len(seeds))
    for ply in SQUARES:
        here = at[going]
        table = tables[ply % 2]
        draws = tree.odd[here] * salts[going]
        # As many squares begin at or below the draw as `bisect_right` would count.
        rank = (table.begins[here] <= draws[:, None]).sum(axis=1)
        squares = table.squares[here, rank]
        moves[going, ply] = squares
        at[going] = reached = tree.children[here, squares]
        going = going[tree.ends[reached] == _OPEN]
    return Batch(opener, seeds, moves, tree.ends[at])


def play_batches(
    x: Engine, o: Engine, seeds: range, openers: Sequence[Mark] = (Mark.X,)
) -> Iterator[Batch]:
    """The games of `arena.series.play_series`, in batches.

    Args:
        x: who plays X, in every game.
        o: who plays O.
        seeds: the games' seeds.
        openers: who opens: one after the other, then from the start.
    """
    for begin in range(0, len(seeds), GAMES * len(openers)):
        some = seeds[begin : begin + GAMES * len(openers)]
        for number, opener in enumerate(openers):
            if mine := some[number :: len(openers)]:
                yield play_batch(x, o, mine, opener)


def _line(moves: list[int]) -> tuple[int, ...]:
    return tuple(moves[: moves.index(-1)] if moves[-1] < 0 else moves)


def _salts(seeds: range) -> NDArray[np.uint64]:
    """`arena.opponents.salt_of` of many seeds at once."""
    for end in (seeds[0], seeds[-1]):
        salt_of(end)  # raises where it is no seed
    # Numbers of 64 bits are multiplied modulo 2^64; a negative step is one from above.
    step, first = (np.array([n % (1 << 64)], np.uint64) for n in (seeds.step, seeds[0] + 1))
    every: Any = np.arange(len(seeds), dtype=np.uint64) * step + first
    # Plain arithmetic, which takes an array as it takes a number.
    mixed: Any = mix(every * GOLDEN)
    return np.asarray(mixed, np.uint64)


@dataclass(frozen=True)
class _Tree:
    """All boards of an opener by their place."""

    start: int
    children: NDArray[np.int32]
    """[boards, 9]: the place after a move."""
    ends: NDArray[np.int8]
    """The place of the outcome in `_OUTCOMES`; `_OPEN` where the game goes on."""
    odd: NDArray[np.uint64]


@dataclass(frozen=True)
class _Table:
    """An engine's policy on all boards on which it may be asked."""

    begins: NDArray[np.uint64]
    """[boards, 8]: from which draw on each square but the first is taken."""
    squares: NDArray[np.int8]
    """[boards, 9]: the squares; the last is repeated."""


@lru_cache
def _tree(opener: Mark) -> _Tree:
    every = list(boards(opener))
    places = {board: place for place, board in enumerate(every)}
    ends = [_OPEN if b.outcome is None else _OUTCOMES.index(b.outcome) for b in every]
    children = [[places[c] if c is not None else 0 for c in board.children] for board in every]
    return _Tree(
        places[start(opener)],
        np.array(children, np.int32),
        np.array(ends, np.int8),
        np.array([board.odd for board in every], np.uint64),
    )


@lru_cache(maxsize=64)
def _table(engine: Engine, opener: Mark) -> _Table:
    begins: list[Any] = []
    squares: list[Any] = []
    for board in boards(opener):
        taken, thresholds = ([0], []) if board.outcome is not None else engine.row(board)
        # What is repeated is the last square, so that it does not matter when it begins.
        more = len(SQUARES) - len(taken)
        squares.append([*taken, *[taken[-1]] * more])
        begins.append([*thresholds, *[(1 << 64) - 1] * more])
    return _Table(np.array(begins, np.uint64), np.array(squares, np.int8))
