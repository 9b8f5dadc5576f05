"""Closed doors, refused strangers and headers, on the real server."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx2
import pytest

from tests.web.process import Arena, engine, human

NEW_GAME = {"x": human(), "o": engine()}
PASSWD = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}, "orig_name": "passwd"}
HTML_VALUE = {"file": PASSWD, "url": "/gradio_api/file=/etc/passwd"}


def get(arena: Arena, path: str, **options: Any) -> httpx2.Response:
    return httpx2.get(f"{arena.url}{path}", **options)


def refused(answer: httpx2.Response) -> bool:
    """Whether nothing came of it."""
    assert "root:" not in answer.text
    assert "/root" not in answer.text
    return answer.status_code in (403, 404, 405)


# -- Gradio's doors --------------------------------------------------------------------------------

CALLS = (
    "/gradio_api/run/predict",
    "/gradio_api/run/_",
    "/gradio_api/api/predict",
    "/gradio_api/call/predict",
    "/gradio_api/call/v2/predict",
    "/gradio_api/queue/join",
    "/gradio_api/component_server",
    "/run/predict",
    "/api/predict",
    "/call/predict",
    "/queue/join",
    "/component_server",
    "/leaderboard/gradio_api/run/predict",
    "//gradio_api/run/predict",
    "/%67radio_api/run/predict",
    "/./gradio_api/run/predict",
)


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize(
    "data", [[PASSWD], [HTML_VALUE], [[PASSWD]]], ids=["file", "html", "files"]
)
def test_no_function_can_be_called(arena: Arena, path: str, data: list[Any]) -> None:
    """A path in a File input, a File output or a value of HTML reads no file of the server."""
    for more in ({}, {"fn_index": 0}, {"component_id": 1, "fn_name": "render"}):
        body = {"data": data, "session_hash": "s", **more}
        assert refused(httpx2.post(f"{arena.url}{path}", json=body))


@pytest.mark.parametrize("path", ["/gradio_api/upload", "/upload", "/%67radio_api/upload"])
def test_nothing_can_be_uploaded(arena: Arena, path: str) -> None:
    files = {"files": ("passwd", b"x", "text/plain")}
    assert refused(httpx2.post(f"{arena.url}{path}", files=files))


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file=../../../../../../etc/passwd",
        "/gradio_api/file%3D/etc/passwd",
        "/gradio_api/file/etc/passwd",
        "/gradio_api/stream/etc/passwd",
        "/gradio_api/proxy=http://169.254.169.254/",
        "/file=/etc/passwd",
        "/file/etc/passwd",
        "/leaderboard/file=/etc/passwd",
        "/leaderboard/gradio_api/file=/etc/passwd",
        "/proxy=http://127.0.0.1:1/",
        "/assets/../../../../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets//etc/passwd",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/ui/%2e%2e/%2e%2e/app.py",
        "/ui//etc/passwd",
        "/svelte//etc/passwd",
        "/custom_component/1/server//etc/passwd",
        "/theme.css/../../etc/passwd",
    ],
)
def test_no_file_can_be_read(arena: Arena, path: str) -> None:
    """As it stands, without the client's tidying."""
    with socket.create_connection(("127.0.0.1", arena.port)) as connection:
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert int(answer.split()[1]) in (400, 403, 404)
    assert b"root:" not in answer
    assert b"cli import main" not in answer


@pytest.mark.parametrize(
    "path",
    [
        "/config",
        "/config/",
        "/openapi.json",
        "/docs",
        "/redoc",
        "/monitoring",
        "/gradio_api/info",
        "/gradio_api/openapi.json",
        "/gradio_api/queue/status",
        "/gradio_api/startup-events",
        "/gradio_api/heartbeat/s",
        "/gradio_api/mcp/",
        "/gradio_api/dev/reload",
        "/gradio_api/app_id",
        "/gradio_api/token",
        "/dev/reload",
        "/login",
        "/logout",
        "/token",
        "/app_id",
    ],
)
def test_no_other_door_is_open(arena: Arena, path: str) -> None:
    assert refused(get(arena, path))


def test_no_websocket(arena: Arena) -> None:
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    for path in ("/", "/queue/join", "/gradio_api/queue/join"):
        assert get(arena, path, headers=upgrade).status_code != 101, path


# -- strangers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://[", "sec-fetch-site": "same-origin"},
    ],
)
def test_a_post_from_another_site_is_refused(arena: Arena, headers: dict[str, str]) -> None:
    with arena.client(headers=headers) as client:
        before = client.get("games", params={"limit": 0}).json()["total"]
        for path, body in (("games", NEW_GAME), ("operator/sign-in", {"password": "x"})):
            answer = client.post(path, json=body)
            assert answer.status_code == 403
            assert set(answer.json()["error"]) == {"type", "message"}
        assert client.get("games", params={"limit": 0}).json()["total"] == before


@pytest.mark.parametrize("kind", ["same-origin", "none"])
def test_a_post_from_a_page_of_ours_passes(arena: Arena, kind: str) -> None:
    headers = {"origin": arena.url, "sec-fetch-site": kind}
    with arena.client(headers=headers) as client:
        assert client.post("games", json=NEW_GAME).status_code == 201


def test_a_form_of_another_site_is_no_json(arena: Arena) -> None:
    """A form can be posted across sites without being asked; it must not be read as JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        with arena.client(headers={"content-type": kind}) as client:
            assert client.post("games", content=json.dumps(NEW_GAME)).status_code == 422


# -- headers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/leaderboard", "/ui/play.js", "/api/v1/players", "/config"])
def test_headers(arena: Arena, path: str) -> None:
    headers = get(arena, path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http:" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_what_has_a_hash_in_its_name_is_kept(arena: Arena) -> None:
    page = get(arena, "/").text
    asset = next(part for part in page.split('"') if part.removeprefix(".").startswith("/assets/"))
    found = get(arena, asset.removeprefix("."))
    assert found.status_code == 200
    assert "immutable" in found.headers["cache-control"]
    assert "immutable" not in get(arena, "/ui/play.js").headers.get("cache-control", "")
