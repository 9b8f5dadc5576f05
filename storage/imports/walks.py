"""One supposition about a chat of tic-tac-toe: whether all that the chat shows can be, if it holds.

The supposition is who opened, which mark the model plays, and from which number squares are
counted. `storage.imports.boards` tries all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from arena.board import Board, Mark, board_of, start
from arena.errors import RulesError
from storage.imports.drawings import Drawing
from storage.imports.named import Reply

NO_WAY = "the board cannot follow from the one before"


@dataclass(frozen=True)
class Asked:
    """A board that the model was shown."""

    message: int
    """Which one, from 1."""
    drawing: Drawing
    free: frozenset[int] | None = None
    """The squares that are listed beside it."""
    took: int | None = None
    """The opponent's move, as it is told."""


Event = Asked | Reply


class ImpossibleError(Exception):
    """What the chat shows cannot be, if things are as supposed."""

    def __init__(self, message: int, why: str) -> None:
        super().__init__(why)
        self.message = message


class TooLateError(Exception):
    """Moves came before the chat, in an order that it does not tell."""


@dataclass
class Walk:
    """The game, if one opened, the model plays a mark and squares are counted from a base."""

    opener: Mark
    mark: Mark
    base: int
    moves: list[int] = field(default_factory=list)
    out_of_turn: int = 0
    _seen: bool = False
    """Whether a board was."""
    _pending: list[Reply] = field(default_factory=list)
    """Replies of which no board has shown yet what became of them."""
    _answered: bool = False
    """Whether a board came after them."""
    _refused: bool = False
    """Whether a reply that names a legal move was none to the environment."""
    _thoughts_count: bool = False
    """Whether a move was taken out of the thinking."""
    _other_counts: bool = False
    """Whether another number than the answer was."""

    def __post_init__(self) -> None:
        self._board: Board = start(self.opener)

    @property
    def shown(self) -> tuple[Mark, Mark, tuple[int, ...]]:
        """The game that the boards show."""
        return self.opener, self.mark, tuple(self.moves)

    def through(self, events: Iterable[Event]) -> None:
        """Take all that happened.

        Raises:
            ImpossibleError: it cannot have.
            TooLateError: it begins too late to tell.
        """
        for event in events:
            if isinstance(event, Reply):
                self._reply(event)
            else:
                self._show(event)

    def last_move(self) -> int | None:
        """The move of the last reply, if it is one."""
        if self._answered or not self._is_asked or not self._pending:
            return None
        *others, reply = self._pending
        if self._refused or any(self._legal(other.strict) is not None for other in others):
            return None
        if self._other_counts and len(reply.loose or ()) > 1:
            return None
        if reply.strict is None and self._thoughts_count:
            return self._legal(reply.last)
        return self._legal(reply.strict)

    @property
    def _is_asked(self) -> bool:
        return self._seen and self._board.outcome is None and self._board.to_move is self.mark

    def _legal(self, number: int | None) -> int | None:
        square = None if number is None else number - self.base
        return square if square in self._board.free else None

    def _reply(self, reply: Reply) -> None:
        if self._answered:
            self._drop()
        if self._is_asked:
            self._pending.append(reply)
        elif self._seen and self._board.outcome is None:
            self.out_of_turn += 1

    def _drop(self) -> None:
        """Nothing came of what was said since the last move."""
        self._refused |= any(self._legal(each.strict) is not None for each in self._pending)
        self._pending.clear()
        self._answered = False

    def _show(self, asked: Asked) -> None:
        drawing, number = asked.drawing, asked.message
        if drawing.wrong is not None:
            raise ImpossibleError(number, f"the board cannot be read: {drawing.wrong}")
        if drawing.base not in (None, self.base):
            raise ImpossibleError(number, NO_WAY)
        try:
            ply = board_of(drawing.squares, self.opener).ply
        except RulesError:
            why = NO_WAY if self._seen else "no game reaches this board"
            raise ImpossibleError(number, why) from None
        if ply > 2 and not self._seen:
            raise TooLateError
        pairs = list(zip(self._board.squares, drawing.squares, strict=True))
        new = {now: square for square, (was, now) in enumerate(pairs) if was is not now}
        before = len(self.moves)
        if len(new) != ply - before or any(was for was, now in pairs if was is not now):
            raise ImpossibleError(number, NO_WAY)
        while new:
            self._move(number, new)
        self._answered = True
        self._seen = True
        self._compare(asked, self.moves[before:])

    def _move(self, number: int, new: dict[Mark | None, int]) -> None:
        """Make the next of the moves that a board shows."""
        mark = self._board.to_move
        square = new.pop(mark, None)
        child = None if square is None else self._board.children[square]
        if square is None or child is None:
            raise ImpossibleError(number, NO_WAY)
        if mark is self.mark and self._seen:
            self._believe(number, square)
        self._board = child
        self.moves.append(square)

    def _believe(self, number: int, square: int) -> None:
        """A move of the model's takes a reply that may have named it."""
        if not self._pending:
            raise ImpossibleError(number, NO_WAY)
        said = square + self.base
        able = [each for each in self._pending if each.loose is None or said in each.loose]
        if not able:
            raise ImpossibleError(number, "the board shows a move that no reply before it names")
        reply = able[-1]
        if reply.loose is not None:
            self._thoughts_count |= reply.strict is None
            self._other_counts |= reply.strict not in (None, said)
        self._pending.clear()

    def _compare(self, asked: Asked, made: Sequence[int]) -> None:
        """Hold the board against what is said beside it."""
        board = self._board
        free = {square + self.base for square in board.free}
        if asked.free not in (None, free) and board.outcome is None:
            raise ImpossibleError(asked.message, "it lists other squares as free than it draws")
        theirs = bool(made) and board.to_move is self.mark
        if asked.took is not None and theirs and asked.took != made[-1] + self.base:
            raise ImpossibleError(asked.message, "the opponent's move is told otherwise than drawn")
