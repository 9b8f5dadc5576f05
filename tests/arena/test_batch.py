"""Batches of games against the referee: the same games, move for move."""

import pytest

from arena.batch import GAMES, Batch, play_batch, play_batches
from arena.board import Mark
from arena.game import Game
from arena.match import finish
from arena.opponents import parse, symmetric_opponents
from arena.players import EnginePlayer
from arena.series import Tally, play_series

SPECS = (
    *("random", "minimax", "minimax:value=plain", "minimax:tie=trap", "minimax:opening=center"),
    *(f"minimax:tie={tie}" for tie in ("first", "last", "center", "corner", "edge")),
    *(
        "minimax:epsilon=1",
        "minimax:epsilon=0.25",
        "minimax:value=plain,tie=s5,epsilon=0.333333333",
    ),
    *symmetric_opponents()[::5],
)


async def differences(batch: Batch, x: str, o: str) -> list[int]:
    """The seeds of the games that the referee plays otherwise."""
    players = EnginePlayer(parse(x)), EnginePlayer(parse(o))
    found = []
    for number, seed in enumerate(batch.seeds):
        game = await finish(Game(batch.opener, seed), *players)
        if (game.moves, game.outcome) != (batch.line(number), batch.outcome(number)):
            found.append(seed)
    return found


@pytest.mark.parametrize("number", range(len(SPECS)))
@pytest.mark.parametrize("opener", Mark)
async def test_they_are_the_referee_s_games(number: int, opener: Mark) -> None:
    """Each spec in each seat; the other one differs from it and from case to case."""
    x, o = SPECS[number], SPECS[(3 * number + 1) % len(SPECS)]
    batch = play_batch(parse(x), parse(o), range(number, number + 400), opener)
    assert len(batch) == 400
    assert await differences(batch, x, o) == []


@pytest.mark.parametrize("seeds", [range(2**63 - 200, 2**63), range(500, 0, -3), range(7, 8)])
async def test_any_seeds(seeds: range) -> None:
    batch = play_batch(parse("random"), parse("minimax:epsilon=0.5"), seeds)
    assert await differences(batch, "random", "minimax:epsilon=0.5") == []


@pytest.mark.parametrize("seeds", [range(-1, 3), range(2**63 - 1, 2**63 + 1)])
def test_what_is_no_seed(seeds: range) -> None:
    with pytest.raises(ValueError, match="a seed is a whole number from 0"):
        play_batch(parse("random"), parse("random"), seeds)


@pytest.mark.parametrize("openers", [(Mark.X,), (Mark.O, Mark.X)])
async def test_a_series_in_batches_comes_to_the_same(openers: tuple[Mark, ...]) -> None:
    games = GAMES * len(openers) + 1001
    seeds = range(9, 9 + games)
    x, o = parse("random"), parse("minimax:tie=first,epsilon=0.5")
    one, other = Tally(), Tally()
    async for game in play_series(EnginePlayer(x), EnginePlayer(o), seeds=seeds, openers=openers):
        one.add(game)
    batches = list(play_batches(x, o, seeds, openers))
    for batch in batches:
        other.add_many(batch.opener, batch.outcomes, batch.lines())
    assert [len(batch) for batch in batches].count(GAMES) == len(openers)
    assert other.games == games
    assert (other.outcomes, other.distinct) == (one.outcomes, one.distinct)
