"""An arena of its own in which evaluations are played: their games would move others' tables."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from tests.servers import ModelServer, PolicyModel, Say
from tests.web.process import Arena, until

PASSWORD = "a wise operator"
MODELS = """
[[model]]
name = "steady"
base_url = "BASE_URL"
model = "steady"
prices = {{ input = 0.5, output = 2.0, currency = "EUR" }}

[[model]]
name = "{name}-{{step}}"
base_url = "BASE_URL"
model = "m-{{step}}"
family = "{name}"
steps = [10, 20]
"""


class Slow:
    """A model that plays well and takes its time."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self._policy = PolicyModel()

    def __call__(self, body: dict[str, Any]) -> Any:
        said = self._policy(body)
        return replace(said, delay_s=self.delay_s) if isinstance(said, Say) else said


@contextmanager
def evaluating(folder: Path, server: ModelServer) -> Iterator[Arena]:
    """The arena, with an operator's password and models behind the server."""
    folder.mkdir()
    models = MODELS.format(name="rising").replace("BASE_URL", server.base_url)
    (folder / "models.toml").write_text(models, "utf-8")
    (folder / "panels.toml").write_text(
        '[[panel]]\nname = "always X"\nopponents = ["minimax:tie=s3"]\nmark = "X"\n', "utf-8"
    )
    arena = Arena(folder, {"ARENA_OPERATOR_PASSWORD": PASSWORD})
    arena.start()
    try:
        yield arena
    finally:
        arena.stop()
        # An evaluation that a failed test has left goes on without its server.
        with closing(sqlite3.connect(folder / "arena.db")) as database:
            left = database.execute("SELECT holder FROM evaluations WHERE holder IS NOT NULL")
            for (holder,) in left.fetchall():
                with suppress(ProcessLookupError):
                    os.kill(holder, signal.SIGKILL)


def sign_in(client: httpx2.Client) -> None:
    assert client.post("operator/sign-in", json={"password": PASSWORD}).status_code == 204


def start(client: httpx2.Client, name: str, **asked: Any) -> httpx2.Response:
    """Ask for an evaluation; of one model against one opponent unless said otherwise."""
    said = {"checkpoints": ["steady"], "opponents": ["minimax:tie=last"], "name": name, **asked}
    return client.post("evaluations", json=said)


def look(client: httpx2.Client, name: str) -> dict[str, Any]:
    answer = client.get("evaluation", params={"name": name})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def watch(client: httpx2.Client, name: str, fits: Any) -> dict[str, Any]:
    """The first look that fits."""
    return until(lambda: look(client, name), fits)


def steer(client: httpx2.Client, name: str, action: str) -> None:
    answer = client.post(f"evaluation/{action}", json={"name": name})
    assert answer.status_code == 204, answer.text


def process_of(client: httpx2.Client, name: str, **asked: Any) -> int:
    """The number of the process that plays an evaluation, as somebody is told who starts it too."""
    busy = start(client, name, **asked)
    assert busy.status_code == 429, busy.text
    said = re.search(r"by process (\d+)", busy.json()["error"]["message"])
    assert said is not None, busy.text
    return int(said[1])
