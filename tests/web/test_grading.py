"""A game's moves, graded, as the routes give them."""

from __future__ import annotations

import pytest

from arena.board import Mark
from arena.game import Game, Termination
from tests.storage.samples import DRAW, OPENER_WINS, game_of
from web.grading import grades_out


def test_every_move_and_every_board() -> None:
    found = grades_out(game_of(DRAW))
    assert [(move.ply, move.mark, move.square) for move in found.moves] == [
        (ply, Mark.O if ply % 2 else Mark.X, square) for ply, square in enumerate(DRAW)
    ]
    assert len(found.boards) == 10
    assert found.boards[0].values == [0] * 9
    assert found.boards[-1].to_move is None
    assert found.boards[-1].values == [None] * 9


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        ((0, 5), "fork trap entered: a draw became a loss"),
        ((0, 4), "fork trap passed"),
        ((4,), "keeps value"),
        ((0, 5, 8), "opponent's error let off: a win became a draw"),
        ((0, 3, 1, 8, 4), "missed win, the win stays"),
        ((4, 0, 2, 3), "missed block: a draw became a loss"),
        # An edge in answer to a corner had lost already.
        ((0, 1, 3, 2), "missed block, the loss stays"),
    ],
)
def test_the_last_move_in_words(moves: tuple[int, ...], words: str) -> None:
    found = grades_out(game_of(moves))
    assert found.moves[-1].words == words
    assert found.moves[-1].loses_value is (" became " in words)


def test_values_are_those_of_the_side_to_move() -> None:
    board = grades_out(game_of((0, 5))).boards[2]
    assert board.to_move is Mark.X
    assert board.values == [None, -1, 1, 0, 1, None, 1, 0, 0]


def test_a_game_that_is_under_way_void_or_won() -> None:
    assert grades_out(Game()).moves == []
    void = game_of((4,))
    void.end(Termination.PROVIDER_ERROR)
    assert [move.words for move in grades_out(void).moves] == ["keeps value"]
    won = grades_out(game_of(OPENER_WINS))
    assert won.boards[-1].to_move is None
    assert won.boards[-1].values == [None] * 9


def test_who_opens_makes_no_difference() -> None:
    by_x, by_o = (grades_out(game_of((0, 5, 8), opener)) for opener in Mark)
    assert [move.words for move in by_x.moves] == [move.words for move in by_o.moves]
    assert [move.mark for move in by_o.moves] == [Mark.O, Mark.X, Mark.O]
