"""What replies name, and what questions say beside their boards."""

import pytest

from arena.board import Mark
from storage.imports.named import (
    listed_free,
    names_the_game,
    replies_of,
    told_mark,
    told_move,
)


@pytest.mark.parametrize(
    ("text", "loose", "last", "strict"),
    [
        ("<move>4</move>", {4}, 4, 4),
        ("<think>say <move>1</move></think> <move> 4 </move>", {1, 4}, 4, 4),
        ("<think>never closed <move>4</move>", {4}, 4, None),
        ("no thinking.</think><move>4</move>", {4}, 4, 4),
        ("<move>4</move><move>7", {4, 7}, 4, 4),
        ("<move>7", {7}, None, None),
        ("<move>12</move>", {12}, 12, 12),
        ("<move>-1</move>", {-1}, -1, -1),
        ("<answer>4</answer> [3]", set(), None, None),
        ("", set(), None, None),
    ],
)
def test_a_reply_in_tags(text, loose, last, strict):
    _, found = replies_of(["<move>0</move>", text])
    assert (found.loose, found.last, found.strict) == (loose, last, strict)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[4]", {4}),
        ("Board [0, 1], so [ 4 ]", {4}),
        (r"\boxed{4}", {4}),
        ("4", {4}),
        (" **4**. ", {4}),
        ("<think>1 or 2</think>\n4", {4}),
        ("<answer>4</answer>", {4}),
        ("I take 4", None),
        ("A1", None),
        ("(1, 2)", None),
        ("44", None),
    ],
)
def test_a_reply_in_another_way(text, names):
    (found,) = replies_of([text])
    assert found.loose == names


def test_the_way_is_that_of_most_replies():
    bracketed = replies_of(["[1]", "[2]", "<move>3</move>"])
    assert [each.strict for each in bracketed] == [1, 2, None]
    assert [each.strict for each in replies_of(["<go>1</go>", "<go>2</go> <sure>9</sure>"])] == [
        1,
        2,
    ]


def test_a_tool_may_name_anything():
    called, said = replies_of([None, "<move>1</move>"])
    assert called.loose is None
    assert said.loose == frozenset({1})


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("Available positions: [0, 1, 3]", {0, 1, 3}),
        ("x\nAvailable Moves: '[0]', '[1]'\ny", {0, 1}),
        ("Free squares: 7", {7}),
        ("Valid moves: 1, 2", {1, 2}),
        ("Valid moves: 1, 2, 3, 4, 5, 6, 7, 8, 9", None),
        ("Available positions: [1, 2, 3, 4, 5, 6, 7, 8, 9]", set(range(1, 10))),
        ("Available: A1, B2", None),
        ("Free squares:", None),
        ("The free squares: 1", None),
    ],
)
def test_the_free_squares_that_are_listed(text, free):
    assert listed_free(text) == free


@pytest.mark.parametrize(
    ("text", "square"),
    [
        ("Opponent (O) played at position 7.", 7),
        ("Your opponent took square 3. The board:", 3),
        ("Your opponent took A1.", None),
        ("The opponent is strong. Name a square 3.", None),
        ("Opponent took square 1. Before, the opponent took square 2.", None),
    ],
)
def test_the_move_that_is_told(text, square):
    assert told_move(text) == square


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("You are X and your opponent is O", Mark.X),
        ("You are playing a game of Tic-Tac-Toe as X.\nYour opponent will play as O.", Mark.X),
        ("As Player 0, you will be 'O', while your opponent is 'X'.", Mark.O),
        ("Your mark is O.", Mark.O),
        ("You play against X as O.", Mark.O),
        ("You are X. You are O.", None),
        ("Three X in a row win.", None),
        ("You will always play as **X**.", Mark.X),
        ("You are playing first, as O", Mark.O),
        ("If you are X, you open. You are O.", Mark.O),
        ("You move first against a machine that plays as O", None),
        ("You are playing someone whose mark is O.", None),
        ("You are playing against a bot playing as O", None),
        ("You play second and the machine plays as X", None),
        ("Your rival is O, and you face somebody who is X", None),
        ("You are X's opponent", None),
    ],
)
def test_the_mark_that_is_told(text, mark):
    assert told_mark([text]) == mark


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Let's play Tic-Tac-Toe", True),
        ("tictactoe", True),
        ("a game of tic tac toe", True),
        ("You are in Reverse Tic Tac Toe.", None),
        ("ultimate tic-tac-toe", None),
        ("chess", False),
    ],
)
def test_the_game_that_is_named(text, named):
    assert names_the_game(["hello", text]) is named
