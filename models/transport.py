"""One HTTP call to an OpenAI-compatible server, through the `openai` client.

An answer is data, whatever it is: nothing here raises for what a server or a network does. The
JSON is kept as it came, since servers send much that the client's own classes do not foresee. A
streamed answer is put together into the form of a whole one.

Importing this module imports `openai`, which takes most of a second: `models.endpoint` does so on
its first call.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import aiohttp
import httpx
import openai

from models.completion import OnDelta

# At level DEBUG it logs the headers of requests, and some of them are secrets.
logging.getLogger("openai._base_client").setLevel(logging.INFO)

_CONNECT_S = 10.0
_LISTING_S = 10.0
_PATH = "/chat/completions"
_STREAMED = "text/event-stream"
_TEXTS = ("content", "reasoning", "reasoning_content", "refusal")
_FAILURES = (
    openai.OpenAIError,
    aiohttp.ClientError,
    httpx.HTTPError,
    httpx.InvalidURL,
    OSError,
    ValueError,
    RecursionError,
    TimeoutError,
)
"""What a server or a network can make the client raise: broken JSON and text are `ValueError`s."""
_WORDS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    # The transport calls several of them a timeout, so the kinds that say more come first.
    (ConnectionRefusedError, "the connection was refused"),
    (socket.gaierror, "there is no such host"),
    ((ssl.SSLError, aiohttp.ClientSSLError), "the encrypted connection failed (TLS)"),
    (aiohttp.ClientPayloadError, "the connection broke off within the answer"),
    (
        (aiohttp.ServerDisconnectedError, ConnectionError),
        "the server closed the connection without an answer",
    ),
    (TimeoutError, "no whole answer came within {:g} s"),
    (ValueError, "the answer could not be read"),
)


class Answer(NamedTuple):
    """What came back."""

    status: int | None
    """The HTTP status; None where no whole answer came."""
    data: object = None
    """The parsed JSON; None where there was none."""
    text: str = ""
    """The body, where it was no JSON."""
    headers: Mapping[str, str] = {}
    """Response headers, names in lower case."""
    failure: str | None = None
    """What broke, in words, where no whole answer came."""
    fatal: bool = False
    """Whether it would break again, however often it is tried."""


class Transport:
    """The connections to one server; one client for each event loop that uses it.

    Args:
        base_url: the server's address.
        timeout_s: for one request, to its last byte.
        through_proxy: whether a proxy that the environment names is used.
    """

    def __init__(self, base_url: str, timeout_s: float, *, through_proxy: bool = True) -> None:
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._through_proxy = through_proxy
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = (
            WeakKeyDictionary()
        )

    async def post(
        self, body: Mapping[str, Any], headers: Mapping[str, str], on_delta: OnDelta | None = None
    ) -> Answer:
        """Ask for a chat completion; streamed if and only if the body says so."""
        try:
            async with asyncio.timeout(self._timeout_s):
                if body.get("stream"):
                    return await self._stream(body, headers, on_delta)
                response = await self._client().post(
                    self._base_url + _PATH,
                    cast_to=httpx.Response,
                    body=dict(body),
                    options={"headers": dict(headers)},
                )
                return _told(_answer(response), on_delta)
        except openai.APIStatusError as error:
            return _answer(error.response)
        except _FAILURES as error:
            return Answer(None, failure=_in_words(error, self._timeout_s))

    async def get(self, path: str, headers: Mapping[str, str], *, root: bool = False) -> Answer:
        """Fetch what the server has at a path.

        Args:
            path: below the base URL.
            headers: of the request.
            root: below the server's root instead, where that is the base URL without its /v1.
        """
        base = self._base_url.removesuffix("/v1") if root else self._base_url
        timeout_s = min(_LISTING_S, self._timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._client().get(
                    base + path, cast_to=httpx.Response, options={"headers": dict(headers)}
                )
                return _answer(response)
        except openai.APIStatusError as error:
            return _answer(error.response)
        except _FAILURES as error:
            return Answer(None, failure=_in_words(error, timeout_s))

    async def models(self, headers: Mapping[str, str]) -> tuple[str, ...]:
        """The ids of the models that the server lists; none where it does not say."""
        data = (await self.get("/models", headers)).data
        listed = data.get("data") if isinstance(data, dict) else None
        models = listed if isinstance(listed, list) else []
        ids = (model.get("id") for model in models if isinstance(model, dict))
        return tuple(model for model in ids if isinstance(model, str))

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def _client(self) -> openai.AsyncOpenAI:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            timeout = openai.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
            client = self._clients[loop] = openai.AsyncOpenAI(
                # The key goes with each request. A redirect is refused: it would carry along the
                # headers, and turn the request into a GET.
                api_key="-",
                base_url=self._base_url,
                timeout=timeout,
                max_retries=0,
                http_client=openai.DefaultAioHttpClient(
                    verify=_tls(),
                    timeout=timeout,
                    follow_redirects=False,
                    trust_env=self._through_proxy,
                ),
            )
            # Taken from the environment by the client, and nobody else's business.
            client.organization = client.project = None
        return client

    async def _stream(
        self, body: Mapping[str, Any], headers: Mapping[str, str], on_delta: OnDelta | None
    ) -> Answer:
        stream = await self._client().post(
            self._base_url + _PATH,
            cast_to=object,
            body=dict(body),
            options={"headers": dict(headers)},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        async with stream:
            response = stream.response
            if _STREAMED not in response.headers.get("content-type", ""):
                await response.aread()
                return _told(_answer(response), on_delta)
            whole = _Whole()
            try:
                async for event in stream:
                    for kind, text in whole.add(event):
                        if on_delta is not None:
                            on_delta(kind, text)
            except openai.APIConnectionError:
                raise
            except openai.APIError as error:
                return Answer(response.status_code, {"error": error.body})
            if not whole.finished:
                return Answer(None, failure="the stream broke off")
            return Answer(response.status_code, whole.completion())


@cache
def _tls() -> ssl.SSLContext:
    """Shared, since reading the certificates takes longer than many a reply."""
    return httpx.create_ssl_context()


class _Whole:
    """A streamed answer, put together."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[object]] = {}
        self._finish_reason: object = None
        self._usage: object = None

    @property
    def finished(self) -> bool:
        """Whether the server said why it stopped; without that, a stream was cut off."""
        return self._finish_reason is not None

    def add(self, event: object) -> Iterator[tuple[str, str]]:
        """Take an event; yield the pieces of text in it."""
        if not isinstance(event, dict):
            return
        self._usage = event.get("usage") or self._usage
        choice = _choice(event)
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        for name in _TEXTS:
            if isinstance(text := delta.get(name), str):
                self._texts.setdefault(name, []).append(text)
        for name, value in delta.items():
            if isinstance(value, list):
                self._lists.setdefault(name, []).extend(value)
        yield from _pieces(delta)

    def completion(self) -> dict[str, object]:
        """The answer as if it had come whole."""
        message: dict[str, object] = {**self._lists}
        message |= {name: "".join(parts) for name, parts in self._texts.items()}
        choice = {"message": message, "finish_reason": self._finish_reason}
        return {"choices": [choice], "usage": self._usage}


def _pieces(message: object) -> Iterator[tuple[str, str]]:
    """The texts of a message or a piece of one, thinking first."""
    if isinstance(message, dict):
        thinking = message.get("reasoning") or message.get("reasoning_content")
        for kind, text in (("reasoning", thinking), ("content", message.get("content"))):
            if isinstance(text, str) and text:
                yield kind, text


def _choice(data: object) -> dict[str, object]:
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _told(answer: Answer, on_delta: OnDelta | None) -> Answer:
    """Tell a reply that came whole."""
    if on_delta is not None:
        for kind, text in _pieces(_choice(answer.data).get("message")):
            on_delta(kind, text)
    return answer


def _answer(response: httpx.Response) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    # A reply that is cut within a character is still a reply.
    text = response.content.decode("utf-8", "replace")
    try:
        return Answer(response.status_code, json.loads(text), headers=headers)
    except (ValueError, RecursionError):
        return Answer(response.status_code, None, text, headers)


def _in_words(error: BaseException, timeout_s: float) -> str:
    """What broke. Only the kind of it: an exception's own text may quote a header."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    for kinds, words in _WORDS:
        if any(isinstance(each, kinds) for each in chain):
            return words.format(timeout_s)
    return f"the connection failed ({type(chain[-1]).__name__})"
