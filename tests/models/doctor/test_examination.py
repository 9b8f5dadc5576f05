"""A whole examination: what a card holds, what it never does, and where it ends."""

from __future__ import annotations

import json

import pytest

from arena.errors import NotFoundError
from models.doctor import examine
from models.registry import Registry
from tests.models.doctor.conftest import OK, has, outcomes, probe, refusing
from tests.servers import Json, Page, PolicyModel, Say, Silence, Talker, payload

CANARY = "sk-canary-9f8e7d6c5b4a"
NAMES = [
    *("reachable", "key", "model", "format", "latency", "streaming", "system role", "roles"),
    *("context", "seed", "temperature 0", "repeats", "concurrency", "token limit", "reasoning"),
    *("empty replies", "usage"),
]


async def test_a_server_that_does_everything(serve, doctor):
    server = serve(Talker(), models=[{"id": "m", "max_model_len": 16_384}])
    steps: list[str] = []
    card = await doctor(server, on_step=steps.append)
    assert [each.name for each in card.probes] == NAMES
    assert outcomes(card) == dict.fromkeys(NAMES, OK)
    assert (card.ok, card.stopped, card.summary) == (True, None, "ready to play")
    assert card.adaptations == ()
    assert len(steps) == 8
    assert card.requests == len(server.requests) + 1
    assert probe(card, "context").figures == {"tokens": 16_384}
    assert probe(card, "format").figures == {"replies": 3, "legal": 3, "contains": 3, "exact": 3}
    assert "Kept" in probe(card, "system role").seen
    lines = card.lines()
    assert lines[0] == "tiny: ready to play"
    assert len(lines) == 2 + len(NAMES)


async def test_requests_are_a_games(serve, doctor):
    """But for what each probe changes: the entry's sampling and further parameters are sent."""
    server = serve(Talker())
    await doctor(server, "extra_body = { top_a = 1 }", "sampling = { top_k = 20, max_tokens = 99 }")
    for request in server.requests:
        assert (request.body["top_a"], request.body["top_k"]) == (1, 20)
        assert request.body["max_tokens"] <= 256
    first = [each for each in server.requests if "tic-tac-toe" in json.dumps(each.body)]
    assert [each.body["max_tokens"] for each in first] == [99] * 4
    assert [each.body.get("stream", False) for each in first] == [False, False, False, True]


async def test_no_such_model(serve, doctor, tmp_path):
    await doctor(serve(Talker()))
    with pytest.raises(NotFoundError, match="did you mean 'tiny'"):
        await examine(Registry.load(tmp_path / "models.toml"), "tinny")


async def test_no_more_requests_than_allowed(serve, doctor):
    for most in (6, 16, 20):
        server = serve(Talker())
        card = await doctor(server, most_requests=most)
        assert card.ok
        assert len(server.requests) < most
        assert sorted(each.name for each in card.probes) == sorted(NAMES)
        assert f"Not tried: {most} requests were sent." in probe(card, "concurrency").seen
    card = await doctor(serve(Talker()), most_requests=2)
    assert card.stopped == "No first move had come when 2 requests were sent."


async def test_a_server_that_falls_silent(serve, doctor):
    server = serve(refusing(Silence(), has("stream")))
    card = await doctor(server, deadline_s=1)
    assert card.ok
    assert "Not tried: 1 s were over." in probe(card, "streaming").seen
    assert outcomes(card)["token limit"] is OK


async def test_a_slow_model_is_asked_once(serve, doctor, time):
    def slow(body):
        time.now += 40
        return Talker()(body)

    card = await doctor(serve(slow))
    assert probe(card, "format").figures["replies"] == 1
    assert probe(card, "latency").figures["reply_s"] == 40


async def test_a_flaky_server(serve, doctor):
    model = PolicyModel(seed=3, rate_limited=0.1, failing=0.1)

    def flaky(body):
        # Only its faults: what it would play is the talker's part.
        answer = model(body) if "tic-tac-toe" in json.dumps(body) else None
        return Talker()(body) if answer is None or isinstance(answer, Say) else answer

    assert (await doctor(serve(flaky))).ok


@pytest.mark.parametrize(
    "answer",
    [
        payload("bad_key"),
        payload("server_error"),
        payload("unknown_model"),
        Json(400, {"error": f"{CANARY} is wrong"}),
        Page(500, f"got Bearer {CANARY}"),
        Json(200, {"error": {"message": f"got {CANARY}"}}),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
async def test_a_key_that_is_echoed_is_in_no_card(answer, begun, serve, doctor):
    """Neither where nothing works, nor where only what comes after the first moves fails."""
    server = serve(
        refusing(answer, lambda body: not begun or body["max_tokens"] in (32, 256)),
        models=["m", f"named-{CANARY}", *[f"x{number}" for number in range(3)]],
        echo_headers=True,
    )
    steps: list[str] = []
    lines = ['api_key_env = "KEY"', 'headers_env = { X-Tenant = "TENANT" }', 'model = "n"']
    environ = {"KEY": CANARY, "TENANT": "tenant-canary"}
    card = await doctor(server, *lines, environ=environ, on_step=steps.append)
    assert card.ok is begun
    assert server.requests[0].headers["Authorization"] == f"Bearer {CANARY}"
    for shown in (repr(card), json.dumps(card.to_json()), *card.lines(), *steps):
        assert "canary" not in shown


async def test_a_reply_is_in_no_card(serve, doctor):
    """It may be anything: what a model says is shown where games are shown."""
    card = await doctor(serve(Say("<b>pwned</b>", reasoning="pwned")))
    assert "pwned" not in json.dumps(card.to_json())
