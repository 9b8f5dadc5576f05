"""What a model's file is known by: its whole content."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path


def digest_of(path: Path) -> str:
    """The SHA-256 of a file in hex; read once for as long as size and time of change stay.

    Of the whole, which takes seconds for gigabytes: two checkpoints may differ in a few weights
    anywhere, and must not share a number.

    Raises:
        OSError: it cannot be read.
    """
    state = path.stat()
    return _digest(str(path.absolute()), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest(path: str, size: int, changed: int) -> str:  # noqa: ARG001 - what is known by
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
