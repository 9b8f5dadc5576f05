"""Boards as chats draw them: three rows of three squares, found in any text.

A square holds a mark, or is free: blank, a sign such as `.` or `_`, its number from 0 or 1, or its
name such as `A1`. Squares stand between bars, between spaces or side by side; between two rows may
stand a rule. That is how the arena's own prompt formats draw, and all older environments of which
result rows were at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from arena.board import SQUARES, Mark

_LONGEST = 60
"""Signs of a line: a longer one is no row."""
_ALIKE = str.maketrans("│┃║─━═┼╋╬├┤┌┐└┘┬┴❌✗×⭕○⬜⬛", "|||---+++++++++++XXXOO..", "\ufe0f")
_MARKS = {"X": Mark.X, "x": Mark.X, "O": Mark.O, "o": Mark.O}
_FREE = frozenset("._-·*?")
_RULE = re.compile(r"[-+=|:_\s]{3,}")
_NAME = re.compile(r"[A-Ca-c][1-3]")
_QUOTES = "[]()`'\""
_NOTHING = re.compile(r"""(['"]) \1|\[ \]""")

_Row = tuple[str, str, str]


class Drawing(NamedTuple):
    """A board in a text."""

    squares: tuple[Mark | None, ...]
    base: int | None
    """The number of the first square, where free ones show theirs."""
    wrong: str | None = None
    """What cannot be, where it is no board of any game: a number on another square, say."""

    @property
    def is_marked(self) -> bool:
        """Whether a mark stands on it."""
        return any(self.squares)


def drawings(text: str) -> list[Drawing]:
    """The boards that a text draws, in order. Time is linear in its length.

    Where it draws several, one without a mark that numbers all squares explains the numbers, and
    is left out.
    """
    lines = [line.translate(_ALIKE) for line in text.split("\n")]
    found = sorted(at for cut in (_barred, _spaced, _tight) for at in _blocks(lines, cut))
    drawn = [each for _, rows in found if (each := _read(rows)) is not None]
    told = [each for each in drawn if each.is_marked or each.base is None]
    return told or drawn[-1:]


def _blocks(
    lines: Sequence[str], cut: Callable[[str], _Row | None]
) -> Iterator[tuple[int, list[_Row]]]:
    """Where three rows stand one below the other, and no fourth one."""
    rows: list[_Row] = []
    ruled = False
    for number, line in enumerate([*lines, ""]):
        row = cut(line) if len(line) <= _LONGEST else None
        if row is not None:
            rows.append(row)
            ruled = False
        elif rows and not ruled and _RULE.fullmatch(line[:_LONGEST]) and line.strip():
            ruled = True
        else:
            if len(rows) == 3:
                yield number, rows
            rows, ruled = [], False


def _barred(line: str) -> _Row | None:
    """`X | 1 | 2`, with bars at both ends or without."""
    cells = line.split("|")
    if len(cells) == 5 and not cells[0].strip() and not cells[-1].strip():
        cells = cells[1:-1]
    return _row(cells)


def _spaced(line: str) -> _Row | None:
    """`X . .`, `[X] [ ] [ ]`, and rows of a list as Python prints it."""
    return _row(_NOTHING.sub("_", line).replace(",", " ").split())


def _tight(line: str) -> _Row | None:
    """`X..`, side by side."""
    return _row(list(line.strip()))


def _row(cells: Sequence[str]) -> _Row | None:
    if len(cells) != 3:
        return None
    first, second, third = (cell.strip().strip(_QUOTES).strip() for cell in cells)
    row = (first, second, third)
    return row if all(_is_cell(cell) for cell in row) else None


def _is_cell(cell: str) -> bool:
    if len(cell) == 1:
        return cell in _MARKS or cell in _FREE or (cell.isascii() and cell.isdigit())
    return not cell or bool(_NAME.fullmatch(cell))


def _read(rows: Sequence[_Row]) -> Drawing | None:
    """The board of three rows; None where they are numbers, and no board."""
    cells = [cell for row in rows for cell in row]
    squares = tuple(_MARKS.get(cell) for cell in cells)
    numbers = {square: int(cells[square]) for square in SQUARES if cells[square].isdigit()}
    bases = {number - square for square, number in numbers.items()}
    named = [square for square in SQUARES if _NAME.fullmatch(cells[square])]
    fits = (
        bases <= {0, 1}
        and len(bases) <= 1
        and all(_is_name_of(cells[square], square) for square in named)
        and (not numbers or len(numbers) + sum(map(bool, squares)) == len(cells))
    )
    if fits:
        return Drawing(squares, bases.pop() if bases else None)
    if not any(squares):
        return None
    return Drawing(squares, None, "it numbers its squares in no order")


def _is_name_of(name: str, square: int) -> bool:
    """Whether a name is the square's, rows or columns being lettered."""
    row, column = divmod(square, 3)
    letter, digit = "ABC".index(name[0].upper()), int(name[1]) - 1
    return (letter, digit) in ((row, column), (column, row))
