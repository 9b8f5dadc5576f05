"""A Hugging Face dataset in a folder: a configuration for each flavour, splits, a card."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.errors import StorageError
from storage.database import Database
from storage.datasets.shards import Format, Shards
from storage.datasets.splits import Leak, Split, Splitter
from storage.datasets.stream import Flavour, Row, rows
from storage.files import umask
from storage.filters import GameFilter

CARD = "README.md"
MARK = "<!-- written by `arena export` -->"
"""In a card: what tells a folder that may be replaced."""


@dataclass
class Written:
    """What became of one flavour."""

    flavour: Flavour
    rows: dict[Split, int] = field(default_factory=dict)
    bytes: dict[Split, int] = field(default_factory=dict)
    games: int = 0
    replaced: int = 0
    """Rows in which something had to be replaced: see `storage.datasets.lossless`."""
    players: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    """Rows by player and hash of its prompt format."""
    opponents: Counter[str] = field(default_factory=Counter)
    labels: Counter[bool] = field(default_factory=Counter)
    """Rows of `kto`, wanted and not."""
    repeating: int = 0
    """Rows of `messages` whose chat repeats replies of other rows."""
    first_at: str | None = None
    last_at: str | None = None
    leak: Leak = field(default_factory=Leak)


@dataclass(frozen=True)
class Recipe:
    """What is exported."""

    flavours: Sequence[Flavour]
    filter: GameFilter
    format: Format = Format.PARQUET
    validation: float = 0.1
    """The share of classes under symmetry that are for validation."""
    licence: str = "apache-2.0"
    """By its name on the Hub."""


def write_folder(
    db: Database,
    folder: Path,
    recipe: Recipe,
    *,
    replace: bool = False,
    on_row: Callable[[], None] | None = None,
) -> list[Written]:
    """Write a dataset: the same games and the same recipe give the same bytes.

    It is written beside its place and moved there when it is whole.

    Args:
        db: where the games are.
        folder: its place: new, empty, or with `replace` an earlier export.
        recipe: what is exported.
        replace: put it in the place of an earlier export.
        on_row: is called after each row.

    Raises:
        StorageError: the folder holds something else, or cannot be written.
        NotFoundError: the filter names an evaluation that there is not.
    """
    from storage.datasets.card import card

    _check_place(folder, replace=replace)
    streams = [(flavour, rows(db, flavour, recipe.filter)) for flavour in recipe.flavours]
    try:
        beside = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=".arena-"))
        try:
            written = []
            for flavour, found in streams:
                written.append(_write(beside, flavour, found, recipe, on_row))
            if not any(sum(each.rows.values()) for each in written):
                raise StorageError("no game fits the filters: there is nothing to export")
            (beside / CARD).write_text(card(recipe, written), "utf-8")
            beside.chmod(0o777 & ~umask())
            _move(beside, folder, replace=replace)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}") from None
    return written


def _check_place(folder: Path, *, replace: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StorageError(f"{folder} is a file: name a folder")
    if not any(folder.iterdir()):
        return
    known = folder / CARD
    if not (known.is_file() and MARK in known.read_text("utf-8", "replace")):
        raise StorageError(f"{folder} holds something else than an export: name another folder")
    if not replace:
        raise StorageError(f"{folder} holds an export already: name another folder, or replace it")


def _move(beside: Path, folder: Path, *, replace: bool) -> None:
    """Give the folder its place; of two exports that were under way at once, one gets it."""
    _check_place(folder, replace=replace)
    if not folder.exists() or not any(folder.iterdir()):
        try:
            beside.replace(folder)
        except OSError:
            # The other one came here since.
            _check_place(folder, replace=False)
            raise
        return
    old = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=".arena-"))
    folder.replace(old)
    try:
        beside.replace(folder)
    except BaseException:
        old.replace(folder)
        raise
    shutil.rmtree(old)


def _write(
    folder: Path,
    flavour: Flavour,
    found: Any,
    recipe: Recipe,
    on_row: Callable[[], None] | None,
) -> Written:
    splitter = Splitter(flavour, recipe.validation)
    told = Written(flavour, leak=splitter.leak)
    with ExitStack() as stack:
        shards = {
            split: stack.enter_context(Shards(folder / flavour, split, recipe.format, flavour))
            for split in Split
        }
        last_game = None
        for row in found:
            shards[splitter.split(row)].add(row)
            told.games += row["game"] != last_game
            last_game = row["game"]
            _note(told, row)
            if on_row:
                on_row()
    told.rows = {split: each.rows for split, each in shards.items()}
    told.bytes = {split: each.bytes for split, each in shards.items()}
    return told


def _note(told: Written, row: Row) -> None:
    """Remember where a row came from."""
    told.replaced += bool(row["replaced"])
    if told.flavour is Flavour.KTO:
        told.labels[row["label"]] += 1
    if told.flavour is Flavour.MESSAGES:
        said = sum(message["role"] == "assistant" for message in row["messages"])
        told.repeating += said > row["replies"]
    if told.flavour is Flavour.GAMES:
        for seat in ("x", "o"):
            told.players[row[seat]["name"], row[seat]["prompt_hash"]] += 1
    else:
        told.players[row["player"], row["prompt_hash"]] += 1
        told.opponents[row["opponent"]] += 1
    at = row["finished_at"]
    told.first_at = min(at, told.first_at or at)
    told.last_at = max(at, told.last_at or at)
