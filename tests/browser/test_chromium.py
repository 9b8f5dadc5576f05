"""Which Chromium is taken, and which is passed over."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser import chromium

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")

Program = Callable[..., Path]


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    chromium.find.cache_clear()
    yield
    chromium.find.cache_clear()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Write a program into the only folder on the PATH."""
    monkeypatch.delenv("ARENA_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(name: str, says: str, status: int = 0) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
        path.chmod(0o755)
        return path

    return write


def test_the_one_on_the_path(program: Program) -> None:
    path = program("google-chrome", "Google Chrome 156.0.8078.73")
    assert chromium.find() == path


def test_one_that_does_not_start_is_passed_over(program: Program) -> None:
    program("chromium-browser", "Command requires the chromium snap to be installed.", status=1)
    path = program("google-chrome", "Google Chrome 156.0.8078.73")
    assert chromium.find() == path


def test_a_snap_is_passed_over(program: Program) -> None:
    program("chromium", "Chromium 156.0.8078.73 snap")
    path = program("google-chrome", "Google Chrome 156.0.8078.73")
    assert chromium.find() == path


def test_the_environment_names_one(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program("chromium", "Chromium 156.0.8078.73")
    named = program("mine", "Chromium 150.0.7871.100")
    monkeypatch.setenv("ARENA_CHROMIUM", str(named))
    assert chromium.find() == named


def test_the_environment_names_nothing_that_starts(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program("chromium", "Chromium 156.0.8078.73")
    monkeypatch.setenv("ARENA_CHROMIUM", str(tmp_path / "missing"))
    with pytest.raises(chromium.ChromiumError, match="ARENA_CHROMIUM names no Chromium"):
        chromium.find()
