"""A model that plays like an engine: it reads the board from the chat, as a model would."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from arena.board import Board, Mark, board_of
from arena.opponents import parse, salt_of
from tests.servers.answers import Answer, Json, Reset, Say

_CELL = r"([XO0-8])"
_ROW = rf"{_CELL} \| {_CELL} \| {_CELL}"
_BOARD = re.compile(rf"{_ROW}\n-+\n{_ROW}\n-+\n{_ROW}")
_MARK = re.compile(r"You are ([XO])\b")


def board_in(body: dict[str, Any]) -> Board:
    """The board that the last drawing in a chat shows, in the shipped numbered form."""
    text = "\n".join(message["content"] for message in body["messages"])
    cells = list(_BOARD.finditer(text))[-1].groups()
    mark = Mark(_MARK.findall(text)[-1])
    squares = [Mark(cell) if cell in ("X", "O") else None for cell in cells]
    opens = squares.count(mark) == squares.count(mark.other)
    return board_of(squares, mark if opens else mark.other)


class PolicyModel:
    """Answers with an engine's moves, in tags.

    Args:
        spec: the engine.
        seed: of its draws, and of everything else that is left to chance.
        invalid: the chance of a reply that is no move.
        rate_limited, failing, dropped: the chances of a 429, a 500, a broken connection.
    """

    def __init__(
        self,
        spec: str = "minimax:tie=first",
        *,
        seed: int = 0,
        invalid: float = 0.0,
        rate_limited: float = 0.0,
        failing: float = 0.0,
        dropped: float = 0.0,
        board: Callable[[dict[str, Any]], Board] = board_in,
    ) -> None:
        self._engine = parse(spec)
        self._salt = salt_of(seed)
        self._chance = random.Random(seed)
        self._invalid = invalid
        self._faults = (
            (rate_limited, Json(429, {"error": {"message": "Rate limit reached"}})),
            (failing, Json(500, {"error": {"message": "internal error"}})),
            (dropped, Reset()),
        )
        self._board = board

    def __call__(self, body: dict[str, Any]) -> Answer:
        draw = self._chance.random()
        for chance, fault in self._faults:
            if draw < chance:
                return fault
            draw -= chance
        if self._chance.random() < self._invalid:
            return Say("<think>Hm.</think><move>9</move>")
        square = self._choose(self._board(body))
        return Say(f"<think>I take {square}.</think><move>{square}</move>")

    def _choose(self, board: Board) -> int:
        return self._engine.choose(board, self._salt)


class BookModel(PolicyModel):
    """Knows some positions by heart, and moves at random in all others."""

    def __init__(self, book: Mapping[Board, int], *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self._book = book

    def _choose(self, board: Board) -> int:
        known = self._book.get(board)
        return self._chance.choice(board.free) if known is None else known
