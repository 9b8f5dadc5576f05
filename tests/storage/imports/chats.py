"""Games as chats of other environments tell them: a board drawn, a move named, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from arena.board import Mark, start

Cells = Sequence[Mark | None]


def barred(cells: Cells, base: int, rule: str = "\n---------\n") -> str:
    """As `X | 1 | 2`, free squares by their numbers."""
    shown = [mark or str(square + base) for square, mark in enumerate(cells)]
    return rule.join(" | ".join(shown[row : row + 3]) for row in (0, 3, 6))


def ruled(cells: Cells, base: int) -> str:
    return barred(cells, base, "\n---+---+---\n")


def plain(free: str, between: str) -> Callable[[Cells, int], str]:
    def draw(cells: Cells, base: int) -> str:
        shown = [mark or free for mark in cells]
        return "\n".join(between.join(shown[row : row + 3]) for row in (0, 3, 6))

    return draw


def tabled(cells: Cells, base: int) -> str:
    """As a table in Markdown, without numbers."""
    rows = [" | ".join(mark or " " for mark in cells[row : row + 3]) for row in (0, 3, 6)]
    return f"| {rows[0]} |\n|---|---|---|\n| {rows[1]} |\n| {rows[2]} |"


def lettered(cells: Cells, base: int) -> str:
    shown = [
        f" {mark} " if mark else f"[{'ABC'[square // 3]}{square % 3 + 1}]"
        for square, mark in enumerate(cells)
    ]
    return "\n----+----+----\n".join("|".join(shown[row : row + 3]) for row in (0, 3, 6))


NUMBERED = (barred, ruled)
UNNUMBERED = (
    plain(".", " "),
    plain("-", " "),
    plain("_", ""),
    plain(" ", "|"),
    plain("_", "|"),
    tabled,
    lettered,
)

ANSWERS: tuple[Callable[[int], str], ...] = (
    lambda number: f"<think>\nRow 1: {number} | X | X\n</think>\n\n<move>{number}</move>",
    lambda number: f"<move> {number} </move>",
    lambda number: f"I take the square [{number}] now.",
    lambda number: rf"So it is $\boxed{{{number}}}$.",
    lambda number: f"{number}",
)


@dataclass
class Chat:
    """A chat, and what it draws."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    boards: dict[int, tuple[Mark | None, ...]] = field(default_factory=dict)
    """By the place of their message."""
    moves: list[int] = field(default_factory=list)
    """Those that it shows or names."""
    unseen: bool = False
    """Whether the last of them is named, and not drawn."""


@dataclass(frozen=True)
class Telling:
    """How a game is told."""

    draw: Callable[[Cells, int], str] = barred
    base: int = 0
    answer: Callable[[int], str] = ANSWERS[0]
    mark: Mark = Mark.X
    lists: bool = True
    """Whether the free squares are listed, and the opponent's move is told."""
    seats: bool = True
    """Whether the model is told its mark."""
    ends: bool = True
    """Whether the board of the end is drawn."""
    slips: int = 0
    """Replies before each of its own that are no moves."""

    def tell(self, squares: Sequence[int], opener: Mark = Mark.X) -> Chat:
        """A game from its begin, told to the model."""
        chat = Chat([{"role": "system", "content": f"Tic-Tac-Toe.\n{self.draw([None] * 9, 0)}"}])
        board, took = start(opener), None
        for square in squares:
            if board.to_move is self.mark:
                self._ask(chat, board, took)
                for _ in range(self.slips):
                    # Of a taken square, or of none.
                    wrong = next((at for at in range(9) if at not in board.free), 9)
                    self._say(chat, self.answer(wrong + self.base))
                    self._ask(chat, board, None)
                self._say(chat, self.answer(square + self.base))
                took = None
            else:
                took = square
            board = board.after(square)
            chat.moves.append(square)
        chat.unseen = board.to_move is not self.mark
        if board.outcome is not None and self.ends:
            self._ask(chat, board, took)
            chat.unseen = False
        elif not chat.unseen:
            # The opponent's last move is in no message.
            if board.outcome is None:
                self._ask(chat, board, took)
            else:
                chat.moves.pop()
                chat.unseen = bool(chat.moves)
        return chat

    def _say(self, chat: Chat, text: str) -> None:
        chat.messages.append({"role": "assistant", "content": text})

    def _ask(self, chat: Chat, board: Any, took: int | None) -> None:
        chat.boards[len(chat.messages)] = board.squares
        chat.messages.append({"role": "user", "content": self.question(board.squares, took)})
        if self.lists and board.outcome is None:
            free = [square + self.base for square in board.free]
            chat.messages[-1]["content"] += f"\n\nAvailable positions: {free}\n\nYour turn."

    def question(self, cells: Cells, took: int | None = None) -> str:
        told = (
            f"Opponent ({self.mark.other}) played at position {took + self.base}."
            if (self.lists and took is not None)
            else "Your move."
        )
        seat = f" You are {self.mark}." if self.seats else ""
        return f"{told}{seat}\n\n{self.draw(cells, self.base)}"

    def redraw(self, chat: Chat, place: int, cells: Cells) -> list[dict[str, Any]]:
        """The chat's messages, with another board in one of them."""
        messages = [dict(message) for message in chat.messages]
        was = self.draw(chat.boards[place], self.base)
        now = self.draw(cells, self.base)
        messages[place]["content"] = messages[place]["content"].replace(was, now)
        return messages


@st.composite
def games(draw: st.DrawFn) -> tuple[list[int], Mark]:
    """Squares of a legal game, over or not, and who opens it."""
    opener = draw(st.sampled_from(Mark))
    board, squares = start(opener), []
    for _ in range(draw(st.integers(1, 9))):
        if board.outcome is not None:
            break
        squares.append(draw(st.sampled_from(board.free)))
        board = board.after(squares[-1])
    return squares, opener


@st.composite
def tellings(draw: st.DrawFn) -> Telling:
    """Any way to tell one."""
    return Telling(
        draw=draw(st.sampled_from((*NUMBERED, *UNNUMBERED))),
        base=draw(st.sampled_from((0, 1))),
        answer=draw(st.sampled_from(ANSWERS)),
        mark=draw(st.sampled_from(Mark)),
        lists=draw(st.booleans()),
        seats=draw(st.booleans()),
        ends=draw(st.booleans()),
        slips=draw(st.integers(0, 2)),
    )


PLAIN = Telling()
SILENT = replace(PLAIN, lists=False, seats=False)
