"""Who is the operator; with requests made by hand and a clock that is turned by hand."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from arena.errors import AccessError, BusyError
from tests.web.process import Arena
from web.access import COOKIE, SESSION_SECONDS, Access
from web.settings import Settings

OPEN = Settings()
CLOSED = Settings(operator_password="correct horse")


def request(client: str = "127.0.0.1", **headers: str) -> HTTPConnection:
    """A request as it arrives; `_` in a header's name stands for `-`."""
    named = {"host": "localhost:7860"} | {k.replace("_", "-"): v for k, v in headers.items()}
    return HTTPConnection(
        {
            "type": "http",
            "scheme": "http",
            "path": "/",
            "query_string": b"",
            "server": ("127.0.0.1", 7860),
            "client": (client, 50000),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        }
    )


def signed_in(session: str) -> HTTPConnection:
    return request(cookie=f"{COOKIE}={session}")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


# -- without a password ----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["localhost", "localhost:7860", "127.0.0.1:7860", "[::1]:7860"])
def test_whoever_sits_at_this_machine(host: str) -> None:
    access = Access(OPEN)
    assert access.is_operator(request(host=host))
    assert access.is_operator(request("::1", host=host))
    access.require_operator(request())


@pytest.mark.parametrize(
    "told",
    [
        {"host": "evil.example"},
        {"host": "evil.example:7860"},
        {"host": "localhost.evil.example"},
        {"host": "["},
        {"host": "[::1"},
        {"host": "a b"},
        {"client": "10.0.0.7"},
        {"client": "testclient"},
        {"x_forwarded_for": "10.0.0.7"},
        {"x_forwarded_for": ""},
        {"x_forwarded_host": "localhost"},
        {"x_real_ip": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
        {"via": "1.1 proxy"},
    ],
    ids=str,
)
def test_nobody_else(told: dict[str, str]) -> None:
    assert not Access(OPEN).is_operator(request(**told))
    with pytest.raises(AccessError, match="sign in"):
        Access(OPEN).require_operator(request(**told))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "arena.example"])
def test_nobody_where_the_server_listens_to_others(host: str) -> None:
    assert not Access(Settings(host=host)).is_operator(request())


def test_signing_in_says_that_there_is_no_password() -> None:
    access = Access(OPEN)
    assert not access.password_set
    with pytest.raises(AccessError, match="ARENA_OPERATOR_PASSWORD"):
        access.sign_in("", "here")


@pytest.mark.parametrize(
    ("headers", "operator"),
    [
        ({}, True),
        ({"host": "evil.example"}, False),
        ({"host": "["}, False),
        ({"x-forwarded-for": "10.0.0.7"}, False),
    ],
)
def test_over_http(home: Arena, headers: dict[str, str], operator: bool) -> None:
    with home.client(headers=headers) as client:
        answer = client.get("players")
        assert answer.status_code == 200
        assert answer.json()["operator"] is operator
        hidden = {"x": {"kind": "human"}, "o": {"kind": "model", "name": "hidden"}}
        assert client.post("games", json=hidden).status_code == (201 if operator else 403)


# -- with a password -------------------------------------------------------------------------------


def test_a_session() -> None:
    access = Access(CLOSED)
    assert access.password_set
    assert access.is_operator(signed_in(access.sign_in("correct horse", "here")))
    assert not access.is_operator(request())


def test_a_session_ends() -> None:
    clock = Clock()
    access = Access(CLOSED, clock)
    session = access.sign_in("correct horse", "here")
    clock.now += SESSION_SECONDS - 1
    assert access.is_operator(signed_in(session))
    clock.now += 1
    assert not access.is_operator(signed_in(session))


def test_a_session_of_another_process_or_a_changed_one() -> None:
    access = Access(CLOSED)
    session = access.sign_in("correct horse", "here")
    until, _, signature = session.partition(".")
    later = f"{int(until) + 1}.{signature}"
    others = Access(CLOSED).sign_in("correct horse", "here")
    for forged in (others, later, "", ".", until, f".{signature}", "é.é", session[:-1]):
        assert not access.is_operator(signed_in(forged)), forged


@pytest.mark.parametrize("password", ["", "correct", "correct horse ", "Correct horse", "\ud800"])
def test_a_wrong_password(password: str) -> None:
    with pytest.raises(AccessError, match="wrong password"):
        Access(CLOSED).sign_in(password, "here")


def test_guessing_is_slowed_down() -> None:
    clock = Clock()
    access = Access(CLOSED, clock)
    for _ in range(10):
        with pytest.raises(AccessError):
            access.sign_in("guess", "here")
    with pytest.raises(BusyError, match="wait a minute"):
        access.sign_in("correct horse", "here")
    assert access.sign_in("correct horse", "elsewhere")
    clock.now += 60
    assert access.sign_in("correct horse", "here")
