"""Specs, and the exact policies of the engines that they name."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.board import Board, Mark, board_of, start
from arena.errors import ArenaError, SpecError
from arena.opponents import (
    ALIASES,
    KEYS,
    ORDERS,
    SYMMETRIC_TIES,
    Engine,
    Minimax,
    Random,
    parse,
    symmetric_opponents,
    trap_share,
)
from arena.solver import Value, optimal, solve
from arena.symmetry import SYMMETRIES, transform
from tests.arena.samples import (
    EVERY_OPEN,
    OPEN,
    PERFECT,
    TIES,
    engines,
    minimaxes,
    open_boards,
    policies,
)

# Specs


@given(engines)
def test_print_and_parse_round_trip(engine: Engine) -> None:
    again = parse(str(engine))
    assert again == engine
    assert str(again) == str(engine)
    assert hash(again) == hash(engine)


@given(minimaxes, st.permutations(tuple(KEYS)), st.sampled_from(["", " ", "  "]))
def test_keys_in_any_order_with_spaces_and_defaults_spelt_out(
    engine: Minimax, order: list[str], space: str
) -> None:
    said = {
        "value": engine.value,
        "tie": {tie: alias for alias, tie in ALIASES.items()}.get(engine.tie, engine.tie),
        "opening": engine.opening,
        "epsilon": f"{float(engine.epsilon):.9f}",
    }
    keys = ",".join(f"{space}{key}{space}={space}{said[key]}" for key in order)
    assert parse(f"{space}minimax:{keys}{space}") == engine


@pytest.mark.parametrize(
    ("said", "canonical"),
    [
        ("random", "random"),
        ("minimax", "minimax"),
        (" minimax ", "minimax"),
        ("minimax:value=depth,tie=uniform,opening=free,epsilon=0", "minimax"),
        ("minimax:tie=s0", "minimax:tie=first"),
        ("minimax:tie=s2", "minimax:tie=last"),
        ("minimax:tie=s1", "minimax:tie=s1"),
        ("minimax:epsilon=0.250,tie=first", "minimax:tie=first,epsilon=0.25"),
        ("minimax:epsilon=.5", "minimax:epsilon=0.5"),
        ("minimax:epsilon=1.", "minimax:epsilon=1"),
        ("minimax:epsilon=000.000000001", "minimax:epsilon=0.000000001"),
        (
            "minimax:epsilon=1.0,opening=center,tie=trap,value=plain",
            "minimax:value=plain,tie=trap,opening=center,epsilon=1",
        ),
    ],
)
def test_canonical_form(said: str, canonical: str) -> None:
    assert str(parse(said)) == canonical


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "unknown engine '': valid are random, minimax"),
        ("Random", "unknown engine 'Random': valid are random, minimax"),
        ("perfect", "unknown engine 'perfect': valid are random, minimax"),
        ("random:", "random takes no keys, but the spec is 'random:'"),
        ("random:tie=first", "random takes no keys, but the spec is 'random:tie=first'"),
        ("minimax:", "unknown key '' in 'minimax:': valid are value, tie, opening, epsilon"),
        ("minimax:ties=first", "unknown key 'ties' in 'minimax:ties=first': valid are value, tie"),
        ("minimax:tie=first,", "unknown key ''"),
        ("minimax:tie=first,tie=last", "tie is given twice"),
        ("minimax:tie", "tie= in 'minimax:tie': valid are uniform, first, last, center, corner"),
        ("minimax:tie=s8", "tie=s8 in 'minimax:tie=s8': valid are uniform, first, last, center"),
        ("minimax:tie=First", "valid are uniform, first, last, center, corner, edge, s0, s1, s2"),
        ("minimax:value=2", "value=2 in 'minimax:value=2': valid are depth, plain"),
        ("minimax:opening=corner", "opening=corner in 'minimax:opening=corner': valid are free"),
        ("minimax:epsilon", "epsilon= in 'minimax:epsilon': valid are a number from 0 to 1"),
        ("minimax:epsilon=", "epsilon= in 'minimax:epsilon=': valid is a number from 0 to 1"),
        ("minimax:epsilon=1.000000001", "valid is a number from 0 to 1 with at most 9 decimals"),
        ("minimax:epsilon=0.0000000001", "valid is a number from 0 to 1 with at most 9 decimals"),
        ("minimax:epsilon=-0.1", "valid is a number from 0 to 1"),
        ("minimax:epsilon=1e-3", "valid is a number from 0 to 1"),
        ("minimax:epsilon=nan", "valid is a number from 0 to 1"),
        ("minimax:epsilon=1/2", "valid is a number from 0 to 1"),
        ("minimax:epsilon=\u0660", "valid is a number from 0 to 1"),
        ("minimax:epsilon=.", "valid is a number from 0 to 1"),
        ("minimax:" + "a" * 200, "an opponent spec has at most 120 characters"),
    ],
)
def test_a_bad_spec_is_an_error_that_lists_the_valid_ones(spec: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(spec)
    assert message in str(caught.value)
    assert isinstance(caught.value, ArenaError)


_near_misses = st.lists(
    st.sampled_from(
        ["minimax", "random", ":", ",", "=", " ", "\n", "0", ".5", "1", *KEYS, *KEYS["tie"]]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)


@given(st.text() | _near_misses)
@example("minimax:epsilon=" + "9" * 100)
@example("\ud800")
@example("minimax:tie=\x00")
@example("minimax\x00")
@example("x" * 1_000_000)
def test_whatever_the_text_only_spec_errors(text: str) -> None:
    try:
        engine = parse(text)
    except SpecError:
        return
    assert parse(str(engine)) == engine


def test_the_orders() -> None:
    assert ORDERS["first"] == (0, 1, 2, 3, 4, 5, 6, 7, 8)
    assert ORDERS["last"] == (8, 7, 6, 5, 4, 3, 2, 1, 0)
    assert ORDERS["center"] == (4, 0, 2, 6, 8, 1, 3, 5, 7)
    assert ORDERS["corner"] == (0, 2, 6, 8, 4, 1, 3, 5, 7)
    assert ORDERS["edge"] == (1, 3, 5, 7, 4, 0, 2, 6, 8)
    assert tuple(ORDERS[tie] for tie in SYMMETRIC_TIES) == SYMMETRIES


# Policies


def _support(policy: Iterable[Fraction]) -> tuple[int, ...]:
    return tuple(square for square, p in enumerate(policy) if p)


def _table(engine: Engine) -> tuple[tuple[int, ...], ...]:
    """What a perfect engine is: on each board, the squares between which it chooses evenly."""
    return tuple(map(_support, policies(engine).values()))


def _uniform(squares: Iterable[int]) -> tuple[Fraction, ...]:
    return _even(frozenset(squares))


@cache
def _even(squares: frozenset[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(s in squares, len(squares)) for s in range(9))


@pytest.mark.parametrize("engine", [Random(), *PERFECT, parse("minimax:epsilon=0.3")], ids=str)
def test_every_policy_sums_to_exactly_one_and_takes_free_squares_only(engine: Engine) -> None:
    for board, policy in policies(engine).items():
        assert all(board.children[square] is not None for square in _support(policy))
    # Many boards share one policy: each is summed up once.
    for policy in {id(policy): policy for policy in policies(engine).values()}.values():
        assert len(policy) == 9
        assert sum(policy) == 1
        assert min(policy) >= 0


def test_random_and_uniform_ties() -> None:
    for board in EVERY_OPEN:
        assert Random().policy(board) == _uniform(board.free)
        assert parse("minimax").policy(board) == _uniform(optimal(board))
        assert parse("minimax:value=plain").policy(board) == _uniform(optimal(board, Value.PLAIN))


@pytest.mark.parametrize("value", Value)
@pytest.mark.parametrize("tie", [tie for tie in KEYS["tie"] if tie not in ("uniform", "trap")])
def test_an_ordered_tie_takes_the_first_optimal_square_of_its_order(value: Value, tie: str) -> None:
    order = ORDERS[ALIASES.get(tie, tie)]
    for board, policy in policies(parse(f"minimax:value={value},tie={tie}")).items():
        assert policy == _uniform([min(optimal(board, value), key=order.index)])


@pytest.mark.parametrize("value", Value)
@pytest.mark.parametrize("opening", KEYS["opening"])
def test_a_symmetric_tie_is_the_symmetric_image_of_first(value: Value, opening: str) -> None:
    """What `first` does on a board, s_i does on the board's image under symmetry i."""
    first = policies(parse(f"minimax:value={value},opening={opening},tie=first"))
    for i, symmetry in enumerate(SYMMETRIES):
        turned = policies(parse(f"minimax:value={value},opening={opening},tie=s{i}"))
        for board, policy in first.items():
            image = turned[transform(board, symmetry)]
            assert tuple(image[symmetry[s]] for s in range(9)) == policy


def test_the_32_symmetric_opponents_differ_in_play() -> None:
    """Also on the boards alone that they meet when they open, and when they reply."""
    listed = symmetric_opponents()
    assert len(set(listed)) == 32
    assert all(str(parse(spec)) == spec for spec in listed)
    assert len({_table(parse(spec)) for spec in listed}) == 32
    for mark in Mark:
        assert len({_in_play(parse(spec), mark) for spec in listed}) == 32


def _in_play(engine: Engine, mark: Mark) -> frozenset[tuple[Board, tuple[int, ...]]]:
    """Its squares on every board that the engine can meet as `mark` when X opens."""
    met, stack = set(), [start()]
    seen: set[Board] = set()
    while stack:
        board = stack.pop()
        if board.outcome is not None or board in seen:
            continue
        seen.add(board)
        squares = board.free
        if board.to_move is mark:
            squares = _support(engine.policy(board))
            met.add((board, squares))
        stack.extend(board.after(s) for s in squares)
    return frozenset(met)


def test_all_perfect_engines_differ() -> None:
    """Except that whoever prefers the centre opens there anyway, at either value."""
    assert len(PERFECT) == 2 * 13 * 2
    assert len({_table(engine) for engine in PERFECT}) == len(PERFECT) - 2
    for value in Value:
        free, center = (
            parse(f"minimax:value={value},tie=center,opening={o}") for o in KEYS["opening"]
        )
        assert _table(free) == _table(center)


@pytest.mark.parametrize("tie", TIES)
def test_opening_center_is_its_own_first_move_whoever_opened(tie: str) -> None:
    free = policies(parse(f"minimax:tie={tie}"))
    for board, policy in policies(parse(f"minimax:tie={tie},opening=center")).items():
        first_move = board.ply == 0 or (board.ply == 1 and 4 in board.free)
        assert policy == (_uniform([4]) if first_move else free[board])


def test_trap_takes_what_leaves_the_most_losing_replies() -> None:
    for value in Value:
        engine = parse(f"minimax:value={value},tie=trap")
        for board in EVERY_OPEN:
            shares = {s: _losing_share(board, s) for s in optimal(board, value)}
            most = max(shares.values())
            expected = [s for s, share in shares.items() if share == most]
            assert engine.policy(board) == _uniform(expected)
            assert all(trap_share(board, s) == share for s, share in shares.items())


def _losing_share(board: Board, square: int) -> Fraction:
    after = board.after(square)
    if after.outcome is not None:
        return Fraction(0)
    # The mover's best is what the reply leaves: more than before means that the reply lost value.
    bad = [r for r in after.free if solve(after.after(r)).plain > solve(board).plain]
    return Fraction(len(bad), len(after.free))


def test_trap_on_boards_that_one_can_check_by_hand() -> None:
    # To a corner only the centre holds: 7 of 8 replies lose. To any other opening more replies do.
    assert trap_share(start(), 0) == Fraction(7, 8)
    assert trap_share(start(), 1) == trap_share(start(), 4) == Fraction(4, 8)
    assert parse("minimax:tie=trap").policy(start()) == _uniform([0, 2, 6, 8])


@given(open_boards, minimaxes)
def test_epsilon_mixes_in_a_uniform_move_from_the_first_one_on(
    board: Board, engine: Minimax
) -> None:
    own = Minimax(engine.value, engine.tie, engine.opening).policy(board)
    e = engine.epsilon
    mixed = tuple((1 - e) * p + e * q for p, q in zip(own, _uniform(board.free), strict=True))
    assert engine.policy(board) == mixed


def test_deterministic() -> None:
    ordered = {e for e in PERFECT if isinstance(e, Minimax) and e.tie not in ("uniform", "trap")}
    assert {engine for engine in PERFECT if engine.deterministic} == ordered
    assert not Random().deterministic
    assert not parse("minimax:tie=first,epsilon=0.000000001").deterministic


def test_a_policy_is_the_same_whichever_mark_opens() -> None:
    """With the marks swapped too: only the draw differs."""
    pairs = [
        (board, board_of([mark and mark.other for mark in board.squares], Mark.O))
        for board in OPEN[Mark.X]
    ]
    for engine in (Random(), *PERFECT):
        table = policies(engine)
        assert all(table[board] == table[swapped] for board, swapped in pairs)
