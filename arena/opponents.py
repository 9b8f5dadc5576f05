"""The engines that a checkpoint meets, and the specs that name them.

A spec is `random`, or `minimax` with keys: `minimax:value=plain,tie=first,epsilon=0.25`. `parse`
and `str` are inverse to each other up to the canonical form: keys in the order of `KEYS`,
defaults left out, `s0` written `first` and the half-turn `last`.

Every engine has an exact `policy(board)`. Its move is a draw from it that depends on the game's
seed, the opener and the board alone, so two games of one seed that reach the same board get the
same reply, in any order of play, on any machine.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate

from arena.board import Board, Mark, boards, mix
from arena.errors import SpecError
from arena.solver import Value, optimal, solve
from arena.symmetry import HALF_TURN, SYMMETRIES

Policy = tuple[Fraction, ...]
"""The probability of each of the nine squares; zero where illegal, sum exactly 1."""

_MASK64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
"""What the seed, plus one, is multiplied by before it is mixed."""
_CENTRE = 4
_EPSILON = re.compile(r"(?:\d{1,3}(?:\.\d{0,9})?|\.\d{1,9})", re.ASCII)
_LONGEST_SPEC = 120

ORDERS: dict[str, tuple[int, ...]] = {
    "first": SYMMETRIES[0],
    "last": SYMMETRIES[HALF_TURN],
    "center": (4, 0, 2, 6, 8, 1, 3, 5, 7),
    "corner": (0, 2, 6, 8, 4, 1, 3, 5, 7),
    "edge": (1, 3, 5, 7, 4, 0, 2, 6, 8),
    "s1": SYMMETRIES[1],
    "s3": SYMMETRIES[3],
    "s4": SYMMETRIES[4],
    "s5": SYMMETRIES[5],
    "s6": SYMMETRIES[6],
    "s7": SYMMETRIES[7],
}
"""The ties that take the first tied square of an order. `s0` to `s7` are reading order, turned."""

ALIASES = {"s0": "first", f"s{HALF_TURN}": "last"}
SYMMETRIC_TIES = ("first", "s1", "last", "s3", "s4", "s5", "s6", "s7")
"""The eight ties that differ by a symmetry of the square only."""

KEYS: dict[str, tuple[str, ...]] = {
    "value": ("depth", "plain"),
    "tie": (
        *("uniform", "first", "last", "center", "corner", "edge"),
        *(f"s{i}" for i in range(8)),
        "trap",
    ),
    "opening": ("free", "center"),
    "epsilon": ("a number from 0 to 1",),
}
"""What a minimax spec may say, in canonical order; the first value is the default."""


def salt_of(seed: int) -> int:
    """The seed's part in every draw of a game.

    Raises:
        ValueError: the seed is negative or needs more than 63 bits.
    """
    if not 0 <= seed < 1 << 63:
        raise ValueError(f"a seed is a whole number from 0 to 2^63 - 1, not {seed}")
    return mix((seed + 1) * GOLDEN)


def draw(board: Board, salt: int) -> int:
    """A 64-bit number, uniform over seeds, that depends on (seed, opener, board) alone."""
    return board.odd * salt & _MASK64


class Engine(ABC):
    """An opponent that is an algorithm. Engines with equal specs are equal."""

    _rows: dict[Board, tuple[Sequence[int], Sequence[int]]]

    @abstractmethod
    def policy(self, board: Board) -> Policy:
        """The exact probability of each square on an open board."""

    @abstractmethod
    def __str__(self) -> str:
        """The canonical spec."""

    def choose(self, board: Board, salt: int) -> int:
        """The square that the engine takes on an open board in the game with this salt."""
        try:
            squares, thresholds = self._rows[board]
        except KeyError:
            squares, thresholds = self._rows[board] = self.row(board)
        # The draw, spelt out: a call would cost as much as all the rest.
        return squares[bisect_right(thresholds, board.odd * salt & _MASK64)]

    def row(self, board: Board) -> tuple[Sequence[int], Sequence[int]]:
        """The policy as draws are read: the squares that it may take, in ascending order, and for
        each but the first where it begins on the scale of 2^64.
        """
        return _thresholds(self.policy(board))

    @property
    def deterministic(self) -> bool:
        """Whether the engine always answers a board with the same square."""
        return _deterministic(self)


@dataclass(frozen=True)
class Random(Engine):
    """Takes any free square, each with the same probability."""

    _rows: dict[Board, tuple[Sequence[int], Sequence[int]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def policy(self, board: Board) -> Policy:
        """Uniform over the free squares."""
        return _uniform(board.free)

    def __str__(self) -> str:
        return "random"


@dataclass(frozen=True)
class Minimax(Engine):
    """Keeps the solved value; what it does among equals, at first, and by mistake is tunable."""

    value: Value = Value.DEPTH
    """`depth`: a quick win and a slow loss are worth more. `plain`: a win is a win."""
    tie: str = "uniform"
    """How it picks among optimal squares: one of `KEYS["tie"]`."""
    opening: str = "free"
    """`center`: its own first move is the centre if that is free, whoever opened."""
    epsilon: Fraction = Fraction(0)
    """The chance of a uniformly random move, each turn, the first one too."""
    _rows: dict[Board, tuple[Sequence[int], Sequence[int]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def policy(self, board: Board) -> Policy:
        """(1 - epsilon) of its own choice, plus epsilon of a uniform one."""
        own = self._own_choice(board)
        if not self.epsilon:
            return own
        mistake = _uniform(board.free)
        return tuple(
            (1 - self.epsilon) * p + self.epsilon * q for p, q in zip(own, mistake, strict=True)
        )

    def _own_choice(self, board: Board) -> Policy:
        if self.opening == "center" and board.ply < 2 and _CENTRE in board.free:
            return _uniform((_CENTRE,))
        squares = optimal(board, self.value)
        if self.tie == "trap":
            shares = {square: trap_share(board, square) for square in squares}
            squares = tuple(s for s in squares if shares[s] == max(shares.values()))
        elif self.tie != "uniform":
            squares = (next(s for s in ORDERS[self.tie] if s in squares),)
        return _uniform(squares)

    def __str__(self) -> str:
        own = {
            "value": self.value.value,
            "tie": self.tie,
            "opening": self.opening,
            "epsilon": _decimal(self.epsilon),
        }
        defaults = {key: values[0] for key, values in KEYS.items()} | {"epsilon": "0"}
        said = ",".join(f"{key}={own[key]}" for key in KEYS if own[key] != defaults[key])
        return f"minimax:{said}" if said else "minimax"


def trap_share(board: Board, square: int) -> Fraction:
    """The share of the replies to a move that lose plain value; 0 where the move ends the game."""
    after = board.after(square)
    if after.outcome is not None:
        return Fraction(0)
    held = solve(after).plain
    bad = sum(-solve(after.after(reply)).plain < held for reply in after.free)
    return Fraction(bad, len(after.free))


@lru_cache(maxsize=512)
def parse(spec: str) -> Engine:
    """The engine that a spec names. Keys may stand in any order.

    Raises:
        SpecError: an unknown engine, key or value; the message lists the valid ones.
    """
    if len(spec) > _LONGEST_SPEC:
        raise SpecError(f"an opponent spec has at most {_LONGEST_SPEC} characters")
    name, colon, rest = spec.strip().partition(":")
    if name == "random":
        if colon:
            raise SpecError(f"random takes no keys, but the spec is {spec!r}")
        return Random()
    if name != "minimax":
        raise SpecError(f"unknown engine {name!r}: valid are random, minimax")
    said: dict[str, str] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = (text.strip() for text in part.partition("="))
        if key not in KEYS:
            raise SpecError(f"unknown key {key!r} in {spec!r}: valid are {', '.join(KEYS)}")
        if key in said:
            raise SpecError(f"{key} is given twice in {spec!r}")
        if not equals or (key != "epsilon" and value not in KEYS[key]):
            raise SpecError(f"{key}={value} in {spec!r}: valid are {', '.join(KEYS[key])}")
        said[key] = value
    tie = said.get("tie", "uniform")
    return Minimax(
        value=Value(said.get("value", "depth")),
        tie=ALIASES.get(tie, tie),
        opening=said.get("opening", "free"),
        epsilon=_epsilon(said.get("epsilon", "0"), spec),
    )


def symmetric_opponents() -> tuple[str, ...]:
    """The 32 specs of the memorisation panel: 8 symmetric ties x 2 values x 2 openings."""
    return tuple(
        str(Minimax(value=value, tie=tie, opening=opening))
        for value in Value
        for opening in KEYS["opening"]
        for tie in SYMMETRIC_TIES
    )


def _epsilon(text: str, spec: str) -> Fraction:
    """Read a chance. Nine decimals at most, so that it prints as it was read."""
    if _EPSILON.fullmatch(text):
        epsilon = Fraction(text.removesuffix("."))
        if epsilon <= 1:
            return epsilon
    raise SpecError(
        f"epsilon={text} in {spec!r}: valid is a number from 0 to 1 with at most 9 decimals"
    )


def _decimal(chance: Fraction) -> str:
    """A chance of at most nine decimals as text, without trailing zeros."""
    return f"{float(chance):.9f}".rstrip("0").rstrip(".") or "0"


@cache
def _uniform(squares: tuple[int, ...]) -> Policy:
    share = Fraction(1, len(squares))
    return tuple(share if square in squares else Fraction(0) for square in range(9))


# Bounded, as is what knows an engine below: visitors may type any epsilon.
@lru_cache(maxsize=1 << 14)
def _thresholds(policy: Policy) -> tuple[Sequence[int], Sequence[int]]:
    """The squares of a policy, and where on the scale of 2^64 the next one begins."""
    squares = [square for square, p in enumerate(policy) if p]
    ends = accumulate(policy[square] for square in squares)
    return squares, [int(end * (1 << 64)) for end in ends][:-1]


@lru_cache(maxsize=512)
def _deterministic(engine: Engine) -> bool:
    if isinstance(engine, Minimax) and engine.tie in ORDERS and not engine.epsilon:
        # Seen without the tree, over which a panel of such engines takes seconds.
        return True
    return all(
        max(engine.policy(board)) == 1
        for opener in Mark
        for board in boards(opener)
        if board.outcome is None
    )


PolicyOf = Callable[[Board], Sequence[Fraction | float]]
"""Any player as a function from an open board to the probabilities of the nine squares."""
