"""Which rows are for training and which for validation, and what both have seen.

A row's split follows from its class under symmetry alone, by a hash: the same row is on the same
side in every export. `turns`, `preference` and `kto` go by the position that is answered; classes
with fewer than 3 marks always train, since every game goes through them. So both sides share no
position. `messages` and `games` go by the whole game, and as every game begins alike, positions are
shared: how many is counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache

from arena.board import Board, Mark, play_out, start
from arena.symmetry import SYMMETRIES, canonical_moves
from storage.datasets.replies import drawn
from storage.datasets.stream import Flavour, Row

ALWAYS_TRAIN = 3
"""Positions with fewer marks."""
_BY_GAME = (Flavour.MESSAGES, Flavour.GAMES)


class Split(StrEnum):
    """What a row is for."""

    TRAIN = "train"
    VALIDATION = "validation"


@dataclass
class Leak:
    """Positions of the rows by class under symmetry: about a thousand, whatever is written."""

    seen: dict[Split, Counter[str]] = field(default_factory=lambda: {s: Counter() for s in Split})

    @property
    def classes(self) -> int:
        """Different positions of validation."""
        return len(self.seen[Split.VALIDATION])

    @property
    def shared(self) -> int:
        """Those of them that are in training too."""
        return len(self.seen[Split.VALIDATION].keys() & self.seen[Split.TRAIN].keys())

    @property
    def share(self) -> float | None:
        """The share of validation's positions, each as often as it comes, that training has too."""
        validation = self.seen[Split.VALIDATION]
        if not validation:
            return None
        return sum(validation[each] for each in self.seen[Split.TRAIN]) / validation.total()


class Splitter:
    """Sorts the rows of one flavour, and keeps count of what both sides have seen."""

    def __init__(self, flavour: Flavour, share: float) -> None:
        """Args:
        flavour: of the rows.
        share: of the classes that are for validation, 0 to 1; of rows it may be another.
        """
        self._by_game = flavour in _BY_GAME
        self._flavour = flavour
        self._share = share
        self.leak = Leak()

    def split(self, row: Row) -> Split:
        """What a row is for."""
        shown: Iterable[str]
        if self._by_game:
            name, boards = _line(row["opener"], tuple(row["moves"]))
            split = _side(name, self._share)
            shown = map(_class_of, self._answered(row, boards))
        else:
            name = position_class(row["board"])
            few = 9 - name.count(".") < ALWAYS_TRAIN
            split = Split.TRAIN if few else _side(name, self._share)
            shown = (name,)
        self.leak.seen[split].update(shown)
        return split

    def _answered(self, row: Row, boards: Iterable[Board]) -> Iterable[Board]:
        """The positions that a row shows: of a game all, of a chat those that were answered."""
        if self._flavour is Flavour.GAMES:
            return boards
        mark, ply = row["mark"], row["ply"]
        return (
            board
            for board in boards
            if board.to_move == mark and board.outcome is None and ply in (None, board.ply)
        )


@lru_cache(maxsize=1 << 14)
def _line(opener: str, moves: tuple[int, ...]) -> tuple[str, tuple[Board, ...]]:
    """The class of a game, and its boards. Most games have been played before."""
    mark = Mark(opener)
    boards = (start(mark), *play_out(moves, mark))
    return "".join(map(str, canonical_moves(moves))), boards


@lru_cache(maxsize=1 << 13)
def position_class(board: str) -> str:
    """The representative of a position's class: of its eight images, the first.

    Who opened makes no difference: what is drawn is the same.
    """
    images = []
    for symmetry in SYMMETRIES:
        image = [""] * 9
        for square, mark in enumerate(board):
            image[symmetry[square]] = mark
        images.append("".join(image))
    return min(images)


@cache
def _class_of(board: Board) -> str:
    """The same of a board, of which there are some thousands."""
    return position_class(drawn(board))


@lru_cache(maxsize=1 << 14)
def _side(name: str, share: float) -> Split:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    return Split.VALIDATION if number < share * (1 << 64) else Split.TRAIN
