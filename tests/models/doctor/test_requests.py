"""What servers refuse of a request, and what they do with it without a word."""

from __future__ import annotations

import pytest

from models.adapt import Adaptation
from tests.models.doctor.conftest import (
    NOTE,
    OK,
    PROBLEM,
    UNKNOWN,
    has,
    outcomes,
    probe,
    refusing,
    roles_of,
)
from tests.servers import Json, Say, Talker, payload


@pytest.mark.parametrize(
    ("answer", "condition", "adaptation", "name", "outcome"),
    [
        (
            payload("max_tokens_unsupported"),
            has("max_tokens"),
            Adaptation.MAX_COMPLETION_TOKENS,
            "token limit",
            NOTE,
        ),
        (payload("seed_unsupported"), has("seed"), Adaptation.NO_SEED, "seed", NOTE),
        (
            payload("system_role_unsupported"),
            lambda body: "system" in roles_of(body),
            Adaptation.SYSTEM_IN_USER,
            "system role",
            NOTE,
        ),
        (
            payload("vllm_system_role_wrapped"),
            lambda body: "system" in roles_of(body),
            Adaptation.SYSTEM_IN_USER,
            "system role",
            NOTE,
        ),
        (
            Json(400, {"error": {"message": "stream is not supported", "param": "stream"}}),
            has("stream"),
            Adaptation.NO_STREAM,
            "streaming",
            NOTE,
        ),
    ],
)
async def test_what_is_refused_of_a_game(
    answer, condition, adaptation, name, outcome, serve, doctor
):
    card = await doctor(serve(refusing(answer, condition)))
    assert card.ok
    assert card.adaptations == (adaptation,)
    assert outcomes(card)[name] is outcome
    said = card.to_json()["adaptations"]
    assert said == [{"name": adaptation.value, "description": adaptation.description}]
    assert f"  {adaptation.description}" in card.lines()
    assert "worth knowing" in card.summary


async def test_the_parameter_that_spares_a_refusal_is_named(serve, doctor):
    server = serve(refusing(payload("max_tokens_unsupported"), has("max_tokens")))
    change = str(probe(await doctor(server), "token limit").change)
    assert "sampling.max_completion_tokens" in change
    card = await doctor(server, "sampling = { max_completion_tokens = 64 }")
    assert (card.adaptations, outcomes(card)["token limit"]) == ((), OK)


@pytest.mark.parametrize(
    ("line", "outcome", "adaptations"),
    [("", NOTE, ()), ("sampling = { temperature = 0 }", PROBLEM, (Adaptation.NO_TEMPERATURE,))],
)
async def test_a_server_that_refuses_temperature_0(line, outcome, adaptations, serve, doctor):
    server = serve(
        refusing(payload("temperature_unsupported"), lambda body: body.get("temperature") == 0)
    )
    card = await doctor(server, line)
    found = outcomes(card)
    assert (found["temperature 0"], found["repeats"]) == (outcome, UNKNOWN)
    # What only the probe asked for is forced on no game.
    assert card.adaptations == adaptations
    assert card.ok


async def test_roles_that_must_alternate(serve, doctor):
    def two_in_a_row(body):
        return any(a == b for a, b in zip(roles_of(body), roles_of(body)[1:], strict=False))

    card = await doctor(serve(refusing(payload("roles_must_alternate"), two_in_a_row)))
    assert "have to alternate" in probe(card, "roles").seen
    assert (outcomes(card)["roles"], card.adaptations) == (OK, ())


async def test_a_chat_that_must_not_go_on(serve, doctor):
    refusal = Json(400, {"error": {"message": "only one message is accepted"}})
    server = serve(refusing(refusal, lambda body: "assistant" in roles_of(body)))
    card = await doctor(server)
    assert probe(card, "roles").outcome is PROBLEM
    assert "board" in str(probe(card, "roles").change)
    assert card.summary == "ready, but see roles"


@pytest.mark.parametrize(
    ("talker", "outcome", "words"),
    [
        (Talker(system="dropped"), PROBLEM, "dropped: the prompt has as many tokens whatever"),
        (Talker(system="dropped", usage=False), PROBLEM, "only where the user says it"),
        (Talker(system="moved"), OK, "the server itself puts it into the user message"),
        (Talker(usage=False), OK, "Kept"),
        (Talker(obedient=False), OK, "repeats no word of it, nor of the user's"),
        (Talker(obedient=False, usage=False), UNKNOWN, "cannot be told"),
        (Talker(obedient=False, system="dropped"), PROBLEM, "dropped"),
    ],
)
async def test_what_becomes_of_a_system_message(talker, outcome, words, serve, doctor):
    found = probe(await doctor(serve(talker)), "system role")
    assert found.outcome is outcome
    assert words in found.seen


async def test_a_format_without_a_system_message(serve, doctor, tmp_path):
    (tmp_path / "formats.toml").write_text(
        '[format.bare]\nfirst = "tic-tac-toe {mark} {board}"\nnext = "{board}"\ninvalid = "no"\n'
    )
    server = serve(refusing(payload("system_role_unsupported"), lambda b: "system" in roles_of(b)))
    server.answer = Talker(plays=Say("<think>a</think><move>4</move>"))
    card = await doctor(server, 'prompt = "bare"')
    assert (outcomes(card)["system role"], card.adaptations) == (UNKNOWN, ())
    assert all("system" not in roles_of(request.body) for request in server.requests)


async def test_a_seed_that_is_not_honoured(serve, doctor):
    found = probe(await doctor(serve(Talker(seeded=False))), "seed")
    assert found.outcome is NOTE
    assert "the same seed gave two different replies" in found.seen


async def test_replies_that_are_always_the_same(serve, doctor):
    card = await doctor(serve(Say("<think>x</think><move>4</move>")))
    assert "whatever the seed" in probe(card, "seed").seen
    assert (outcomes(card)["seed"], outcomes(card)["repeats"]) == (UNKNOWN, OK)


@pytest.mark.parametrize(
    ("said", "repeats", "concurrency"),
    [
        (["a", "b"], NOTE, NOTE),
        (["a", "a", "a", "b"], OK, NOTE),
        (["a", "a", "b"], OK, NOTE),
        ([""], UNKNOWN, UNKNOWN),
    ],
)
@pytest.mark.parametrize("greedy", [False, True])
async def test_replies_that_differ_at_temperature_0(
    said, repeats, concurrency, greedy, serve, doctor
):
    lines = ["sampling = { temperature = 0 }"] if greedy else []
    card = await doctor(serve(Talker(greedy=said)), *lines)
    found = outcomes(card)
    worse = {NOTE: PROBLEM} if greedy else {}
    assert found["repeats"] is worse.get(repeats, repeats)
    assert found["concurrency"] is worse.get(concurrency, concurrency)


async def test_requests_at_once_that_fail(serve, doctor):
    greedy = iter([False, False, *[True] * 3])

    def busy(body):
        return body.get("temperature") == 0 and next(greedy, False)

    card = await doctor(serve(refusing(payload("rate_limited"), busy)))
    found = probe(card, "concurrency")
    assert found.figures["failed"] == 3
    assert found.seen.startswith("3 of 8 requests at once failed")
    assert card.ok
