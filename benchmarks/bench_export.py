"""Games exported to Parquet, beside pyarrow: `python -m benchmarks.bench_export`.

There are two databases: a million games of engines, and a tenth as many of a model against engines,
with all that it was asked and said, which is what is exported in earnest. Engines' games have rows
of the flavour `games` alone. Each flavour is exported in a process of its own. Then another process
takes these rows into memory and lets pyarrow write the same files from there: what an export costs
that has nothing to look up. What counts is the ratio of CPU seconds, since others use the processor
too. The files are compared byte for byte.

The databases take some minutes to make; with `--folder` they stay, and are used again.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks.played import engine_games, fill, model_games
from storage.datasets import Flavour
from storage.games import Recording

_COLUMNS = ("rows", "MB", "wall s", "CPU s", "rows/CPU s", "RSS before", "peak MB", "CPU ratio")


class Took(NamedTuple):
    """What writing some rows took."""

    rows: int
    seconds: float
    cpu: float
    before: float
    """MB in RAM when the writing began: with the rows, where they are in memory."""
    peak: float


def bar(console: Console) -> Progress:
    """Tells how far something is."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def database(
    console: Console, path: Path, recordings: Callable[[], Iterator[Recording]], games: int
) -> Path:
    """A database of so many games, made if it is not there."""
    if not path.exists():
        with bar(console) as shown:
            task = shown.add_task(f"making {path.name}", total=games)
            fill(path, recordings(), games, lambda more: shown.advance(task, more))
    console.print(f"{path.name}: {games:,} games, {path.stat().st_size / 2**20:,.0f} MB")
    return path


def run(console: Console, *command: str) -> Took:
    """One measured export in a process of its own."""
    command = (sys.executable, "-m", "benchmarks.exporting", *command)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
        bar(console) as shown,
    ):
        assert process.stdout is not None
        task = shown.add_task(f"{command[3]}, {command[5]}", total=None)
        told: dict[str, float] = {}
        for line in process.stdout:
            told = json.loads(line)
            shown.update(task, completed=told["rows"])
    if process.returncode or "cpu" not in told:
        raise SystemExit(f"{' '.join(command)} failed")
    return Took(int(told.pop("rows")), **told)


def size(folder: Path) -> float:
    """MB of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir()) / 2**20


def same(ours: Path, theirs: Path) -> bool:
    """Whether two folders hold the same files."""
    names = sorted(path.name for path in ours.iterdir())
    return filecmp.cmpfiles(ours, theirs, names, shallow=False)[0] == names


def compare(
    console: Console, table: Table, source: Path, flavours: Sequence[Flavour], most: int
) -> None:
    """Export each flavour, and let pyarrow write the same."""
    for flavour in flavours:
        with tempfile.TemporaryDirectory(dir=source.parent) as folder:
            out, again = Path(folder) / "out", Path(folder) / "again"
            ours = run(console, "arena", str(source), flavour, str(out))
            theirs = run(console, "pyarrow", str(out), flavour, str(again), "--most", str(most))
            if theirs.rows == ours.rows:
                assert same(out / flavour, again), "pyarrow wrote other bytes"
            ratio = (ours.cpu / ours.rows) / (theirs.cpu / theirs.rows)
            for who, each, place in (
                (f"{source.stem}: {flavour}", ours, out / flavour),
                ("  pyarrow, from memory", theirs, again),
            ):
                table.add_row(
                    who,
                    f"{each.rows:,}",
                    f"{size(place):,.1f}",
                    f"{each.seconds:,.1f}",
                    f"{each.cpu:,.1f}",
                    f"{each.rows / each.cpu:,.0f}",
                    f"{each.before:,.0f}",
                    f"{each.peak:,.0f}",
                    f"{ratio:.1f}" if each is ours else "1",
                    end_section=each is theirs,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--games", type=int, default=1_000_000, help="of engines")
    parser.add_argument("--model-games", type=int, help="a tenth of that by default")
    parser.add_argument(
        "--flavours",
        type=Flavour,
        nargs="+",
        default=[Flavour.GAMES, Flavour.MESSAGES, Flavour.TURNS],
        help="of the model's games",
    )
    parser.add_argument("--folder", type=Path, help="where the databases are to be, and to stay")
    parser.add_argument(
        "--in-memory", type=int, default=1_000_000, help="so many rows pyarrow writes at most"
    )
    given = parser.parse_args()
    # Alembic tells of each migration.
    logging.disable(logging.INFO)

    console = Console(width=120)
    table = Table(title="Exports to Parquet (zstd)", title_justify="left")
    table.add_column("what")
    for column in _COLUMNS:
        table.add_column(column, justify="right")
    of_models = given.games // 10 if given.model_games is None else given.model_games
    temporary = tempfile.mkdtemp()
    try:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, recordings, games, flavours in (
            ("engines", engine_games, given.games, [Flavour.GAMES]),
            ("models", model_games, of_models, given.flavours),
        ):
            if games:
                source = database(console, folder / f"{name}-{games}.db", recordings, games)
                compare(console, table, source, flavours, given.in_memory)
    finally:
        shutil.rmtree(temporary)
    console.print(table)
    console.print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
