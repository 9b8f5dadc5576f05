"""Grades of moves, by definition over every position, and what a game's come to."""

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analysis import Counts, Grade, Kind, counts, grade, grades, grades_of
from arena.board import Board, Mark
from arena.errors import RulesError
from arena.game import Attempt, Game, Message, Termination, Turn, Verdict
from tests.arena.samples import EVERY_OPEN, OPEN, lines_of_play, open_boards, reach
from tests.arena.test_solver import negamax

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


@cache
def completing(text: str, mark: str) -> str:
    """The squares that complete a line of a mark, on a board as text."""
    found = set()
    for line in LINES:
        on = [text[int(s)] for s in line]
        if sorted(on) == sorted([".", mark, mark]):
            found.add(line[on.index(".")])
    return "".join(sorted(found))


def expected(board: Board, square: int) -> Grade:
    """The grade by its definition, from texts and an independent solver."""
    text, me, you = "".join(m or "." for m in board.squares), board.to_move, board.to_move.other
    after = {
        s: -negamax(text[:s] + me + text[s + 1 :], you, me)[0] for s in range(9) if text[s] == "."
    }
    wins, threats = completing(text, me), completing(text, you)
    held = max(after.values())
    return Grade(
        before=held,
        after=after[square],
        missed_win=wins != "" and str(square) not in wins,
        missed_block=len(threats) == 1 and str(square) not in wins + threats,
        in_trap=held >= 0 and -1 in after.values() and not threats,
    )


def test_every_move_of_every_position() -> None:
    for board in EVERY_OPEN:
        for square in board.free:
            made = grade(board, square)
            assert made == expected(board, square)
            given_back = grade(board, square, after_error=True)
            assert given_back.let_off == made.loses_value
            assert given_back.before == made.before


@pytest.mark.parametrize(
    ("openers", "positions", "can_lose_value", "one_keeps_it", "traps"),
    [([Mark.X, Mark.O], 4520, 3191, 2406, 431), ([Mark.X], 2423, 1732, 1246, 236)],
)
@pytest.mark.parametrize("mirror", [False, True])
def test_the_figures_of_the_solved_table(
    openers: list[Mark],
    positions: int,
    can_lose_value: int,
    one_keeps_it: int,
    traps: int,
    mirror: bool,
) -> None:
    """With X to move; and with O, every mark turned round."""
    mark = Mark.O if mirror else Mark.X
    found = [
        [grade(board, square) for square in board.free]
        for opener in openers
        for board in OPEN[opener.other if mirror else opener]
        if board.to_move is mark
    ]
    assert len(found) == positions
    assert sum(any(g.loses_value for g in moves) for moves in found) == can_lose_value
    assert sum([g.loses_value for g in moves].count(False) == 1 for moves in found) == one_keeps_it
    assert sum(moves[0].in_trap for moves in found) == traps
    assert sum(any(g.fell for g in moves) for moves in found) == traps


def test_what_kinds_go_together() -> None:
    seen: Counter[tuple[Kind, ...]] = Counter()
    for board in EVERY_OPEN:
        for square in board.free:
            for after_error in (False, True):
                made = grade(board, square, after_error=after_error)
                seen[made.kinds] += 1
                assert made.kind is made.kinds[0]
    for kinds in seen:
        assert (Kind.LOSES_VALUE in kinds) != (Kind.KEEPS_VALUE in kinds)
        assert list(kinds) == sorted(kinds, key=list(Kind).index)
        if Kind.FORK_TRAP in kinds:
            assert Kind.LOSES_VALUE in kinds
            assert Kind.MISSED_BLOCK not in kinds
        if Kind.LET_OFF in kinds:
            assert Kind.LOSES_VALUE in kinds
    # A win that is missed may still be there; a block may be missed in a lost game.
    assert (Kind.MISSED_WIN, Kind.KEEPS_VALUE) in seen
    assert (Kind.MISSED_BLOCK, Kind.KEEPS_VALUE) in seen
    assert (Kind.FORK_TRAP, Kind.MISSED_WIN, Kind.LOSES_VALUE) in seen


def test_a_game_move_by_move() -> None:
    """O falls into the trap of opposite corners; X lets it off; O then does not block."""
    made = grades([0, 4, 8, 2, 1, 7])
    assert [each.mark for each in made] == [Mark.X, Mark.O] * 3
    assert [each.ply for each in made] == list(range(6))
    assert [each.grade.kinds for each in made] == [
        (Kind.KEEPS_VALUE,),
        (Kind.KEEPS_VALUE,),
        (Kind.KEEPS_VALUE,),
        (Kind.FORK_TRAP, Kind.LOSES_VALUE),
        (Kind.MISSED_BLOCK, Kind.LET_OFF, Kind.LOSES_VALUE),
        (Kind.MISSED_WIN, Kind.LET_OFF, Kind.LOSES_VALUE),
    ]
    assert [(each.grade.before, each.grade.after) for each in made][3:] == [
        (0, -1),
        (1, -1),
        (1, 0),
    ]
    assert counts([0, 4, 8, 2, 1, 7]) == {
        Mark.X: Counts(value_losing=1, missed_blocks=1, let_offs=1),
        Mark.O: Counts(value_losing=2, missed_wins=1, traps_met=2, traps_failed=1, let_offs=1),
    }


def test_two_threats_cannot_be_blocked() -> None:
    """X threatens on two squares: whatever O does, it has not missed a block."""
    board = reach(Mark.X, [0, 4, 8, 2, 6])
    assert all(not grade(board, square).missed_block for square in board.free)
    assert all(grade(board, square).before == -1 for square in board.free)


@given(lines_of_play())
def test_counts_are_the_grades_added_up(line: tuple[Mark, list[int]]) -> None:
    opener, moves = line
    found = counts(moves, opener)
    made = grades(moves, opener)
    for mark in Mark:
        own = [each.grade for each in made if each.mark is mark]
        assert found[mark] == Counts(
            value_losing=sum(g.loses_value for g in own),
            missed_wins=sum(g.missed_win for g in own),
            missed_blocks=sum(g.missed_block for g in own),
            traps_met=sum(g.in_trap for g in own),
            traps_failed=sum(g.fell for g in own),
            let_offs=sum(g.let_off for g in own),
        )
    for before, each in pairwise(made):
        assert each.grade.let_off == (before.grade.loses_value and each.grade.loses_value)
        # What one side holds after its move the other then holds the other way round.
        assert each.grade.before == -before.grade.after


def _invalid() -> Attempt:
    prompt = (Message("user", "your move"),)
    return Attempt(prompt, "9", Verdict.OUT_OF_RANGE, 9, contains=False, exact=False)


def test_only_moves_that_were_made_are_graded() -> None:
    """Illegal replies are none, whether a move follows or the game is forfeited."""
    game = Game(turns=[Turn(Mark.X, 0), Turn(Mark.O, 1, (_invalid(), _invalid()))])
    assert [each.square for each in grades_of(game)] == [0, 1]
    game.end(Termination.FORFEIT_INVALID, Mark.X, attempts=[_invalid()])
    assert [each.square for each in grades_of(game, Mark.X)] == [0]
    # An edge in reply to a corner loses, two plies before it shows.
    assert grades_of(game, Mark.O)[0].grade.kinds == (Kind.FORK_TRAP, Kind.LOSES_VALUE)
    void = Game(turns=[Turn(Mark.X, 0), Turn(Mark.O, 1)])
    void.end(Termination.PROVIDER_ERROR)
    assert grades_of(void) == grades_of(game)
    assert grades_of(Game()) == []
    assert counts([]) == {Mark.X: Counts(), Mark.O: Counts()}


@pytest.mark.parametrize("moves", [[4, 4], [9], [-1], [0, 3, 1, 4, 2, 5], [0, 3, 1, 4, 2, 5, 6]])
def test_an_illegal_move_is_told(moves: list[int]) -> None:
    with pytest.raises(RulesError):
        grades(moves)
    with pytest.raises(RulesError, match="is illegal"):
        counts(moves)


@given(open_boards, st.integers(-3, 12))
def test_an_illegal_move_has_no_grade(board: Board, square: int) -> None:
    if square not in board.free:
        with pytest.raises(RulesError):
            grade(board, square)
