"""Which kind of file it is, told by its first line, and how such a file's lines are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from storage.imports.check import Incoming, LineError, read_line
from storage.imports.movelists import MoveListReader
from storage.imports.rollouts import Rollout
from storage.imports.rows import NEEDED, RowReader
from storage.imports.traces import read_episode

Found = Incoming | Rollout
Reader = Callable[[bytes], Sequence[Found]]
"""Raises `LineError` where a line holds nothing that may be believed."""

_CSV = (".csv", ".csv.gz")


def reader_of(path: Path, first: bytes | LineError) -> Reader:
    """How the lines of a file are read.

    Args:
        path: the file.
        first: its first line.
    """
    if path.name.endswith(_CSV):
        return MoveListReader()
    keys = _keys(first)
    if {"traces", "task"} <= keys:
        return read_episode
    if keys >= NEEDED and "schema" not in keys:
        # Tools call the file of every run alike, and give its folder the run's name.
        return RowReader(f"{path.absolute().parent.name}/{path.name}")
    return _read_game


def _keys(line: bytes | LineError) -> set[str]:
    if isinstance(line, LineError):
        return set()
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    return set(row) if isinstance(row, dict) else set()


def _read_game(line: bytes) -> list[Incoming]:
    return [read_line(line)]
