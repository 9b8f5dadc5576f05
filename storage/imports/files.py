"""The files of a folder, and the lines of a file with how much of it was read."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, NamedTuple

from arena.errors import NotFoundError
from storage.imports.troubles import LineError, Trouble

LONGEST = 64 << 20
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

    What bears such a name and cannot be opened is among them, and so is a folder in it that
    cannot be: reading them says why.

    Raises:
        NotFoundError: there is none.
    """
    if not path.exists():
        raise NotFoundError(f"there is no file {path}")
    if not path.is_dir():
        return [path]
    found: list[Path] = []

    def closed(error: OSError) -> None:
        found.append(Path(error.filename))

    for folder, _, names in os.walk(path, onerror=closed):
        found += [Path(folder, name) for name in names if name.endswith(_ENDINGS)]
    if not found:
        raise NotFoundError(f"no file in {path} ends in {', '.join(_ENDINGS)}")
    return sorted(found)


def open_file(path: Path) -> BufferedReader:
    """Open a file to read it.

    Raises:
        OSError: it cannot be, or is none: a pipe would keep its reader waiting.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError("it is no ordinary file")
    return path.open("rb")


def hash_of(path: Path) -> str:
    """SHA-256 of a file, in hex.

    Raises:
        LineError: it cannot be read.
    """
    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(error) from None


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of a JSONL or CSV file, plain or gzip'd, or the rows of a Parquet file as JSON."""
    try:
        with open_file(path) as file:
            start = file.read(4)
            file.seek(0)
            if not start:
                yield Line(0, LineError(Trouble.EMPTY, "the file is empty"), True, 1.0)
            elif start == _PARQUET:
                # A third of a second that other files do not pay.
                from storage.imports.parquet import rows_of

                for number, content, done in rows_of(file, LONGEST):
                    yield Line(number, content, True, done)
            else:
                yield from _lines(file, zipped=start[:2] == _GZIP)
    except OSError as error:
        yield Line(0, _unreadable(error), True, 1.0)


def _unreadable(error: OSError) -> LineError:
    return LineError(Trouble.UNREADABLE, f"it cannot be read: {error.strerror or error}")


def _lines(file: IO[bytes], *, zipped: bool) -> Iterator[Line]:
    size = max(1, os.fstat(file.fileno()).st_size)
    text = gzip.GzipFile(fileobj=file) if zipped else file
    number = 0
    try:
        while line := text.readline(LONGEST + 1):
            number += 1
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            done = min(1.0, file.tell() / size)
            if len(line) > LONGEST:
                while line and not line.endswith(b"\n"):
                    line = text.readline(LONGEST)
                trouble = LineError(Trouble.FORM, f"longer than {LONGEST >> 20} MB")
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
