"""Every recorded answer of a real server, over real HTTP, gives what its `want` says."""

from __future__ import annotations

import json

import pytest

from arena.board import start
from arena.game import Message
from models.completion import Completion, Fault
from models.reply import AnswerForm, read
from tests.servers import Say, payload
from tests.servers.answers import PAYLOADS

CASES = {path.stem: json.loads(path.read_text("utf-8")) for path in PAYLOADS.glob("*.json")}
CHAT = (Message("system", "Rules."), Message("user", "Your move."))
SENT = {"temperature": 0, "top_p": 1, "max_tokens": 1024}
OK = Say("<move>4</move>")


def cases(kind):
    return sorted(name for name, case in CASES.items() if kind in case["want"])


def test_every_payload_is_covered():
    assert len(CASES) >= 40
    assert set(cases("verdict") + cases("fault") + cases("adapt")) == set(CASES)


@pytest.mark.parametrize("name", cases("verdict"))
async def test_replies(name, serve, connect):
    server = serve(payload(name))
    completion = await connect(server).complete(CHAT, 7, SENT)
    assert isinstance(completion, Completion)
    assert len(server.requests) == 1
    reading = read(completion.message, completion.finish_reason, AnswerForm(), start())
    want = dict(CASES[name]["want"])
    if "tokens" in want:
        assert completion.completion_tokens is want.pop("tokens")
    else:
        assert (completion.prompt_tokens, completion.completion_tokens) == (120, 30)
    found = reading._asdict() | {"follows_format": reading.contains}
    assert {key: found[key] for key in want} == want


@pytest.mark.parametrize("name", cases("fault"))
async def test_faults(name, serve, connect, time):
    want = CASES[name]["want"]
    server = serve(payload(name))
    fault = await connect(server).complete(CHAT, 7, SENT)
    assert isinstance(fault, Fault)
    assert fault.kind == want["fault"]
    assert fault.fatal is want.get("stop_evaluation", False)
    assert fault.message.endswith(".")
    assert len(fault.requests) == len(server.requests) == (4 if want["retry"] else 1)
    assert all(request.status == CASES[name]["status"] for request in fault.requests)
    assert all(str(request.error) in fault.message for request in fault.requests)
    assert all(pause >= want.get("wait_s", 0) for pause in time.pauses)


@pytest.mark.parametrize("name", [name for name in cases("fault") if CASES[name]["want"]["retry"]])
async def test_a_passing_fault_costs_nothing_but_a_try(name, serve, connect, time):
    completion = await connect(serve([payload(name), OK])).complete(CHAT, 7, SENT)
    assert isinstance(completion, Completion)
    assert [request.error is None for request in completion.requests] == [False, True]
    assert len(time.pauses) == 1


CHANGES = {
    "max_completion_tokens": {"temperature": 0, "top_p": 1, "max_completion_tokens": 1024},
    "max_tokens": {"temperature": 0, "top_p": 1, "max_tokens": 1024},
    "no_temperature": {"top_p": 1, "max_tokens": 1024},
    "no_seed": SENT,
    "system_in_user": SENT,
    "fewer_tokens": SENT | {"max_tokens": 772},
}


@pytest.mark.parametrize("name", cases("adapt"))
async def test_adaptations(name, serve, connect, time):
    adapt = CASES[name]["want"]["adapt"]
    sent = dict(SENT)
    if adapt == "max_tokens":
        sent = {"temperature": 0, "top_p": 1, "max_completion_tokens": 1024}
    server = serve([payload(name), OK])
    endpoint = connect(server)
    completion = await endpoint.complete(CHAT, 7, sent)
    assert isinstance(completion, Completion)
    assert endpoint.adaptations == (adapt,)
    assert endpoint.adaptations[0].description
    assert time.pauses == []
    assert [request.status for request in completion.requests] == [CASES[name]["status"], 200]
    seed = {} if adapt == "no_seed" else {"seed": 7}
    assert completion.requests[0].sent == sent | {"seed": 7}
    assert completion.requests[1].sent == CHANGES[adapt] | seed
    assert completion.seed == seed.get("seed")
    messages = [message["content"] for message in server.requests[-1].body["messages"]]
    system_in_user = adapt == "system_in_user"
    assert messages == (["Rules.\n\nYour move."] if system_in_user else ["Rules.", "Your move."])
    assert [message.content for message in completion.messages] == messages

    # Remembered: the next call begins with what was learnt. How much of the context the next
    # prompt takes, nobody knows.
    await endpoint.complete(CHAT, 7, sent)
    again = {k: v for k, v in server.requests[-1].body.items() if k not in ("model", "messages")}
    assert again == (sent | {"seed": 7} if adapt == "fewer_tokens" else CHANGES[adapt] | seed)
    assert len(server.requests) == 3


@pytest.mark.parametrize("name", cases("adapt"))
async def test_a_server_that_refuses_for_ever_is_given_up(name, serve, connect):
    server = serve(payload(name))
    fault = await connect(server).complete(CHAT, 7, SENT)
    assert isinstance(fault, Fault)
    assert len(server.requests) <= 3
    otherwise = CASES[name]["want"].get("otherwise")
    if otherwise:
        assert fault.kind == otherwise["fault"]
        assert fault.fatal is otherwise.get("stop_evaluation", False)


async def test_alternating_roles_without_a_system_message_cannot_be_helped(serve, connect):
    server = serve(payload("roles_must_alternate"))
    fault = await connect(server).complete(CHAT[1:], 7, SENT)
    assert isinstance(fault, Fault)
    assert (fault.fatal, len(server.requests)) == (True, 1)


async def test_an_unknown_model_is_answered_with_what_there_is(serve, connect):
    server = serve(payload("unknown_model"), models=["one", "two"])
    fault = await connect(server).complete(CHAT, 7, SENT)
    assert "does not exist; it offers one, two." in fault.message


async def test_a_wrong_base_url_says_so(serve, connect):
    server = serve(payload("plain"))
    fault = await connect(server.base_url.removesuffix("/v1")).complete(CHAT, 7, SENT)
    assert "usually ends in /v1" in fault.message
    assert fault.fatal
