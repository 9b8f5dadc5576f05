"""A model server that answers at once and costs next to nothing: `python -m
benchmarks.quick_server`.

It speaks just enough HTTP for clients that keep their connections: the length of a body, and no
more. The move that it makes is the first free square that the last message lists. Prints its
address once it listens, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import sys

_FREE = b"Free squares: "
_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
    b"connection: keep-alive\r\n\r\n"
)
_BODY = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"quick","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"<think>The first free square.</think><move>%c'
    b'</move>"},"finish_reason":"stop"}],"usage":{"prompt_tokens":200,"completion_tokens":20,'
    b'"total_tokens":220}}'
)


def _answer(square: int) -> bytes:
    body = _BODY % square
    return _HEAD % len(body) + body


_ANSWERS = {square: _answer(square) for square in b"012345678"}


class _Connection(asyncio.Protocol):
    """One connection; requests may come in pieces."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            at = head.index(b"content-length:") + len(b"content-length:")
            whole = end + 4 + int(head[at:].split(b"\r\n", 1)[0])
            if len(self._received) < whole:
                return
            body, self._received = self._received[:whole], self._received[whole:]
            self._transport.write(_ANSWERS[body[body.rindex(_FREE) + len(_FREE)]])


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
