"""Intervals: the published figures, an independent implementation, and what must always hold."""

import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from arena.statistics import (
    Interval,
    Sums,
    clustered,
    difference,
    merged,
    newcombe,
    sums_of,
    wilson,
    wilson_of,
)

confidences = st.floats(0.01, 0.9999)
samples = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("successes", "low", "high"),
    [(97, 0.9155, 0.9897), (85, 0.7672, 0.9069), (100, 0.9630, 1), (0, 0, 0.0370)],
)
def test_wilson_figures(successes: int, low: float, high: float) -> None:
    found = wilson(successes, 100)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_newcombe_figure() -> None:
    found = newcombe(97, 100, 85, 100)
    assert found is not None
    assert (round(100 * found.low, 1), round(100 * found.high, 1)) == (4.1, 20.5)


def test_the_ends_are_met_exactly() -> None:
    for n in range(1, 500):
        nothing, everything = wilson(0, n), wilson(n, n)
        assert nothing is not None
        assert everything is not None
        assert (nothing.low, everything.high) == (0, 1)


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0, 0) is None
    assert newcombe(0, 0, 3, 4) is None
    assert newcombe(3, 4, 0, 0) is None


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (1, 0), (0, -1)])
def test_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="are not possible"):
        wilson(successes, n)
    with pytest.raises(ValueError, match="are not possible"):
        newcombe(1, 2, successes, n)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, float("nan")])
def test_impossible_confidences(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(1, 2, confidence)
    with pytest.raises(ValueError, match="between 0 and 1"):
        newcombe(1, 2, 1, 2, confidence)


@given(samples, confidences)
def test_wilson_against_statsmodels(sample: tuple[int, int], confidence: float) -> None:
    found = wilson(*sample, confidence)
    expected = proportion_confint(*sample, alpha=1 - confidence, method="wilson")
    assert found == pytest.approx(expected, abs=1e-9)


@given(samples, samples, confidences)
def test_newcombe_against_statsmodels(
    a: tuple[int, int], b: tuple[int, int], confidence: float
) -> None:
    found = newcombe(*a, *b, confidence)
    expected = confint_proportions_2indep(
        *a, *b, method="newcomb", compare="diff", alpha=1 - confidence
    )
    assert found == pytest.approx(expected, abs=1e-9)


@given(samples, confidences)
def test_wilson_holds_the_share(sample: tuple[int, int], confidence: float) -> None:
    successes, n = sample
    found = wilson(successes, n, confidence)
    assert found is not None
    assert 0 <= found.low <= successes / n <= found.high <= 1
    mirrored = wilson(n - successes, n, confidence)
    assert mirrored == pytest.approx((1 - found.high, 1 - found.low), abs=1e-12)


@given(samples, confidences, confidences)
def test_wilson_is_monotone(sample: tuple[int, int], one: float, other: float) -> None:
    """More successes raise both bounds; more confidence widens; the same share of more narrows."""
    successes, n = sample
    found = _known(wilson(successes, n, one))
    if successes < n:
        more = _known(wilson(successes + 1, n, one))
        assert more.low > found.low
        assert more.high > found.high
    wide = _known(wilson(successes, n, max(one, other)))
    narrow = _known(wilson(successes, n, min(one, other)))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high
    tenfold = _known(wilson(10 * successes, 10 * n, one))
    assert tenfold.high - tenfold.low < found.high - found.low


@given(samples, samples, confidences)
def test_newcombe_holds_the_difference_and_turns_its_sign(
    a: tuple[int, int], b: tuple[int, int], confidence: float
) -> None:
    found = _known(newcombe(*a, *b, confidence))
    difference = a[0] / a[1] - b[0] / b[1]
    assert -1 - 1e-12 <= found.low <= difference <= found.high <= 1 + 1e-12
    turned = _known(newcombe(*b, *a, confidence))
    assert turned == pytest.approx((-found.high, -found.low), abs=1e-12)


@given(samples, confidences)
def test_a_sample_does_not_differ_from_itself(sample: tuple[int, int], confidence: float) -> None:
    found = _known(newcombe(*sample, *sample, confidence))
    assert found.low <= 0 <= found.high
    assert found.low == -found.high


def _known(interval: Interval | None) -> Interval:
    assert interval is not None
    return interval


def sums(groups: Sequence[Sequence[float]]) -> Sums:
    """What a database would add up over clusters of values."""
    values = [value for group in groups for value in group]
    return Sums(
        clusters=len(groups),
        n=len(values),
        total=sum(values),
        squares=sum(value**2 for value in values),
        sizes_squared=sum(len(group) ** 2 for group in groups),
        totals_squared=sum(sum(group) ** 2 for group in groups),
        products=sum(len(group) * sum(group) for group in groups),
        means=sum(sum(group) ** 2 / len(group) for group in groups),
    )


balanced = st.tuples(st.integers(2, 5), st.integers(2, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.floats(-2, 2), min_size=shape[0], max_size=shape[0]),
        min_size=shape[1],
        max_size=shape[1],
    )
)
trials = st.lists(st.lists(st.sampled_from((0, 1)), min_size=1, max_size=5), min_size=1)


@given(balanced)
def test_spread_within_and_between_clusters(groups: list[list[float]]) -> None:
    """In clusters of one size: what they have in common is what their means vary too much by."""
    found = sums(groups)
    values = [value for group in groups for value in group]
    within = statistics.mean(statistics.variance(group) for group in groups)
    means = statistics.variance([statistics.mean(group) for group in groups])
    between = max(0.0, means - within / len(groups[0]))
    assert found.mean == pytest.approx(statistics.mean(values), abs=1e-9)
    # Squares, because a root makes much of what rounding leaves of nothing.
    assert [found.deviation**2, found.within**2, found.between**2] == pytest.approx(  # type: ignore[operator]
        [statistics.variance(values), within, between], abs=1e-9
    )


def test_spread_that_cannot_be_told() -> None:
    assert (Sums().mean, Sums().deviation, Sums().within, Sums().between) == (None,) * 4
    alone = sums([[1], [0], [1]])
    assert (alone.within, alone.between) == (None, None)
    assert alone.deviation == pytest.approx(statistics.stdev([1, 0, 1]))
    assert sums([[1, 0]]).between is None
    assert sums([[1, 0]]).within == pytest.approx(statistics.stdev([1, 0]))


@given(st.lists(st.sampled_from((0, 1)), min_size=1), confidences)
def test_one_trial_a_cluster_is_wilson(values: list[int], confidence: float) -> None:
    found = clustered(sums([[value] for value in values]), confidence)
    assert found == pytest.approx(wilson(sum(values), len(values), confidence))


@given(st.lists(st.sampled_from((0, 1)), min_size=1), st.integers(1, 5))
def test_trials_that_are_all_alike_count_once_a_cluster(values: list[int], size: int) -> None:
    found = clustered(sums([[value] * size for value in values]))
    assert found == pytest.approx(wilson(sum(values), len(values)))


@given(trials, confidences)
def test_clusters_are_worth_no_more_than_their_trials(
    groups: list[list[int]], confidence: float
) -> None:
    found = clustered(sums(groups), confidence)
    values = [value for group in groups for value in group]
    narrowest = wilson(sum(values), len(values), confidence)
    assert found is not None
    assert narrowest is not None
    share = sum(values) / len(values)
    assert 0 <= found.low <= narrowest.low + 1e-12
    assert narrowest.high - 1e-12 <= found.high <= 1
    assert found.low - 1e-12 <= share <= found.high + 1e-12


def test_of_no_clusters_nothing_is_known() -> None:
    assert clustered(Sums()) is None


@given(trials, trials)
def test_sums_of_clusters_given_as_counts(one: list[list[int]], other: list[list[int]]) -> None:
    parts = [sums_of((len(group), sum(group)) for group in groups) for groups in (one, other)]
    assert parts[0] == pytest.approx(sums(one))
    assert merged(*parts) == pytest.approx(sums(one + other))
    assert merged(*parts, Sums()) == merged(*parts)
    assert merged() == sums_of([]) == sums_of([(0, 0)]) == Sums()


@given(st.floats(0, 1), st.floats(0.5, 1e6), confidences)
def test_wilson_of_what_is_not_whole(share: float, n: float, confidence: float) -> None:
    found = wilson_of(share, n, confidence)
    assert 0 <= found.low <= share + 1e-12
    assert share - 1e-12 <= found.high <= 1
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson_of(share, n, 1)


@given(samples, samples, st.floats(-1, 1), st.floats(-1, 1))
def test_the_more_two_shares_rise_together_the_less_is_left(
    a: tuple[int, int], b: tuple[int, int], one: float, other: float
) -> None:
    around = _known(wilson(*a)), _known(wilson(*b))
    p, q = a[0] / a[1], b[0] / b[1]
    less, more = (difference(p, around[0], q, around[1], c) for c in sorted((one, other)))
    assert -1 <= less.low <= more.low + 1e-12 <= p - q + 2e-12
    assert p - q - 1e-12 <= more.high <= less.high + 1e-12 <= 1 + 1e-12
    # Fully correlated: the ends are as far away as the two reach apart.
    full = difference(p, around[0], q, around[1], 1)
    assert p - q - full.low == pytest.approx(abs(p - around[0].low - around[1].high + q), abs=1e-7)
