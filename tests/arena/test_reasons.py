"""Reasons for moves, over every move of every board."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import LINES, Board, Mark, board_of, boards, start
from arena.errors import RulesError
from arena.reasons import Reason, Stated, is_true, reasons, say, stated, strongest
from arena.solver import optimal, solve, wins_at_once
from arena.symmetry import SYMMETRIES, transform

MOVES = [
    (board, square)
    for opener in Mark
    for board in boards(opener)
    if board.outcome is None
    for square in board.free
]
moves = st.sampled_from(MOVES)


def drawn(text: str, opener: Mark = Mark.X) -> Board:
    return board_of([Mark(each) if each in "XO" else None for each in text], opener)


def completed(board: Board, square: int, mark: Mark) -> bool:
    cells = [*board.squares]
    cells[square] = mark
    return any(all(cells[s] is mark for s in line) for line in LINES)


def test_winning_blocking_and_threatening_over_all_moves() -> None:
    for board, square in MOVES:
        found = reasons(board, square)
        after, mark = board.after(square), board.to_move
        assert (Reason.WIN in found) == (after.line is not None)
        assert (Reason.BLOCK in found) == completed(board, square, mark.other)
        ways = [s for s in after.free if after.line is None and completed(after, s, mark)]
        assert (Reason.FORK in found) == (len(ways) >= 2)
        assert (Reason.THREAT in found) == (len(ways) == 1)
        kinds = {Reason.CENTER, Reason.CORNER, Reason.EDGE} & set(found)
        assert len(kinds) == 1
        assert list(found) == sorted(found, key=list(Reason).index)
        assert strongest(board, square) is found[0]


def test_stopping_forks_over_all_moves() -> None:
    def forks(board: Board, square: int) -> bool:
        """Whether a move of the side to move is a fork."""
        return Reason.FORK in reasons(board, square)

    for board, square in MOVES:
        after = board.after(square)
        if after.outcome is not None:
            assert (Reason.STOP_FORK in reasons(board, square)) <= (after.line is None)
            continue
        answers = [s for s in after.free if completed(after, s, board.to_move)] or after.free
        if Reason.STOP_FORK in reasons(board, square):
            assert not any(forks(after, answer) for answer in answers)


def test_a_fork_wins_unless_the_other_side_wins_first() -> None:
    for board, square in MOVES:
        if strongest(board, square) is Reason.FORK:
            lost_first = wins_at_once(board, board.to_move.other)
            assert lost_first or solve(board).plain == 1


def test_a_win_is_optimal() -> None:
    assert all(
        square in optimal(board) for board, square in MOVES if Reason.WIN in reasons(board, square)
    )


@pytest.mark.parametrize(
    ("board", "square", "reason"),
    [
        ("XX.OO....", 2, Reason.WIN),
        ("XX..O....", 2, Reason.BLOCK),
        ("XOX.O....", 7, Reason.BLOCK),
        ("X...O...X", 1, Reason.STOP_FORK),
        ("XO.......", 4, Reason.THREAT),
        (".........", 4, Reason.CENTER),
        ("....X....", 0, Reason.CORNER),
        ("....X....", 1, Reason.EDGE),
        ("XO..X...O", 3, Reason.FORK),
    ],
)
def test_the_strongest(board: str, square: int, reason: Reason) -> None:
    assert strongest(drawn(board), square) is reason


def test_a_corner_against_two_corners_stops_no_fork() -> None:
    assert Reason.STOP_FORK not in reasons(drawn("X...O...X"), 2)


@given(moves, st.sampled_from(SYMMETRIES))
def test_symmetries_keep_reasons(move: tuple[Board, int], symmetry: tuple[int, ...]) -> None:
    board, square = move
    assert reasons(transform(board, symmetry), symmetry[square]) == reasons(board, square)


@given(moves, st.sampled_from(Reason), st.integers(0, 8), st.sampled_from([0, 1]))
def test_a_statement_is_true_if_reason_and_square_are(
    move: tuple[Board, int], reason: Reason, square: int, base: int
) -> None:
    board, moved = move
    text = say(reason, square, base)
    assert stated(f" {text}\n", base) == Stated(reason, square)
    expected = square == moved and reason in reasons(board, moved)
    assert is_true(text, board, moved, base) == expected


@given(st.text(max_size=30), moves)
def test_any_text_is_borne(text: str, move: tuple[Board, int]) -> None:
    given_reason = stated(text)
    assert is_true(text, *move) <= (given_reason is not None)


@pytest.mark.parametrize(
    "text",
    ["", "win", "win 10", "win  2", "Win 2", "win 2.", "win ٢", "win 2 block 3"],
)
def test_what_states_nothing(text: str) -> None:
    assert stated(text) is None


def test_nothing_is_true_of_an_illegal_move() -> None:
    board = drawn("X........")
    assert not is_true("corner 0", board, 0)
    assert not is_true("corner 9", board, 9)
    won = drawn("XXXOO....")
    assert not is_true("corner 6", won, 6)
    with pytest.raises(RulesError):
        reasons(board, 0)
    with pytest.raises(RulesError):
        strongest(start(), 9)
