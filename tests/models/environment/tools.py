"""The tools of verifiers as real processes that reach loopback and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers import ModelServer, closed_port

ROOT = Path(__file__).parents[3]
KEY = "sk-canary-77c01d2e9a"
"""The models' key: it must be found in no file."""


@dataclass
class Tools:
    """Where they run, and what they find there.

    Args:
        folder: their working folder.
        python: the interpreter whose tools they are.
        path: further folders from which modules are imported.
    """

    folder: Path
    python: Path = Path(sys.executable)
    path: tuple[Path, ...] = ()

    def run(self, tool: str, *arguments: str, code: int = 0) -> str:
        """Run `vf-eval` and the like; what it said."""
        command = [str(self.python.parent / tool), *arguments]
        nobody = f"http://127.0.0.1:{closed_port()}"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(map(str, self.path)),
            "MODEL_KEY": KEY,
            "HTTP_PROXY": nobody,
            "HTTPS_PROXY": nobody,
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        # What aiohttp says of a session that nobody closed.
        assert "Unclosed" not in done.stdout + done.stderr
        return done.stdout + done.stderr

    def evaluate(self, run: str, server: ModelServer, *arguments: str, code: int = 0) -> str:
        """`vf-eval` against a server; its traces are `traces(run)`."""
        return self.run(
            "vf-eval",
            *arguments,
            *("-m", "scripted", "--client.base-url", server.base_url),
            *("--client.api-key-var", "MODEL_KEY", "--no-push", "--no-rich"),
            *("-o", str(self.folder / "out"), "--run.name", run),
            code=code,
        )

    def traces(self, run: str) -> list[dict[str, Any]]:
        """The episodes of a run, in the order of their examples."""
        lines = self.file(run).read_text("utf-8").splitlines()
        return sorted(map(json.loads, lines), key=lambda episode: episode["task"]["data"]["idx"])

    def file(self, run: str) -> Path:
        """The file of a run's traces."""
        return self.folder / "out" / run / "traces.jsonl"


def scores(trace: dict[str, Any]) -> dict[str, float]:
    """What each reward function of a trace gave."""
    return {name: each["score"] for name, each in trace["rewards"].items() if each}
