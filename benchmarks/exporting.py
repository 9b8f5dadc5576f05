"""One measured export: `python -m benchmarks.exporting arena DATABASE FLAVOUR FOLDER`, or `pyarrow
FOLDER FLAVOUR OUT` for the same rows from memory.

A process of its own, so that its memory is its own. It prints a JSON object a line: how many rows
are written so far, and at last what they took.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from storage.database import Database
from storage.datasets import Flavour, Recipe, write_folder
from storage.datasets.schema import SCHEMAS
from storage.filters import GameFilter

_GROUP = 1_000
"""Rows of a row group: the arena's."""
_SIGN = 2_000
"""Rows between two signs of progress."""


def megabytes(what: str) -> float:
    """Of this process: `VmRSS`, what it has in RAM, or `VmHWM`, the most it ever had."""
    status = Path("/proc/self/status").read_text("ascii")
    found = re.search(rf"^{what}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found
    return int(found[1]) / 2**10


def sign(rows: int) -> None:
    if rows % _SIGN == 0:
        print(json.dumps({"rows": rows}), flush=True)


def measured(work: Callable[[], int]) -> None:
    """Do it, and print what it took."""
    before = megabytes("VmRSS")
    # From here on the most is the most of this work.
    Path("/proc/self/clear_refs").write_text("5")
    began, cpu = time.perf_counter(), time.process_time()
    rows = work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    took = {"seconds": seconds, "cpu": cpu, "before": before, "peak": megabytes("VmHWM")}
    print(json.dumps({"rows": rows, **took}), flush=True)


def arena(database: Path, flavour: Flavour, folder: Path) -> None:
    """Export as `arena export` does."""
    db = Database.open(database)
    written = 0

    def count() -> None:
        nonlocal written
        written += 1
        sign(written)

    def work() -> int:
        write_folder(db, folder, Recipe((flavour,), GameFilter()), on_row=count)
        return written

    measured(work)
    db.close()


def from_memory(folder: Path, flavour: Flavour, out: Path, most: int) -> None:
    """Write the rows of an export anew, as Python's objects in memory: the same files."""
    files = {path: pq.read_table(path).to_pylist() for path in sorted((folder / flavour).iterdir())}
    schema = SCHEMAS[flavour]
    out.mkdir()

    def work() -> int:
        written = 0
        for path, rows in files.items():
            kept = iter(rows[: max(0, most - written)])
            with pq.ParquetWriter(out / path.name, schema, compression="zstd") as writer:
                while group := list(islice(kept, _GROUP)):
                    writer.write_table(pa.Table.from_pylist(group, schema))
                    written += len(group)
                    sign(written)
        return written

    measured(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("who", choices=("arena", "pyarrow"))
    parser.add_argument("source", type=Path)
    parser.add_argument("flavour", type=Flavour)
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=10**9, help="rows from memory")
    given = parser.parse_args()
    # Alembic tells of each migration.
    logging.disable(logging.INFO)
    if given.who == "arena":
        arena(given.source, given.flavour, given.out)
    else:
        from_memory(given.source, given.flavour, given.out, given.most)


if __name__ == "__main__":
    main()
