"""The rules: every position, every move, and that a position is one shared object."""

import copy
import pickle
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import (
    LINES,
    SQUARES,
    Board,
    Mark,
    Outcome,
    board_of,
    boards,
    mix,
    play_out,
    start,
)
from arena.errors import RulesError
from tests.arena.samples import any_boards, lines_of_play, marks, reach


@pytest.mark.parametrize("opener", Mark)
def test_positions(opener: Mark) -> None:
    found = list(boards(opener))
    unfinished = [board for board in found if board.outcome is None]
    by_mover = Counter(board.to_move for board in unfinished)

    assert len(found) == len(set(found)) == 5478
    assert len(unfinished) == 4520
    assert by_mover == {opener: 2423, opener.other: 2097}


@pytest.mark.parametrize("opener", Mark)
def test_complete_games(opener: Mark) -> None:
    @cache
    def ends(board: Board) -> Counter[Outcome]:
        if board.outcome is not None:
            return Counter([board.outcome])
        return sum((ends(board.after(square)) for square in board.free), Counter[Outcome]())

    found = ends(start(opener))
    assert found.total() == 255_168
    assert found == {
        Outcome.win(opener): 131_184,
        Outcome.win(opener.other): 77_904,
        Outcome.DRAW: 46_080,
    }


@pytest.mark.parametrize("opener", Mark)
def test_no_position_is_built_before_those_that_follow_from_it(opener: Mark) -> None:
    seen: set[Board] = set()
    for board in boards(opener):
        assert seen.issuperset(child for child in board.children if child)
        seen.add(board)


@given(lines_of_play())
def test_rules_against_a_list_of_nine_strings(played: tuple[Mark, list[int]]) -> None:
    """Replay the moves on a plain list; the board must agree at each step."""
    opener, moves = played
    cells: list[str | None] = [None] * 9
    mover, other = str(opener), str(opener.other)
    board = start(opener)
    for ply, square in enumerate(moves):
        assert (board.ply, board.to_move, board.outcome) == (ply, mover, None)
        board = board.after(square)
        cells[square] = mover
        mover, other = other, mover

    complete = [line for line in LINES if {cells[s] for s in line} == {other}]
    full = None not in cells
    assert board.squares == tuple(cells)
    assert board.ply == len(moves)
    assert board.to_move == mover
    assert board.free == tuple(s for s in SQUARES if cells[s] is None)
    assert board.line == (complete[0] if complete else None)
    assert board.outcome == (other.lower() if complete else "draw" if full else None)
    legal = () if complete else board.free
    assert tuple(s for s in SQUARES if board.children[s] is not None) == legal


@given(any_boards, st.integers(-3, 12))
def test_after_is_children_or_a_rules_error(board: Board, square: int) -> None:
    child = board.children[square] if 0 <= square < 9 else None
    if child is not None:
        assert board.after(square) is child
        return
    with pytest.raises(RulesError) as caught:
        board.after(square)
    said = str(caught.value)
    if board.outcome is not None:
        assert said == "the game is over: no move is legal"
    else:
        assert said.startswith(f"{square} is not a free square: free are ")


@given(lines_of_play())
def test_play_out_yields_each_board(played: tuple[Mark, list[int]]) -> None:
    opener, moves = played
    led = list(play_out(moves, opener))
    assert led == [reach(opener, moves[: n + 1]) for n in range(len(moves))]


def test_play_out_stops_at_the_first_illegal_move() -> None:
    led = play_out([4, 0, 4])
    assert [next(led).ply, next(led).ply] == [1, 2]
    with pytest.raises(RulesError, match="4 is not a free square: free are 1, 2, 3, 5, 6, 7, 8"):
        next(led)


@given(any_boards)
def test_board_of_finds_the_shared_board(board: Board) -> None:
    assert board_of(board.squares, board.opener) is board
    assert board_of([mark and str(mark) for mark in board.squares], board.opener) is board  # type: ignore[misc]


@given(st.lists(st.sampled_from([None, *Mark]), max_size=11), marks)
def test_board_of_knows_what_no_game_reaches(cells: list[Mark | None], opener: Mark) -> None:
    reachable = {board.squares for board in boards(opener)}
    if tuple(cells) in reachable:
        assert board_of(cells, opener).squares == tuple(cells)
    else:
        with pytest.raises(RulesError, match=f"no game that {opener} opens reaches"):
            board_of(cells, opener)


def test_board_of_takes_nothing_but_marks() -> None:
    with pytest.raises(RulesError):
        board_of(["x", *[None] * 8])  # type: ignore[list-item]


@given(any_boards)
def test_a_copy_is_the_same_object(board: Board) -> None:
    assert copy.copy(board) is board
    assert copy.deepcopy(board) is board
    assert copy.deepcopy({"b": [board]})["b"][0] is board
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(board, protocol)) is board


def _check_in_another_process(sent: list[Board]) -> list[Board]:
    assert all(board_of(board.squares, board.opener) is board for board in sent)
    return [child for board in sent for child in board.children if child]


def test_a_board_sent_to_another_process_and_back_is_the_same_object() -> None:
    sent = [start(Mark.X), start(Mark.O).after(4), reach(Mark.X, [0, 4, 8])]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        received = pool.submit(_check_in_another_process, sent).result()
    expected = [child for board in sent for child in board.children if child]
    assert len(received) == len(expected) == 9 + 8 + 6
    assert all(got is own for got, own in zip(received, expected, strict=True))


def test_a_board_cannot_be_changed_or_made() -> None:
    board = start()
    for name in (*Board.__slots__, "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(board, name, None)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(board, name)
    with pytest.raises(TypeError):
        board.children[0] = None  # type: ignore[index]
    with pytest.raises(TypeError, match="boards are shared"):
        Board()
    assert board.ply == 0


def test_text() -> None:
    board = reach(Mark.O, [4, 0])
    assert str(board) == "X 1 2\n3 O 5\n6 7 8"
    assert repr(board) == "<Board X...O.... opened by O>"


def test_the_openers_have_boards_of_their_own() -> None:
    x, o = set(boards(Mark.X)), set(boards(Mark.O))
    assert not x & o
    mirrored = {tuple(m and m.other for m in board.squares) for board in x}
    assert mirrored == {board.squares for board in o}


def test_odd_is_odd_and_different_for_each_board() -> None:
    numbers = [board.odd for opener in Mark for board in boards(opener)]
    assert len(set(numbers)) == len(numbers) == 2 * 5478
    assert all(number % 2 == 1 and 0 < number < 1 << 64 for number in numbers)


def test_mix_is_splitmix64() -> None:
    """The first outputs of the reference generator from seed 1234567 (Vigna, splitmix64.c)."""
    golden = 0x9E3779B97F4A7C15
    assert [mix(1234567 + golden * n) for n in range(1, 6)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_marks_and_outcomes() -> None:
    assert [mark.other for mark in Mark] == [Mark.O, Mark.X]
    assert [Outcome.win(mark) for mark in Mark] == [Outcome.X, Outcome.O]
    assert list(Outcome) == ["x", "o", "draw", "void"]


def test_threads_that_ask_at_once_get_the_same_boards():
    program = (
        "import sys; sys.setswitchinterval(1e-6)\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from arena.board import Mark, start\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    for opener in Mark:\n"
        "        seen = set(pool.map(start, [opener] * 64))\n"
        "        assert len(seen) == 1, len(seen)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
