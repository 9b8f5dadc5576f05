"""Replies that arrive piece by piece."""

from __future__ import annotations

import asyncio

import pytest

from arena.game import Message, Request
from models.completion import Completion, Fault
from tests.servers import Json, Page, Say, payload

CHAT = (Message("user", "Your move."),)
SSE = {"content-type": "text/event-stream"}


class Told(list):
    def __call__(self, kind, text):
        self.append((kind, text))

    def joined(self, kind):
        return "".join(text for each, text in self if each == kind)


async def test_pieces_make_the_whole(serve, connect):
    say = Say("<move>4</move> and \ud83d", reasoning="The centre is free.", finish_reason="length")
    whole = await connect(serve(say)).complete(CHAT, 7)
    told = Told()
    streamed = await connect(serve(say)).complete(CHAT, 7, on_delta=told)
    assert told.joined("content") == say.text == streamed.message["content"]
    assert told.joined("reasoning") == say.reasoning == streamed.message["reasoning_content"]
    assert [kind for kind, _ in told] == sorted((k for k, _ in told), reverse=True)
    assert len(told) > 5
    for name in ("finish_reason", "prompt_tokens", "completion_tokens", "seed"):
        assert getattr(streamed, name) == getattr(whole, name)
    assert streamed.requests[0].sent["stream"] is True


async def test_a_stream_that_breaks_midway_is_a_network_fault(serve, connect):
    told = Told()
    requests: list[Request] = []
    server = serve([Say("<move>4</move>", break_after=2), Say("<move>5</move>")])
    result = await connect(server).complete(CHAT, 7, on_delta=told, on_request=requests.append)
    assert isinstance(result, Completion)
    assert result.message["content"] == "<move>5</move>"
    assert requests[0].status is None
    server.answer = Say("<move>4</move>", break_after=2)
    assert isinstance(await connect(server).complete(CHAT, 7, on_delta=told), Fault)


@pytest.mark.parametrize(
    "body",
    [
        'data: {"choices": [{"delta": {"content": "<move>4</move>"}}]}\n\n',
        'data: {"choices": [{"delta": {"content": "<move>4</move>"}}]}\n\ndata: [DONE]\n\n',
        "data: {broken\n\n",
        "",
        'data: {"error": {"message": "out of memory"}}\n\n',
        'data: [1]\n\ndata: "x"\n\n',
        b"data: \xff\xff\n\n",
    ],
)
async def test_a_stream_that_does_not_say_why_it_ends_is_broken(body, serve, connect):
    server = serve(Page(200, body, SSE))
    result = await connect(server).complete(CHAT, 7, on_delta=Told())
    assert isinstance(result, Fault)
    assert len(result.requests) == 4


async def test_a_context_that_ends_within_a_stream(serve, connect):
    body = 'data: {"error": {"message": "Context size has been exceeded.", "code": 500}}\n\n'
    result = await connect(serve(Page(200, body, SSE))).complete(CHAT, 7, on_delta=Told())
    assert (result.kind, len(result.requests)) == ("context_exceeded", 1)


async def test_a_server_that_does_not_stream_is_told_whole(serve, connect):
    told = Told()
    result = await connect(serve(payload("field_reasoning"))).complete(CHAT, 7, on_delta=told)
    assert isinstance(result, Completion)
    assert told == [("reasoning", "Block at 6."), ("content", "<move>6</move>")]


@pytest.mark.parametrize(
    ("name", "adaptation"), [("stream_options", "no_stream_options"), ("stream", "no_stream")]
)
async def test_streaming_may_be_refused(name, adaptation, serve, connect):
    refusal = Json(400, {"error": {"message": f"Unknown parameter: '{name}'"}})
    endpoint = connect(serve([refusal, Say("<move>4</move>")]))
    told = Told()
    result = await endpoint.complete(CHAT, 7, on_delta=told)
    assert result.message["content"] == told.joined("content") == "<move>4</move>"
    assert endpoint.adaptations == (adaptation,)


async def test_a_stream_can_be_stopped(serve, connect):
    server = serve(Say("<move>4</move>" * 100, piece_delay_s=0.01))
    endpoint = connect(server)
    arrived = asyncio.Event()
    task = asyncio.create_task(
        endpoint.complete(CHAT, 7, on_delta=lambda kind, text: arrived.set())
    )
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.answer = Say("<move>5</move>")
    assert isinstance(await endpoint.complete(CHAT, 7), Completion)
