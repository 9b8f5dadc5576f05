"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from arena.errors import StorageError


def write_whole(path: Path, chunks: Iterable[bytes]) -> int:
    """Write a file: until the last chunk is there, nothing of it is seen under its name.

    Args:
        path: the file; one that exists is replaced, a link is followed.
        chunks: its content.

    Returns:
        The number of chunks.

    Raises:
        StorageError: it cannot be written; what was there before is untouched.
    """
    written = 0
    target = path.resolve()
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".arena-")
        part = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                    written += 1
            # The mode that an ordinary new file would have, or that of the one before.
            part.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            part.replace(target)
        except BaseException:
            part.unlink()
            raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    return written


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
