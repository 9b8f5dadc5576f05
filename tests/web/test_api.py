"""What holds of every route: the JSON routes of a real server."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.web.answers import error_of
from tests.web.process import Arena


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "games/none", None, 404),
        ("GET", "games/none/events", None, 404),
        ("GET", "games/%00%ff", None, 404),
        ("POST", "games/none/moves", {"square": 0, "ply": 0, "token": ""}, 404),
        ("POST", "games/none/resign", {"token": ""}, 404),
        ("POST", "games/none/stop", {"token": ""}, 404),
        ("POST", "games/none/go-on", {"token": ""}, 404),
        ("POST", "games", None, 422),
        ("POST", "games", [], 422),
        ("POST", "games/none/moves", {"square": 0}, 422),
        ("POST", "operator/sign-in", {}, 422),
        ("POST", "operator/sign-in", {"password": "x" * 1001}, 422),
        ("GET", "nowhere", None, 404),
        ("DELETE", "games", None, 405),
        ("PUT", "games/none", {}, 405),
        ("GET", "operator/sign-in", None, 405),
        ("POST", "leaderboard", {}, 405),
    ],
)
def test_every_error_has_the_same_shape(
    visitor: httpx2.Client, method: str, path: str, body: Any, status: int
) -> None:
    answer = visitor.request(method, path, json=body)
    assert error_of(answer)[0] == status


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"nul", b'{"x": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_json(visitor: httpx2.Client, body: bytes) -> None:
    answer = visitor.post("games", content=body, headers={"content-type": "application/json"})
    assert error_of(answer)[0] in (400, 422)


def test_the_docs_load_nothing_from_elsewhere(arena: Arena) -> None:
    page = httpx2.get(f"{arena.url}/api/v1/docs")
    assert page.status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text
    spec = httpx2.get(f"{arena.url}/api/v1/openapi.json").json()
    assert {"/games", "/games/{game_id}/moves", "/export/{flavour}"} <= set(spec["paths"])
    for path, methods in spec["paths"].items():
        for method, told in methods.items():
            assert told.get("summary"), (method, path)
            assert "4XX" in told["responses"], (method, path)
