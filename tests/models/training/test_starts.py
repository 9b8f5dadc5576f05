"""How training's games begin."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark
from arena.opponents import parse
from models.training.settings import Mixed
from models.training.starts import of_groups, starts

MIX = Mixed(
    opponents={"minimax": 3, "random": 1},
    epsilon=[0.2, 0.7],
    opener_o=0.25,
    forced=0.5,
    forced_moves=[1, 4],
)


def test_starts_are_stratified() -> None:
    made = starts(MIX, 400, random.Random(1))
    assert sum(each.opponent == "random" for each in made) == 100
    assert sum(each.mark is each.opener for each in made) == 200
    assert sum(each.opener is Mark.O for each in made) == 100
    assert sum(bool(each.forced) for each in made) == 200
    epsilons = Counter(str(parse(each.opponent)) for each in made if each.opponent != "random")
    # 0.2 to 0.7 by 0.05, half as many at the ends.
    assert len(epsilons) == 11
    assert len({each.seed for each in made}) == 400
    assert {each.forced[0] for each in made if each.forced} == set(range(9))
    assert {len(each.forced) for each in made if each.forced} == {1, 2, 3, 4}


@given(st.integers(0, 1000), st.integers(1, 50))
def test_every_start_is_an_open_board(seed: int, count: int) -> None:
    mix = MIX.model_copy(update={"forced_moves": [1, 8], "forced": 1.0})
    made = starts(mix, count, random.Random(seed))
    assert len(made) == count
    for each in made:
        game = each.game()
        assert game.outcome is None
        assert game.moves == each.forced
        assert game.seed == each.seed


def test_the_same_seed_gives_the_same_starts() -> None:
    one, same, other = (starts(MIX, 30, random.Random(seed)) for seed in (1, 1, 2))
    assert one == same != other


def test_a_group_shares_its_start() -> None:
    made = starts(MIX, 3, random.Random(0))
    assert of_groups(made, 2) == [made[0], made[0], made[1], made[1], made[2], made[2]]
