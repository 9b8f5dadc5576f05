"""Two checkpoints against each other: on the same cells, and how many games it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil, cos, exp, lgamma, log, pi, sin, sqrt
from statistics import NormalDist
from typing import NamedTuple

from arena.statistics import Interval, difference, wilson_of

_NORMAL = NormalDist()
_MOST_ROOT = 10**7.5
_FINEST = 1e-12
"""What rounding leaves of a p-value that is added up from terms of either sign."""


class Pairs(NamedTuple):
    """Cells that two players both played to an end that counts, by who did not lose."""

    both: int = 0
    first: int = 0
    """Not lost by the first player, lost by the second."""
    second: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        """How many there are."""
        return sum(self)


class Comparison(NamedTuple):
    """Two players on the same cells."""

    pairs: Pairs
    seeds: int
    """Independent clusters of pairs."""
    difference: float
    """The first player's share of games not lost, less the second's."""
    interval: Interval
    """Of the difference."""
    p_value: float
    """The chance of a difference this large or larger, either way, if there were none."""


def compare(seeds: Iterable[Pairs], confidence: float = 0.95) -> Comparison | None:
    """The difference of two players' rates over cells that both played, with interval and test.

    Pairs of one seed are not independent: sampling and the engines' draws are the same until
    their boards differ. So both the interval and the test count seeds.

    The interval is Newcombe's method 10 for paired data: Wilson's intervals of both rates, their
    squares added, less what the correlation of the pairs takes off, that being reduced where it
    is positive. As in `arena.statistics.clustered`, it is taken over as many independent pairs as
    the pairs are worth: no more than there are, no less than the seeds.

    The test swaps the two players' results of a whole seed, in every way that there is, and
    counts how often the difference is as large as the one found. With one pair a seed this is the
    exact McNemar test (`mcnemar`); otherwise no p-value is given as less than 10^-12.

    Source: R. G. Newcombe, "Improved confidence intervals for the difference between binomial
    proportions based on paired data", Statistics in Medicine 17 (1998); for the test, R. A.
    Fisher, "The design of experiments" (1935), section 21.

    Args:
        seeds: the pairs of each seed; with one opponent and one rollout, one pair a seed.
        confidence: the share of such intervals that hold the true difference.

    Returns:
        None where there is no pair.

    Raises:
        ValueError: not 0 < confidence < 1.
    """
    tables = [table for table in seeds if table.n]
    if not tables:
        return None
    pairs = Pairs(*map(sum, zip(*tables, strict=True)))
    return Comparison(
        pairs,
        len(tables),
        (pairs.first - pairs.second) / pairs.n,
        _method_10(pairs, _worth(tables, pairs), confidence),
        _swapped(table.first - table.second for table in tables),
    )


def mcnemar(first: int, second: int) -> float:
    """The p-value, on both sides, of the exact McNemar test: 1 where nothing differs.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12 (1947); exact by the binomial distribution of
    the pairs that differ, twice its smaller tail.

    Args:
        first: pairs in which only the first succeeded.
        second: pairs in which only the second did.

    Raises:
        ValueError: a count is negative.
    """
    if first < 0 or second < 0:
        raise ValueError(f"{first} and {second} are no counts of pairs")
    n, fewer = first + second, min(first, second)
    if first == second:
        return 1.0
    # From the largest term downwards, each from the one before: soon they add nothing.
    term = exp(lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2))
    tail = 0.0
    for successes in range(fewer, -1, -1):
        if tail + term == tail:
            break
        tail += term
        term *= successes / (n - successes + 1)
    return min(1.0, 2 * tail)


def games_needed(p: float, q: float, *, confidence: float = 0.95, power: float = 0.8) -> int | None:
    """How many independent games each of two players needs, that these two rates can be told apart.

    Source: J. L. Fleiss, B. Levin and M. C. Paik, "Statistical methods for rates and proportions"
    (2003), chapter 4: the test on both sides with the variance of the pooled rate, without
    continuity correction.

    Args:
        p: the first player's true rate.
        q: the second player's.
        confidence: one less the chance to see a difference where there is none.
        power: the chance to see this one.

    Returns:
        The least number; None where the rates are the same, or too close for 10^15 games.

    Raises:
        ValueError: a rate is not from 0 to 1, or a chance not between.
    """
    null, alternative = _deviations(p, q)
    for chance in (confidence, power):
        if not 0 < chance < 1:
            raise ValueError(f"a confidence or a power lies between 0 and 1, not at {chance}")
    reach = _NORMAL.inv_cdf((1 + confidence) / 2) * null + _NORMAL.inv_cdf(power) * alternative
    # Where the power asked for is less than the test's own chance of an error, one game is enough.
    root = max(0.0, reach)
    if root >= _MOST_ROOT * abs(p - q):
        return None
    return max(1, ceil((root / (p - q)) ** 2))


def power_of(p: float, q: float, games: int, *, confidence: float = 0.95) -> float:
    """The chance that these two rates are told apart by so many games of each player.

    The inverse of `games_needed`; where the rates are the same, the chance of an error.

    Raises:
        ValueError: as for `games_needed`, or there is no game.
    """
    if games < 1:
        raise ValueError(f"a comparison takes at least one game, not {games}")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    null, alternative = _deviations(p, q)
    if not alternative:
        return float(p != q)
    shift, edge = abs(p - q) * sqrt(games), _NORMAL.inv_cdf((1 + confidence) / 2) * null
    found, wrong = (shift - edge) / alternative, (-shift - edge) / alternative
    return _NORMAL.cdf(found) + _NORMAL.cdf(wrong)


def _deviations(p: float, q: float) -> tuple[float, float]:
    """The standard deviation of the difference of two games, were the rates one, and as it is."""
    for share in (p, q):
        if not 0 <= share <= 1:
            raise ValueError(f"a rate lies from 0 to 1, not at {share}")
    pooled = (p + q) / 2
    return sqrt(2 * pooled * (1 - pooled)), sqrt(p * (1 - p) + q * (1 - q))


def _worth(tables: list[Pairs], pairs: Pairs) -> float:
    """How many independent pairs these are worth, by the variance of the difference."""
    n, seeds = pairs.n, len(tables)
    mean = (pairs.first - pairs.second) / n
    alone = pairs.first + pairs.second - n * mean**2
    if seeds < 2 or alone <= 0:
        return seeds
    together = sum((t.first - t.second - mean * t.n) ** 2 for t in tables) * seeds / (seeds - 1)
    return min(n, max(seeds, n * alone / together)) if together > 0 else n


def _method_10(pairs: Pairs, worth: float, confidence: float) -> Interval:
    """Newcombe's interval over a table of this size and these shares."""
    both, first, second, neither = (count * worth / pairs.n for count in pairs)
    margins = (both + first, second + neither, both + second, first + neither)
    excess = both * neither - first * second
    if excess > 0:
        excess = max(0.0, excess - worth / 2)
    product = margins[0] * margins[1] * margins[2] * margins[3]
    correlation = excess / sqrt(product) if product > 0 else 0.0
    a, b = (pairs.both + pairs.first) / pairs.n, (pairs.both + pairs.second) / pairs.n
    around_a, around_b = (wilson_of(share, worth, confidence) for share in (a, b))
    return difference(a, around_a, b, around_b, correlation)


def _swapped(differences: Iterable[int]) -> float:
    """The chance that seeds with random signs differ at least as much as they do, either way.

    Of each seed, the first player's games not lost, less the second's.
    """
    signed = [each for each in differences if each]
    found = abs(sum(signed))
    if not found:
        return 1.0
    sizes = Counter(map(abs, signed))
    if set(sizes) == {1}:
        return mcnemar((len(signed) + found) // 2, (len(signed) - found) // 2)
    # The seeds that count against the leader come to u of the total in a sum of total - 2 u; the
    # distribution of u is inverted from its characteristic function, at total + 1 points, and
    # its tail added up in closed form.
    total = sum(size * many for size, many in sizes.items())
    points, terms = total + 1, (total - found) // 2 + 1
    tail = float(terms)
    for k in range(1, points):
        half = pi * k / points
        weight = 1.0
        for size, many in sizes.items():
            weight *= cos(half * size) ** many
        # The sum over u from 0 to terms - 1 of cos(half * (total - 2 u)).
        tail += weight * cos(half * (total - terms + 1)) * sin(half * terms) / sin(half)
    return min(1.0, max(_FINEST, 2 * tail / points))
