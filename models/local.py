"""A GGUF file as a model: llama.cpp's server in a process of its own, and the way to it.

The process is started when it is first needed, and again when it has died: it is native code, and
its crash must be no more than a fault of the network. It listens on a free port of 127.0.0.1, takes
nothing without a key that is drawn for it alone, has no secret in its environment, and ends with
its parent however that ends: its standard input ends then, and Linux kills it besides. Where it
serves other tools it listens on a port that its user chose, and asks for no key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from models.faults import shorten

if TYPE_CHECKING:
    from models.transport import Transport

CONTEXT = 12_288
"""Tokens: room for a game of eight replies of the default length. A model that was trained on
fewer gets no more than those."""

_PROGRAM = Path(__file__).with_name("llama_server.py")
_START_S = 300.0
_CLOSE_S = 2.0
_LINES_KEPT = 50
_REASON = "error loading model: "
# What a library may need to be found and to run; the rest, secrets among it, is not passed on.
_PASSED_ON = frozenset(
    {
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"),
        *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES"),
        *("OMP_NUM_THREADS", "OMP_WAIT_POLICY"),
    }
)

_log = logging.getLogger(__name__)


class StartError(Exception):
    """The server does not run; the message says why, without a full stop."""

    def __init__(self, reason: str, *, fatal: bool) -> None:
        super().__init__(reason)
        self.fatal = fatal
        """Whether another try would end in the same way."""


@dataclass(frozen=True)
class Address:
    """Where a server listens, and what it wants to see."""

    base_url: str
    key: str = field(repr=False)


class LocalServer:
    """llama.cpp with one file.

    Args:
        path: the GGUF file; that it can be used is found out by the first start.
        threads: how many compute.
        context: tokens of a chat, reply included.
        start_s: how long a start may take.
        name: what it calls its model; the file's name unless said.
        port: where it listens; any free one unless said.
        keyless: whether it takes requests without a key, for tools other than the arena.
    """

    def __init__(
        self,
        path: Path,
        threads: int = 1,
        context: int = CONTEXT,
        start_s: float = _START_S,
        *,
        name: str | None = None,
        port: int = 0,
        keyless: bool = False,
    ) -> None:
        self._wanted: dict[str, Any] = {
            "path": str(path),
            "name": name or path.name,
            "threads": threads,
            "context": context,
            "port": port,
            "keyless": keyless,
        }
        self._start_s = start_s
        self._lock = threading.Lock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """The process, where there is one."""
        child = self._child
        return child.process.pid if child and child.alive else None

    async def running(self) -> Address:
        """Where it listens, once it does. Calls from anywhere at once start one process.

        Raises:
            StartError: it does not run.
        """
        child = self._current()
        try:
            async with asyncio.timeout(self._start_s):
                return await asyncio.wrap_future(child.address)
        except TimeoutError:
            child.process.kill()
            reason = f"llama.cpp was not ready within {self._start_s:g} s"
            raise StartError(reason, fatal=False) from None

    def close(self) -> None:
        """End the process, and wait for its end. A later call of `running` starts another."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def _current(self) -> _Child:
        # Not in a worker thread: on Linux, a process that is to die with its parent does so with
        # the thread that started it.
        with self._lock:
            last = self._child
            if last is None or not last.alive:
                self._child = _Child(self._wanted, again=last is not None and last.failed)
            assert self._child is not None
            return self._child


class LocalServers:
    """One server for each file, however many entries name it."""

    def __init__(self) -> None:
        self._servers: dict[tuple[Path, int, int], LocalServer] = {}

    def get(self, path: Path, threads: int = 1, context: int = CONTEXT) -> LocalServer:
        """The server with that file; it is not started yet."""
        key = (path.resolve(), threads, context)
        if key not in self._servers:
            self._servers[key] = LocalServer(*key)
        return self._servers[key]

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*(asyncio.to_thread(each.close) for each in self._servers.values()))


def connector(server: LocalServer) -> Callable[[float], Transport]:
    """What makes an endpoint's connections to a server; called with the endpoint's timeout."""

    def connect(timeout_s: float) -> Transport:
        # Imports the client, which takes long.
        from models.local_transport import LocalTransport

        return LocalTransport(server, timeout_s)

    return connect


class _Child:
    """One process, from its start to its end.

    Args:
        wanted: what it is to serve.
        again: whether the one before it died as it started: then there is no hope for a third.

    Raises:
        StartError: there is no process to be had.
    """

    def __init__(self, wanted: Mapping[str, Any], *, again: bool) -> None:
        self.address: Future[Address] = Future()
        # Whoever waits for it may give up; the others go on waiting.
        self.address.set_running_or_notify_cancel()
        self._file = wanted["name"]
        self._again = again
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        try:
            self.process = subprocess.Popen(
                # By its path, and without the folder of that path among the importable ones.
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={name: value for name, value in os.environ.items() if name in _PASSED_ON},
                # Ctrl-C is the arena's to answer, which may want to finish a game.
                start_new_session=True,
            )
        except OSError as error:
            reason = f"no process could be started: {error.strerror}"
            raise StartError(reason, fatal=False) from None
        key = "" if wanted["keyless"] else secrets.token_urlsafe(24)
        verbose = _log.isEnabledFor(logging.DEBUG)
        self._tell({**wanted, "key": key, "verbose": verbose})
        self._logger = self._run(self._keep_log)
        self._run(lambda: self._take_report(key))

    @property
    def alive(self) -> bool:
        """Whether it runs, or starts and has not failed to."""
        return self.process.poll() is None and not self.failed

    @property
    def failed(self) -> bool:
        """Whether it never came to listen."""
        return self.address.done() and self.address.exception() is not None

    def close(self) -> None:
        """End it, and wait for that."""
        with contextlib.suppress(OSError):
            self._pipe("stdin").close()
        try:
            self.process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._logger.join()

    def _tell(self, wanted: Mapping[str, Any]) -> None:
        # One that is gone already says so by its report.
        with contextlib.suppress(OSError):
            stdin = self._pipe("stdin")
            stdin.write(json.dumps(wanted).encode() + b"\n")
            stdin.flush()

    def _take_report(self, key: str) -> None:
        with self._pipe("stdout") as stdout:
            line = stdout.readline()
        try:
            said = json.loads(line)
            address = said.get("address")
        except ValueError:
            said, address = {}, None
        if address is not None:
            if not said["template"]:
                _log.warning("%s has no chat template: it is asked in ChatML", self._file)
            self.address.set_result(Address(f"{address}/v1", key))
            return
        status = self.process.wait()
        self._logger.join()
        if "error" in said:
            self.address.set_exception(StartError(said["error"] + self._reason(), fatal=True))
            return
        how = f"signal {_signal(-status)}" if status < 0 else f"status {status}"
        reason = f"llama.cpp's process ended with {how} as it loaded the file"
        self.address.set_exception(StartError(reason, fatal=self._again))

    def _keep_log(self) -> None:
        with self._pipe("stderr") as stderr:
            for raw in stderr:
                line = raw.decode("utf-8", "replace").rstrip()
                self._lines.append(line)
                _log.debug("%s: %s", self._file, line)
        # Else it would stay a zombie until it is next asked for.
        self.process.wait()
        with contextlib.suppress(OSError):
            self._pipe("stdin").close()

    def _reason(self) -> str:
        """llama.cpp's own words, where it has any."""
        found = [line.partition(_REASON)[2] for line in self._lines if _REASON in line]
        return f": {shorten(found[0])}" if found else ""

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self.process, name)
        return pipe

    def _run(self, target: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=target, name=f"llama.cpp {self._file}", daemon=True)
        thread.start()
        return thread


def _signal(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)
