"""Evaluations as processes of their own: each is the command `arena evaluate`, started from here.

So no page waits for one, and one that fails takes nothing with it. An evaluation outlives the
server on purpose, whichever way that ends: it is hours of a model's replies. It is found again by
its name, with its signs of life, by the next server, which can pause and stop it as well. Where a
supervisor or a container ends every process together with the server, it is shown as dead, and
goes on from its stored games when somebody says so.

What a child says goes to a log beside the database, one for each evaluation, written anew at each
start. Settings go by options and environment, keys by the environment alone.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from storage.evaluations import Evaluation
from web.settings import Settings

_ROOT = Path(__file__).resolve().parent.parent
_SPOKEN = "arena: "
"""How a command begins a sentence."""
_TAIL_BYTES = 4096

log = logging.getLogger(__name__)


class Child:
    """The process of an evaluation that this server started."""

    def __init__(self, process: subprocess.Popen[bytes], begun: datetime, said: Path) -> None:
        self._process = process
        self._said = said
        self.begun = begun
        # Whoever has ended is waited for at once: none stays as a zombie.
        threading.Thread(target=process.wait, name=f"wait for {process.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def failed(self) -> bool:
        """Whether it has ended otherwise than well."""
        return bool(self._process.poll())

    def has_begun(self, evaluation: Evaluation) -> bool:
        """Whether it has come so far as to play the evaluation."""
        return evaluation.beat_at is not None and evaluation.beat_at >= self.begun

    def last_words(self) -> str:
        """Why it ended: by which signal, else the last sentence that it said."""
        code = self._process.poll() or 0
        if code < 0:
            return f"it was ended from outside, by {_signal(-code)}"
        try:
            with self._said.open("rb") as file:
                file.seek(max(0, self._said.stat().st_size - _TAIL_BYTES))
                lines = file.read().decode("utf-8", "replace").split("\n")
        except OSError:
            lines = []
        said = [line.strip() for line in lines if line.strip()]
        spoken = [line.removeprefix(_SPOKEN) for line in said if line.startswith(_SPOKEN)]
        return next(reversed(spoken or said), f"it ended with code {code}")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Children:
    """Starts evaluations' processes, and knows those of this server."""

    def __init__(
        self, settings: Settings, environment: Mapping[str, str], now: Callable[[], datetime]
    ) -> None:
        """Args:
        settings: where database and models are.
        environment: the server's own; models' keys are in it.
        now: the clock; its times carry a zone.
        """
        self._settings = settings
        # What a command has no use for.
        hidden = ("ARENA_OPERATOR_PASSWORD", "ARENA_HOST", "ARENA_PORT")
        self._environment = {key: value for key, value in environment.items() if key not in hidden}
        self._environment["ARENA_MODELS"] = str(settings.models_file.absolute())
        self._now = now
        self._children: dict[int, Child] = {}

    def of(self, evaluation: Evaluation) -> Child | None:
        """The last process that this server started for an evaluation."""
        return self._children.get(evaluation.id)

    def start(self, evaluation: Evaluation, arguments: Sequence[str]) -> None:
        """Start `arena evaluate` with these arguments.

        Raises:
            OSError: no process can be started, or its log cannot be written.
        """
        database = self._settings.database.absolute()
        said = database.with_name(f"{database.name}.evaluation-{evaluation.id}.log")
        options = [f"--data-dir={self._settings.data_dir.absolute()}", f"--database={database}"]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        begun = self._now()
        with os.fdopen(os.open(said, flags, 0o600), "wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "cli", *options, "evaluate", *arguments],
                cwd=_ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                # Ctrl-C ends the server, not what it started.
                start_new_session=True,
            )
        self._children[evaluation.id] = Child(process, begun, said)

    def say_farewell(self) -> None:
        """Tell the log which evaluations go on without the server."""
        for child in self._children.values():
            if child.runs:
                log.warning("an evaluation goes on without the server: process %s", child.pid)
