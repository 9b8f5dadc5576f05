"""A key is sent, and is nowhere else."""

from __future__ import annotations

import logging
import pickle

import pytest

from arena.game import Message
from models.completion import Completion, Fault
from models.entries import Entry
from tests.servers import Json, Page, Reset, Say, payload

CANARY = "sk-canary-9f8e7d6c5b4a&<'x\""
HEADER = "tenant-canary-zqxwvk"
ENVIRON = {"KEY": f" {CANARY}\n", "TENANT": HEADER}
CHAT = (Message("user", "Your move."),)


def secured(connect, server, **options):
    defaults = {"api_key_env": "KEY", "headers_env": {"X-Tenant": "TENANT"}, "environ": ENVIRON}
    return connect(server, **(defaults | options))


async def test_the_key_and_the_headers_are_sent(serve, connect):
    server = serve(Say("<move>4</move>"))
    await secured(connect, server).complete(CHAT, 7)
    headers = {name.lower(): value for name, value in server.requests[0].headers.items()}
    assert headers["authorization"] == f"Bearer {CANARY}"
    assert headers["x-tenant"] == HEADER


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        payload("bad_key"),
        payload("server_error"),
        payload("unknown_model"),
        Json(400, {"detail": [{"loc": [CANARY], "msg": f"{CANARY} {HEADER}"}]}),
        Json(400, {"error": f"{'x' * 290} {CANARY}"}),
        Json(200, {"error": {"message": f"got Bearer {CANARY}", "code": CANARY}}),
        Page(500, f"got {CANARY} and {HEADER}"),
        Page(
            200,
            f'data: {{"error": {{"message": "{HEADER}"}}}}\n\n',
            {"content-type": "text/event-stream"},
        ),
        Reset(),
    ],
)
async def test_a_server_that_echoes_its_headers(answer, streamed, serve, connect, caplog):
    caplog.set_level(logging.DEBUG)
    server = serve(answer, echo_headers=True)
    endpoint = secured(connect, server)
    options = {"on_delta": lambda kind, text: None} if streamed else {}
    result = await endpoint.complete(CHAT, 7, {"temperature": 1}, **options)
    assert isinstance(result, Fault)
    # Every representation of everything that leaves the endpoint, and all that was logged.
    shown = "\n".join([repr(result), repr(endpoint), caplog.text, *map(repr, caplog.records)])
    shown += "".join(repr(record.__dict__) for record in caplog.records)
    shown += pickle.dumps(result).decode("latin-1")
    for secret in ("canary", "9f8e7d6c5b4a", "zqxwvk"):
        assert secret not in shown


@pytest.mark.parametrize("value", [None, "", "  "])
async def test_a_missing_variable_is_named(value, serve, connect):
    server = serve(Say("<move>4</move>"))
    environ = {} if value is None else {"KEY": value}
    result = await secured(connect, server, environ=environ).complete(CHAT, 7)
    assert isinstance(result, Fault)
    assert (result.fatal, len(result.requests), server.requests) == (True, 1, [])
    assert "the environment variable KEY is not set" in result.message


@pytest.mark.parametrize("value", ["k\nX-Injected: 1", "kéy", "k\x00"])
async def test_a_key_that_no_header_can_carry_is_not_shown_either(value, serve, connect):
    server = serve(Say("<move>4</move>"))
    result = await secured(connect, server, environ={"KEY": value}).complete(CHAT, 7)
    assert (result.fatal, server.requests) == (True, [])
    assert value not in result.message


async def test_the_key_is_read_for_each_request(serve, connect):
    environ = dict(ENVIRON)
    server = serve(Say("<move>4</move>"))
    endpoint = secured(connect, server, environ=environ)
    assert isinstance(await endpoint.complete(CHAT, 7), Completion)
    environ["KEY"] = "another"
    await endpoint.complete(CHAT, 7)
    assert server.requests[-1].headers["Authorization"] == "Bearer another"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_key_in_a_reply_is_hidden_and_the_rest_is_as_it_came(serve, connect, streamed):
    """A server that echoes what it got, in a reply: the key is found nowhere."""
    key = "sk-canary-in-a-reply"
    said = f"<think>bearer abc {key}</think><move>4</move>"
    server = serve(Say(said, finish_reason=key))
    endpoint = connect(server, api_key_env="KEY", environ={"KEY": key})
    told: list[str] = []
    on_delta = (lambda kind, text: told.append(text)) if streamed else None
    completion = await endpoint.complete(
        [Message("user", "?")], 1, {"max_tokens": 9}, on_delta=on_delta
    )
    assert key not in repr(completion)
    assert completion.message["content"] == said.replace(key, "[hidden]")


def test_a_key_has_no_place_in_extra_body():
    for name in ("api_key", "Authorization", "x-secret", "password"):
        with pytest.raises(ValueError, match="never stands"):
            Entry(name="m", base_url="http://x/v1", model="m", extra_body={name: "sk-1"})
    Entry(name="m", base_url="http://x/v1", model="m", extra_body={"max_token_key_len": 3})
