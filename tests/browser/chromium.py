"""The Chromium that the browser tests drive.

`find()` says where one is; `python -m tests.browser.chromium` brings one if there is none, which
is what `make test` does. Looked for, in this order: the program that ARENA_CHROMIUM names;
Chromium or Chrome on the PATH; Playwright's own download. A program counts if it says its
version, so that one without its libraries, or Ubuntu's `chromium-browser` that only points to a
snap, is passed over. A Chromium from a snap is passed over too: it cannot see the temporary
folder in which Playwright keeps a browser's profile.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""What to start it with: no sandbox, since it may run as root, and no traffic of its own."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_ASK_PLAYWRIGHT = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


class ChromiumError(Exception):
    """No usable Chromium; the message is one sentence that says what to do."""


@cache
def find() -> Path | None:
    """Return the Chromium to drive, or None if there is none.

    Raises:
        ChromiumError: ARENA_CHROMIUM names something that is no Chromium.
    """
    if named := os.environ.get("ARENA_CHROMIUM"):
        if path := _usable(named):
            return path
        raise ChromiumError(f"ARENA_CHROMIUM names no Chromium that starts: {named}")
    return next(filter(None, map(_usable, filter(None, map(shutil.which, NAMES)))), None) or (
        _usable(_playwrights_own())
    )


def install() -> Path:
    """Bring a Chromium: Playwright's own if that can be downloaded, else Debian's package.

    Raises:
        ChromiumError: neither way led to one.
    """
    if _run(sys.executable, "-m", "playwright", "install", "chromium"):
        if path := _found_anew():
            return path
        # Downloaded, but it does not start: libraries of the system are missing.
        _run(*_as_root(), sys.executable, "-m", "playwright", "install-deps", "chromium")
        if path := _found_anew():
            return path
    if shutil.which("apt-get"):
        _run(*_as_root(), "apt-get", "update", "--quiet")
        _run(*_as_root(), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install",
             "--quiet", "--yes", "--no-install-recommends", "chromium")  # fmt: skip
        if path := _found_anew():
            return path
    raise ChromiumError(
        "No Chromium could be installed: install Chromium or Chrome yourself, "
        "or set ARENA_CHROMIUM to the one to use."
    )


def main() -> int:
    """Say which Chromium there is, after installing one if there was none."""
    try:
        path = find()
        if path is None:
            print("There is no Chromium yet: installing one.", flush=True)
            path = install()
    except ChromiumError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The browser tests use {path}", flush=True)
    return 0


def _usable(program: str | None) -> Path | None:
    """Return the program's path if it is a Chromium that starts and comes from no snap."""
    if not program or "snap" in Path(program).resolve().parts:
        return None
    try:
        said = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    if "Chrom" not in said or said.rstrip().endswith(" snap"):
        return None
    return Path(program)


def _playwrights_own() -> str | None:
    """Return where Playwright's own download is or would be.

    It is asked in a process of its own, since its plain interface refuses to start beside a
    running event loop.
    """
    asked = subprocess.run(
        [sys.executable, "-c", _ASK_PLAYWRIGHT],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or None


def _found_anew() -> Path | None:
    find.cache_clear()
    return find()


def _as_root() -> tuple[str, ...]:
    """Return what to put before a command that only root may run; it never asks for a password."""
    return () if os.geteuid() == 0 else ("sudo", "-n")


def _run(*command: str) -> bool:
    """Run a command, shown first; return whether it succeeded."""
    print("+", *command, flush=True)
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError as error:
        print(error, file=sys.stderr)
        return False


if __name__ == "__main__":
    sys.exit(main())
