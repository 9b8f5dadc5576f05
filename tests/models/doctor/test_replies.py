"""What is seen in replies: the format, thinking, tokens; and how long a chat may be."""

from __future__ import annotations

import json

import pytest

from tests.models.doctor.conftest import NOTE, OK, PROBLEM, UNKNOWN, has, outcomes, probe, refusing
from tests.servers import Say, Talker, payload


@pytest.mark.parametrize(("size", "outcome"), [(512, PROBLEM), (2048, NOTE), (12_288, OK)])
async def test_a_context_that_the_server_names(size, outcome, serve, doctor):
    settings = {"default_generation_settings": {"n_ctx": size}}
    for server in (
        serve(Talker(), models=[{"id": "m", "max_model_len": size}]),
        serve(Talker(), models=[{"id": "m", "parent": "b"}, {"id": "b", "max_model_len": size}]),
        serve(Talker(), models=[{"id": "m", "meta": {"n_ctx_train": 99}}], props=settings),
    ):
        found = probe(await doctor(server), "context")
        assert (found.figures, found.outcome) == ({"tokens": size}, outcome)


async def test_a_short_entry_needs_less(serve, doctor):
    server = serve(Talker(), models=[{"id": "m", "max_model_len": 2048}])
    card = await doctor(server, 'history = "board"')
    assert outcomes(card)["context"] is OK


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        (payload("context_exceeded"), 4096),
        (payload("vllm_context_exceeded"), 2048),
        (payload("context_exceeded_500"), None),
    ],
)
async def test_a_context_that_a_long_prompt_shows(answer, size, serve, doctor):
    server = serve(refusing(answer, lambda body: len(json.dumps(body)) > 20_000))
    card = await doctor(server)
    found = probe(card, "context")
    assert found.outcome is NOTE
    assert found.figures.get("tokens") == size
    assert (card.ok, card.adaptations) == (True, ())


async def test_a_long_prompt_that_fits_or_is_cut(serve, doctor):
    fits = probe(await doctor(serve(Talker())), "context")
    assert fits.outcome is OK
    assert int(fits.figures["at_least"]) > 8 * 1024
    cut = probe(await doctor(serve(Talker(context=2048))), "context")
    assert cut.outcome is PROBLEM
    assert "counted 2048 tokens" in cut.seen


@pytest.mark.parametrize(
    ("say", "outcome", "words"),
    [
        (Say("<think>a</think><move>4</move>"), OK, "3 ok; format contained in 3, kept exactly"),
        (Say("<think>a</think><move>4</move> Good luck"), OK, "contained in 3, kept exactly by 0"),
        (Say("<move>4</move>"), NOTE, "3 ok; format contained in 0"),
        (Say("I play the centre."), PROBLEM, "3 no_move"),
        (Say("<think>Well, let me", "length"), PROBLEM, "3 truncated"),
    ],
)
async def test_a_games_first_prompt(say, outcome, words, serve, doctor):
    card = await doctor(serve(Talker(plays=say)))
    found = probe(card, "format")
    assert found.outcome is outcome
    assert words in found.seen
    assert card.ok
    if say.finish_reason == "length":
        assert "sampling.max_tokens" in str(found.change)


@pytest.mark.parametrize(
    ("say", "outcome", "words"),
    [
        (Say("<move>4</move>", reasoning="hm"), OK, "a field of its own, reasoning_content"),
        (
            Say("<move>4</move>", reasoning="hm", reasoning_field="reasoning"),
            OK,
            "a field of its own, reasoning.",
        ),
        (Say("<think>hm</think><move>4</move>"), OK, "in the text, between"),
        (Say("hm</think><move>4</move>"), NOTE, "the opening <think> is missing"),
        (Say("<think>hm<move>4</move>"), NOTE, "never closed"),
        (Say("<move>4</move>"), OK, "No thinking was seen."),
    ],
)
async def test_where_thinking_comes(say, outcome, words, serve, doctor):
    found = probe(await doctor(serve(Talker(plays=say))), "reasoning")
    assert found.outcome is outcome
    assert words in found.seen


async def test_replies_that_are_empty(serve, doctor):
    card = await doctor(serve(payload("empty_stop")))
    found = outcomes(card)
    assert (found["empty replies"], found["format"], found["seed"]) == (PROBLEM, PROBLEM, UNKNOWN)
    assert card.summary.startswith("ready, but see format")
    card = await doctor(serve(Talker(greedy=["", ""])))
    assert outcomes(card)["empty replies"] is NOTE


async def test_usage_that_is_not_reported(serve, doctor):
    card = await doctor(serve(Talker(usage=False)))
    assert "of 0 in" in probe(card, "usage").seen
    assert outcomes(card)["usage"] is NOTE


async def test_a_limit_of_tokens_that_is_not_kept(serve, doctor):
    card = await doctor(serve(Talker(greedy=["word " * 60])))
    assert "75 tokens where 32 were allowed" in probe(card, "token limit").seen
    assert outcomes(card)["token limit"] is PROBLEM


async def test_a_stream_that_comes_whole_or_breaks(serve, doctor):
    whole = refusing(payload("plain"), has("stream"))
    assert outcomes(await doctor(serve(whole)))["streaming"] is NOTE
    broken = refusing(Say("<move>4</move>", break_after=2), has("stream"))
    card = await doctor(serve(broken))
    assert probe(card, "streaming").seen.endswith("The connection broke off within the answer.")
    assert (card.ok, outcomes(card)["streaming"]) == (True, PROBLEM)
