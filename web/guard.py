"""What stands before every request: closed doors, refused strangers, headers.

Gradio opens routes that no page here needs: uploads, files by path, calls to functions. They are
closed whole, so that what a page of ours may do is written in `web.api` and nowhere else. A page
that needs one of Gradio's events opens that route in `OPEN_GRADIO_ROUTES`, on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_GRADIO_ROUTES: Final[frozenset[str]] = frozenset()
_CLOSED = (
    "/openapi.json",
    "/docs",
    "/redoc",
    "/gradio_api",
    "/config",
    "/login",
    "/logout",
    "/file",
    "/upload",
    "/proxy",
)
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})

# Gradio's pages evaluate templates ('unsafe-eval') and carry inline scripts and styles; what
# keeps text harmless is that no template holds any. The rest of the policy keeps a page from
# talking to anybody but this server.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'self' https://huggingface.co"
)
_HEADERS: Mapping[str, str] = {
    "content-security-policy": _POLICY,
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


class Guard:
    """ASGI middleware; see the module."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with headers added."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/assets/"):
                    # Their names carry a hash of their content.
                    headers["cache-control"] = "public, max-age=31536000, immutable"
            await send(message)

        refusal = _refusal(scope)
        await (refusal or self._app)(scope, receive, send_with_headers)


def _refusal(scope: Scope) -> JSONResponse | None:
    path = scope["path"]
    closed = any(path == door or path.startswith((f"{door}/", f"{door}=")) for door in _CLOSED)
    if closed and path not in OPEN_GRADIO_ROUTES:
        return _error(404, "NotFoundError", "there is no such page")
    if scope["method"] in _CHANGING and _is_foreign(Headers(scope=scope)):
        return _error(403, "AccessError", "this request comes from another site's page")
    return None


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser says that a page of another site sent this."""
    if headers.get("sec-fetch-site") not in (None, "same-origin", "none"):
        return True
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != headers.get("host")
    except ValueError:
        return True


def _error(status: int, kind: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"type": kind, "message": message}}, status)
