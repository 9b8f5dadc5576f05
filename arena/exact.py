"""Exact results of policies against each other, over the whole game tree: no sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from arena.board import Board, Mark, Outcome, start
from arena.opponents import PolicyOf
from arena.solver import loses_value
from arena.symmetry import canonical

Probability = Fraction | float
"""Exact where the policies are; engines' are."""


class Results(NamedTuple):
    """The probability of each outcome; sum 1."""

    x: Probability
    draw: Probability
    o: Probability

    def of(self, mark: Mark) -> tuple[Probability, Probability, Probability]:
        """Wins, draws and losses as `mark` sees them."""
        return self if mark is Mark.X else (self.o, self.draw, self.x)


Score = tuple[int, int, int]
"""What a win, a draw and a loss are worth to the player that a best response is sought for."""

MOST_WINS: Score = (1, 0, 0)
BEST_VALUE: Score = (1, 0, -1)

_NO, _YES = Fraction(0), Fraction(1)
_ENDS = {
    Outcome.X: Results(_YES, _NO, _NO),
    Outcome.DRAW: Results(_NO, _YES, _NO),
    Outcome.O: Results(_NO, _NO, _YES),
}


def results(x: PolicyOf, o: PolicyOf, opener: Mark = Mark.X, *, symmetric: bool = False) -> Results:
    """The probabilities of each outcome when two policies meet.

    Args:
        x: the policy of X.
        o: the policy of O.
        opener: the mark that moves first.
        symmetric: both treat the eight images of a board alike, as `random` and `minimax` do, so
            that one of each class is enough: seven times as fast.
    """

    def answer(board: Board) -> Results:
        return _mean((x if board.to_move is Mark.X else o)(board), board, value)

    value = _over_tree(answer, canonical if symmetric else None)
    return value(start(opener))


def best_response(
    opponent: PolicyOf,
    mark: Mark,
    opener: Mark = Mark.X,
    *,
    score: Score = MOST_WINS,
    keep_value: bool = False,
) -> Results:
    """The results of the strategy that scores best, as `mark`, against a known policy.

    Among strategies of equal score, one with the most wins.

    Args:
        opponent: the policy of the other side.
        mark: the side that responds.
        opener: the mark that moves first.
        score: what a win, a draw and a loss are worth; see `MOST_WINS` and `BEST_VALUE`.
        keep_value: allow only moves that give up no plain value.
    """

    def worth(found: Results) -> tuple[Probability, Probability]:
        seen = found.of(mark)
        return sum(weight * p for weight, p in zip(score, seen, strict=True)), seen[0]

    def answer(board: Board) -> Results:
        if board.to_move is not mark:
            return _mean(opponent(board), board, value)
        allowed = [s for s in board.free if not (keep_value and loses_value(board, s))]
        return max((value(board.after(s)) for s in allowed), key=worth)

    value = _over_tree(answer)
    return value(start(opener))


def _mean(
    policy: Sequence[Probability], board: Board, value: Callable[[Board], Results]
) -> Results:
    """The results after a move drawn from a policy."""
    parts = [(p, value(board.after(square))) for square, p in enumerate(policy) if p]
    sums = (sum((p * part[i] for p, part in parts), Fraction(0)) for i in range(3))
    return Results(*sums)


def _over_tree(
    inner: Callable[[Board], Results], representative: Callable[[Board], Board] | None = None
) -> Callable[[Board], Results]:
    """`inner` for open boards, the outcome for finished ones; each board is asked for once, or only
    the representative of its class.
    """
    known: dict[Board, Results] = {}

    def value(board: Board) -> Results:
        if representative:
            board = representative(board)
        found = known.get(board)
        if found is None:
            ended = board.outcome
            found = known[board] = inner(board) if ended is None else _ENDS[ended]
        return found

    return value
