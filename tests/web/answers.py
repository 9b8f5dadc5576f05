"""What tests of the JSON routes look at in answers."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from tests.web.process import engine

FIRST = engine("minimax:tie=first")


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    """The status and message of an error, after a look at its shape."""
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "message"}
    assert body["error"]["message"]
    return answer.status_code, body["error"]["message"]


def lines(answer: httpx2.Response) -> list[dict[str, Any]]:
    """The rows of an export."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.content.splitlines()]


def total(client: httpx2.Client) -> int:
    return client.get("games", params={"limit": 0}).json()["total"]


def events(client: httpx2.Client, game_id: str) -> Any:
    """The events of a game until it is over or a person is to move, as (name, data)."""
    with client.stream("GET", f"games/{game_id}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                yield name, data
                if name == "state" and data["waiting_for"] != "model":
                    return


def states(client: httpx2.Client, game_id: str) -> list[dict[str, Any]]:
    return [data for name, data in events(client, game_id) if name == "state"]
