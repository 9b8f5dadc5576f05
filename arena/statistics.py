"""Intervals for shares and for differences between shares. Pure formulas, no dependency.

The unit that is counted must be independent: a seed, not a game, where several games share one.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple


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
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    # The upper bound is the lower bound of the failures: so 0 and 1 are met exactly.
    return Interval(_lower(successes, n, z), 1 - _lower(n - successes, n, z))


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
    p_a, p_b = a / n_a, b / n_b
    return Interval(
        p_a - p_b - sqrt((p_a - first.low) ** 2 + (second.high - p_b) ** 2),
        p_a - p_b + sqrt((first.high - p_a) ** 2 + (p_b - second.low) ** 2),
    )


def _lower(successes: int, n: int, z: float) -> float:
    """The lower root of Wilson's quadratic, in counts."""
    spread = sqrt(successes * (n - successes) / n + z * z / 4)
    return (successes + z * z / 2 - z * spread) / (n + z * z)
