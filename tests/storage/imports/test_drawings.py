"""Boards found in texts, in every form in which chats draw them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark
from storage.imports.drawings import drawings
from tests.storage.imports.chats import NUMBERED, UNNUMBERED

FORMS = [*NUMBERED, *UNNUMBERED]
CELLS = st.lists(st.sampled_from([None, *Mark]), min_size=9, max_size=9)


def marks(text):
    """Each board that a text draws, as nine signs."""
    return ["".join(mark or "." for mark in each.squares) for each in drawings(text)]


@given(CELLS, st.sampled_from(FORMS), st.sampled_from([0, 1]), st.sampled_from(["", "x", "a\n\nb"]))
def test_what_is_drawn_is_read(cells, draw, base, words):
    (found,) = drawings(f"{words}\n{draw(cells, base)}\n{words}")
    assert found.squares == tuple(cells)
    numbered = draw in NUMBERED and None in cells
    assert (found.base, found.wrong) == (base if numbered else None, None)


@pytest.mark.parametrize(
    ("text", "board"),
    [
        ("x|o|\r\n-+-+-\r\n | |x\r\n-+-+-\r\no| | ", "XO...XO.."),
        ("['X', ' ', 'O']\n[' ', 'X', ' ']\n['O', ' ', ' ']", "X.O.X.O.."),
        ('[["X", "", "O"],\n ["", "", ""],\n ["", "", "X"]]', "X.O.....X"),
        ("[X] [ ] [O]\n[ ] [X] [ ]\n[ ] [ ] [ ]", "X.O.X...."),
        ("❌⭕️⬜\n⬜❌⬜\n⬜⬜⬜", "XO..X...."),
        ("│ X │ 1 │ 2 │\n├───┼───┼───┤\n│ 3 │ O │ 5 │\n├───┼───┼───┤\n│ 6 │ 7 │ X │", "X...O...X"),
        ("+---+---+---+\n| X | O |   |\n|   |   |   |\n|   |   | X |\n+---+---+---+", "XO......X"),
        ("```\nX . O\n. . .\n. . X\n```", "X.O.....X"),
    ],
    ids=range(8),
)
def test_forms_of_others(text, board):
    assert marks(text) == [board]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "X O X",
        "X . .\n. . .",
        "X . . .\n. . . .\n. . . .\n. . . .",
        "X . .\n. . .\n. . .\n. . .",
        "1 2 3\n4 5 6\n7 8 0",
        "1 0 1\n0 1 0\n1 0 1",
        "a | b | c\nd | e | f\ng | h | i",
        "X . .\n\n. . .\n\n. . .",
        "7 | 8 | 9\n4 | 5 | 6\n1 | 2 | 3",
    ],
    ids=range(10),
)
def test_what_is_no_board(text):
    assert drawings(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "X | 1 | 3\n3 | 4 | 5\n6 | 7 | 8",
        "X | 2 | 3\n4 | 4 | 6\n7 | 8 | 9",
        "7 | 8 | 9\n4 | X | 6\n1 | 2 | 3",
        "X | 1 | .\n3 | 4 | 5\n6 | 7 | 8",
        "X |A2 |A3 \nB1 |C3 |B3 \nC1 |C2 |B2 ",
    ],
    ids=range(5),
)
def test_a_board_of_no_game_says_so(text):
    (found,) = drawings(text)
    assert found.wrong


def test_the_numbers_of_the_squares_are_no_second_board():
    numbers = "0 | 1 | 2\n3 | 4 | 5\n6 | 7 | 8"
    board = "X . .\n. O .\n. . ."
    assert marks(f"{numbers}\n\n{board}") == marks(f"{board}\n\n{numbers}") == ["X...O...."]
    assert marks(f"{numbers}\n\n{numbers}") == ["........."]
    assert marks(f"{board}\n\nand then\n{board.replace('O', 'X')}") == ["X...O....", "X...X...."]
