"""A model in a seat: replies, forfeits, faults, and games taken up again."""

from __future__ import annotations

import random

import pytest

from arena.board import Mark
from arena.game import Attempt, Game, Termination, Verdict
from arena.match import finish, play
from arena.opponents import parse
from arena.players import EnginePlayer
from models.completion import Fault
from models.endpoint import Patience
from models.entries import Entry
from models.library import SHIPPED
from models.player import ModelPlayer, seed_of
from tests.servers import Json, PolicyModel, Say, payload

CUT = Say("<think>hm", finish_reason="length")
PROSE = Say("I take the centre.")


@pytest.fixture
def seat(connect):
    def sit(server, patience=None, **fields) -> ModelPlayer:
        callbacks = {name: fields.pop(name) for name in list(fields) if name.startswith("on_")}
        table = {"name": "m", "base_url": server.base_url, "model": "m", **fields}
        entry = Entry.model_validate(table)
        options = {} if patience is None else {"patience": patience}
        return ModelPlayer(entry, SHIPPED[entry.prompt], connect(server, **options), **callbacks)

    return sit


def move(square, text="x"):
    return Say(f"<think>{text}</think><move>{square}</move>")


async def test_what_the_server_changed_is_said_of_each_reply_that_it_changed(serve, seat):
    refused = {"temperature", "seed"}

    def answer(body):
        name = next((name for name in body if name in refused), None)
        if name:
            return Json(400, {"error": {"message": f"Unsupported: '{name}'", "param": name}})
        return move(4 if len(body["messages"]) == 2 else 8)

    player = seat(serve(answer), sampling={"temperature": 0.0})
    game = await finish(Game(seed=1), player, EnginePlayer(parse("minimax:tie=first")))
    said = [attempt for turn in game.turns for attempt in turn.attempts]
    assert said
    assert {attempt.adaptations for attempt in said} == {("no_temperature", "no_seed")}
    assert said[0].seed is None
    assert [request.status for request in said[0].requests] == [400, 400, 200]


async def test_fewer_tokens_are_said_of_the_reply_that_had_fewer(serve, seat):
    tight = payload("vllm_context_exceeded")
    player = seat(serve([tight, move(4), move(0)]))
    first = await player.decide(Game(seed=1))
    second = await player.decide(Game(seed=2))
    adaptations = [decision.attempts[0].adaptations for decision in (first, second)]
    assert adaptations == [("fewer_tokens",), ()]


async def test_an_invalid_reply_gets_feedback_and_another_chance(serve, seat):
    server = serve([PROSE, Say(""), move(9), move(4)])
    told: list[Attempt] = []
    decision = await seat(server, on_attempt=told.append).decide(Game(seed=1))
    assert decision.square == 4
    assert [a.verdict for a in decision.attempts] == ["no_move", "empty", "out_of_range", "ok"]
    assert tuple(told) == decision.attempts
    assert len({a.seed for a in decision.attempts}) == 4
    for attempt, request in zip(decision.attempts, server.requests, strict=True):
        assert request.body["seed"] == attempt.seed
        assert request.body["messages"] == [
            {"role": message.role, "content": message.content} for message in attempt.prompt
        ]
    last = decision.attempts[-1]
    assert [m.role for m in last.prompt] == ["system"] + ["user", "assistant"] * 2 + ["user"]
    assert (last.contains, last.exact, last.finish_reason) == (True, True, "stop")
    assert (last.prompt_tokens or 0) > 0
    assert [request.status for request in last.requests] == [200]


@pytest.mark.parametrize(
    ("script", "termination"),
    [
        ([PROSE], Termination.FORFEIT_INVALID),
        ([PROSE, PROSE, CUT], Termination.FORFEIT_TRUNCATED),
        ([CUT, CUT, PROSE], Termination.FORFEIT_INVALID),
    ],
)
async def test_a_game_is_forfeited_when_no_reply_is_left(script, termination, serve, seat):
    server = serve(script)
    game = await finish(Game(), seat(server, max_replies=3), EnginePlayer(parse("random")))
    assert (game.outcome, game.termination) == ("o", termination)
    assert len(game.unanswered) == len(server.requests) == 3
    assert game.turns == []


async def test_the_cap_counts_the_whole_game_legal_replies_included(serve, seat):
    script = [CUT, move(0), PROSE, move(8)]
    player = seat(serve(script), max_replies=4)
    game = await finish(Game(), player, EnginePlayer(parse("minimax:tie=first")))
    assert (game.outcome, game.termination) == ("o", Termination.FORFEIT_INVALID)
    assert [len(turn.attempts) for turn in game.turns] == [2, 0, 2, 0]
    assert game.unanswered == ()


async def test_legal_replies_alone_can_use_up_the_cap(serve, seat):
    player = seat(serve(PolicyModel()), max_replies=1)
    game = await finish(Game(), player, EnginePlayer(parse("minimax")))
    assert game.termination is Termination.FORFEIT_INVALID
    assert len(game.turns) == 2


@pytest.mark.parametrize(
    ("name", "termination"),
    [
        ("server_error", Termination.PROVIDER_ERROR),
        ("bad_key", Termination.PROVIDER_ERROR),
        ("context_exceeded", Termination.CONTEXT_EXCEEDED),
    ],
)
async def test_a_fault_makes_the_game_void_and_keeps_what_was_said(name, termination, serve, seat):
    faults: list[Fault] = []
    player = seat(serve([move(0), PROSE, payload(name)]), on_fault=faults.append)
    game = await finish(Game(), player, EnginePlayer(parse("minimax")))
    assert (game.outcome, game.termination) == ("void", termination)
    assert [attempt.verdict for attempt in game.unanswered] == [Verdict.NO_MOVE]
    assert game.failed == faults[0].requests
    assert game.failed[-1].error
    assert faults[0].fatal is (name == "bad_key")


@pytest.mark.parametrize("history", ["full", "board"])
async def test_a_game_taken_up_again_asks_the_same(history, serve, seat):
    """A process that ended between two turns, and another one, send the same requests."""
    script = [PROSE, move(4), Say("", finish_reason="stop"), move(2), move(6), move(7), move(1)]
    opponent = EnginePlayer(parse("minimax:tie=last"))
    whole = serve(script)
    await finish(Game(seed=5), seat(whole, history=history), opponent)

    parted = serve(script)
    game = Game(seed=5)
    while not game.outcome:
        async for _ in play(game, seat(parted, history=history), opponent):
            break
        if not game.outcome:
            game = Game(seed=5, turns=list(game.turns))
    assert [r.body for r in parted.requests] == [r.body for r in whole.requests]


@pytest.mark.parametrize("spec", ["minimax:tie=first", "minimax:tie=trap", "random"])
@pytest.mark.parametrize("opener", list(Mark))
async def test_whole_games_against_a_perfect_model(spec, opener, serve, seat):
    model = seat(serve(PolicyModel("minimax")))
    game = await finish(Game(opener, seed=3), model, EnginePlayer(parse(spec)))
    assert game.outcome in ("x", "draw")


async def test_thinking_in_a_field_of_its_own_goes_back_as_it_came(serve, seat):
    said = Say("<move>4</move>", reasoning="Centre.", reasoning_field="reasoning")
    server = serve([said, move(2), move(6), move(0), move(8), move(1)])
    player = seat(server, reasoning_history="keep")
    await finish(Game(), player, EnginePlayer(parse("minimax:tie=first")))
    assert server.requests[1].body["messages"][2] == {
        "role": "assistant",
        "content": "<move>4</move>",
        "reasoning": "Centre.",
    }


async def test_the_entrys_sampling_and_extra_body_are_sent(serve, seat):
    server = serve(move(4))
    sampling = {"temperature": 0.0, "top_k": 5}
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    await seat(server, sampling=sampling, extra_body=extra).decide(Game())
    body = server.requests[0].body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0, 1, 1024)
    assert (body["top_k"], body["chat_template_kwargs"]) == (5, {"enable_thinking": False})


async def test_the_systems_place_is_recorded_as_it_was_sent(serve, seat):
    server = serve([payload("system_role_unsupported"), move(4)])
    decision = await seat(server).decide(Game())
    [attempt] = decision.attempts
    assert [message.role for message in attempt.prompt] == ["user"]
    assert [request.status for request in attempt.requests] == [400, 200]


async def test_a_server_in_a_bad_mood_costs_no_game(serve, seat):
    """30 % rate limits, 10 % errors and 5 % broken connections: nothing void, nothing lost."""
    moody = PolicyModel(seed=11, rate_limited=0.3, failing=0.1, dropped=0.05)
    player = seat(serve(moody), Patience(timeout_s=5))
    opponents = ["minimax", "minimax:tie=trap", "minimax:value=plain,tie=last"]
    for seed in range(30):
        game = Game(random.Random(seed).choice(list(Mark)), seed=seed)
        await finish(game, player, EnginePlayer(parse(opponents[seed % 3])))
        assert (game.outcome, game.termination) == ("draw", Termination.FULL_BOARD)


async def test_a_server_that_always_fails_makes_every_game_void(serve, seat):
    player = seat(serve(Json(500, {"error": {"message": "internal error"}})))
    for seed in range(3):
        game = await finish(Game(seed=seed), player, EnginePlayer(parse("random")))
        assert game.outcome == "void"


def test_seeds_are_pinned_and_differ():
    """Stored games can be asked anew only while these hold."""
    pinned = {(0, 0, 0): 954556858, (0, 0, 1): 468593225, (0, 2, 0): 1814051537}
    assert {key: seed_of(*key) for key in pinned} == pinned
    seeds = [seed_of(g, p, a) for g in range(40) for p in range(9) for a in range(8)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 < seed < 2**31 for seed in seeds)
    rollouts = {
        seed_of(g, p, a, r) for g in range(9) for p in range(9) for a in (0, 1) for r in range(9)
    }
    assert len(rollouts) == 9 * 9 * 2 * 9


async def test_a_rollout_is_another_sample_of_the_same_cell(serve, seat):
    server = serve(move(4))
    for rollout in (0, 1, 0):
        await seat(server).decide(Game(seed=3, rollout=rollout))
    seeds = [request.body["seed"] for request in server.requests]
    assert seeds == [seed_of(3, 0, 0), seed_of(3, 0, 0, 1), seed_of(3, 0, 0)]
