"""The atlas of the fork traps: its figures, its classes, and who met and failed which."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Board, Mark, board_of, boards
from arena.errors import RulesError
from arena.solver import is_fork_trap, move_value
from arena.symmetry import SYMMETRIES, canonical, transform
from arena.traps import Status, Trap, atlas, place_of, status_of, traps_met
from tests.arena.samples import EVERY_OPEN, any_boards, lines_of_play, marks, reach
from tests.arena.test_solver import negamax


def _text(board: Board) -> str:
    return "".join(mark or "." for mark in board.squares)


@pytest.mark.parametrize("mark", Mark)
def test_the_figures(mark: Mark) -> None:
    traps = [trap for trap in atlas() if trap.mark is mark]
    opening = [trap for trap in traps if trap.opening]
    assert sum(trap.positions for trap in traps) == 431
    assert sum(trap.positions for trap in opening) == 236
    assert (len(traps), len(opening)) == (63, 32)
    assert Counter(trap.board.ply for trap in traps) == {1: 3, 2: 7, 3: 17, 4: 25, 5: 11}


def test_every_trap_position_has_its_place_and_no_other_position_has_one() -> None:
    found: Counter[str] = Counter()
    for opener in Mark:
        for board in boards(opener):
            place = place_of(board)
            assert (place is not None) == is_fork_trap(board)
            if place is None:
                continue
            trap, symmetry = place
            found[trap.key] += 1
            assert symmetry in SYMMETRIES
            assert transform(board, symmetry) is trap.board is canonical(board)
            falls = {s for s in board.free if move_value(board, s) == -1}
            assert {symmetry[s] for s in falls} == set(trap.losing)
    assert found == {trap.key: trap.positions for trap in atlas()}
    assert sum(found.values()) == 862


def test_the_losing_squares_against_the_oracle() -> None:
    for trap in atlas():
        text, me, you = _text(trap.board), trap.mark, trap.mark.other
        lost = [
            s
            for s in range(9)
            if text[s] == "." and negamax(text[:s] + me + text[s + 1 :], you, me)[0] == 1
        ]
        assert list(trap.losing) == lost
        assert 0 < len(lost) < len(trap.board.free)
        assert trap.key == f"{me} {text}"


def test_traps_of_o_are_those_of_x_mirrored() -> None:
    def mirrored(trap: Trap) -> Board:
        squares = [mark and mark.other for mark in trap.board.squares]
        return canonical(board_of(squares, trap.board.opener.other))

    assert {mirrored(trap) for trap in atlas() if trap.mark is Mark.X} == {
        trap.board for trap in atlas() if trap.mark is Mark.O
    }


def test_the_order_and_the_keys_are_those_that_storage_has() -> None:
    keys = [trap.key for trap in atlas()]
    assert len(set(keys)) == 126
    assert keys[:4] == ["X ........O", "X .......O.", "X ....O....", "X .......XO"]
    assert [trap.mark for trap in atlas()] == [Mark.X] * 63 + [Mark.O] * 63


def test_the_best_known_trap_passed_and_failed() -> None:
    """X holds two opposite corners, O the centre: O must not take a corner."""
    passed, failed = (
        traps_met([0, 4, 8, 1], Mark.X, Mark.O),
        traps_met([8, 4, 0, 2], Mark.X, Mark.O),
    )
    assert [(met.ply, met.failed) for met in passed] == [(1, False), (3, False)]
    assert [(met.ply, met.failed) for met in failed] == [(1, False), (3, True)]
    assert passed[1].trap is failed[1].trap
    assert passed[1].trap.key == "O ..X.O.X.."
    assert passed[1].trap.losing == (0, 8)
    assert failed[1].square in failed[1].trap.losing
    # No move was made there: it is not met.
    assert len(traps_met([0, 4, 8], Mark.X, Mark.O)) == 1
    assert traps_met([], Mark.X, Mark.X) == []


@given(lines_of_play(), marks)
def test_traps_of_a_game_by_their_definition(line: tuple[Mark, list[int]], mark: Mark) -> None:
    opener, moves = line
    expected = []
    for ply, square in enumerate(moves):
        board = reach(opener, moves[:ply])
        if board.to_move is mark and is_fork_trap(board):
            expected.append((canonical(board), ply, move_value(board, square) == -1))
    found = traps_met(moves, opener, mark)
    assert [(met.trap.board, met.ply, met.failed) for met in found] == expected
    for met in found:
        assert canonical(met.trap.board.after(met.square)) is canonical(
            reach(opener, moves[: met.ply + 1])
        )


@given(lines_of_play(), st.sampled_from(SYMMETRIES))
def test_turned_games_meet_the_same_traps(
    line: tuple[Mark, list[int]], symmetry: tuple[int, ...]
) -> None:
    opener, moves = line
    turned = [symmetry[square] for square in moves]
    for mark in Mark:
        one, other = traps_met(moves, opener, mark), traps_met(turned, opener, mark)
        assert [(m.trap, m.failed) for m in one] == [(m.trap, m.failed) for m in other]


def test_an_illegal_move_is_told() -> None:
    with pytest.raises(RulesError, match="not a free square"):
        traps_met([4, 4], Mark.X, Mark.X)


def test_the_status_of_a_trap() -> None:
    assert status_of(0, 0) is Status.NEVER_MET
    assert status_of(3, 0) is Status.PASSED
    assert status_of(3, 1) is Status.FAILED
    for met, failed in ((1, 2), (0, 1), (-1, -1), (1, -1)):
        with pytest.raises(ValueError, match="cannot be failed"):
            status_of(met, failed)


@given(any_boards)
def test_a_finished_board_is_no_trap(board: Board) -> None:
    if board.outcome is not None:
        assert place_of(board) is None


def test_all_open_positions_were_looked_at() -> None:
    assert len(EVERY_OPEN) == 9040
    assert sum(place_of(board) is not None for board in EVERY_OPEN) == 862
