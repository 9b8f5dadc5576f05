"""The referee: any two players, turns as they happen, and every way in which a game ends."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from arena.board import Mark, Outcome
from arena.errors import RulesError
from arena.exact import results
from arena.game import Attempt, Game, Message, Request, Termination, Turn, Verdict
from arena.match import finish, play
from arena.opponents import parse
from arena.players import Decision, EnginePlayer, Identity, Kind, Person


class Scripted:
    """A player that gives the decisions it was made with, one a turn."""

    def __init__(self, *decisions: Decision) -> None:
        self.identity = Identity(Kind.MODEL, "scripted")
        self._decisions: Iterator[Decision] = iter(decisions)

    async def decide(self, game: Game) -> Decision:
        await asyncio.sleep(0)
        return next(self._decisions)


def attempt(reply: str, verdict: Verdict, square: int | None = None) -> Attempt:
    return Attempt((Message("user", "?"),), reply, verdict, square, contains=False, exact=False)


def engine(spec: str) -> EnginePlayer:
    return EnginePlayer(parse(spec))


def marks_of(turns: Iterable[Turn]) -> str:
    return "".join(turn.mark for turn in turns)


@pytest.mark.parametrize("opener", Mark)
async def test_engines_play_a_game_through(opener: Mark) -> None:
    for seed in range(200):
        game = await finish(Game(opener, seed), engine("random"), engine("minimax"))
        assert game.outcome in (Outcome.O, Outcome.DRAW)
        assert marks_of(game.turns) == (f"{opener}{opener.other}" * 5)[: len(game.turns)]
        assert all(turn.attempts == () for turn in game.turns)
        assert game.outcome is game.board.outcome
        # What was played is what a replay of the record gives.
        assert Game(opener, seed, list(game.turns)) == game


async def test_each_engine_has_the_seat_it_was_given() -> None:
    """Seats go by mark, not by who opens."""
    for opener in Mark:
        x, o = engine("minimax:tie=first"), engine("minimax:tie=last")
        game = await finish(Game(opener), x, o)
        first = {Mark.X: 0, Mark.O: 8}[opener]
        assert game.moves[0] == first
        assert game.outcome is Outcome.DRAW


async def test_the_same_seed_is_the_same_game() -> None:
    def games() -> list[Game]:
        return [Game(seed=seed) for seed in range(100)]

    x, o = engine("random"), engine("minimax:epsilon=0.5")
    one_by_one = [await finish(game, x, o) for game in games()]
    at_once = await asyncio.gather(*(finish(game, x, o) for game in reversed(games())))
    assert one_by_one == list(reversed(at_once))
    assert len({game.moves for game in one_by_one}) > 50


async def test_20_000_random_games_agree_with_the_exact_results() -> None:
    x, o = engine("random"), engine("random")
    ended = Counter([(await finish(Game(seed=seed), x, o)).outcome for seed in range(20_000)])
    exact = results(parse("random").policy, parse("random").policy)
    for outcome, share in zip((Outcome.X, Outcome.DRAW, Outcome.O), exact, strict=True):
        seen, p = ended[outcome], float(share)
        assert abs(seen / 20_000 - p) <= 4 * (p * (1 - p) / 20_000) ** 0.5


async def test_turns_are_yielded_as_they_happen() -> None:
    game = Game(seed=5)
    seen = []
    async for turn in play(game, engine("random"), engine("random")):
        seen.append(turn)
        # The game has taken the turn, and no later one.
        assert game.turns == seen
    assert seen == game.turns
    assert game.outcome is not None


async def test_the_caller_may_stop_between_two_turns_and_go_on() -> None:
    x, o = engine("random"), engine("random")
    whole = await finish(Game(seed=5), x, o)
    stopped = Game(seed=5)
    turns = play(stopped, x, o)
    assert [await anext(turns), await anext(turns)] == whole.turns[:2]
    await turns.aclose()  # type: ignore[attr-defined]
    assert stopped.turns == whole.turns[:2]
    # From its record, as another process would, and from the game itself.
    assert await finish(Game(seed=5, turns=list(stopped.turns)), x, o) == whole
    assert await finish(stopped, x, o) == whole


async def test_a_person_stops_the_referee_and_resumes_it() -> None:
    game = Game(seed=1)
    o = engine("minimax:tie=first")
    assert [turn async for turn in play(game, Person("Ada"), o)] == []
    assert game.outcome is None

    moved = [turn async for turn in play(game, Person("Ada", [4]), o)]
    assert [(turn.mark, turn.square) for turn in moved] == [(Mark.X, 4), (Mark.O, 0)]
    assert game.outcome is None
    # Nothing happens until the person moves, however often it is asked.
    assert [turn async for turn in play(game, Person("Ada"), o)] == []

    for square in (1, 6, 5, 8):
        assert game.outcome is None
        await finish(game, Person("Ada", [square]), o)
    assert game.moves == (4, 0, 1, 7, 6, 2, 5, 3, 8)
    assert game.outcome is Outcome.DRAW


async def test_two_people() -> None:
    game = await finish(Game(), Person("Ada", [0, 1, 2]), Person("Bob", [3, 4]))
    assert (game.outcome, game.moves) == (Outcome.X, (0, 3, 1, 4, 2))


async def test_a_game_that_is_over_is_left_alone() -> None:
    game = await finish(Game(), Person(moves=[0, 1, 2]), Person(moves=[3, 4]))
    assert [turn async for turn in play(game, Scripted(), Scripted())] == []


async def test_attempts_are_kept_with_the_turn() -> None:
    bad, good = attempt("hm", Verdict.NO_MOVE), attempt("<move>5</move>", Verdict.OK, 4)
    player = Scripted(Decision(4, (bad, good)))
    game = Game()
    turns = [turn async for turn in play(game, player, Person())]
    assert turns == game.turns == [Turn(Mark.X, 4, (bad, good))]


@pytest.mark.parametrize(
    "termination", [Termination.FORFEIT_INVALID, Termination.FORFEIT_TRUNCATED]
)
@pytest.mark.parametrize("mark", Mark)
async def test_a_forfeit_loses_the_game_and_keeps_the_attempts(
    termination: Termination, mark: Mark
) -> None:
    replies = (attempt("?", Verdict.NO_MOVE),) * 8
    player, other = Scripted(Decision(None, replies, termination)), engine("minimax:tie=first")
    game = Game(opener=mark.other)
    await finish(game, *((player, other) if mark is Mark.X else (other, player)))
    assert game.outcome is Outcome.win(mark.other)
    assert (game.termination, game.unanswered, game.failed) == (termination, replies, ())
    assert game.moves == (0,)


@pytest.mark.parametrize("termination", [Termination.PROVIDER_ERROR, Termination.CONTEXT_EXCEEDED])
async def test_a_fault_of_the_endpoint_voids_the_game(termination: Termination) -> None:
    replies = (attempt("?", Verdict.NO_MOVE),)
    failed = (Request(status=None, seconds=1.0, sent={}, error="connection refused"),)
    game = await finish(
        Game(),
        Scripted(Decision(0), Decision(None, replies, termination, failed)),
        engine("minimax:tie=center"),
    )
    assert (game.outcome, game.termination) == (Outcome.VOID, termination)
    assert (game.unanswered, game.failed) == (replies, failed)
    assert game.moves == (0, 4)


async def test_a_player_may_resign() -> None:
    game = await finish(Game(), Scripted(Decision(None, (), Termination.RESIGNED)), Person())
    assert (game.outcome, game.termination) == (Outcome.O, Termination.RESIGNED)


@pytest.mark.parametrize("square", [4, 9, -1])
async def test_an_illegal_square_is_an_error_and_changes_nothing(square: int) -> None:
    game = Game()
    players = Scripted(Decision(4), Decision(0)), Scripted(Decision(square), Decision(1))
    with pytest.raises(RulesError, match=f"{square} is not a free square"):
        await finish(game, *players)
    assert game == Game(turns=[Turn(Mark.X, 4)])
    # The same player may be asked again.
    assert (await anext(play(game, *players))).square == 1


@pytest.mark.parametrize("termination", [Termination.LINE, Termination.FULL_BOARD])
async def test_no_player_declares_how_the_board_ended(termination: Termination) -> None:
    game = Game()
    with pytest.raises(RulesError, match="cannot end by"):
        await finish(game, Scripted(Decision(None, (), termination)), Person())
    assert game == Game()
