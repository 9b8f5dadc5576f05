"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from arena.errors import StorageError


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write: until the block ends, nothing of it is seen under its name.

    Args:
        path: the file; one that exists is replaced, a link is followed.

    Raises:
        StorageError: it cannot be written; what was there before is untouched.
    """
    target = path.resolve()
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".arena-")
        part = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
            # The mode that an ordinary new file would have, or that of the one before.
            part.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask())
            part.replace(target)
        except BaseException:
            part.unlink()
            raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None


def umask() -> int:
    """What the mode of a new file leaves out."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
