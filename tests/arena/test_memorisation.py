"""The memorisation gap: zero for whoever is flat, found in whoever knows an opponent by heart."""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep

from arena.board import Board, Mark, Outcome, start
from arena.memorisation import (
    RELATIVES,
    Gap,
    NoGap,
    Result,
    exact_gap,
    gap_between,
    memorisation_gap,
    pick,
)
from arena.opponents import Minimax, parse, salt_of, symmetric_opponents
from arena.solver import Value, optimal
from arena.statistics import newcombe, sums_of

SPECS = symmetric_opponents()
TEACHER = "minimax:value=plain,tie=s3,opening=center"


def measured(gap: Gap | NoGap) -> Gap:
    assert isinstance(gap, Gap), gap
    return gap


def results(kept: Callable[[int, str], bool], seeds: Sequence[int]) -> list[Result]:
    """One game a seed and opponent."""
    return [Result(spec, seed, 1, kept(seed, spec)) for seed in seeds for spec in SPECS]


def test_relatives_share_value_and_opening() -> None:
    assert tuple(RELATIVES) == SPECS
    for spec, relatives in RELATIVES.items():
        assert len({spec, *relatives}) == 8
        engines = [parse(each) for each in (spec, *relatives)]
        kinds = {(e.value, e.opening) for e in engines if isinstance(e, Minimax)}
        assert len(kinds) == 1


def test_even_seeds_pick_and_odd_seeds_measure() -> None:
    """On even seeds one opponent never wins; on odd seeds another: that one is not looked at."""
    found = measured(
        memorisation_gap(
            results(lambda seed, spec: spec == (SPECS[5], SPECS[9])[seed % 2], range(40))
        )
    )
    assert (found.opponent, found.own.share, found.relatives.share, found.gap) == (
        SPECS[5],
        0,
        0,
        0,
    )


def test_of_equals_the_one_whose_relatives_do_worst_on_even_seeds() -> None:
    """Two opponents are never lost to; the relatives of the second are lost to more often."""
    often = {SPECS[0]: 1.0, SPECS[8]: 1.0} | dict.fromkeys(RELATIVES[SPECS[0]], 0.5)
    found = pick({spec: often.get(spec, 0.2) for spec in SPECS}, SPECS)
    assert found == SPECS[8]
    assert pick(dict.fromkeys(SPECS, 1.0), SPECS) == SPECS[0]


def test_the_interval_is_newcombes_where_games_are_independent() -> None:
    """With as many seeds for the relatives as games, nothing is clustered."""
    own, others = sums_of([(1, 1)] * 45 + [(1, 0)] * 5), sums_of([(1, 1)] * 70 + [(1, 0)] * 280)
    found = gap_between(SPECS[0], own, others)
    assert found.gap == pytest.approx(0.7)
    assert found.interval == pytest.approx(newcombe(45, 50, 70, 350))


def test_the_relatives_games_of_a_seed_are_one_cluster() -> None:
    lost = {(1, SPECS[3]), (1, SPECS[4]), (3, SPECS[0]), (5, SPECS[1]), (5, SPECS[7])}

    def kept(seed: int, spec: str) -> bool:
        return (seed, spec) not in lost if seed % 2 else spec == SPECS[0]

    found = memorisation_gap(results(kept, range(6)))
    own, relatives = sums_of([(1, 1), (1, 0), (1, 1)]), sums_of([(7, 5), (7, 7), (7, 5)])
    assert found == gap_between(SPECS[0], own, relatives)
    assert measured(found).gap == pytest.approx(2 / 3 - 17 / 21)


def test_rows_of_one_seed_add_up_and_others_are_passed_over() -> None:
    plain = results(lambda seed, spec: (seed + len(spec)) % 3 > 0, range(20))
    twice = [each._replace(games=2, not_lost=2 * each.not_lost) for each in plain]
    other = [Result("random", 3, 1, 0), Result("minimax", 2, 1, 0), Result(SPECS[0], 40, 0, 0)]
    assert memorisation_gap(plain + plain + other) == memorisation_gap(twice[::-1])
    # Rollouts that are all alike are worth no more than one.
    once, more = measured(memorisation_gap(plain)), measured(memorisation_gap(twice))
    assert once.interval is not None
    assert more.interval is not None
    assert more.interval.low <= once.interval.low
    assert once.interval.high <= more.interval.high


def test_why_there_is_none() -> None:
    assert memorisation_gap([]) == NoGap(
        "no game on an even seed counts against minimax:tie=first and 31 others"
    )
    full = results(lambda seed, spec: spec == SPECS[2], range(6))
    missing = [each for each in full if each.seed % 2 or each.opponent not in SPECS[30:]]
    assert memorisation_gap(missing) == NoGap(
        f"no game on an even seed counts against {SPECS[30]} and 1 other"
    )
    missing = [each for each in full if each.seed % 2 == 0 or each.opponent != SPECS[7]]
    assert memorisation_gap(missing) == NoGap(f"no game on an odd seed counts against {SPECS[7]}")
    # A relative of another than the one picked is not needed on odd seeds.
    missing = [each for each in full if each.seed % 2 == 0 or each.opponent != SPECS[8]]
    assert isinstance(memorisation_gap(missing), Gap)
    assert exact_gap({}) == NoGap(
        "nothing is known of games against minimax:tie=first and 31 others"
    )


@given(st.data())
def test_missing_games_never_raise_and_bounds_hold(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 1000))
    chance, share = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
    rng = Random(seed)
    found = memorisation_gap(
        each for each in results(lambda *_: rng.random() < share, range(6)) if rng.random() < chance
    )
    if isinstance(found, Gap):
        assert found.interval is not None
        assert -1 <= found.interval.low <= found.gap <= found.interval.high <= 1


def _coverage(p: float, seeds: int, alike: float, draws: int) -> float:
    """How often zero is in the interval of a player that does equally well against all, and whose
    games of one seed are the same game with some chance."""
    rng = np.random.default_rng([seeds, int(100 * p), int(100 * alike)])
    hits = 0
    for _ in range(draws):
        own, shared = rng.random((seeds, 32)), rng.random((seeds, 1))
        kept = np.where(rng.random((seeds, 32)) < alike, shared, own) < p
        rows = zip(range(seeds), kept.tolist(), strict=True)
        gap = measured(
            memorisation_gap(
                Result(spec, seed, 1, each)
                for seed, row in rows
                for spec, each in zip(SPECS, row, strict=True)
            )
        )
        assert gap.interval is not None
        hits += gap.interval.low <= 0 <= gap.interval.high
    return hits / draws


def _newcombe_covers(n: int, m: int, p: float) -> float:
    """The chance that Newcombe's interval of two equal rates holds zero, summed."""
    total = 0.0
    for a in range(n + 1):
        low, high = confint_proportions_2indep(
            a, n, np.arange(m + 1), m, method="newcomb", compare="diff"
        )
        total += float(
            binom.pmf(a, n, p) * (binom.pmf(range(m + 1), m, p) @ ((low <= 0) & (high >= 0)))
        )
    return total


@pytest.mark.parametrize("p", [0.5, 0.9, 0.97])
def test_a_flat_player_stays_at_zero(p: float) -> None:
    """The best of 32 is picked, and zero is held as often as by two samples picked blindly."""
    draws, seeds = 500, 40
    expected = _newcombe_covers(seeds // 2, 7 * seeds // 2, p)
    assert expected > 0.94
    error = 4 * (expected * (1 - expected) / draws) ** 0.5
    assert _coverage(p, seeds, 0.0, draws) >= expected - error


@pytest.mark.parametrize("alike", [0.5, 1.0])
def test_a_flat_player_whose_games_of_a_seed_are_alike_stays_at_zero(alike: float) -> None:
    draws = 300
    assert _coverage(0.9, 40, alike, draws) >= 0.95 - 4 * (0.95 * 0.05 / draws) ** 0.5


def test_picking_and_measuring_on_the_same_seeds_would_find_a_gap_in_everyone() -> None:
    """What the split of the seeds is for."""
    rng = np.random.default_rng(7)
    draws, n, hits = 300, 40, 0
    for _ in range(draws):
        kept = rng.binomial(n, 0.8, 32)
        best = int(kept.argmax())
        family = kept[best // 8 * 8 : best // 8 * 8 + 8]
        gap = newcombe(int(kept[best]), n, int(family.sum() - kept[best]), 7 * n)
        assert gap is not None
        hits += gap.low <= 0 <= gap.high
    assert hits / draws < 0.7


def test_a_simulated_memoriser_is_found() -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        found = measured(
            memorisation_gap(
                results(
                    lambda _, spec: rng.random() < (0.99 if spec == TEACHER else 0.4), range(40)
                )
            )
        )
        assert found.opponent == TEACHER
        assert found.interval is not None
        assert found.interval.low > 0


def _book() -> dict[Board, int]:
    """One game by heart, replying to the teacher."""
    teacher, book, board = parse(TEACHER), {}, start()
    while board.outcome is None:
        if board.to_move is Mark.X:
            square = teacher.choose(board, salt_of(0))
        else:
            book[board] = square = optimal(board, Value.PLAIN)[0]
        board = board.after(square)
    assert board.outcome is Outcome.DRAW
    return book


def test_a_book_learnt_against_one_opponent_is_found_in_real_games() -> None:
    book, rng = _book(), Random(9)

    def kept(seed: int, spec: str) -> bool:
        board, engine = start(), parse(spec)
        while board.outcome is None:
            if board.to_move is Mark.X:
                square = engine.choose(board, salt_of(seed))
            else:
                square = book[board] if board in book else rng.choice(board.free)
            board = board.after(square)
        return board.outcome is not Outcome.X

    found = measured(memorisation_gap(results(kept, range(40))))
    # Its twin of the other value plays the same game, and stands first.
    assert found.opponent in (TEACHER, TEACHER.replace("value=plain,", ""))
    assert found.own.share == 1
    assert found.interval is not None
    assert found.interval.low > 0.6


def test_an_exact_gap() -> None:
    rates = {spec: 1.0 if spec == TEACHER else 0.25 for spec in SPECS}
    found = measured(exact_gap(rates))
    assert (found.opponent, found.gap, found.interval) == (TEACHER, 0.75, None)
    assert (found.own.share, found.own.interval, found.relatives.share) == (1, None, 0.25)
    flat = measured(exact_gap(dict.fromkeys(SPECS, 1.0)))
    assert (flat.opponent, flat.gap) == (SPECS[0], 0)
