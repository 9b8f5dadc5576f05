"""The server itself: aiohttp on a free port of 127.0.0.1, in a thread of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.servers.answers import Answer, Drip, Json, Page, Reset, Say, Silence, payload

Answerer = Callable[[dict[str, Any]], Answer]


@dataclass(frozen=True)
class Received:
    """One request that the server got."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ModelServer:
    """Speaks `/v1/chat/completions` and `/v1/models`. Used as a context manager.

    Args:
        answer: what to do with each request: a function of its body; or one answer after another,
            the last one for ever.
        models: what `/v1/models` lists: ids, or whole entries; or what it answers instead.
        props: what `/props` answers, as llama.cpp's server does.
        key: refuse whoever does not send it.
        echo_headers: errors quote the request's headers, as careless servers do.
    """

    def __init__(
        self,
        answer: Answerer | Iterable[Answer] | Answer,
        *,
        models: Iterable[str | dict[str, Any]] | Answer = ("m",),
        props: dict[str, Any] | None = None,
        key: str | None = None,
        echo_headers: bool = False,
    ) -> None:
        self.answer = answer
        self.models = models if isinstance(models, Answer) else tuple(models)
        self.requests: list[Received] = []
        """The chat requests, in order of arrival."""
        self.base_url = ""
        self._echo = echo_headers
        self._props = props
        self._key = key
        self._ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # `asyncio.run` cancels what is still answered at the end.
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="model server", daemon=True
        )

    @property
    def answer(self) -> Answerer:
        """What to do with the next request."""
        return self._answer

    @answer.setter
    def answer(self, answer: Answerer | Iterable[Answer] | Answer) -> None:
        if callable(answer):
            self._answer: Answerer = answer
            return
        script = list(answer) if isinstance(answer, Iterable) else [answer]
        steps = itertools.chain(script, itertools.repeat(script[-1]))
        self._answer = lambda _body: next(steps)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        self._ready.result(timeout=10)
        return self

    def __exit__(self, *_: object) -> None:
        loop, stop = self._ready.result()
        loop.call_soon_threadsafe(stop.set)
        self._thread.join(timeout=10)

    async def _serve(self) -> None:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        app.router.add_get("/props", self._show)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        try:
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            stop = asyncio.Event()
            self._ready.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()
        except OSError as error:
            self._ready.set_exception(error)
        finally:
            await runner.cleanup()

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if isinstance(self.models, Answer):
            return await self._give(request, {}, self.models)
        entries = [{"id": each} if isinstance(each, str) else each for each in self.models]
        return await self._give(request, {}, Json(200, {"object": "list", "data": entries}))

    async def _show(self, request: web.Request) -> web.StreamResponse:
        answer = Json(404, {}) if self._props is None else Json(200, self._props)
        return await self._give(request, {}, answer)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(Received(request.path, dict(request.headers), body))
        return await self._give(request, body, self._answer(body))

    async def _give(
        self, request: web.Request, body: dict[str, Any], answer: Answer
    ) -> web.StreamResponse:
        if self._key is not None and request.headers.get("Authorization") != f"Bearer {self._key}":
            answer = payload("bad_key")
        if isinstance(answer, Say):
            await asyncio.sleep(answer.delay_s)
            streamed = body.get("stream")
            return await (_stream(request, body, answer) if streamed else _whole(body, answer))
        if isinstance(answer, Json):
            await asyncio.sleep(answer.delay_s)
            return self._json(request, answer)
        if isinstance(answer, Page):
            text = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
            return web.Response(status=answer.status, body=text, headers=answer.headers)
        return await _fail(request, answer)

    def _json(self, request: web.Request, answer: Json) -> web.Response:
        body = answer.body
        if self._echo and answer.status != 200:
            body = {"error": {"message": f"bad request with {dict(request.headers)}"}, "was": body}
        return web.json_response(body, status=answer.status, headers=answer.headers)


async def _whole(body: dict[str, Any], say: Say) -> web.Response:
    return web.json_response(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": say.message, "finish_reason": say.finish_reason}],
            **({"usage": _usage(body, say)} if say.usage else {}),
        }
    )


async def _stream(request: web.Request, body: dict[str, Any], say: Say) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    pieces = [
        {name: value[at : at + 4]}
        for name, value in reversed(say.message.items())
        if name != "role" and isinstance(value, str)
        for at in range(0, len(value), 4)
    ]
    for number, piece in enumerate([{"role": "assistant"}, *pieces]):
        if number == say.break_after:
            _abort(request)
            return response
        await asyncio.sleep(say.piece_delay_s)
        await _event(response, {"choices": [{"index": 0, "delta": piece, "finish_reason": None}]})
    last = {"index": 0, "delta": {}, "finish_reason": say.finish_reason}
    await _event(response, {"choices": [last]})
    if say.usage and body.get("stream_options", {}).get("include_usage"):
        await _event(response, {"choices": [], "usage": _usage(body, say)})
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def _event(response: web.StreamResponse, data: object) -> None:
    await response.write(f"data: {json.dumps(data)}\n\n".encode())


async def _fail(request: web.Request, fault: Reset | Silence | Drip) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json"})
    if isinstance(fault, Silence):
        await asyncio.sleep(3600)
    if isinstance(fault, Reset) and not fault.in_body:
        _abort(request)
        return response
    response.content_length = 10_000
    await response.prepare(request)
    await response.write(b'{"choices": [')
    if isinstance(fault, Drip):
        while True:
            await asyncio.sleep(fault.every_s)
            await response.write(b" ")
    _abort(request)
    return response


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _usage(body: dict[str, Any], say: Say) -> dict[str, int]:
    letters = sum(len(message["content"]) for message in body["messages"])
    prompt = letters // 4 if say.prompt_tokens is None else say.prompt_tokens
    completion = len(say.text or "") // 4
    total = prompt + completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
