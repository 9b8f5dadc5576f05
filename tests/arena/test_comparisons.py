"""Two players on the same cells, and how many games it takes to tell them apart."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, multinomial
from statsmodels.stats.contingency_tables import mcnemar as oracle
from statsmodels.stats.proportion import (
    power_proportions_2indep,
    proportion_confint,
    samplesize_proportions_2indep_onetail,
)

from arena.comparisons import Comparison, Pairs, compare, games_needed, mcnemar, power_of
from tests.arena.test_statistics_coverage import DRAWS, agrees

ONE_EACH = (Pairs(both=1), Pairs(first=1), Pairs(second=1), Pairs(neither=1))
tables = st.tuples(*(st.integers(0, 60) for _ in range(4))).map(lambda counts: Pairs(*counts))
small = st.builds(Pairs, *(st.integers(0, 3) for _ in range(4)))
confidences = st.floats(0.01, 0.9999)
rates = st.floats(0, 1)


def one_a_seed(table: Pairs) -> list[Pairs]:
    """A table as one pair a seed."""
    return [one for one, count in zip(ONE_EACH, table, strict=True) for _ in range(count)]


def known(comparison: Comparison | None) -> Comparison:
    assert comparison is not None
    return comparison


def method_10(table: Pairs, confidence: float = 0.95) -> tuple[float, float]:
    """The interval once more, from the counts, over statsmodels' Wilson intervals."""
    e, f, g, h = table
    n = sum(table)
    (l1, u1), (l2, u2) = (
        proportion_confint(k, n, alpha=1 - confidence, method="wilson") for k in (e + f, e + g)
    )
    p1, p2 = (e + f) / n, (e + g) / n
    marginal = (e + f) * (g + h) * (e + g) * (f + h)
    cross = e * h - f * g
    reduced = max(cross - n / 2, 0) if cross > 0 else cross
    phi = reduced / marginal**0.5 if marginal else 0
    delta = ((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2) ** 0.5
    epsilon = ((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2) ** 0.5
    return max(-1, p1 - p2 - delta), min(1, p1 - p2 + epsilon)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_against_two_implementations(first: int, second: int) -> None:
    found = mcnemar(first, second)
    assert found == pytest.approx(oracle([[0, first], [second, 0]], exact=True).pvalue, rel=1e-9)
    if first + second:
        assert found == pytest.approx(binomtest(first, first + second).pvalue, rel=1e-9)
    assert found == mcnemar(second, first)


def test_mcnemar_of_many_pairs() -> None:
    assert mcnemar(500_900, 499_100) == pytest.approx(
        binomtest(500_900, 1_000_000).pvalue, rel=1e-6
    )
    assert mcnemar(0, 0) == mcnemar(10**6, 10**6) == 1
    assert mcnemar(0, 5000) == 0
    with pytest.raises(ValueError, match="no counts"):
        mcnemar(-1, 2)


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3])
def test_the_test_errs_as_often_as_it_should(p: float) -> None:
    """Both differ from each other in a pair with chance p, each way: summed and drawn."""
    n = 60
    split = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    fewer, differ = split[:, :2].min(axis=1), split[:, :2].sum(axis=1)
    rejects = 2 * binom.cdf(fewer, differ, 0.5) <= 0.05
    expected = float(multinomial.pmf(split, n, [p, p, 1 - 2 * p]) @ rejects)
    drawn = np.random.default_rng(1).multinomial(n, [p, p, 1 - 2 * p], DRAWS)
    test = cache(mcnemar)
    found = sum(test(int(a), int(b)) <= 0.05 for a, b, _ in drawn)
    assert agrees(found, DRAWS, expected)
    assert expected <= 0.05


def test_the_published_figures_of_the_paired_interval() -> None:
    """Complete response before and after consolidation therapy: Fagerland, Lydersen and Laake,
    "Statistical analysis of contingency tables" (2017), chapter 8."""
    found = known(compare(one_a_seed(Pairs(59, 6, 16, 80))))
    assert round(found.difference, 4) == -0.0621
    assert [round(end, 4) for end in found.interval] == [-0.1186, -0.0046]
    assert found.seeds == found.pairs.n == 161
    assert found.p_value == pytest.approx(oracle([[59, 6], [16, 80]]).pvalue)


@given(tables, confidences)
def test_the_paired_interval_against_its_formula(table: Pairs, confidence: float) -> None:
    if not table.n:
        assert compare(one_a_seed(table), confidence) is None
        return
    found = known(compare(one_a_seed(table), confidence))
    # Where all pairs are alike, one a seed, they are worth as many as there are.
    assert found.interval == pytest.approx(method_10(table, confidence), abs=1e-9)
    assert -1 <= found.interval.low <= found.difference + 1e-12
    assert found.difference - 1e-12 <= found.interval.high <= 1
    assert found.p_value == pytest.approx(mcnemar(table.first, table.second))
    turned = known(
        compare(one_a_seed(Pairs(table.both, table.second, table.first, table.neither)), confidence)
    )
    assert turned.interval == pytest.approx((-found.interval.high, -found.interval.low), abs=1e-9)


@pytest.mark.parametrize(
    "chances",
    [(0.8, 0.1, 0.05, 0.05), (0.9, 0.05, 0.05, 0.0), (0.3, 0.1, 0.2, 0.4)],
)
def test_the_paired_interval_covers_as_its_formula_says(chances: tuple[float, ...]) -> None:
    n = 24
    truth = chances[1] - chances[2]

    def holds(interval: tuple[float, float]) -> bool:
        return interval[0] <= truth <= interval[1]

    expected = sum(
        multinomial.pmf(table, n, chances)
        for table in product(range(n + 1), repeat=4)
        if sum(table) == n and holds(method_10(Pairs(*table)))
    )
    cached = {}
    hits = 0
    for row in np.random.default_rng(2).multinomial(n, chances, DRAWS):
        table = Pairs(*map(int, row))
        if table not in cached:
            cached[table] = known(compare(one_a_seed(table))).interval
        hits += holds(cached[table])
    assert agrees(hits, DRAWS, expected)
    assert expected > 0.93


@given(st.lists(small, min_size=1, max_size=9))
def test_swapped_seeds_are_counted_exactly(seeds: list[Pairs]) -> None:
    """The p-value by trying every way to swap."""
    signed = [table.first - table.second for table in seeds if table.n]
    found = compare(seeds)
    if not signed:
        assert found is None
        return
    sums = [
        sum(s * d for s, d in zip(signs, signed, strict=True))
        for signs in product((1, -1), repeat=len(signed))
    ]
    expected = sum(abs(each) >= abs(sum(signed)) for each in sums) / len(sums)
    assert known(found).p_value == pytest.approx(expected, abs=1e-12)


@given(tables, st.integers(1, 6))
def test_pairs_that_are_all_alike_count_once_a_seed(table: Pairs, copies: int) -> None:
    if table.n:
        once = known(compare(one_a_seed(table)))
        many = [Pairs(*(count * copies for count in each)) for each in one_a_seed(table)]
        found = known(compare(many))
        assert found.interval == pytest.approx(once.interval, abs=1e-9)
        assert found.p_value == pytest.approx(once.p_value, abs=1e-12)
        assert found.seeds == once.seeds
        assert found.difference == pytest.approx(once.difference)


@given(st.lists(small, min_size=2, max_size=30))
def test_pairs_of_a_seed_are_worth_what_their_spread_says(seeds: list[Pairs]) -> None:
    """The interval over as many pairs as the variance between seeds makes of them."""
    found = compare(seeds)
    counts = np.array([table for table in seeds if table.n])
    if found is None or len(counts) < 2:
        return
    n, signed = counts.sum(axis=1), counts[:, 1] - counts[:, 2]
    values = [
        *np.repeat((1, -1, 0), (counts[:, 1].sum(), counts[:, 2].sum(), counts[:, ::3].sum()))
    ]
    mean = signed.sum() / n.sum()
    between = len(counts) * np.var(signed - mean * n, ddof=1)
    worth = float(len(counts))
    if np.var(values):
        worth = n.sum() ** 2 * np.var(values) / between if between > 1e-9 else np.inf
    worth = min(n.sum(), max(len(counts), worth))
    table = Pairs(*(counts.sum(axis=0) * worth / n.sum()))
    assert found.interval == pytest.approx(method_10(table), abs=1e-9)


def test_a_strong_difference_over_few_and_over_many_seeds() -> None:
    assert known(compare([Pairs(first=4)] * 5)).p_value == pytest.approx(2 * 0.5**5)
    many = known(compare([Pairs(both=5, first=3)] * 2000 + [Pairs(second=2)] * 100))
    assert many.p_value == 1e-12
    assert many.interval.low > 0


def test_swapped_seeds_err_as_often_as_they_should() -> None:
    """Pairs of a seed are alike: counted as independent, the test would see what is not there."""
    rng = np.random.default_rng(3)
    by_seed = by_pair = 0
    draws, seeds, rollouts = 2000, 40, 4
    for _ in range(draws):
        kept = rng.random((seeds, 2)) < 0.8
        signs = kept[:, 0].astype(int) - kept[:, 1]
        tables = [
            Pairs(first=rollouts) if s > 0 else Pairs(second=rollouts) if s < 0 else Pairs(both=4)
            for s in signs
        ]
        found = known(compare(tables))
        by_seed += found.p_value <= 0.05
        by_pair += mcnemar(found.pairs.first, found.pairs.second) <= 0.05
    assert by_seed / draws <= 0.05
    assert by_pair / draws > 0.2


@pytest.mark.parametrize(("p", "q", "n"), [(0.85, 0.97, 89), (0.94, 0.97, 749), (0.97, 0.99, 769)])
def test_the_figures_of_sample_sizes(p: float, q: float, n: int) -> None:
    assert games_needed(p, q) == games_needed(q, p) == n


@given(rates, rates, st.floats(0.5, 0.999), st.floats(0.5, 0.999))
def test_sample_sizes_against_statsmodels(
    p: float, q: float, confidence: float, power: float
) -> None:
    found = games_needed(p, q, confidence=confidence, power=power)
    if abs(p - q) < 1e-6:
        assert found is None or found > 1
        return
    expected = samplesize_proportions_2indep_onetail(p - q, q, power, alpha=1 - confidence)
    assert found is not None
    assert found - 1 <= expected * (1 + 1e-9)
    assert expected <= found * (1 + 1e-9) or found == 1


@given(rates, rates, st.integers(1, 10**5), st.floats(0.5, 0.999))
def test_power_against_statsmodels(p: float, q: float, games: int, confidence: float) -> None:
    found = power_of(p, q, games, confidence=confidence)
    assert 0 <= found <= 1 + 1e-12
    if min(p, q) > 1e-6 and max(p, q) < 1 - 1e-6:
        expected = power_proportions_2indep(
            p - q, q, games, alpha=1 - confidence, return_results=False
        )
        assert found == pytest.approx(expected, abs=1e-9)
    assert power_of(p, q, games + 1, confidence=confidence) >= found - 1e-9


@given(rates, rates, st.floats(0.5, 0.99))
def test_so_many_games_have_the_power_asked_for(p: float, q: float, power: float) -> None:
    needed = games_needed(p, q, power=power)
    if needed is not None:
        assert power_of(p, q, needed) >= power - 1e-9


def test_the_power_is_found_by_drawing() -> None:
    """85 % against 97 % with 89 games each, by the test that the formula approximates."""
    rng = np.random.default_rng(5)
    a, b = rng.binomial(89, 0.85, DRAWS), rng.binomial(89, 0.97, DRAWS)
    pooled = (a + b) / 178
    seen = np.abs(a - b) / 89 > 1.959964 * np.sqrt(2 * pooled * (1 - pooled) / 89)
    assert seen.mean() == pytest.approx(power_of(0.85, 0.97, 89), abs=0.05)
    assert seen.mean() > 0.8


def test_rates_that_cannot_be_told_apart_and_those_that_always_can() -> None:
    assert games_needed(0.9, 0.9) is None
    assert games_needed(0.9, 0.9 + 1e-12) is None
    assert games_needed(0, 1) == 2
    assert power_of(0.5, 0.5, 10) == pytest.approx(0.05)
    assert (power_of(0, 1, 1), power_of(1, 1, 1)) == (1, 0)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_what_is_no_rate(rate: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        games_needed(rate, 0.5)
    with pytest.raises(ValueError, match="from 0 to 1"):
        power_of(0.5, rate, 10)


@pytest.mark.parametrize("chance", [0, 1, 95, float("nan")])
def test_what_is_no_chance(chance: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        games_needed(0.4, 0.5, confidence=chance)
    with pytest.raises(ValueError, match="between 0 and 1"):
        games_needed(0.4, 0.5, power=chance)
    with pytest.raises(ValueError, match="between 0 and 1"):
        power_of(0.4, 0.5, 10, confidence=chance)
    with pytest.raises(ValueError, match="between 0 and 1"):
        compare([Pairs(1, 1, 1, 1)], chance)
    with pytest.raises(ValueError, match="at least one game"):
        power_of(0.4, 0.5, 0)
