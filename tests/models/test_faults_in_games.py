"""Whole games over a bad network: a fault is never a loss, and changes no result."""

from __future__ import annotations

import asyncio

from arena.board import Outcome
from arena.game import Game, Termination
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer
from models.endpoint import Patience
from models.entries import Entry
from models.library import SHIPPED
from models.player import ModelPlayer
from tests.servers import Json, PolicyModel

GAMES = 500
AT_ONCE = 16


async def play_all(endpoint) -> list[Game]:
    entry = Entry(name="m", base_url=endpoint.base_url, model="m")
    model = ModelPlayer(entry, SHIPPED[entry.prompt], endpoint)
    opponent = EnginePlayer(parse("minimax"))
    places = asyncio.Semaphore(AT_ONCE)

    async def one(seed: int) -> Game:
        async with places:
            return await finish(Game(seed=seed), opponent, model)

    return await asyncio.gather(*(one(seed) for seed in range(GAMES)))


async def test_a_bad_network_changes_no_game(serve, connect):
    hurried = Patience(backoff_s=0.001)
    good = serve(PolicyModel())
    bad = serve(PolicyModel(rate_limited=0.3, failing=0.1, dropped=0.05, seed=1))
    wanted = await play_all(connect(good, patience=hurried))
    games = await play_all(connect(bad, patience=hurried))
    assert {game.outcome for game in games} == {Outcome.DRAW}
    assert [game.moves for game in games] == [game.moves for game in wanted]
    attempts = [a for game in games for turn in game.turns for a in turn.attempts]
    failed = [r for a in attempts for r in a.requests if r.error]
    assert {r.status for r in failed} == {429, 500, None}
    assert len(failed) + len(attempts) == len(bad.requests)


async def test_a_dead_endpoint_makes_no_losses(serve, connect):
    dead = serve(Json(500, {"error": {"message": "internal error"}}))
    games = await play_all(connect(dead, patience=Patience(backoff_s=0.001, max_tries=2)))
    assert {game.termination for game in games} == {Termination.PROVIDER_ERROR}
    assert {game.outcome for game in games} == {Outcome.VOID}
    assert all("internal error" in (game.failed[-1].error or "") for game in games)
