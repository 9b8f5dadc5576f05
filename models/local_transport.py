"""HTTP calls to a GGUF file's own server, which may listen elsewhere after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.completion import OnDelta
from models.local import LocalServer, StartError
from models.transport import Answer, Transport


class LocalTransport(Transport):
    """The connections to a server that is started when it is needed.

    A start that fails is an answer like any other failure: an endpoint tries again, unless it is
    fatal.
    """

    def __init__(self, server: LocalServer, timeout_s: float) -> None:
        # The machine's proxy has no business here.
        super().__init__("http://127.0.0.1", timeout_s, through_proxy=False)
        self._server = server

    async def post(
        self, body: Mapping[str, Any], headers: Mapping[str, str], on_delta: OnDelta | None = None
    ) -> Answer:
        """Ask for a chat completion, of whichever process runs now."""
        try:
            headers = await self._ready(headers)
        except StartError as error:
            return Answer(None, failure=str(error), fatal=error.fatal)
        return await super().post(body, headers, on_delta)

    async def get(self, path: str, headers: Mapping[str, str], *, root: bool = False) -> Answer:
        """Fetch what it has at a path."""
        try:
            headers = await self._ready(headers)
        except StartError as error:
            return Answer(None, failure=str(error), fatal=error.fatal)
        return await super().get(path, headers, root=root)

    async def _ready(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        address = await self._server.running()
        self._base_url = address.base_url
        return {**headers, "Authorization": f"Bearer {address.key}"}
