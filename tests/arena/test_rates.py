"""Rates as a table shows them, and the lowest of several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from arena.rates import Measured, Rate, even_mean, rate, worst
from arena.statistics import Interval, Sums, clustered, newcombe, sums_of, wilson
from tests.arena.test_statistics_coverage import agrees

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
entries = st.builds(
    lambda clusters, exact, unknown: Measured(sums_of(clusters), exact, unknown),
    st.lists(st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))),
    st.booleans(),
    st.integers(0, 5),
)


def games(kept: int, n: int) -> Sums:
    """One game a seed."""
    return sums_of([(1, 1)] * kept + [(1, 0)] * (n - kept))


def test_a_sample_an_exact_entry_and_nothing() -> None:
    assert rate(Measured(games(97, 100))) == Rate(0.97, wilson(97, 100))
    assert rate(Measured(games(1, 1), exact=True)) == Rate(1.0, None)
    assert rate(Measured(Sums())) is None
    assert rate(Measured(Sums(), unknown=3)) is None


def test_games_that_are_unknown_are_bounds() -> None:
    found = rate(Measured(games(80, 90), unknown=10))
    low, high = wilson(80, 100), wilson(90, 100)
    assert found is not None
    assert low is not None
    assert high is not None
    assert (found.share, found.bounds, found.least) == (80 / 90, Interval(0.8, 0.9), 0.8)
    assert found.interval == pytest.approx((low.low, high.high))
    exact = rate(Measured(games(1, 1), exact=True, unknown=1))
    assert exact == Rate(1.0, None, Interval(0.5, 1.0))
    assert exact.range == Interval(0.5, 1.0)


@given(entries, st.floats(0.01, 0.9999))
def test_a_rate_lies_within_what_is_said_of_it(entry: Measured, confidence: float) -> None:
    found = rate(entry, confidence)
    if found is None:
        assert not entry.not_lost.n
        return
    assert 0 <= found.range.low <= found.least + 1e-12 <= found.share + 2e-12
    assert found.share <= found.range.high + 1e-12 <= 1 + 1e-12
    if found.bounds:
        assert found.range.low <= found.bounds.low + 1e-12
        assert found.bounds.high <= found.range.high + 1e-12
    else:
        assert found.interval == (None if entry.exact else clustered(entry.not_lost, confidence))


def test_the_even_mean() -> None:
    opening, replying = rate(Measured(games(100, 100))), rate(Measured(games(5, 10)))
    found = even_mean(opening, replying)
    assert found is not None
    assert found.share == 0.75
    assert found.interval is not None
    # The mean of p and q is half of p - (1 - q), and half the difference of 100/100 and 5/10.
    apart = newcombe(100, 100, 5, 10)
    assert apart is not None
    assert found.interval == pytest.approx((0.5 + apart.low / 2, 0.5 + apart.high / 2))
    assert even_mean(None, replying) is even_mean(opening, None) is None


def test_the_even_mean_of_what_is_exact_or_unknown() -> None:
    exact, sample = Rate(1.0, None), rate(Measured(games(80, 90), unknown=10))
    assert even_mean(exact, Rate(0.0, None)) == Rate(0.5, None)
    found = even_mean(exact, sample)
    assert found is not None
    assert sample is not None
    assert sample.interval is not None
    assert found.bounds == pytest.approx((0.9, 0.95))
    # The other seat is known: half of this one's interval is left.
    half = Interval((1 + sample.interval.low) / 2, (1 + sample.interval.high) / 2)
    assert found.interval == pytest.approx(half)
    unknown = even_mean(Rate(1.0, None, Interval(0.5, 1.0)), exact)
    assert unknown == Rate(1.0, None, Interval(0.75, 1.0))


@given(entries, entries)
def test_the_even_mean_lies_within_what_is_said_of_it(one: Measured, other: Measured) -> None:
    found = even_mean(rate(one), rate(other))
    assert found == even_mean(rate(other), rate(one))
    if found is not None:
        assert -1e-12 <= found.range.low <= found.least + 1e-12
        assert found.share <= found.range.high + 1e-12 <= 1 + 2e-12


def test_the_worst_of_equal_samples_is_its_own_interval() -> None:
    found = worst(
        {
            "a": Measured(games(97, 100)),
            "b": Measured(games(85, 100)),
            "c": Measured(games(99, 100)),
        }
    )
    assert found is not None
    assert (found.opponents, found.share, found.of, found.missing) == (("b",), 0.85, 3, ())
    expected = proportion_confint(85, 100, alpha=0.05 / 3, method="wilson")
    assert found.interval == pytest.approx(expected)


def test_the_worst_with_ties_missing_entries_and_exact_ones() -> None:
    found = worst(
        {"a": Measured(games(9, 10)), "b": Measured(Sums()), "c": Measured(games(18, 20))}
    )
    assert found is not None
    assert (found.opponents, found.of, found.missing) == (("a", "c"), 3, ("b",))
    # With fewer games "a" reaches further down, and "c" less far up.
    low = proportion_confint(9, 10, alpha=0.05 / 3, method="wilson")[0]
    high = proportion_confint(18, 20, alpha=0.05 / 3, method="wilson")[1]
    assert found.interval == pytest.approx((low, high))
    assert worst({}) is worst({"a": Measured(Sums())}) is None
    exact = worst({"a": Measured(games(0, 1), exact=True), "b": Measured(games(9, 10))})
    assert exact is not None
    assert (exact.opponents, exact.share, exact.interval) == (("a",), 0, None)
    alone = worst({"a": Measured(games(9, 10))})
    assert alone is not None
    assert alone.interval == wilson(9, 10)


def test_an_unknown_game_may_be_the_worst() -> None:
    found = worst({"a": Measured(games(9, 10)), "b": Measured(games(10, 10), unknown=5)})
    assert found is not None
    assert (found.opponents, found.share) == (("b",), 10 / 15)


@given(st.dictionaries(st.text(max_size=2), entries, max_size=5))
def test_the_worst_is_none_of_the_others(table: dict[str, Measured]) -> None:
    found = worst(table)
    rates = {name: known for name, entry in table.items() if (known := rate(entry))}
    if found is None:
        assert not rates
        return
    assert set(found.missing) | set(rates) == set(table)
    assert found.share == min(known.least for known in rates.values())
    assert set(found.opponents) <= set(rates)
    if found.interval:
        assert 0 <= found.interval.low <= found.share <= found.interval.high + 1e-12


def test_the_interval_holds_the_lowest_true_rate() -> None:
    """Summed for independent opponents of one true rate, whose worst is chosen, and drawn."""
    n, k, p, draws = 50, 6, 0.9, 5000
    kept = np.arange(n + 1)
    low, high = proportion_confint(kept, n, alpha=0.05 / k, method="wilson")
    above = binom.sf(kept - 1, n, p) ** k - binom.sf(kept, n, p) ** k
    expected = float(above @ ((low <= p) & (p <= high)))
    drawn = np.random.default_rng(6).binomial(n, p, (draws, k))
    hits = naive = 0
    for row in drawn:
        found = worst({str(i): Measured(games(int(each), n)) for i, each in enumerate(row)})
        assert found is not None
        assert found.interval is not None
        hits += found.interval.low <= p <= found.interval.high
        alone = wilson(int(row.min()), n)
        naive += alone is not None and alone.low <= p <= alone.high
    assert agrees(hits, draws, expected)
    # Wilson's intervals at this size hold a little less than they say; uncorrected, far less.
    assert expected > 0.94
    assert naive / draws < 0.9
