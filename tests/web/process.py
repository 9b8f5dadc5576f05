"""The real server, `python app.py`, as a process of its own on a data folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from tests.servers import Say, closed_port

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120
"""A lost cause is given up after this long; nothing is measured by it."""

Seen = TypeVar("Seen")


def until(look: Callable[[], Seen], fits: Callable[[Seen], Any] = bool) -> Seen:
    """Look again and again until what is seen fits, and return it."""
    end = time.monotonic() + PATIENCE_S
    while True:
        seen = look()
        if fits(seen):
            return seen
        assert time.monotonic() < end, f"still {seen!r}"
        time.sleep(0.05)


class Arena:
    """A server that can be stopped, killed and started again on the same port and folder."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.log = folder.with_suffix(".log")
        self.port = closed_port()
        self.url = f"http://127.0.0.1:{self.port}"
        own = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        # Tests begin with an empty arena unless they say otherwise.
        settings = {"ARENA_DATA_DIR": str(folder), "ARENA_DEMO": "0"}
        self._environment = own | settings | environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and return once it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "app.py", "--port", str(self.port)],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            until(self._answers)
        except BaseException:
            self.stop(signal.SIGKILL)
            raise

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop it; SIGKILL leaves it no time for anything."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(PATIENCE_S)
            self._process = None

    def restart(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.stop(number)
        self.start()

    def client(self, **options: Any) -> httpx2.Client:
        """Somebody who talks to /api/v1; without a name or cookie, a visitor."""
        return httpx2.Client(base_url=f"{self.url}/api/v1/", timeout=PATIENCE_S, **options)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text("utf-8")
        try:
            return httpx2.get(f"{self.url}/healthz").status_code == 200
        except httpx2.TransportError:
            return False


def human(name: str = "") -> dict[str, str]:
    return {"kind": "human", "name": name}


def engine(spec: str = "minimax:tie=first") -> dict[str, str]:
    return {"kind": "engine", "spec": spec}


def checkpoint(name: str = "tagger") -> dict[str, str]:
    return {"kind": "model", "name": name}


class Table:
    """A game as somebody plays it through the JSON routes."""

    def __init__(
        self, client: httpx2.Client, x: dict[str, str], o: dict[str, str], **more: Any
    ) -> None:
        self.client = client
        begun = client.post("games", json={"x": x, "o": o, **more})
        assert begun.status_code == 201, begun.text
        self.state: dict[str, Any] = begun.json()["game"]
        self.tokens: dict[str, str] = begun.json()["tokens"]
        self.id: str = self.state["id"]

    def look(self) -> dict[str, Any]:
        """The state now."""
        answer = self.client.get(f"games/{self.id}")
        assert answer.status_code == 200, answer.text
        self.state = answer.json()
        return self.state

    def wait(self, fits: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The first state that fits."""
        return until(self.look, fits)

    def my_turn(self) -> dict[str, Any]:
        """Wait for a person's turn, or the end."""
        return self.wait(lambda game: game["outcome"] or game["waiting_for"] == "human")

    def try_move(self, square: int, **other: Any) -> httpx2.Response:
        """Send a move on the board last seen, changed by `other`."""
        token = self.tokens.get(self.state["to_move"] or "X", "")
        move = {"square": square, "ply": self.state["ply"], "token": token, **other}
        return self.client.post(f"games/{self.id}/moves", json=move)

    def move(self, *squares: int) -> dict[str, Any]:
        """Make moves, waiting for a model's answer before each."""
        for square in squares:
            self.my_turn()
            answer = self.try_move(square)
            assert answer.status_code == 200, answer.text
            self.state = answer.json()
        return self.state

    def try_resign(self, mark: str) -> httpx2.Response:
        """Give up a seat."""
        return self.client.post(f"games/{self.id}/resign", json={"token": self.tokens[mark]})

    def resign(self, mark: str) -> dict[str, Any]:
        answer = self.try_resign(mark)
        assert answer.status_code == 200, answer.text
        self.state = answer.json()
        return self.state


def squares(game: dict[str, Any]) -> list[int]:
    """The moves of a game, in order."""
    return [turn["square"] for turn in game["turns"]]


def says(*moves: int | str) -> list[Say]:
    """A model's script: squares in tags, or texts as they stand."""

    def text(move: int | str) -> str:
        return (
            move if isinstance(move, str) else f"<think>I take {move}.</think><move>{move}</move>"
        )

    return [Say(text(move)) for move in moves]
