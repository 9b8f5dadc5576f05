"""Which kind of file it is, told by its first good line, and how such a file's lines are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from storage.datasets.stream import Flavour
from storage.imports import metadata
from storage.imports.check import WHOLE, Incoming, read_line
from storage.imports.files import hash_of
from storage.imports.movelists import MoveListReader
from storage.imports.rollouts import Rollout
from storage.imports.rows import NEEDED, RowReader
from storage.imports.traces import read_episode
from storage.imports.troubles import LineError, Trouble

Found = Incoming | Rollout
Reader = Callable[[bytes], Sequence[Found]]
"""Raises `LineError` where a line holds nothing that may be believed."""
RunOfFile = Callable[[str], str | None]
"""Given a file's SHA-256, what the run is known by that has come from it."""
OnTrouble = Callable[[Path, LineError], None]
"""Told of another file that says something of this one, and cannot be believed."""

_CSV = (".csv", ".csv.gz")
_PROVENANCE = frozenset({"game", "player", "opponent", "mark", "opener", "prompt_hash"})
"""What each row says of its game in the flavours that hold no whole games."""
_TOLD_BY = {"messages": Flavour.MESSAGES, "chosen": Flavour.PREFERENCE, "label": Flavour.KTO}


def reader_of(
    path: Path, line: bytes | LineError, run_of_file: RunOfFile, on_trouble: OnTrouble
) -> Reader | None:
    """How the lines of a file are read.

    Args:
        path: the file.
        line: its first line, or a later one where those before did not tell.
        run_of_file: asked where a run is known by its file.
        on_trouble: told of metadata beside it that are broken; the file is read without them.

    Returns:
        None where the line does not tell.

    Raises:
        LineError: none of them can be.
    """
    if path.name == metadata.NAME:
        why = "it tells of a run: give its folder, or the file of result rows beside it"
        raise LineError(Trouble.FOREIGN, why)
    if path.name.endswith(_CSV):
        return MoveListReader()
    keys = _keys(line)
    if {"traces", "task"} <= keys:
        return read_episode
    if keys >= NEEDED and "schema" not in keys:
        # Tools call the file of every run alike, and give its folder the run's name.
        name = f"{path.absolute().parent.name}/{path.name}"
        file_hash = hash_of(path)
        try:
            told = metadata.beside(path)
        except LineError as error:
            on_trouble(path.parent / metadata.NAME, error)
            told = metadata.Metadata()
        return RowReader(name, file_hash, told, run_of_file(file_hash))
    if keys >= _PROVENANCE and "schema" not in keys:
        flavour = next((_TOLD_BY[key] for key in _TOLD_BY if key in keys), Flavour.TURNS)
        why = f"rows of the flavour {flavour}: only the flavour {Flavour.GAMES} holds whole games"
        raise LineError(Trouble.FLAVOUR, f"{why}, and so the file is left out")
    return read_game if keys >= WHOLE else None


def read_game(line: bytes) -> list[Incoming]:
    """The game in a line of the flavour `games`.

    Raises:
        LineError: there is none that may be believed.
    """
    return [read_line(line)]


def _keys(line: bytes | LineError) -> set[str]:
    if isinstance(line, LineError):
        return set()
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    return set(row) if isinstance(row, dict) else set()
