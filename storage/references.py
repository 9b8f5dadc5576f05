"""The rows of a leaderboard that need no games: perfect play and chance, computed exactly.

Computed once a process, in some tenths of a second for each panel.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from arena.board import Mark
from arena.exact import best_response, results
from arena.memorisation import RELATIVES, Gap, NoGap, exact_gap
from arena.opponents import Minimax, Random, parse
from arena.panels import Panel
from arena.players import Identity, Kind
from arena.rates import Measured
from arena.statistics import Sums
from storage.checkpoints import Checkpoint
from storage.seats import Seat, Shares, Versus, is_perfect

_EVEN = ("uniform", "trap")
"""Ways to choose among equals that treat the eight images of a board alike."""
REFERENCES = ("minimax", "random")
"""Perfect play with uniform ties, and chance."""


class Ceilings(NamedTuple):
    """How often `random` can be beaten at most, by whoever knows it and plays for wins alone."""

    opening: float
    replying: float
    replying_keeping_value: float
    """By whoever never gives up value for it."""


def references(panel: Panel) -> list[Checkpoint]:
    """The rows of `REFERENCES` against a panel; their tallies are empty, their rates exact."""
    return [
        Checkpoint(
            identity=Identity(Kind.ENGINE, spec, deterministic=parse(spec).deterministic),
            id=None,
            versus=tuple(
                Versus(opponent, None, _seat(spec, opponent, True), _seat(spec, opponent, False))
                for opponent in panel.opponents
            ),
            gap=_gap(spec),
            last_at=None,
        )
        for spec in REFERENCES
    ]


@cache
def ceilings() -> Ceilings:
    """The shares of wins of the best counter-strategies to `random`."""
    chance = parse("random").policy
    opening, replying, careful = (
        best_response(chance, mark, keep_value=keep).of(mark)[0]
        for mark, keep in ((Mark.X, False), (Mark.O, False), (Mark.O, True))
    )
    return Ceilings(float(opening), float(replying), float(careful))


@cache
def _gap(spec: str) -> Gap | NoGap:
    return exact_gap({each: 1 - _shares(spec, each, False).losses for each in RELATIVES})


def _seat(spec: str, opponent: str, opening: bool) -> Seat:
    shares = _shares(spec, opponent, opening)
    kept = 1 - shares.losses
    return Seat(measured=Measured(Sums(1, 1, kept, kept), exact=True), known=shares)


def _shares(spec: str, opponent: str, opening: bool) -> Shares:
    # A reference treats the images of a board alike, so that all relatives are one to it.
    return _computed(spec, min((opponent, *RELATIVES.get(opponent, ()))), opening)


@cache
def _computed(spec: str, opponent: str, opening: bool) -> Shares:
    if is_perfect(spec) and is_perfect(opponent):
        return Shares(0.0, 1.0, 0.0)
    player, other = parse(spec), parse(opponent)
    mark = Mark.X if opening else Mark.O
    x, o = (player, other) if opening else (other, player)
    symmetric = _is_symmetric(opponent) and _is_symmetric(spec)
    found = results(x.policy, o.policy, symmetric=symmetric).of(mark)
    return Shares(*map(float, found))


def _is_symmetric(spec: str) -> bool:
    """Whether an engine treats the eight images of a board alike."""
    engine = parse(spec)
    return isinstance(engine, Random) or (isinstance(engine, Minimax) and engine.tie in _EVEN)
