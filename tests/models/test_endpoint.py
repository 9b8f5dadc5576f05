"""Endpoints: networks that fail, retries, adaptations that cannot loop, and what is sent."""

from __future__ import annotations

import asyncio
import json

import pytest

from arena.game import Message, Request, Termination
from models.completion import Completion, Fault
from models.endpoint import Endpoint, Patience
from tests.models.conftest import QUICK
from tests.servers import Drip, Json, Page, Reset, Say, Silence, closed_port, payload

CHAT = (Message("system", "Rules."), Message("user", "Your move."))
SENT = {"temperature": 1, "top_p": 1, "max_tokens": 64}
OK = Say("<move>4</move>")
HASTY = Patience(timeout_s=0.2, max_tries=2)


async def ask(endpoint, **options):
    return await endpoint.complete(CHAT, 7, SENT, **options)


# -- networks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Reset(in_body=False), "closed the connection"),
        (Reset(), "broke off"),
        (Silence(), "no whole answer came within 0.2 s"),
        (Drip(), "no whole answer came within 0.2 s"),
        (Say("x", delay_s=3), "no whole answer came within 0.2 s"),
    ],
)
async def test_a_broken_answer_is_tried_again_then_a_fault(fault, words, streamed, serve, connect):
    options = {"on_delta": lambda kind, text: None} if streamed else {}
    patience = HASTY if "0.2" in words else QUICK
    server = serve(fault)
    result = await ask(connect(server, patience=patience), **options)
    assert isinstance(result, Fault)
    assert (result.kind, result.fatal) == (Termination.PROVIDER_ERROR, False)
    assert len(result.requests) == len(server.requests) == patience.max_tries
    assert all(request.status is None for request in result.requests)
    assert words in result.message

    server.answer = [fault, OK]
    recovered = await ask(connect(server, patience=patience), **options)
    assert isinstance(recovered, Completion)


async def test_nobody_listens(connect):
    result = await ask(connect(f"http://127.0.0.1:{closed_port()}/v1"))
    assert isinstance(result, Fault)
    assert "the connection was refused (tried 4 times" in result.message
    assert not result.fatal


async def test_no_such_host(connect):
    result = await ask(connect("http://no-such-host.invalid/v1", patience=HASTY))
    assert isinstance(result, Fault)
    assert len(result.requests) == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"17",
        b'{"choices": {}}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "hi"}]}',
        b"[" * 100_000,
        b'{"choices": [{"error": {"code": 502, "message": "upstream"}, "message": {}}]}',
        b'{"error": "out of memory"}',
        b'{"error": {"code": "12345678901234567890"}}',
    ],
)
async def test_a_body_that_is_no_completion_is_tried_again(body, serve, connect):
    page = Page(200, body, {"content-type": "application/json"})
    for options in ({}, {"on_delta": lambda kind, text: None}):
        result = await ask(connect(serve(page)), **options)
        assert isinstance(result, Fault)
        assert (len(result.requests), result.fatal) == (4, False)


async def test_a_reply_cut_within_a_character_is_still_a_reply(serve, connect):
    body = b'{"choices": [{"message": {"content": "\xe2\x82"}, "finish_reason": "length"}]}'
    result = await ask(connect(serve(Page(200, body, {"content-type": "application/json"}))))
    assert result.message["content"] == "\ufffd"


async def test_a_redirect_is_not_followed(serve, connect):
    elsewhere = serve(OK)
    redirect = Json(307, {}, {"location": f"{elsewhere.base_url}/chat/completions"})
    result = await ask(connect(serve(redirect)))
    assert (result.fatal, elsewhere.requests) == (True, [])


# -- retries -----------------------------------------------------------------------------------


async def test_pauses_grow_with_jitter_up_to_a_limit(serve, connect, time):
    patience = Patience(timeout_s=5, max_tries=12)
    result = await ask(connect(serve(payload("server_error")), patience=patience))
    assert len(result.requests) == 12
    full = [min(30.0, 0.5 * 2**n) for n in range(11)]
    for pause, longest in zip(time.pauses, full, strict=True):
        assert longest / 2 <= pause <= longest
    assert "(tried 12 times in" in result.message


async def test_tries_end_with_the_time_that_is_allowed(serve, connect, time):
    result = await ask(connect(serve(payload("server_error")), patience=Patience(max_wait_s=10)))
    assert len(result.requests) < 20
    assert time.now <= 10


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after": "17"}, 17),
        ({"retry-after-ms": "2500"}, 2.5),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:40 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            40,
        ),
    ],
)
async def test_the_servers_own_delay_is_honoured(headers, pause, serve, connect, time):
    slow = Json(429, {"error": {"message": "slow down"}}, headers)
    assert isinstance(await ask(connect(serve([slow, OK]))), Completion)
    assert time.pauses == [pause]


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", "1e999", ""])
async def test_a_delay_that_makes_no_sense_is_ignored(value, serve, connect, time):
    slow = Json(503, {}, {"retry-after": value})
    assert isinstance(await ask(connect(serve([slow, OK]))), Completion)
    assert 0 < time.pauses[0] <= 0.5


async def test_a_delay_longer_than_we_wait_ends_it_at_once(serve, connect, time):
    slow = Json(429, {"error": {"message": "slow down"}}, {"retry-after": "3600"})
    result = await ask(connect(serve(slow)))
    assert (len(result.requests), time.pauses) == (1, [])


# -- adaptations -------------------------------------------------------------------------------


def refuses(name):
    return Json(400, {"error": {"message": f"Unsupported parameter: '{name}'", "param": name}})


async def test_a_server_that_refuses_everything_it_is_sent(serve, connect):
    """It names a parameter of the request each time, for as long as there is one."""

    def answer(body):
        names = [name for name in body if name not in ("model", "messages")]
        return refuses(names[0]) if names else payload("system_role_unsupported")

    server = serve(answer)
    endpoint = connect(server)
    result = await ask(endpoint, on_delta=lambda kind, text: None)
    assert isinstance(result, Fault)
    assert set(endpoint.adaptations) == {
        "no_temperature",
        "no_top_p",
        "no_seed",
        "no_stream",
        "no_token_limit",
        "system_in_user",
    }
    # Each parameter once, the other name of the token limit, the system role, and the end.
    assert len(server.requests) <= 9
    bodies = [json.dumps(request.body, sort_keys=True) for request in server.requests]
    assert len(set(bodies)) >= len(bodies) - 1


async def test_two_servers_behind_one_address_that_refuse_one_token_name_each(serve, connect):
    def answer(body):
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body:
                return refuses(name)
        return OK

    server = serve(answer)
    endpoint = connect(server)
    assert isinstance(await ask(endpoint), Completion)
    assert endpoint.adaptations == ("no_token_limit",)
    assert len(server.requests) == 3
    await ask(endpoint)
    assert len(server.requests) == 4


async def test_many_games_at_once_learn_it_together(serve, connect):
    server = serve(lambda body: refuses("seed") if "seed" in body else OK)
    endpoint = connect(server)
    results = await asyncio.gather(*(ask(endpoint) for _ in range(8)))
    assert all(isinstance(result, Completion) for result in results)
    assert endpoint.adaptations == ("no_seed",)
    assert len(server.requests) <= 16


@pytest.mark.parametrize(
    ("status", "body", "adaptation"),
    [
        (400, {"detail": "Unrecognized request argument supplied: seed"}, "no_seed"),
        (
            400,
            {"error": {"message": "litellm.UnsupportedParamsError: no parameters: ['top_p']"}},
            "no_top_p",
        ),
        (
            422,
            {"message": {"detail": [{"loc": ["body", "seed"], "type": "extra_forbidden"}]}},
            "no_seed",
        ),
        (
            400,
            {
                "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), "
                "'msg': 'Extra inputs are not permitted', 'input': 1}]"
            },
            "no_seed",
        ),
        (
            500,
            {"error": {"message": "Conversation roles must alternate user/assistant"}},
            "system_in_user",
        ),
        (400, {"error": {"message": "Developer instruction is not enabled"}}, "system_in_user"),
        (
            400,
            {"error": {"message": "max_tokens is too large: at most 32 completion tokens"}},
            "fewer_tokens",
        ),
        (
            400,
            {
                "error": {
                    "message": "This model's maximum context length is 100 tokens. However, you "
                    "requested 64 output tokens and your prompt contains at least 60 input tokens"
                }
            },
            "fewer_tokens",
        ),
    ],
)
async def test_other_servers_words_for_it(status, body, adaptation, serve, connect):
    endpoint = connect(serve([Json(status, body), OK]))
    assert isinstance(await ask(endpoint), Completion)
    assert endpoint.adaptations == (adaptation,)


async def test_a_temperature_of_nought_may_be_refused_by_its_value(serve, connect):
    strict = Json(422, {"error": "`temperature` must be strictly positive"})
    endpoint = connect(serve([strict, OK]))
    assert isinstance(await endpoint.complete(CHAT, 7, {"temperature": 0}), Completion)
    assert endpoint.adaptations == ("no_temperature",)
    other = connect(serve([strict, OK]))
    assert isinstance(await other.complete(CHAT, 7, {"temperature": 0.5}), Fault)


async def test_a_parameter_that_the_entry_asks_for_is_never_dropped(serve, connect):
    endpoint = connect(serve(refuses("top_k")))
    result = await endpoint.complete(CHAT, 7, {"top_k": 20})
    assert (result.fatal, endpoint.adaptations) == (True, ())
    assert "the parameter top_k of the model's entry is refused" in result.message


async def test_where_the_prompt_alone_is_too_long_no_fewer_tokens_help(serve, connect):
    message = (
        "This model's maximum context length is 100 tokens. However, you requested 264 tokens "
        "(200 in the messages, 64 in the completion)."
    )
    server = serve(Json(400, {"error": {"message": message}}))
    result = await ask(connect(server))
    assert (result.kind, result.fatal) == (Termination.CONTEXT_EXCEEDED, False)
    assert len(server.requests) == 1


# -- what is sent ------------------------------------------------------------------------------


async def test_a_request_as_it_arrives(serve, connect, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    server = serve(OK)
    chat = (*CHAT, Message("assistant", "<move>4</move>", "Centre."), Message("user", "Next."))
    await connect(server).complete(chat, 7, SENT | {"top_k": 20}, reasoning_field="reasoning")
    [request] = server.requests
    assert request.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Rules."},
            {"role": "user", "content": "Your move."},
            {"role": "assistant", "content": "<move>4</move>", "reasoning": "Centre."},
            {"role": "user", "content": "Next."},
        ],
        "temperature": 1,
        "top_p": 1,
        "max_tokens": 64,
        "top_k": 20,
        "seed": 7,
    }
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["authorization"] == "Bearer none"
    assert "openai-organization" not in headers


async def test_each_request_is_told_as_it_happens(serve, connect):
    told: list[Request] = []
    result = await ask(connect(serve([payload("server_error"), OK])), on_request=told.append)
    assert tuple(told) == result.requests


def test_an_endpoint_can_be_used_from_one_event_loop_after_another(serve):
    endpoint = Endpoint(serve(OK).base_url, "m", environ={})

    async def once():
        result = await ask(endpoint)
        await endpoint.aclose()
        return result

    assert isinstance(asyncio.run(once()), Completion)
    assert isinstance(asyncio.run(once()), Completion)
