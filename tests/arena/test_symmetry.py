"""The group of the square, and the classes of boards and games under it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import LINES, SQUARES, Board, Mark, boards, start
from arena.symmetry import (
    HALF_TURN,
    IDENTITY,
    SYMMETRIES,
    Permutation,
    canonical,
    canonical_moves,
    transform,
)
from tests.arena.samples import any_boards, lines_of_play, reach

symmetries = st.sampled_from(SYMMETRIES)


def _then(first: Permutation, second: Permutation) -> Permutation:
    return tuple(second[first[square]] for square in SQUARES)


def test_the_eight_are_a_group_that_keeps_the_lines() -> None:
    assert len(set(SYMMETRIES)) == 8
    assert {_then(a, b) for a in SYMMETRIES for b in SYMMETRIES} == set(SYMMETRIES)
    for symmetry in SYMMETRIES:
        assert {frozenset(symmetry[s] for s in line) for line in LINES} == set(
            map(frozenset, LINES)
        )


def test_their_order_is_fixed() -> None:
    """Specs name them by number."""
    assert SYMMETRIES == (
        (0, 1, 2, 3, 4, 5, 6, 7, 8),
        (2, 5, 8, 1, 4, 7, 0, 3, 6),
        (8, 7, 6, 5, 4, 3, 2, 1, 0),
        (6, 3, 0, 7, 4, 1, 8, 5, 2),
        (2, 1, 0, 5, 4, 3, 8, 7, 6),
        (8, 5, 2, 7, 4, 1, 6, 3, 0),
        (6, 7, 8, 3, 4, 5, 0, 1, 2),
        (0, 3, 6, 1, 4, 7, 2, 5, 8),
    )
    assert SYMMETRIES[IDENTITY] == tuple(SQUARES)
    assert SYMMETRIES[HALF_TURN] == tuple(reversed(SQUARES))


@pytest.mark.parametrize("opener", Mark)
def test_classes(opener: Mark) -> None:
    classes = {canonical(board) for board in boards(opener)}
    assert len(classes) == 765
    assert sum(board.outcome is None for board in classes) == 627


@given(any_boards, symmetries)
def test_transform_moves_the_marks_and_nothing_else(board: Board, symmetry: Permutation) -> None:
    image = transform(board, symmetry)
    assert all(image.squares[symmetry[s]] == board.squares[s] for s in SQUARES)
    assert (image.opener, image.ply, image.outcome) == (board.opener, board.ply, board.outcome)


@given(any_boards, symmetries, symmetries)
def test_transform_is_an_action(board: Board, a: Permutation, b: Permutation) -> None:
    assert transform(transform(board, a), b) is transform(board, _then(a, b))


@given(lines_of_play(), symmetries)
def test_a_move_and_its_image_commute(
    played: tuple[Mark, list[int]], symmetry: Permutation
) -> None:
    opener, moves = played
    image = reach(opener, [symmetry[square] for square in moves])
    assert image is transform(reach(opener, moves), symmetry)


@given(any_boards, symmetries)
def test_canonical_is_one_of_the_class_and_the_same_for_all(
    board: Board, symmetry: Permutation
) -> None:
    representative = canonical(board)
    assert representative in {transform(board, s) for s in SYMMETRIES}
    assert canonical(transform(board, symmetry)) is representative
    assert canonical(representative) is representative


@given(lines_of_play(), symmetries)
def test_canonical_moves(played: tuple[Mark, list[int]], symmetry: Permutation) -> None:
    _, moves = played
    representative = canonical_moves(moves)
    assert representative in {tuple(s[square] for square in moves) for s in SYMMETRIES}
    assert canonical_moves([symmetry[square] for square in moves]) == representative
    assert canonical_moves(representative) == representative


def test_complete_games_by_class() -> None:
    """No complete game is its own image, so each class has exactly eight: 255,168 / 8."""
    classes: set[tuple[int, ...]] = set()

    def walk(board: Board, moves: tuple[int, ...]) -> None:
        if board.outcome is not None:
            classes.add(canonical_moves(moves))
        else:
            for square in board.free:
                walk(board.after(square), (*moves, square))

    # A corner, an edge and the centre stand for all nine first moves.
    for square in (0, 1, 4):
        walk(start().after(square), (square,))
    assert len(classes) == 255_168 // 8
