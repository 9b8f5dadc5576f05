"""Rows into files, in bounded memory: lines of JSON, or Parquet in zstd."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from storage.datasets.stream import Flavour, Row, line_of

ROWS_A_FILE = 200_000
_ROWS_A_GROUP = 1000
"""In memory at once."""


class Format(StrEnum):
    """How the rows of a file are written; its name's ending."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class Writer(Protocol):
    """An open file of rows."""

    def add(self, row: Row) -> None:
        """Take a row."""
        ...

    def close(self) -> None:
        """Write what waits."""
        ...

    def drop(self) -> None:
        """Write no more: the file stays as it is."""
        ...


class _Jsonl:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, row: Row) -> None:
        self._file.write(line_of(row))

    def close(self) -> None:
        self._file.flush()

    def drop(self) -> None:
        """Each row is in the file already."""


class _Parquet:
    def __init__(self, file: IO[bytes], flavour: Flavour) -> None:
        # A third of a second that other formats do not pay.
        import pyarrow.parquet as pq

        from storage.datasets.schema import SCHEMAS

        self._schema = SCHEMAS[flavour]
        self._writer: Any = pq.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) == _ROWS_A_GROUP:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def drop(self) -> None:
        # Or it would write the end of the file, closed by then, when it is collected.
        self._writer.is_open = False

    def _flush(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows = []


def open_writer(file: IO[bytes], format: Format, flavour: Flavour) -> Writer:
    """What writes rows to an open file; closing it leaves the file open."""
    return _Jsonl(file) if format is Format.JSONL else _Parquet(file, flavour)


def write_rows(file: IO[bytes], format: Format, flavour: Flavour, rows: Iterable[Row]) -> int:
    """Write all rows to one open file; how many there were."""
    written = 0
    writer = open_writer(file, format, flavour)
    try:
        for row in rows:
            writer.add(row)
            written += 1
        writer.close()
    except BaseException:
        writer.drop()
        raise
    return written


class Shards:
    """The files of one split, `train-00000.parquet` and on: a new one every so many rows."""

    def __init__(self, folder: Path, split: str, format: Format, flavour: Flavour) -> None:
        self._folder, self._split = folder, split
        self._format, self._flavour = format, flavour
        self._file: IO[bytes] | None = None
        self._writer: Writer | None = None
        self.rows = 0
        self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._close()
        elif self._writer is not None and self._file is not None:
            self._writer.drop()
            self._file.close()

    def add(self, row: Row) -> None:
        """Write a row."""
        if self.rows % ROWS_A_FILE == 0:
            self._close()
            number = self.rows // ROWS_A_FILE
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{self._split}-{number:05}.{self._format}"
            self._file = path.open("wb")
            self._writer = open_writer(self._file, self._format, self._flavour)
        assert self._writer is not None
        self._writer.add(row)
        self.rows += 1

    def _close(self) -> None:
        if self._writer is None or self._file is None:
            return
        try:
            self._writer.close()
            self.bytes += self._file.tell()
        except BaseException:
            self._writer.drop()
            raise
        finally:
            self._file.close()
            self._writer = self._file = None
