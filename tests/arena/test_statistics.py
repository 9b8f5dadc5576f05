"""Intervals: the published figures, an independent implementation, and what must always hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from arena.statistics import Interval, newcombe, wilson

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
