"""Mistakes over many games: tallies add up, and lines are the same up to symmetry."""

from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analysis import Kind, grades
from arena.board import Mark, Outcome
from arena.errors import RulesError
from arena.mistakes import Tally, decisive_ply, line_key
from arena.symmetry import SYMMETRIES
from tests.arena.samples import lines_of_play, marks, reach

games = st.lists(st.tuples(lines_of_play(), marks), max_size=4)


def test_a_tally_of_one_game() -> None:
    found = Tally.of([0, 4, 8, 2, 1, 7], Mark.X, Mark.O)
    assert found.games == 1
    assert found.by_ply() == (0, 1, 0, 1, 0, 1, 0, 0, 0)
    assert found.by_ply(Kind.FORK_TRAP) == (0, 0, 0, 1, 0, 0, 0, 0, 0)
    assert found.by_ply(Kind.LOSES_VALUE) == (0, 0, 0, 1, 0, 1, 0, 0, 0)
    assert (found.count(), found.count(Kind.KEEPS_VALUE), found.count(Kind.MISSED_WIN)) == (3, 1, 1)
    assert (found.count(opening=True), found.count(Kind.LET_OFF, opening=False)) == (0, 1)
    assert Tally() + found == found + Tally() == found


@given(games)
def test_tallies_add_up(played: list[tuple[tuple[Mark, list[int]], Mark]]) -> None:
    tallies = [Tally.of(moves, opener, mark) for (opener, moves), mark in played]
    total = reduce(add, tallies, Tally())
    made = [
        (opener is mark, each)
        for (opener, moves), mark in played
        for each in grades(moves, opener)
        if each.mark is mark
    ]
    assert total.games == len(played)
    assert total.count() == len(made)
    assert total.count(Kind.LOSES_VALUE) + total.count(Kind.KEEPS_VALUE) == total.count()
    for kind in Kind:
        own = [(opening, each.ply) for opening, each in made if kind in each.grade.kinds]
        assert total.by_ply(kind) == tuple(sum(p == ply for _, p in own) for ply in range(9))
        for seat in (True, False):
            assert total.count(kind, opening=seat) == sum(opening is seat for opening, _ in own)


@given(lines_of_play(), marks)
def test_every_loss_on_the_board_was_decided_by_one_move(
    line: tuple[Mark, list[int]], mark: Mark
) -> None:
    opener, moves = line
    found = decisive_ply(moves, opener, mark)
    if found is not None:
        made = grades(moves, opener)
        assert made[found].mark is mark
        assert made[found].grade.before >= 0 > made[found].grade.after
    if reach(opener, moves).outcome is Outcome.win(mark.other):
        assert found is not None
        # From there on it was lost.
        own = [each.grade for each in grades(moves, opener)[found + 1 :] if each.mark is mark]
        assert all(each.before == each.after == -1 for each in own)


def test_the_move_that_decided() -> None:
    assert decisive_ply([0, 4, 8, 2, 6, 3, 7], Mark.X, Mark.O) == 3
    assert decisive_ply([0, 4, 8, 2, 6, 3, 7], Mark.X, Mark.X) is None
    assert decisive_ply([], Mark.X, Mark.X) is None
    with pytest.raises(RulesError):
        decisive_ply([3, 3], Mark.X, Mark.X)


@given(lines_of_play(), st.sampled_from(SYMMETRIES))
def test_a_line_has_one_name_up_to_symmetry(
    line: tuple[Mark, list[int]], symmetry: tuple[int, ...]
) -> None:
    opener, moves = line
    key = line_key(moves)
    assert line_key(symmetry[square] for square in moves) == key
    assert key in {"".join(str(p[square]) for square in moves) for p in SYMMETRIES}
    # The name is itself such a line, of the same end.
    assert line_key(map(int, key)) == key
    assert reach(opener, [int(digit) for digit in key]).outcome is reach(opener, moves).outcome


def test_lines_that_are_not_the_same_have_two_names() -> None:
    assert line_key([8, 4]) == line_key([2, 4]) == "04"
    assert len({line_key([square]) for square in range(9)}) == 3
    assert line_key([]) == ""
