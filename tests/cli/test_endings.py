"""How commands end that cannot go on: a full disk, a reader that has left, a signal, a rival."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.cli.test_commands import arena, numbers
from tests.web.process import ROOT, until


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many games that it takes a while to export them."""
    folder = tmp_path_factory.mktemp("data")
    numbers(folder, "random", "random", "--games", "8000", "--store")
    return folder


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Children get SIGINT also where the tests run in a shell's background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def begun(
    data: Path, *arguments: str, stdout: int | IO[str] | None = None
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cli", "--data-dir", str(data), *arguments]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=stdout, text=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "games", "--out", "-"),
        ("export", "games", "--preview", "2"),
        ("leaderboard", "--json"),
        ("models",),
        ("--help",),
    ],
    ids=" ".join,
)
def test_a_full_disk_behind_standard_output(data: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        process = begun(data, *arguments, stdout=full)
        said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (1, "arena: the system refuses: No space left on device\n")


@pytest.mark.parametrize("command", ["export games --out -", "leaderboard", "--help"])
def test_a_standard_output_that_is_closed(data: Path, command: str) -> None:
    shell = f'exec "$0" -m cli --data-dir "$1" {command} >&-'
    process = subprocess.run(
        ["sh", "-c", shell, sys.executable, str(data)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    told = (process.returncode, process.stderr)
    assert told == (1, "arena: the system refuses: Bad file descriptor\n")


def test_a_reader_that_has_left_is_no_fault_to_speak_of(data: Path) -> None:
    process = begun(data, "export", "games", "--out", "-", stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("{")
    process.stdout.close()
    assert process.wait(timeout=120) == 1
    assert process.stderr is not None
    with process.stderr:
        assert process.stderr.read() == ""


@pytest.mark.parametrize("out", ["set", "games.jsonl"])
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 128 + signal.SIGINT)]
)
def test_a_signal_leaves_nothing_half_written(
    data: Path, tmp_path: Path, out: str, number: signal.Signals, code: int
) -> None:
    process = begun(data, "export", "games", "--out", str(tmp_path / out))
    until(lambda: list(tmp_path.glob(".arena-*")))
    process.send_signal(number)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_of_two_exports_into_one_new_folder_one_is_refused(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    both = [begun(data, "export", "games", "--out", str(out)) for _ in range(2)]
    told = [each.communicate(timeout=120)[1] for each in both]
    assert sorted(each.returncode for each in both) == [0, 1], told
    (refused,) = (said for each, said in zip(both, told, strict=True) if each.returncode)
    assert "holds an export already" in " ".join(refused.split())
    assert list(tmp_path.iterdir()) == [out]
    assert arena(data, "import", str(out)).returncode == 0
