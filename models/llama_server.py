"""The program of a GGUF file's own process: llama.cpp's server with one file, on loopback.

`models.local` runs it by its path, so it imports nothing of the project. Standard input holds one
line of JSON with what to serve; its end is the parent's end, and then this ends too. Standard
output takes one line of JSON back: where the server listens, or why it does not. All that
llama.cpp itself prints goes to standard error.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

_MAGIC = b"GGUF"
_TEMPLATE_KEY = b"tokenizer.chat_template"
_HEADER = 64 << 20
"""Where the keys of a file are over, with room to spare for a large vocabulary."""
_PROMPT_CACHE_MIB = 256
_PR_SET_PDEATHSIG = 1


class _UnusableError(Exception):
    """The file, or llama.cpp, cannot be used; the message says why, without a full stop."""


def main() -> None:
    """Serve until the parent is gone."""
    _die_with_parent()
    # Native code may print to standard output at any time.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    line = sys.stdin.buffer.readline()
    if not line:
        return
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        said, server = serve(json.loads(line))
    except _UnusableError as error:
        said, server = {"error": str(error)}, None
    except Exception as error:
        # Another version of xllamacpp may know other settings.
        said, server = {"error": f"llama.cpp could not be started: {error!r}"}, None
    print(json.dumps(said), file=report, flush=True)
    report.close()
    if server is None:
        # The thread that waits for the parent would be in the way of an orderly end.
        os._exit(1)
    threading.Event().wait()


def serve(wanted: dict[str, Any]) -> tuple[dict[str, Any], object]:
    """Start the server.

    Args:
        wanted: `path`, `name`, `port`, `key` (empty: none is asked for), `threads`, `context`
            and `verbose`.

    Returns:
        What to report, and the server, which stops once it is let go of.

    Raises:
        _UnusableError: with the reason.
    """
    template = _has_template(Path(wanted["path"]))
    try:
        import xllamacpp
    except ModuleNotFoundError:
        raise _UnusableError(
            "a GGUF file is played through xllamacpp, which is not installed (there are wheels of "
            "it for Linux with glibc, macOS 13 and Windows): serve the file elsewhere, and give "
            "its base_url"
        ) from None
    except ImportError as error:
        raise _UnusableError(
            f"a GGUF file is played through xllamacpp, which cannot be loaded here: {error}"
        ) from None
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    # Else answers and lists would name the model by its path.
    params.model_alias = {wanted["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = wanted["port"]
    params.api_keys = [wanted["key"]] if wanted["key"] else []
    params.ui = params.endpoint_slots = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
    params.n_parallel = 1
    params.n_ctx = wanted["context"]
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    # Replies as the model gave them, thinking and all: reading them is the arena's part.
    params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE
    params.force_pure_content_parser = True
    params.verbosity = 3 if wanted["verbose"] else 2
    try:
        server = xllamacpp.Server(params)
    except RuntimeError:
        raise _UnusableError("llama.cpp cannot load the file") from None
    return {"address": server.listening_address, "template": template}, server


def _has_template(path: Path) -> bool:
    """Whether a file says how its model is to be asked.

    Raises:
        _UnusableError: it is no file, or not a GGUF file.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise _UnusableError("this is not a GGUF file")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return data.find(_TEMPLATE_KEY, 0, _HEADER) >= 0
    except FileNotFoundError:
        raise _UnusableError("there is no such file") from None
    except IsADirectoryError:
        raise _UnusableError("this is a folder, not a GGUF file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _UnusableError(f"the file cannot be read: {reason}") from None


def _die_with_parent() -> None:
    """Have the kernel see to it, where it can: llama.cpp lets no thread run while it loads."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave_with_parent() -> NoReturn:
    while os.read(0, 1024):
        pass
    # Whatever else runs: nobody is left to wait for it.
    os._exit(0)


if __name__ == "__main__":
    main()
