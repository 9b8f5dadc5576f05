"""The rows of a Parquet file, each as a line of JSON and bounded as one.

A file of a kilobyte can hold a text of megabytes once and name it in every row. So texts stay in
their dictionaries, a row is measured there, and only what is no longer than a line may be is
written out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.imports.troubles import LineError, Trouble

_ROWS = 50
"""In memory at once, their texts in dictionaries."""
_VALUE = 8
"""Bytes of what is no text."""
_FAULTS = (pa.ArrowException, ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""What pyarrow raises where a value is none in Python: a year beyond 9999, no UTF-8, a time zone
that nobody knows.
"""


class Row(NamedTuple):
    """A row, or what could not be read of it."""

    number: int
    """From 1; 0 where nothing of the file could be read."""
    content: bytes | LineError
    done: float
    """The share of the rows that was read, 0 to 1."""


def rows_of(file: IO[bytes], longest: int) -> Iterator[Row]:
    """The rows of a Parquet file, in order. A fault of one of them is told of it alone.

    Args:
        file: at its begin.
        longest: bytes of a row; one of more is not read.
    """
    number = 0
    try:
        with pq.ParquetFile(file) as table:
            names = _texts(table.schema)
            total = max(1, table.metadata.num_rows)
        file.seek(0)
        with pq.ParquetFile(file, read_dictionary=names) as table:
            for batch in _batches(table, longest // _VALUE):
                for place in range(batch.num_rows):
                    number += 1
                    yield Row(number, _row(batch.slice(place, 1), longest), number / total)
    except (*_FAULTS, OSError) as error:
        why = str(error).partition("\n")[0]
        where = "from here on it" if number else "it"
        trouble = LineError(Trouble.UNREADABLE, f"{where} cannot be read: {why}")
        yield Row(number and number + 1, trouble, 1.0)


def _batches(table: Any, most: int) -> Iterator[Any]:
    """Rows in batches that hold about as many values as one row may: `most`.

    Raises:
        ValueError: rows hold more on average.
    """
    for group in range(table.num_row_groups):
        told = table.metadata.row_group(group)
        values = max(
            (told.column(place).num_values for place in range(told.num_columns)), default=0
        )
        each = -(-values // max(1, told.num_rows))
        if each > most:
            raise ValueError(f"its rows are lists of {each:,} values")
        size = max(1, min(_ROWS, most // max(1, each)))
        yield from table.iter_batches(batch_size=size, row_groups=[group])


def _texts(schema: Any) -> list[str]:
    """The paths of the columns that are texts, nested ones too."""
    columns = [schema.column(place) for place in range(len(schema))]
    return [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]


def _row(row: Any, longest: int) -> bytes | LineError:
    """A batch of one row, as a line."""
    try:
        if sum(map(_size, row.columns)) <= longest:
            line = json.dumps(row.to_pylist()[0], default=str).encode()
            if len(line) <= longest:
                return line
    except _FAULTS as error:
        why = str(error).partition("\n")[0]
        return LineError(Trouble.FORM, f"a value of it cannot be read: {why:.200}")
    return LineError(Trouble.FORM, f"longer than {longest >> 20} MB")


def _size(array: Any) -> int:
    """The bytes of what an array holds, a text as often as it stands there."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _length(pc.take(pc.binary_length(array.dictionary), array.indices))
    if pa.types.is_struct(kind):
        return len(array) * _VALUE + sum(map(_size, array.flatten()))
    if pa.types.is_nested(kind):
        return len(array) * _VALUE + _size(array.flatten())
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        return _length(pc.binary_length(array))
    return len(array) * _VALUE


def _length(lengths: Any) -> int:
    return len(lengths) * _VALUE + (pc.sum(lengths).as_py() or 0)
