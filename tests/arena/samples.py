"""What several tests draw from: positions, games, specs."""

from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from arena.board import Board, Mark, Outcome, boards, start
from arena.opponents import ALIASES, KEYS, Engine, Minimax, Policy, Random, parse
from arena.solver import Value, optimal

OPEN = {opener: [b for b in boards(opener) if b.outcome is None] for opener in Mark}
"""The 4,520 positions of each opener that are not finished."""

EVERY_OPEN = [board for opener in Mark for board in OPEN[opener]]

TIES = tuple(tie for tie in KEYS["tie"] if tie not in ALIASES)
PERFECT: tuple[Engine, ...] = tuple(
    parse(f"minimax:value={value},tie={tie},opening={opening}")
    for value in KEYS["value"]
    for tie in TIES
    for opening in KEYS["opening"]
)
"""Every minimax engine that makes no mistakes."""


@cache
def policies(engine: Engine) -> dict[Board, Policy]:
    """The engine's whole table: its policy on every open board of both openers."""
    return {board: engine.policy(board) for board in EVERY_OPEN}


marks = st.sampled_from(Mark)
open_boards = st.sampled_from(EVERY_OPEN)
any_boards = st.sampled_from([board for opener in Mark for board in boards(opener)])
minimaxes = st.builds(
    Minimax,
    value=st.sampled_from(Value),
    tie=st.sampled_from(TIES),
    opening=st.sampled_from(KEYS["opening"]),
    epsilon=st.integers(0, 10**9).map(lambda n: Fraction(n, 10**9)),
)
engines = st.just(Random()) | minimaxes


@st.composite
def lines_of_play(draw: st.DrawFn) -> tuple[Mark, list[int]]:
    """An opener and legal moves from the empty board, up to any point of a game."""
    opener = draw(marks)
    moves: list[int] = []
    for square in draw(st.permutations(range(9)))[: draw(st.integers(0, 9))]:
        if reach(opener, moves).outcome is not None:
            break
        moves.append(square)
    return opener, moves


def reach(opener: Mark, moves: list[int] | tuple[int, ...]) -> Board:
    """The board after these moves."""
    board = start(opener)
    for square in moves:
        board = board.after(square)
    return board


TAUGHT_BY = "minimax:value=plain,tie=first,opening=center"


def _learn(mark: Mark) -> dict[Board, int]:
    """The book of one game, as `mark`, against the teacher: the first move that keeps the value."""
    teacher = parse(TAUGHT_BY).policy
    book: dict[Board, int] = {}
    board = start()
    while board.outcome is None:
        if board.to_move is mark:
            book[board] = square = optimal(board, Value.PLAIN)[0]
        else:
            square = teacher(board).index(1)
        board = board.after(square)
    assert board.outcome is Outcome.DRAW
    return book


BOOK = _learn(Mark.O) | _learn(Mark.X)
"""Nine moves that draw with one opponent: the figures of a real failure."""
