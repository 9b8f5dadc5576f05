"""The draw: one fixed function of (game seed, opener, board), and as good as chance."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from arena.board import Board, Mark, start
from arena.exact import results
from arena.opponents import Engine, draw, parse, salt_of
from tests.arena.samples import EVERY_OPEN, engines, open_boards, reach

UINT64 = 1 << 64


SEEDS = np.arange(20_000, dtype=np.uint64)


def _salts(seeds: np.ndarray) -> np.ndarray:
    return np.array([salt_of(int(seed)) for seed in seeds], dtype=np.uint64)


SALTS = _salts(SEEDS)
ODD = np.array([board.odd for board in EVERY_OPEN], dtype=np.uint64)


def _bins(draws: np.ndarray, n: int) -> np.ndarray:
    """Which of n equal parts of the scale each 64-bit draw falls into."""
    return ((draws >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)


def _p_value(counts: np.ndarray) -> float:
    """That counts so uneven or worse come of equal chances (Pearson's chi-square)."""
    expected = counts.sum() / counts.size
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1))


def _assert_like_chance(p_values: list[float]) -> None:
    """Many p-values of true chance are spread evenly, and the least is about 1 / their number."""
    assert min(p_values) > 0.001 / len(p_values)
    assert kstest(p_values, "uniform").pvalue > 0.001


def test_the_draw_in_numpy_is_the_draw() -> None:
    for salt in SALTS[:20]:
        batch = ODD * salt
        for i in range(0, len(EVERY_OPEN), 500):
            assert draw(EVERY_OPEN[i], int(salt)) == batch[i]


def test_over_seeds_every_board_draws_evenly() -> None:
    """One chi-square per board, its bins the squares that a uniform policy would choose from."""
    free = [board for board in EVERY_OPEN if len(board.free) > 1]
    _assert_like_chance(
        [
            _p_value(np.bincount(_bins(np.uint64(board.odd) * SALTS, n), minlength=n))
            for board in free
            for n in (len(board.free),)
        ]
    )


@pytest.mark.parametrize("stride", [1, 2, 3, 1000])
def test_neighbouring_seeds_draw_independently(stride: int) -> None:
    """Seed against seed + stride on the same board, in 8 x 8 bins."""
    other = _salts(SEEDS + np.uint64(stride))
    _assert_like_chance(
        [
            _p_value(np.bincount(_bins(odd * SALTS, 8) * 8 + _bins(odd * other, 8), minlength=64))
            for odd in ODD[::40]
        ]
    )


def test_one_seed_draws_independently_on_successive_boards() -> None:
    """A board against the next one, in 8 x 8 bins over seeds: all moves of the first two plies,
    and the same squares when the other mark opens."""
    early = [board for board in EVERY_OPEN if board.ply < 2]
    pairs = [(board, child) for board in early for child in board.children if child]
    mirrored = [(reach(Mark.X, [s]), reach(Mark.O, [s])) for s in range(9)]
    _assert_like_chance(
        [
            _p_value(
                np.bincount(
                    _bins(np.uint64(a.odd) * SALTS, 8) * 8 + _bins(np.uint64(b.odd) * SALTS, 8),
                    minlength=64,
                )
            )
            for a, b in [*pairs, *mirrored, (start(Mark.X), start(Mark.O))]
        ]
    )


def test_one_seed_draws_evenly_across_boards() -> None:
    _assert_like_chance(
        [_p_value(np.bincount(_bins(ODD * salt, 16), minlength=16)) for salt in SALTS[:1000]]
    )


@given(st.integers(0, 2**63 - 1))
@example(0)
@example(2**63 - 1)
def test_no_salt_is_degenerate(seed: int) -> None:
    """A salt of 0 would draw 0 on every board; one with few significant bits nearly so."""
    salt = salt_of(seed)
    assert 0 < salt < UINT64
    draws = {draw(board, salt) for board in EVERY_OPEN}
    assert len(draws) > len(EVERY_OPEN) // 2
    counts = np.bincount(_bins(np.array(list(draws), dtype=np.uint64), 4), minlength=4)
    assert counts.min() > len(draws) / 5


def test_salts_are_distinct_and_only_seeds_have_one() -> None:
    assert len(set(SALTS.tolist())) == SALTS.size
    for bad in (-1, 2**63):
        with pytest.raises(ValueError, match="a seed is a whole number from 0"):
            salt_of(bad)


# Stored games depend on these: no version may change them.

SALT_VECTORS = {
    0: 0xE220A8397B1DCDAF,
    1: 0x6E789E6AA1B965F4,
    2: 0x06C45D188009454F,
    42: 0x07DC930B302278A8,
    2**63 - 1: 0x25C26EA579CEA98A,
}
DRAW_VECTORS = {
    (Mark.X, ()): (0x9430EF0C68E7BDA1, 0x1CC7E7B6CD0515CC, 0xC5C89B79E53702D8),
    (Mark.X, (4,)): (0x2B893A4079282C43, 0xAF4E164E53C941E4, 0xAC1A477706F88188),
    (Mark.X, (4, 0)): (0x4F5027267A4302B9, 0xFE9717D8C75C88EC, 0xCA83BC34C2DB9718),
    (Mark.X, (0, 4, 8)): (0xE321350A2783602D, 0x0B3F7D5018D8CF5C, 0x3ECF5CAC5ED94CF8),
    (Mark.O, ()): (0x2EE0C536C9C0F4EF, 0xCC9D1C74ED518CF4, 0xA288767286A956A8),
    (Mark.O, (4,)): (0x658D961D45333087, 0x83A056BCC75B2E14, 0xC1C7A48EB86166E8),
    (Mark.O, (4, 0)): (0x24E430210E7355D1, 0x05E9FE707280240C, 0x214637D4412DFB58),
    (Mark.O, (0, 4, 8)): (0x0573B49B989BE32B, 0x9A48EC566ABC9EC4, 0x8D8301499C6C8D48),
}
CHOICE_VECTORS = {
    # Seeds 0 to 39, one square each.
    ("random", Mark.X, ()): "5117422217477766256321561861038410080707",
    ("random", Mark.X, (4, 0)): "3816182371313661551768833853511381875663",
    ("random", Mark.O, (0, 4, 8)): "1531137355661552631332757662156275726111",
    ("minimax", Mark.X, ()): "5117422217477766256321561861038410080707",
    ("minimax", Mark.X, (4,)): "0628806008202688660060066228068800602622",
    ("minimax", Mark.O, (0, 4, 8)): "1531137355771551731333757571155175717111",
    ("minimax:tie=trap,epsilon=0.25", Mark.X, ()): "6008322108688867266220660860028200080808",
    ("minimax:tie=trap,epsilon=0.25", Mark.O, (4, 0)): "1133537856261213352732325571217676122136",
}


def test_pinned_salts_draws_and_choices() -> None:
    assert {seed: salt_of(seed) for seed in SALT_VECTORS} == SALT_VECTORS
    for (opener, moves), expected in DRAW_VECTORS.items():
        board = reach(opener, moves)
        assert tuple(draw(board, salt_of(seed)) for seed in (0, 1, 42)) == expected
    for (spec, opener, moves), squares in CHOICE_VECTORS.items():
        board = reach(opener, moves)
        engine = parse(spec)
        chosen = "".join(str(engine.choose(board, salt_of(seed))) for seed in range(40))
        assert chosen == squares


@given(open_boards, engines, st.integers(0, 2**63 - 1))
def test_a_choice_is_the_square_at_the_draw_s_place_in_the_policy(
    board: Board, engine: Engine, seed: int
) -> None:
    place = Fraction(draw(board, salt_of(seed)), UINT64)
    square = engine.choose(board, salt_of(seed))
    policy = engine.policy(board)
    below = sum(policy[:square], Fraction(0))
    # The thresholds are whole numbers on a scale of 2^64: a difference of one part at most.
    assert below - Fraction(1, UINT64) <= place < below + policy[square]


_CHOICES = """
import sys
from arena.board import Mark, boards
from arena.opponents import parse, salt_of
engines = [parse(spec) for spec in ("random", "minimax", "minimax:tie=trap")]
asked = [(b, s) for o in Mark for b in boards(o) if b.outcome is None for s in (0, 7)]
if sys.argv[1] == "reversed":
    asked.reverse()
found = {(b.opener, b.squares, s): "".join(str(e.choose(b, salt_of(s))) for e in engines)
         for b, s in asked}
print(*(found[key] for key in sorted(found, key=repr)))
"""


def test_draws_depend_on_neither_process_nor_order_of_play() -> None:
    root = Path(__file__).parents[2]
    found = [
        subprocess.run(
            [sys.executable, "-c", _CHOICES, order],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for order, hash_seed in (("forwards", "0"), ("reversed", "12345"))
    ]
    assert found[0] == found[1]
    assert len(found[0].split()) == len(EVERY_OPEN) * 2


@pytest.mark.parametrize(
    ("x", "o"),
    [
        ("random", "random"),
        ("minimax", "random"),
        ("random", "minimax:tie=first"),
        ("minimax:epsilon=0.25", "minimax:value=plain,tie=trap,epsilon=0.5"),
    ],
)
def test_20_000_seeds_agree_with_the_exact_results(x: str, o: str) -> None:
    engine_x, engine_o = parse(x), parse(o)
    counts = {"x": 0, "draw": 0, "o": 0}
    for seed in range(20_000):
        board, salt = start(), salt_of(seed)
        while board.outcome is None:
            engine = engine_x if board.to_move is Mark.X else engine_o
            board = board.after(engine.choose(board, salt))
        counts[board.outcome] += 1
    for seen, exact in zip(counts.values(), results(engine_x.policy, engine_o.policy), strict=True):
        p = float(exact)
        assert abs(seen / 20_000 - p) <= 4 * (p * (1 - p) / 20_000) ** 0.5
