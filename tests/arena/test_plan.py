"""A plan has each of its cells exactly once, and keeps them when it grows."""

from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark
from arena.errors import RulesError, SpecError
from arena.opponents import symmetric_opponents
from arena.plan import Cell, Numbers, Plan

plans = st.builds(
    Plan,
    st.lists(st.sampled_from(symmetric_opponents()), min_size=1, max_size=4, unique=True).map(
        tuple
    ),
    games=st.integers(1, 5),
    seed=st.integers(0, 1 << 62),
    rollouts=st.integers(1, 3),
    mark=st.none() | st.sampled_from(Mark),
)


def parts(plan: Plan, cell: Cell) -> tuple[int, bool, int, int]:
    return plan.opponents.index(cell.opponent), cell.opening, cell.seed, cell.rollout


@given(plans)
def test_each_cell_is_there_once(plan: Plan) -> None:
    cells = list(plan)
    assert len(cells) == len(plan) == plan.games * plan.per_seed
    planned = product(range(len(plan.opponents)), (True, False), plan.seeds, range(plan.rollouts))
    assert {parts(plan, cell) for cell in cells} == set(planned)
    assert len(set(cells)) == len(cells)
    assert [plan.number(*parts(plan, cell)) for cell in cells] == list(range(len(plan)))


@given(plans, st.integers(1, 5))
def test_a_plan_that_grows_keeps_its_cells_and_their_numbers(plan: Plan, more: int) -> None:
    larger = Plan(plan.opponents, plan.games + more, plan.seed, plan.rollouts, plan.mark)
    assert list(islice(larger, len(plan))) == list(plan)


@given(plans)
def test_seeds_are_outermost_and_each_covers_all(plan: Plan) -> None:
    seeds = [cell.seed for cell in plan]
    assert seeds == sorted(seeds)
    for opponent, opening in product(plan.opponents, (True, False)):
        entry = [c for c in plan if c.opponent == opponent and c.opening is opening]
        assert len(entry) == plan.per_entry
        assert [c.seed for c in entry] == [s for s in plan.seeds for _ in range(plan.rollouts)]


def test_marks() -> None:
    assert [(c.mark, c.opener) for c in Plan(("random",), 1)] == [("X", "X"), ("O", "X")]
    always_o = Plan(("random",), 1, mark=Mark.O)
    assert [(c.mark, c.opener) for c in always_o] == [("O", "O"), ("O", "X")]
    assert [c.opening for c in always_o] == [True, False]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"opponents": ()}, "one opponent"),
        ({"opponents": ("random", "random")}, "each of them once"),
        ({"opponents": ("minimax:tie=s0",)}, "canonical form"),
        ({"games": 0}, "at least one game"),
        ({"rollouts": 0}, "one rollout"),
        ({"seed": -1}, "not -1"),
        ({"seed": 1 << 63}, "2\\^62"),
        ({"games": 5_000_001}, "10,000,002 games are planned"),
    ],
)
def test_what_is_no_plan(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(RulesError, match=reason):
        Plan(**{"opponents": ("random",), "games": 1, **changes})  # type: ignore[arg-type]


def test_an_opponent_that_is_none() -> None:
    with pytest.raises(SpecError):
        Plan(("nobody",), 1)


def test_no_cell_has_a_number_that_is_not_planned() -> None:
    for number in (-1, 2):
        with pytest.raises(IndexError):
            Plan(("random",), 1).cell(number)


@given(st.sets(st.integers(0, 40)))
def test_a_set_of_numbers(members: set[int]) -> None:
    numbers = Numbers(41)
    for number in [*members, *members]:
        numbers.add(number)
    assert len(numbers) == len(members)
    assert {number for number in range(41) if number in numbers} == members
