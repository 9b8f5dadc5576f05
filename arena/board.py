"""The board: every reachable position, built once and shared.

A `Board` is immutable and interned: two equal positions are the same object, a move is
`board.children[square]`, and legality is that this is not None. The board knows who opened the
game, because the same marks on the same squares can mean either side to move.

Squares are numbered 0 to 8, row by row from the top left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from threading import Lock

from arena.errors import RulesError

SQUARES = range(9)
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
"""The eight ways to win, each as three squares in ascending order."""

_LINE_MASKS = tuple((sum(1 << square for square in line), line) for line in LINES)
_FULL = 0b111_111_111
_MASK64 = (1 << 64) - 1


class Mark(StrEnum):
    """What a player puts on the board."""

    X = "X"
    O = "O"  # noqa: E741 - the game's own name for it

    @property
    def other(self) -> Mark:
        """The opponent's mark."""
        return Mark.O if self is Mark.X else Mark.X


class Outcome(StrEnum):
    """How a game ended. `void` games are never part of a rate."""

    X = "x"
    O = "o"  # noqa: E741 - the game's own name for it
    DRAW = "draw"
    VOID = "void"

    @classmethod
    def win(cls, mark: Mark) -> Outcome:
        """The outcome in which `mark` won."""
        return cls.X if mark is Mark.X else cls.O


class Board:
    """One position of a game that `opener` began. Made by `start` and `after`, never directly."""

    __slots__ = (
        "children",
        "free",
        "line",
        "odd",
        "opener",
        "outcome",
        "ply",
        "squares",
        "to_move",
    )

    opener: Mark
    """The mark that moved first."""
    squares: tuple[Mark | None, ...]
    """The nine squares; None where free."""
    ply: int
    """Moves made so far, 0 to 9."""
    to_move: Mark
    """Whose turn it is; on a finished board, whose it would have been."""
    free: tuple[int, ...]
    """Free squares in ascending order; on a finished board too."""
    outcome: Outcome | None
    """None while the game is open."""
    line: tuple[int, int, int] | None
    """The first line in `LINES` that the winner completed."""
    children: tuple[Board | None, ...]
    """For each square the board after a move there, None where that is illegal."""
    odd: int
    """An odd 64-bit number, different for each (opener, squares): the board's part in a draw."""

    def __init__(self) -> None:
        raise TypeError("boards are shared: use arena.board.start(opener) and .after(square)")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a board is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a board is immutable: cannot delete {name}")

    def after(self, square: int) -> Board:
        """The board after a move of `to_move` on `square`.

        Raises:
            RulesError: the square is taken, is no square, or the game is over.
        """
        child = self.children[square] if 0 <= square < 9 else None
        if child is None:
            if self.outcome is not None:
                raise RulesError("the game is over: no move is legal")
            free = ", ".join(map(str, self.free))
            raise RulesError(f"{square} is not a free square: free are {free}")
        return child

    def __str__(self) -> str:
        """Three rows, free squares as their numbers."""
        cells = [mark or str(square) for square, mark in enumerate(self.squares)]
        return "\n".join(" ".join(cells[row : row + 3]) for row in (0, 3, 6))

    def __repr__(self) -> str:
        squares = "".join(mark or "." for mark in self.squares)
        return f"<Board {squares} opened by {self.opener}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by value, so that a copy is the shared object again."""
        return board_of, (self.squares, self.opener)

    def __copy__(self) -> Board:
        return self

    def __deepcopy__(self, memo: object) -> Board:
        return self


def mix(value: int) -> int:
    """Scramble a 64-bit integer: the finaliser of SplitMix64.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), with
    the constants of Stafford's variant 13.
    """
    value &= _MASK64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & _MASK64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & _MASK64
    return value ^ (value >> 31)


@cache
def start(opener: Mark = Mark.X) -> Board:
    """The empty board of a game that `opener` begins."""
    return _positions(opener)[0, 0]


def boards(opener: Mark = Mark.X) -> Iterable[Board]:
    """All 5,478 positions that a game begun by `opener` can reach, children before parents."""
    return _positions(opener).values()


def board_of(squares: Iterable[Mark | None], opener: Mark = Mark.X) -> Board:
    """The board with these nine squares.

    Raises:
        RulesError: no game begun by `opener` reaches it.
    """
    cells = tuple(squares)
    masks = tuple(sum(1 << s for s, m in enumerate(cells) if m == mark) for mark in Mark)
    found = _positions(opener).get((masks[0], masks[1]))
    # Compared, because a mask sees neither the number of cells nor what is no mark.
    if found is None or found.squares != cells:
        raise RulesError(f"no game that {opener} opens reaches {cells!r}")
    return found


def play_out(squares: Iterable[int], opener: Mark = Mark.X) -> Iterator[Board]:
    """The boards that a list of moves leads through, without the empty one.

    Raises:
        RulesError: at the first illegal move.
    """
    board = start(opener)
    for square in squares:
        board = board.after(square)
        yield board


_built: dict[Mark, dict[tuple[int, int], Board]] = {}
_building = Lock()


def _positions(opener: Mark) -> dict[tuple[int, int], Board]:
    """Every position by (squares of X, squares of O) as bit masks."""
    known = _built.get(opener)
    if known is not None:
        return known
    # Two threads that built at once would make boards that are equal and not the same.
    with _building:
        if opener not in _built:
            found: dict[tuple[int, int], Board] = {}
            _build(0, 0, opener, found)
            _built[opener] = found
        return _built[opener]


def _build(x: int, o: int, opener: Mark, found: dict[tuple[int, int], Board]) -> Board:
    """Build the position and, before it, all that follow from it."""
    known = found.get((x, o))
    if known is not None:
        return known
    taken = x | o
    ply = taken.bit_count()
    to_move = opener if ply % 2 == 0 else opener.other
    line = _line_of(x if to_move is Mark.O else o)
    outcome = Outcome.win(to_move.other) if line else Outcome.DRAW if taken == _FULL else None
    children: list[Board | None] = [None] * 9
    if outcome is None:
        for square in SQUARES:
            bit = 1 << square
            if not taken & bit:
                move = (x | bit, o) if to_move is Mark.X else (x, o | bit)
                children[square] = _build(*move, opener, found)
    board = object.__new__(Board)
    values = {
        "opener": opener,
        "squares": tuple(Mark.X if x >> s & 1 else Mark.O if o >> s & 1 else None for s in SQUARES),
        "ply": ply,
        "to_move": to_move,
        "free": tuple(s for s in SQUARES if not taken >> s & 1),
        "outcome": outcome,
        "line": line,
        "children": tuple(children),
        "odd": mix((x << 10 | o << 1 | (opener is Mark.O)) + 0x9E3779B97F4A7C15) | 1,
    }
    for name, value in values.items():
        object.__setattr__(board, name, value)
    found[x, o] = board
    return board


def _line_of(mask: int) -> tuple[int, int, int] | None:
    """The first line of which every square is in `mask`."""
    return next((line for bits, line in _LINE_MASKS if mask & bits == bits), None)
