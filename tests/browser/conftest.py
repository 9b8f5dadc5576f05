"""A real Chromium. Every page that a test opens is watched: see `Watch`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.browser.chromium import FLAGS, find
from tests.servers import ModelServer
from tests.web.process import PATIENCE_S, ROOT, Arena, Table, checkpoint, human, says

NewPage = Callable[..., Page]
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""No other machine is reached, whatever a page asks for."""


@dataclass
class Watch:
    """What must not happen on any page: an error, a dialog, a script that came as text, a request
    that leaves the machine.
    """

    seen: list[str] = field(default_factory=list)
    forgives: tuple[str, ...] = ()
    """Errors of the console that a test brings about on purpose, by a part of their text."""

    def over(self, context: BrowserContext) -> None:
        context.expose_function("fire", lambda *_: self.seen.append("text was run as a script"))
        context.on("request", self._request)
        context.on("console", lambda m: self._error(m.text) if m.type == "error" else None)
        context.on("weberror", lambda error: self._error(str(error.error)))
        context.on("dialog", self._dialog)

    def _dialog(self, dialog: Dialog) -> None:
        self.seen.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.seen.append(f"request to {request.url}")

    def _error(self, text: str) -> None:
        if not any(part in text for part in self.forgives):
            self.seen.append(text)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=1000 * PATIENCE_S / 2)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=[*FLAGS, NOWHERE])
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def new_page(browser: Browser, watch: Watch) -> Iterator[NewPage]:
    """Open a browser of its own, as far as cookies and storage go."""
    contexts: list[BrowserContext] = []

    def open_page(**options: Any) -> Page:
        contexts.append(browser.new_context(reduced_motion="reduce", **options))
        contexts[-1].set_default_timeout(1000 * PATIENCE_S / 2)
        watch.over(contexts[-1])
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        context.close()
    assert not watch.seen


@pytest.fixture
def page(new_page: NewPage, model: ModelServer) -> Page:
    return new_page()


@pytest.fixture(scope="session")
def records(arena: Arena, model_server: ModelServer) -> Arena:
    """The arena with some rated games, and one of a person's against a model."""
    for players in (("minimax:tie=corner", "random"), ("minimax:tie=corner", "minimax:tie=edge")):
        command = ["-m", "cli", "--data-dir", str(arena.folder), "play", *players]
        options = ["--games", "20", "--seed", "1", "--opener", "alternate", "--store"]
        subprocess.run([sys.executable, *command, *options], cwd=ROOT, check=True)
    model_server.answer = says("no", 0)
    with arena.client() as client:
        table = Table(client, human("Rita"), checkpoint())
        table.move(4)
        table.my_turn()
        table.resign("X")
    return arena
