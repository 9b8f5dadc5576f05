"""Intervals for shares and for differences between shares. Pure formulas, no dependency.

The unit that is counted must be independent: a seed, not a game, where several games share one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

_ROUNDING = 1e-12


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """The score interval of a share, which stays honest near 0 and 1 and at small n.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22 (1927), without continuity correction.

    Args:
        successes: how many of the n succeeded.
        n: the number of independent trials.
        confidence: the share of such intervals that hold the true value.

    Returns:
        Bounds with 0 <= low <= successes / n <= high <= 1; None where n is 0.

    Raises:
        ValueError: not 0 <= successes <= n, or not 0 < confidence < 1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} are not possible")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    if n == 0:
        return None
    z = _quantile(confidence)
    # The upper bound is the lower bound of the failures: so 0 and 1 are met exactly.
    return Interval(_lower(successes, n, z), 1 - _lower(n - successes, n, z))


class Sums(NamedTuple):
    """Sums over values that come in clusters, as a database can add them up.

    Games that share a seed are a cluster: the opponent's replies are the same. For shares a value
    is 1 or 0.
    """

    clusters: int = 0
    """How many there are."""
    n: int = 0
    """How many values."""
    total: float = 0.0
    squares: float = 0.0
    """Of the values."""
    sizes_squared: float = 0.0
    """Of each cluster, the number of its values, squared."""
    totals_squared: float = 0.0
    """Of each cluster, the sum of its values, squared."""
    products: float = 0.0
    """Of each cluster, the number of its values times their sum."""
    means: float = 0.0
    """Of each cluster, the sum of its values, squared, by their number."""

    @property
    def mean(self) -> float | None:
        """The mean of all values."""
        return self.total / self.n if self.n else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of all values, as of a sample."""
        if self.n < 2:
            return None
        return _root((self.squares - self.total**2 / self.n) / (self.n - 1))

    @property
    def within(self) -> float | None:
        """The standard deviation within a cluster; None where no cluster has two values."""
        squared = self._within_squared
        return None if squared is None else _root(squared)

    @property
    def between(self) -> float | None:
        """The standard deviation of what clusters have in common, beyond that within them.

        The component of variance in the analysis of variance with one random factor, at least 0.
        """
        within = self._within_squared
        if within is None or self.clusters < 2:
            return None
        degrees = self.clusters - 1
        size = (self.n - self.sizes_squared / self.n) / degrees
        return _root(((self.means - self.total**2 / self.n) / degrees - within) / size)

    @property
    def _within_squared(self) -> float | None:
        degrees = self.n - self.clusters
        return (self.squares - self.means) / degrees if degrees > 0 else None


def sums_of(clusters: Iterable[tuple[int, int]]) -> Sums:
    """The sums over clusters of trials, each given as its trials and its successes.

    Clusters without trials are left out.
    """
    found = [(n, kept) for n, kept in clusters if n]
    total = sum(kept for _, kept in found)
    return Sums(
        clusters=len(found),
        n=sum(n for n, _ in found),
        total=total,
        squares=total,
        sizes_squared=sum(n * n for n, _ in found),
        totals_squared=sum(kept * kept for _, kept in found),
        products=sum(n * kept for n, kept in found),
        means=sum(kept * kept / n for n, kept in found),
    )


def merged(*parts: Sums) -> Sums:
    """The sums over all these clusters; no cluster may be in two parts."""
    return Sums(*map(sum, zip(*parts, strict=True))) if parts else Sums()


def clustered(sums: Sums, confidence: float = 0.95) -> Interval | None:
    """The interval of a share whose trials come in clusters: Wilson's, over as many independent
    trials as they are worth.

    What they are worth is the number of trials by the design effect, which compares the variance
    between clusters with that of independent trials; it is never more than the number of trials
    nor less than that of clusters. With one trial a cluster this is `wilson`.

    Source: L. Kish, "Survey sampling" (1965); for Wilson's interval over an effective sample size,
    E. L. Korn and B. I. Graubard, Survey Methodology 24 (1998).

    Args:
        sums: of values that are 1 or 0.
        confidence: the share of such intervals that hold the true value.

    Returns:
        Bounds with 0 <= low <= share <= high <= 1; None where there is no value.
    """
    if not sums.n:
        return None
    share = sums.total / sums.n
    worth = float(sums.clusters)
    if sums.clusters > 1 and 0 < share < 1:
        spread = sums.totals_squared - 2 * share * sums.products + share**2 * sums.sizes_squared
        variance = spread * sums.clusters / (sums.clusters - 1) / sums.n**2
        worth = max(worth, share * (1 - share) / variance) if variance > 0 else sums.n
    return wilson_of(share, min(worth, sums.n), confidence)


def wilson_of(share: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's interval around a share of a number of trials that need not be whole.

    Args:
        share: 0 to 1.
        n: what the trials are worth, above 0.
        confidence: the share of such intervals that hold the true value.

    Raises:
        ValueError: not 0 < confidence < 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    z = _quantile(confidence)
    return Interval(_lower(share * n, n, z), 1 - _lower((1 - share) * n, n, z))


def newcombe(a: int, n_a: int, b: int, n_b: int, confidence: float = 0.95) -> Interval | None:
    """The interval of the difference a / n_a - b / n_b of two independent shares.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent
    proportions", Statistics in Medicine 17 (1998), method 10: the hybrid of two Wilson intervals.

    Args:
        a: the first sample's successes.
        n_a: the first sample's trials.
        b: the second sample's successes.
        n_b: the second sample's trials.
        confidence: the share of such intervals that hold the true value.

    Returns:
        Bounds with -1 <= low <= difference <= high <= 1; None where a sample is empty.

    Raises:
        ValueError: as for `wilson`.
    """
    first, second = wilson(a, n_a, confidence), wilson(b, n_b, confidence)
    if first is None or second is None:
        return None
    return difference(a / n_a, first, b / n_b, second)


def difference(
    a: float, around_a: Interval, b: float, around_b: Interval, correlation: float = 0.0
) -> Interval:
    """The interval of a - b, two shares with intervals of their own: their squares are added.

    Where the shares rise and fall together and no correlation is given, it is too wide, not too
    narrow.

    Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
    general approach", Statistics in Medicine 27 (2008), who name it the method of variance
    estimates recovery. Over Wilson's intervals it is Newcombe's method 10.

    Args:
        a: the first share, within `around_a`.
        around_a: its interval.
        b: the second share, within `around_b`.
        around_b: its interval, of the same confidence.
        correlation: of the two shares as they are estimated, -1 to 1.
    """
    down_a, up_a = a - around_a.low, around_a.high - a
    down_b, up_b = b - around_b.low, around_b.high - b
    return Interval(
        max(-1.0, a - b - _added(down_a, up_b, correlation)),
        min(1.0, a - b + _added(up_a, down_b, correlation)),
    )


@cache
def _quantile(confidence: float) -> float:
    """How many standard deviations on either side of the mean hold this share of cases."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _added(one: float, other: float, correlation: float) -> float:
    squared = one * one + other * other - 2 * correlation * one * other
    return sqrt(max(0.0, squared))


def _root(squared: float) -> float:
    """The square root; 0 where a difference of estimates is below it, or is what rounding left."""
    return sqrt(squared) if squared > _ROUNDING else 0.0


def _lower(successes: float, n: float, z: float) -> float:
    """The lower root of Wilson's quadratic, in counts."""
    spread = sqrt(successes * (n - successes) / n + z * z / 4)
    return (successes + z * z / 2 - z * spread) / (n + z * z)
