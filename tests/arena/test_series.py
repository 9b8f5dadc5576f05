"""Many games between two players, and what they come to."""

import asyncio

import pytest

from arena.board import Mark, Outcome
from arena.game import Game, Termination
from arena.opponents import parse
from arena.players import EnginePlayer
from arena.series import Tally, play_series


async def games_of(x: str, o: str, seeds: range, **options) -> list[Game]:
    players = EnginePlayer(parse(x)), EnginePlayer(parse(o))
    return [game async for game in play_series(*players, seeds=seeds, **options)]


async def test_one_game_a_seed_with_openers_in_turn():
    games = await games_of("random", "minimax", range(7, 12), openers=(Mark.X, Mark.O))
    assert [game.seed for game in games] == [7, 8, 9, 10, 11]
    assert [game.opener for game in games] == [Mark.X, Mark.O, Mark.X, Mark.O, Mark.X]
    assert all(game.outcome for game in games)


async def test_a_seed_gives_its_game_in_any_series():
    whole = await games_of("random", "random", range(20))
    (alone,) = await games_of("random", "random", range(13, 14))
    assert alone.moves == whole[13].moves


async def test_the_tally_adds_up():
    tally = Tally()
    games = await games_of("random", "random", range(300))
    for game in games:
        tally.add(game)
    assert tally.games == 300 == sum(tally.outcomes.values())
    assert tally.distinct == len({game.moves for game in games})
    for outcome in Outcome:
        assert tally.outcomes[outcome] == sum(game.outcome is outcome for game in games)


def test_void_games_have_no_line_and_are_counted_in_a_row():
    tally = Tally()
    void, forfeit = Game(), Game()
    void.end(Termination.PROVIDER_ERROR)
    forfeit.end(Termination.FORFEIT_INVALID, Mark.X)
    tally.add(void)
    tally.add(void)
    assert (tally.void_in_a_row, tally.distinct, tally.forfeits) == (2, 0, 0)
    tally.add(forfeit)
    assert (tally.void_in_a_row, tally.distinct, tally.forfeits) == (0, 1, 1)
    assert tally.outcomes[Outcome.O] == 1


def test_a_game_under_way_does_not_count():
    with pytest.raises(ValueError, match="finished"):
        Tally().add(Game())


async def test_a_series_of_engines_can_be_cancelled():
    begun = asyncio.Event()

    async def endless() -> None:
        player = EnginePlayer(parse("random"))
        async for _ in play_series(player, player, seeds=range(10**9)):
            begun.set()

    task = asyncio.create_task(endless())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
