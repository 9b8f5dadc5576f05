"""The memorisation gap: does a checkpoint play, or does it know one opponent by heart?

The 32 symmetric opponents are equally strong. Eight at a time they differ by a symmetry of the
square alone, so whoever plays the game does equally well against those eight. Whoever knows one by
heart does well against that one.

The gap is the rate of games not lost against one opponent less that against its seven relatives,
replying. Which opponent, the results say: the one against which the player did best. To pick the
best of 32 estimates and then to believe it would find a gap in everyone; so the even seeds pick and
the odd seeds measure, and a flat player stays at zero.

What is independent is a seed, not a game: a player's sampling depends on the game's seed and the
ply, and an engine's draws on the seed and the board, so games of one seed against different
opponents are the same game until their boards differ. Hence:

- the seven relatives' games are clustered by seed, worth between seven games a seed and one;
- the picked opponent's games and theirs rise and fall together, if they depend at all, and the
  interval, which takes them as independent, is then too wide rather than too narrow;
- even and odd seeds share nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from arena.opponents import Minimax, parse, symmetric_opponents
from arena.rates import Measured, Rate, rate
from arena.statistics import Interval, Sums, difference, sums_of


def _families() -> Mapping[str, tuple[str, ...]]:
    """Each symmetric opponent's relatives: the other seven with its value and its opening."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for spec in symmetric_opponents():
        engine = parse(spec)
        assert isinstance(engine, Minimax)
        groups[engine.value, engine.opening].append(spec)
    return {
        spec: tuple(other for other in group if other != spec)
        for group in groups.values()
        for spec in group
    }


RELATIVES = _families()
"""Of each of the 32 symmetric opponents the other seven of its value and opening."""


class Result(NamedTuple):
    """A player's games against one symmetric opponent on one seed, replying."""

    opponent: str
    """A canonical spec."""
    seed: int
    games: int
    """Those that count, void ones not; more than one with rollouts."""
    not_lost: int


class Gap(NamedTuple):
    """A memorisation gap."""

    opponent: str
    """The one that was picked."""
    own: Rate
    """Against it."""
    relatives: Rate
    """Against the seven others of its value and opening, all games together."""
    gap: float
    """The one less the other."""
    interval: Interval | None
    """None where it is exact."""


class NoGap(NamedTuple):
    """Why there is no memorisation gap, in words."""

    reason: str


def memorisation_gap(results: Iterable[Result], confidence: float = 0.95) -> Gap | NoGap:
    """The gap of a player whose games are a sample.

    The opponent is the one with the highest rate on even seeds; of several, the one whose relatives
    then do worst, and then the first in the order of `symmetric_opponents`. Games that are missing,
    because they are void or were not played yet, are in no rate; against every opponent at least
    one game on an even seed must count, and on an odd seed against the picked one and each of its
    relatives.

    Args:
        results: in any order; other opponents are passed over.
        confidence: the share of such intervals that hold the true gap of the opponent picked.
    """
    cells: tuple[_Cells, _Cells] = (defaultdict(dict), defaultdict(dict))
    for opponent, seed, games, not_lost in results:
        if opponent in RELATIVES and games:
            n, kept = cells[seed % 2][opponent].get(seed, (0, 0))
            cells[seed % 2][opponent][seed] = n + games, kept + not_lost
    even, odd = cells
    picked = pick({spec: _share(each.values()) for spec, each in even.items()}, odd)
    if isinstance(picked, NoGap):
        return picked
    together: defaultdict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for spec in RELATIVES[picked]:
        for seed, (n, kept) in odd[spec].items():
            together[seed] = together[seed][0] + n, together[seed][1] + kept
    own, others = (sums_of(each.values()) for each in (odd[picked], together))
    return gap_between(picked, own, others, confidence)


def pick(rates: Mapping[str, float], measured: Container[str]) -> str | NoGap:
    """The opponent whose gap is to be measured, or why there is none.

    Args:
        rates: the share of games not lost, replying, on even seeds.
        measured: the opponents against whom a game on an odd seed counts.
    """
    if missing := [spec for spec in RELATIVES if spec not in rates]:
        return NoGap(f"no game on an even seed counts against {_some(missing)}")
    picked = _pick(rates)
    if missing := [spec for spec in (picked, *RELATIVES[picked]) if spec not in measured]:
        return NoGap(f"no game on an odd seed counts against {_some(missing)}")
    return picked


def gap_between(opponent: str, own: Sums, relatives: Sums, confidence: float = 0.95) -> Gap:
    """The gap of the opponent picked, from sums over odd seeds, neither of them empty.

    Args:
        opponent: a canonical spec, as from `pick`.
        own: of the games against it.
        relatives: of the games against its seven relatives, those of one seed together.
        confidence: the share of such intervals that hold the true gap of this opponent.
    """
    mine, others = (rate(Measured(each), confidence) for each in (own, relatives))
    assert mine is not None
    assert others is not None
    assert mine.interval is not None
    assert others.interval is not None
    return Gap(
        opponent,
        mine,
        others,
        mine.share - others.share,
        difference(mine.share, mine.interval, others.share, others.interval),
    )


def exact_gap(rates: Mapping[str, float]) -> Gap | NoGap:
    """The gap of a player whose rates are known exactly: there is nothing to split and no interval.

    So it is where the player and the opponents always answer a board alike, and where a policy's
    results are computed over the whole tree.

    Args:
        rates: the share of games not lost, replying, against each symmetric opponent.
    """
    if missing := [spec for spec in RELATIVES if spec not in rates]:
        return NoGap(f"nothing is known of games against {_some(missing)}")
    picked = _pick(rates)
    own, others = rates[picked], _mean_of_relatives(rates, picked)
    return Gap(picked, Rate(own, None), Rate(others, None), own - others, None)


_Cells = defaultdict[str, dict[int, tuple[int, int]]]
"""By opponent and seed, the games that count and those of them that were not lost."""


def _pick(rates: Mapping[str, float]) -> str:
    return max(RELATIVES, key=lambda spec: (rates[spec], -_mean_of_relatives(rates, spec)))


def _mean_of_relatives(rates: Mapping[str, float], spec: str) -> float:
    return sum(rates[other] for other in RELATIVES[spec]) / len(RELATIVES[spec])


def _share(cells: Iterable[tuple[int, int]]) -> float:
    games, kept = map(sum, zip(*cells, strict=True))
    return kept / games


def _some(specs: list[str]) -> str:
    """A list of opponents as it may stand in a sentence."""
    rest = len(specs) - 1
    return specs[0] if not rest else f"{specs[0]} and {rest} other{'s' if rest > 1 else ''}"
