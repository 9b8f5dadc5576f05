"""`arena export`: stored games as a dataset."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, cast

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, track

from arena.board import Outcome
from cli.context import MOST, Json, counted, finite, now, plain, say, words
from storage.database import Database
from storage.datasets import (
    Flavour,
    Format,
    Recipe,
    Split,
    Written,
    jsonl,
    rows,
    write_folder,
    write_rows,
)
from storage.files import whole_file
from storage.filters import GameFilter, Result
from storage.games import Games
from storage.tables import Source
from web.preview import PAIRED_GAMES
from web.preview import preview as first_rows

_FILES = (".jsonl", ".jsonl.gz", ".parquet")

Dates = typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


def export(
    context: typer.Context,
    flavours: Annotated[list[Flavour], typer.Argument(metavar="FLAVOUR...", help="What a row is.")],
    out: Annotated[
        Path | None,
        typer.Option(help="A folder; a file .jsonl, .jsonl.gz or .parquet; - is standard output."),
    ] = None,
    player: Annotated[
        str | None, typer.Option("--player", "--checkpoint", help="Only games of this player.")
    ] = None,
    opponent: Annotated[str | None, typer.Option(help="Only games against this one.")] = None,
    opening: Annotated[
        bool | None, typer.Option("--opening/--replying", help="Where the player sat.")
    ] = None,
    outcome: Annotated[Outcome | None, typer.Option(help="How the game ended.")] = None,
    result: Annotated[Result | None, typer.Option(help="What it was for the player.")] = None,
    source: Annotated[Source | None, typer.Option(help="Where it was played.")] = None,
    evaluation: Annotated[str | None, typer.Option(help="Only games of this evaluation.")] = None,
    formatted: Annotated[
        bool, typer.Option("--formatted", help="Every reply followed the format.")
    ] = False,
    no_invalid: Annotated[bool, typer.Option("--no-invalid", help="No reply was invalid.")] = False,
    keeps_value: Annotated[
        bool, typer.Option("--keeps-value", help="The player never gave up a win or a draw.")
    ] = False,
    since: Annotated[datetime | None, Dates] = None,
    until: Annotated[datetime | None, Dates] = None,
    demonstration: Annotated[
        bool | None,
        typer.Option("--demonstration/--no-demonstration", help="Games that came with the arena."),
    ] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Each sequence of moves of two players once.")
    ] = False,
    format: Annotated[Format, typer.Option(help="Of the files in a folder.")] = Format.PARQUET,
    validation: Annotated[
        float,
        typer.Option(
            min=0, max=1, callback=finite, help="The share of a folder that is for validation."
        ),
    ] = 0.1,
    licence: Annotated[str, typer.Option(help="Of a folder, as the Hub names it.")] = "apache-2.0",
    replace: Annotated[
        bool, typer.Option("--replace", help="Put a folder in the place of an earlier export.")
    ] = False,
    preview: Annotated[
        int, typer.Option(min=0, max=MOST, help="Show so many rows instead of writing any.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Write stored games as a dataset: a Hugging Face dataset in a folder, or the rows in a file.

    Times are in UTC. The same games and filters give the same bytes.
    """
    chosen = GameFilter(
        player=player,
        opponent=opponent,
        opening=opening,
        outcome=outcome,
        result=result,
        source=source,
        evaluation=evaluation,
        formatted=formatted,
        no_invalid=no_invalid,
        keeps_value=keeps_value,
        since=None if since is None else since.replace(tzinfo=UTC),
        until=None if until is None else until.replace(tzinfo=UTC),
        demonstration=demonstration,
        distinct_only=distinct,
    )
    flavours = list(dict.fromkeys(flavours))
    if preview:
        with context.obj.database(to_read=True) as database:
            found = [_show(database, flavour, chosen, preview) for flavour in flavours]
        if not any(found):
            raise typer.Exit(1)
        return
    if out is None:
        raise typer.BadParameter("say where to write it", param_hint="--out")
    if str(out) == "-" or out.name.endswith(_FILES):
        if len(flavours) > 1:
            raise typer.BadParameter("a file has one flavour; a folder many", param_hint="--out")
        with context.obj.database(to_read=True) as database:
            _file(database, flavours[0], chosen, out, as_json=as_json)
        return
    recipe = Recipe(flavours, chosen, format, validation, licence)
    with context.obj.database(to_read=True) as database, rows_bar() as on_row:
        written = write_folder(database, out, recipe, replace=replace, on_row=on_row)
    tell(out, written, as_json=as_json)


def _file(
    database: Database, flavour: Flavour, filter: GameFilter, out: Path, *, as_json: bool
) -> None:
    """One flavour in one file, or on standard output."""
    found = rows(database, flavour, filter)
    if str(out) == "-":
        sys.stdout.buffer.writelines(jsonl(found))
        return
    shown = track(found, "Rows", console=words, transient=True, disable=not words.is_terminal)
    format = Format.PARQUET if out.name.endswith(".parquet") else Format.JSONL
    with whole_file(out) as file:
        if out.name.endswith(".gz"):
            # Without a time stamp, so that the same rows give the same bytes.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as zipped:
                written = write_rows(cast("IO[bytes]", zipped), format, flavour, shown)
        else:
            written = write_rows(file, format, flavour, shown)
    if as_json:
        print(json.dumps({"out": str(out), "rows": written}))
    else:
        words.print(f"{counted(written, 'row')} in {plain(str(out))}", highlight=False)


def _show(database: Database, flavour: Flavour, filter: GameFilter, number: int) -> bool:
    """Print the first rows, as a trainer will see them; whether there is one."""
    found = first_rows(database, Games(database, now), flavour, filter, number)
    for row in found.rows:
        print(json.dumps(row, indent=2))
    if not found.games:
        say(f"no finished game fits the filters and gives rows of the flavour {flavour}")
    elif not found.rows:
        where = "the first of them give" if found.games > PAIRED_GAMES else "they give"
        say(f"games that fit: {found.games:,}, and {where} no row of the flavour {flavour}")
    return bool(found.rows)


@contextmanager
def rows_bar() -> Iterator[Callable[[], None]]:
    """The number of rows so far, on standard error, where that is a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} rows"))
    with Progress(*columns, console=words, transient=True, disable=not words.is_terminal) as bar:
        task = bar.add_task("Rows", total=None)
        yield lambda: bar.advance(task)


def tell(out: Path, written: Sequence[Written], *, as_json: bool) -> None:
    """Say what a folder holds."""
    if as_json:
        flavours = [
            {
                "flavour": each.flavour,
                "games": each.games,
                "rows": each.rows,
                "bytes": each.bytes,
                "validation_positions": each.leak.classes,
                "also_in_training": each.leak.shared,
                "share_also_in_training": each.leak.share,
            }
            for each in written
        ]
        print(json.dumps({"out": str(out), "flavours": flavours}))
        return
    for each in written:
        counts = ", ".join(f"{each.rows[split]:,} for {split}" for split in Split)
        words.print(f"{each.flavour}: {counts}", highlight=False)
    words.print(f"The dataset is in {plain(str(out))}", highlight=False)
