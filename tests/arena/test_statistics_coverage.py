"""Intervals hold the true value as often as their formula says, found by drawing samples.

What is expected is summed over the binomial distribution, with an independent implementation of the
interval: so a wrong formula, or a wrong reading of it, would be seen.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from arena.statistics import Interval, clustered, newcombe, sums_of, wilson

DRAWS = 20_000


def agrees(hits: int, draws: int, expected: float) -> bool:
    """Whether a share that was found is within four standard errors of what was expected."""
    return abs(hits / draws - expected) <= 4 * (expected * (1 - expected) / draws) ** 0.5 + 1e-12


def hits(
    interval: Callable[..., Interval | None], samples: Sequence[Sequence[int]], truth: float
) -> int:
    """In how many samples the interval of the counts holds the truth."""
    known = cache(interval)
    found = [known(*sample) for sample in samples]
    return sum(each is not None and each.low <= truth <= each.high for each in found)


@pytest.mark.parametrize("n", [10, 50, 100])
@pytest.mark.parametrize("p", [0.03, 0.5, 0.85, 0.97, 1.0])
def test_wilson(n: int, p: float) -> None:
    rng = np.random.default_rng(n)
    kept = range(n + 1)
    low, high = proportion_confint(np.array(kept), n, method="wilson")
    # An end that is the truth itself holds it, however it was rounded.
    holds = (low <= p + 1e-12) & (p - 1e-12 <= high)
    expected = float(binom.pmf(kept, n, p) @ holds)
    drawn = [(int(k), n) for k in rng.binomial(n, p, DRAWS)]
    assert agrees(hits(wilson, drawn, p), DRAWS, expected)


@pytest.mark.parametrize(("n", "p", "m", "q"), [(50, 0.97, 50, 0.85), (30, 0.9, 60, 0.9)])
def test_newcombe(n: int, p: float, m: int, q: float) -> None:
    rng = np.random.default_rng(n)
    expected = 0.0
    for a in range(n + 1):
        low, high = confint_proportions_2indep(
            a, n, np.arange(m + 1), m, method="newcomb", compare="diff"
        )
        holds = (low <= p - q) & (p - q <= high)
        expected += float(binom.pmf(a, n, p) * (binom.pmf(range(m + 1), m, q) @ holds))
    drawn = [
        (int(a), n, int(b), m)
        for a, b in zip(rng.binomial(n, p, DRAWS), rng.binomial(m, q, DRAWS), strict=True)
    ]
    assert agrees(hits(newcombe, drawn, p - q), DRAWS, expected)


@pytest.mark.parametrize(("p", "same"), [(0.5, 0.0), (0.9, 0.5), (0.9, 1.0), (0.97, 0.5)])
def test_clusters_by_seed(p: float, same: float) -> None:
    """Four rollouts a seed, alike with some chance: treated as independent they would cover less
    than they say, and by seed they do not."""
    rng = np.random.default_rng(4)
    seeds, rollouts, draws = 100, 4, 3000
    shared = rng.random((draws, seeds, 1)) < p
    own = rng.random((draws, seeds, rollouts)) < p
    alike = rng.random((draws, seeds, rollouts)) < same**0.5
    kept = np.where(alike, shared, own).sum(axis=2)
    found = [clustered(sums_of((rollouts, int(k)) for k in row)) for row in kept]
    covered = sum(each is not None and each.low <= p <= each.high for each in found)
    # Wilson's own coverage of so many independent trials wavers around 0.95.
    assert covered / draws > 0.95 - 0.015 - 4 * (0.95 * 0.05 / draws) ** 0.5
    naive = [wilson(int(row.sum()), seeds * rollouts) for row in kept]
    as_if = sum(each is not None and each.low <= p <= each.high for each in naive)
    if same >= 0.5:
        assert as_if / draws < 0.9 < covered / draws
