"""Who may do what: visitors look and play; the rest is the operator's.

With `ARENA_OPERATOR_PASSWORD` set, whoever signs in with it is the operator. Where it is unset,
everybody who sits at this machine is, and nobody else: the server must listen on loopback, and
the request must come from there, name it, and not have come through a proxy.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from arena.errors import AccessError, BusyError
from web.settings import Settings, is_loopback

COOKIE: Final = "arena_operator"
SESSION_SECONDS: Final = 12 * 3600
_TRIES, _PER_SECONDS = 10, 60
_CLIENTS = 10_000
"""Of whom wrong tries are remembered, the latest."""
_PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


class Access:
    """Signs the operator in and tells operators from visitors. Sessions end with the process."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._password = settings.operator_password
        self._loopback_only = settings.loopback_only
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    @property
    def password_set(self) -> bool:
        """Whether operators sign in with a password."""
        return self._password is not None

    def is_operator(self, request: HTTPConnection) -> bool:
        """Whether the request is the operator's."""
        if self._password is not None:
            return self._is_session(request.cookies.get(COOKIE, ""))
        client = request.client.host if request.client else ""
        return (
            self._loopback_only
            and is_loopback(client)
            and is_loopback(_host(request))
            and not any(header in request.headers for header in _PROXY_HEADERS)
        )

    def require_operator(self, request: HTTPConnection) -> None:
        """Let the operator pass.

        Raises:
            AccessError: the request is a visitor's.
        """
        if not self.is_operator(request):
            raise AccessError("only the operator may do this: sign in first")

    def sign_in(self, password: str, client: str) -> str:
        """A session for the cookie `COOKIE`, valid for `SESSION_SECONDS`.

        Args:
            password: what was typed.
            client: the address of whoever typed it, so that one who guesses locks out nobody else.

        Raises:
            AccessError: the password is wrong, or none is set.
            BusyError: too many tries.
        """
        now = self._clock()
        tries = self._tries.get(client, deque(maxlen=_TRIES))
        if len(tries) == _TRIES and now - tries[0] < _PER_SECONDS:
            raise BusyError("too many tries to sign in: wait a minute")
        if self._password is None:
            raise AccessError("there is no operator password: set ARENA_OPERATOR_PASSWORD")
        if not hmac.compare_digest(_digest(password), _digest(self._password)):
            tries.append(now)
            self._tries[client] = tries
            self._tries.move_to_end(client)
            if len(self._tries) > _CLIENTS:
                self._tries.popitem(last=False)
            raise AccessError("wrong password")
        until = str(int(now) + SESSION_SECONDS)
        return f"{until}.{self._sign(until)}"

    def _is_session(self, session: str) -> bool:
        until, _, signature = session.partition(".")
        return (
            hmac.compare_digest(signature.encode(), self._sign(until).encode())
            and int(until) > self._clock()
        )

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()


def _host(request: HTTPConnection) -> str:
    """The host that the request names, as it was sent; "" where it names none that can be read.

    Not that of `request.url`, which falls back on the server's own address.
    """
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _digest(text: str) -> bytes:
    """Of equal length for every password, so that comparing takes equal time."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
