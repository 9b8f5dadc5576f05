"""Perfect play against an independent solver, and the figures of the solved table."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Board, Mark, Outcome, boards, start
from arena.errors import RulesError
from arena.solver import (
    Value,
    is_fork_trap,
    loses_value,
    move_value,
    optimal,
    solve,
    wins_at_once,
)
from tests.arena.samples import OPEN, any_boards, open_boards, reach


def _won(s: str, by: str) -> bool:
    lines = (s[0:3], s[3:6], s[6:9], s[0::3], s[1::3], s[2::3], s[0::4], s[2:7:2])
    return by * 3 in lines


@cache
def negamax(s: str, me: str, you: str) -> tuple[int, int]:
    """(result for `me`, who is to move, plies until the end) where each side wants the best
    result, then the quicker win or the slower loss: written on strings, knowing no board."""
    if _won(s, you):
        return -1, 0
    if "." not in s:
        return 0, 0
    found = []
    for i in range(9):
        if s[i] == ".":
            result, plies = negamax(s[:i] + me + s[i + 1 :], you, me)
            found.append((-result, plies + 1))
    return max(found, key=lambda f: (f[0], -f[0] * f[1]))


def _text(board: Board) -> str:
    return "".join(mark or "." for mark in board.squares)


def _oracle(board: Board) -> tuple[int, int]:
    return negamax(_text(board), board.to_move, board.to_move.other)


def _oracle_depth(board: Board) -> int:
    result, plies = _oracle(board)
    return result * (10 - plies)


@pytest.mark.parametrize("opener", Mark)
def test_every_position_against_the_oracle(opener: Mark) -> None:
    for board in boards(opener):
        solution = solve(board)
        assert (solution.plain, solution.depth) == (_oracle(board)[0], _oracle_depth(board))
        if board.outcome is not None:
            assert (solution.best_plain, solution.best_depth) == ((), ())
            continue
        after = {square: _oracle(board.after(square)) for square in board.free}
        # The best move by (result, speed), as the oracle sees it from the other side.
        plain = min(result for result, _ in after.values())
        ranks = {s: (-r, r * plies) for s, (r, plies) in after.items()}
        assert solution.best_plain == tuple(s for s in after if after[s][0] == plain)
        assert solution.best_depth == tuple(s for s in after if ranks[s] == max(ranks.values()))


@given(any_boards)
def test_optimal(board: Board) -> None:
    assert optimal(board) == optimal(board, Value.DEPTH) == solve(board).best_depth
    assert optimal(board, Value.PLAIN) == solve(board).best_plain
    assert set(optimal(board, Value.DEPTH)) <= set(optimal(board, Value.PLAIN))


def test_the_game_is_a_draw() -> None:
    for opener in Mark:
        assert solve(start(opener)).plain == solve(start(opener)).depth == 0
        assert optimal(start(opener)) == tuple(range(9))


@given(open_boards, st.integers(-2, 10))
def test_move_value_and_loses_value(board: Board, square: int) -> None:
    if square in board.free:
        value = move_value(board, square)
        assert value == -_oracle(board.after(square))[0]
        assert loses_value(board, square) == (value < _oracle(board)[0])
    else:
        with pytest.raises(RulesError):
            move_value(board, square)
        with pytest.raises(RulesError):
            loses_value(board, square)


@given(any_boards, st.sampled_from(Mark))
def test_wins_at_once(board: Board, mark: Mark) -> None:
    text = _text(board)
    filled = (text[:s] + mark + text[s + 1 :] for s in board.free)
    if board.line is None:
        assert wins_at_once(board, mark) == any(_won(s, mark) for s in filled)


def test_plain_and_depth_differ_in_852_positions_with_o_to_move() -> None:
    o_moves = [b for opener in Mark for b in OPEN[opener] if b.to_move is Mark.O]
    assert len(o_moves) == 4520
    assert sum(optimal(b, Value.PLAIN) != optimal(b, Value.DEPTH) for b in o_moves) == 852


@pytest.mark.parametrize(
    ("openers", "positions", "can_lose_value", "one_move_keeps_it", "fork_traps"),
    [
        ([Mark.X, Mark.O], 4520, 3191, 2406, 431),
        ([Mark.X], 2423, 1732, 1246, 236),
    ],
)
def test_what_x_can_do_wrong(
    openers: list[Mark],
    positions: int,
    can_lose_value: int,
    one_move_keeps_it: int,
    fork_traps: int,
) -> None:
    x_moves = [b for opener in openers for b in OPEN[opener] if b.to_move is Mark.X]
    assert len(x_moves) == positions
    assert sum(any(loses_value(b, s) for s in b.free) for b in x_moves) == can_lose_value
    assert sum(len(optimal(b, Value.PLAIN)) == 1 for b in x_moves) == one_move_keeps_it
    assert sum(map(is_fork_trap, x_moves)) == fork_traps


@given(any_boards)
def test_fork_traps_by_their_definition(board: Board) -> None:
    if board.outcome is not None:
        assert not is_fork_trap(board)
        return
    text, other = _text(board), board.to_move.other
    threatened = any(_won(text[:s] + other + text[s + 1 :], other) for s in board.free)
    falls = any(_oracle(board.after(s))[0] == 1 for s in board.free)
    assert is_fork_trap(board) == (_oracle(board)[0] >= 0 and falls and not threatened)


def test_a_fork_trap_and_what_is_none() -> None:
    # X in opposite corners, O in the centre: a corner loses, though X threatens nothing yet.
    trap = reach(Mark.X, [0, 4, 8])
    assert is_fork_trap(trap)
    assert optimal(trap, Value.PLAIN) == (1, 3, 5, 7)
    # Here X threatens the top row: whoever does not block is blind, not trapped.
    assert not is_fork_trap(reach(Mark.X, [0, 4, 1]))
    assert reach(Mark.X, [0, 3, 1, 4, 2]).outcome is Outcome.X
