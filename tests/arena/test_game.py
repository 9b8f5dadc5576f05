"""The record of one game: what it takes, what it refuses, how it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark, Outcome, start
from arena.errors import RulesError
from arena.game import Attempt, Game, Message, Request, Termination, Turn, Verdict
from arena.opponents import salt_of
from tests.arena.samples import lines_of_play, reach

ATTEMPT = Attempt(
    prompt=(Message("user", "your move"),),
    reply="<move>9</move>",
    verdict=Verdict.OUT_OF_RANGE,
    square=None,
    contains=False,
    exact=False,
)
REQUEST = Request(status=503, seconds=0.1, sent={"model": "m"}, error="unavailable")

VOID = (Termination.ABANDONED, Termination.CONTEXT_EXCEEDED, Termination.PROVIDER_ERROR)
LOST = (Termination.FORFEIT_INVALID, Termination.FORFEIT_TRUNCATED, Termination.RESIGNED)
ON_THE_BOARD = (Termination.LINE, Termination.FULL_BOARD)


def turns_of(opener: Mark, moves: list[int]) -> list[Turn]:
    return [Turn(opener if i % 2 == 0 else opener.other, s) for i, s in enumerate(moves)]


@given(lines_of_play(), st.integers(0, 2**63 - 1))
def test_turns_move_the_board(played: tuple[Mark, list[int]], seed: int) -> None:
    opener, moves = played
    game = Game(opener, seed)
    assert (game.board, game.to_move, game.salt) == (start(opener), opener, salt_of(seed))
    for turn in turns_of(opener, moves):
        assert game.outcome is None
        game.add(turn)

    board = reach(opener, moves)
    assert game.board is board
    assert game.moves == tuple(moves)
    assert game.turns == turns_of(opener, moves)
    assert game.outcome is board.outcome
    expected = {None: None, Outcome.DRAW: Termination.FULL_BOARD}.get(
        board.outcome, Termination.LINE
    )
    assert game.termination is expected
    # A game made of its turns is the same game.
    assert Game(opener, seed, turns_of(opener, moves)) == game


@given(lines_of_play(), st.sampled_from(Mark), st.integers(-1, 9))
def test_what_is_no_legal_turn_changes_nothing(
    played: tuple[Mark, list[int]], mark: Mark, square: int
) -> None:
    opener, moves = played
    game = Game(opener, turns=turns_of(opener, moves))
    legal = game.outcome is None and mark is game.to_move and square in game.board.free
    if legal:
        game.add(Turn(mark, square))
        assert game.moves == (*moves, square)
    else:
        with pytest.raises(RulesError):
            game.add(Turn(mark, square))
        assert game == Game(opener, turns=turns_of(opener, moves))


def test_messages_for_the_user() -> None:
    game = Game(turns=turns_of(Mark.X, [4]))
    with pytest.raises(RulesError, match="it is O's turn, not X's"):
        game.add(Turn(Mark.X, 0))
    with pytest.raises(RulesError, match="4 is not a free square: free are 0, 1, 2, 3, 5"):
        game.add(Turn(Mark.O, 4))
    game = Game(turns=turns_of(Mark.X, [0, 3, 1, 4, 2]))
    with pytest.raises(RulesError, match="the game is over: no move is legal"):
        game.add(Turn(Mark.O, 5))


def test_a_full_board_with_a_line_is_a_line() -> None:
    game = Game(turns=turns_of(Mark.X, [0, 1, 2, 3, 4, 6, 5, 7, 8]))
    assert (game.board.ply, game.outcome, game.termination) == (9, Outcome.X, Termination.LINE)


def test_the_caller_s_list_of_turns_is_left_alone() -> None:
    mine = turns_of(Mark.X, [4])
    game = Game(turns=mine)
    game.add(Turn(Mark.O, 0))
    assert len(mine) == 1
    with pytest.raises(RulesError):
        Game(turns=turns_of(Mark.X, [4, 4]))


@pytest.mark.parametrize("loser", Mark)
@pytest.mark.parametrize("termination", LOST)
def test_a_fault_of_one_s_own_loses(termination: Termination, loser: Mark) -> None:
    game = Game(turns=turns_of(Mark.X, [4]))
    game.end(termination, loser, attempts=[ATTEMPT, ATTEMPT])
    assert (game.outcome, game.termination) == (Outcome.win(loser.other), termination)
    assert (game.unanswered, game.failed) == ((ATTEMPT, ATTEMPT), ())
    assert game.moves == (4,)


@pytest.mark.parametrize("termination", VOID)
def test_a_fault_of_nobody_s_is_void(termination: Termination) -> None:
    game = Game()
    game.end(termination, attempts=[ATTEMPT], requests=[REQUEST])
    assert (game.outcome, game.termination) == (Outcome.VOID, termination)
    assert (game.unanswered, game.failed) == ((ATTEMPT,), (REQUEST,))
    with pytest.raises(RulesError, match="the game is over"):
        game.add(Turn(Mark.X, 0))


@pytest.mark.parametrize(
    ("termination", "loser"),
    [(t, None) for t in (*LOST, *ON_THE_BOARD)] + [(t, Mark.X) for t in ON_THE_BOARD],
)
def test_terminations_that_cannot_end_a_game_so(
    termination: Termination, loser: Mark | None
) -> None:
    game = Game()
    with pytest.raises(RulesError, match=f"a game cannot end by {termination}"):
        game.end(termination, loser)
    assert game == Game()


def test_a_game_ends_once() -> None:
    over = Game(turns=turns_of(Mark.X, [0, 3, 1, 4, 2]))
    resigned = Game()
    resigned.end(Termination.RESIGNED, Mark.X)
    for game in (over, resigned):
        before = (game.outcome, game.termination)
        with pytest.raises(RulesError, match="over already"):
            game.end(Termination.PROVIDER_ERROR)
        assert (game.outcome, game.termination) == before


def test_terminations_by_kind() -> None:
    assert {*VOID, *LOST, *ON_THE_BOARD} == set(Termination)
    assert tuple(t for t in Termination if t.is_forfeit) == LOST[:2]
    assert {t for t in Termination if t.is_void} == set(VOID)
