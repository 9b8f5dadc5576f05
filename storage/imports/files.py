"""The lines of a file, whatever it is packed in, with how much of it was read."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from arena.errors import NotFoundError, StorageError
from storage.imports.check import LineError, Trouble

_LONGEST = 64 << 20
"""Bytes of a line: more is no game."""
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".csv", ".csv.gz")


class Line(NamedTuple):
    """A line of a file, or what could not be read of it."""

    number: int
    """From 1; in a Parquet file that of the row. 0 where nothing of the file could be read."""
    content: bytes | LineError
    whole: bool
    """Whether it ends as a line does: the last one may have been torn."""
    done: float
    """The share of the file that was read, 0 to 1."""


def files_of(path: Path) -> list[Path]:
    """The file, or the files of a folder that an export may have written, in order.

    Raises:
        NotFoundError: there is none.
    """
    if not path.exists():
        raise NotFoundError(f"there is no file {path}")
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.rglob("*") if each.name.endswith(_ENDINGS))
    if not found:
        raise NotFoundError(f"no file in {path} ends in {', '.join(_ENDINGS)}")
    return found


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of a JSONL file, plain or gzip'd, or the rows of a Parquet file.

    Raises:
        StorageError: it cannot be opened.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
            file.seek(0)
            if not start:
                yield Line(0, LineError(Trouble.EMPTY, "the file is empty"), True, 1.0)
            elif start == _PARQUET:
                yield from _rows(file)
            else:
                yield from _lines(file, zipped=start[:2] == _GZIP)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from None


def _lines(file: IO[bytes], *, zipped: bool) -> Iterator[Line]:
    size = max(1, os.fstat(file.fileno()).st_size)
    text = gzip.GzipFile(fileobj=file) if zipped else file
    number = 0
    try:
        while line := text.readline(_LONGEST + 1):
            number += 1
            done = min(1.0, file.tell() / size)
            if len(line) > _LONGEST:
                while line and not line.endswith(b"\n"):
                    line = text.readline(_LONGEST)
                trouble = LineError(Trouble.FORM, f"longer than {_LONGEST >> 20} MB")
                yield Line(number, trouble, True, done)
            elif line.strip():
                yield Line(number, line, line.endswith(b"\n"), done)
    except EOFError:
        trouble = LineError(Trouble.TORN, "the file ends in the middle of what is compressed")
        yield Line(number + 1, trouble, False, 1.0)
    except (gzip.BadGzipFile, zlib.error) as error:
        where = "from here on it" if number else "it"
        trouble = LineError(Trouble.UNREADABLE, f"{where} cannot be unpacked: {error}")
        yield Line(number and number + 1, trouble, False, 1.0)


def _rows(file: IO[bytes]) -> Iterator[Line]:
    # A third of a second that other files do not pay.
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(file) as table:
            total = max(1, table.metadata.num_rows)
            for batch in table.iter_batches(batch_size=200):
                for row in batch.to_pylist():
                    number += 1
                    line = json.dumps(row, default=str).encode()
                    yield Line(number, line, True, number / total)
    except pa.ArrowException as error:
        why = str(error).partition("\n")[0]
        where = "from here on it" if number else "it"
        trouble = LineError(Trouble.UNREADABLE, f"{where} cannot be read: {why}")
        yield Line(number and number + 1, trouble, False, 1.0)
