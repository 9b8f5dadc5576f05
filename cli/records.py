"""`arena leaderboard` and `arena export`: what is stored."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from cli.context import Json, output, words
from storage import standings
from storage.datasets import Flavour, jsonl, rows
from storage.files import write_whole
from storage.filters import GameFilter, Result
from storage.tables import Source
from web.standings import leaderboard_out


def leaderboard(context: typer.Context, as_json: Json = False) -> None:
    """Print every player's results, opening and replying apart."""
    with context.obj.database(to_read=True) as database:
        found = leaderboard_out(standings.leaderboard(database), standings.matrix(database))
    if as_json:
        print(json.dumps(found.model_dump(mode="json")))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("Player", "Seat"):
        table.add_column(column, no_wrap=True)
    for column in ("Not lost %", "95 %", "Games", "W", "D", "L", "Forfeits", "Void"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in found.players:
        for seat, side in (("opening", row.opening), ("replying", row.replying)):
            if not side.games + side.void:
                continue
            between = "exact" if side.interval is None else side.interval.percent()
            rate = "–" if side.not_lost is None else f"{100 * side.not_lost:.1f}"
            counts = (side.games, side.wins, side.draws, side.losses, side.forfeits, side.void)
            shown = (rate, between if side.games else "–", *map(str, counts))
            # What tells two players of one name apart.
            detail = f" ({row.player.detail})" if row.player.detail else ""
            name = row.player.name + detail
            table.add_row(escape(name), seat, *shown)
            for note in side.notes:
                table.add_row(escape(f"  {note}"))
    output().print(table if table.row_count else "No rated games are stored yet.")


def export(
    context: typer.Context,
    flavour: Annotated[Flavour, typer.Argument(help="What a row is.")],
    out: Annotated[Path, typer.Option(help="The file to write; - is standard output.")],
    player: Annotated[str | None, typer.Option(help="Only games of this player.")] = None,
    opponent: Annotated[str | None, typer.Option(help="Only games against this one.")] = None,
    result: Annotated[Result | None, typer.Option(help="What they were for the player.")] = None,
    source: Annotated[Source | None, typer.Option(help="Where they were played.")] = None,
    formatted: Annotated[
        bool, typer.Option("--formatted", help="Every reply followed the format.")
    ] = False,
    no_invalid: Annotated[bool, typer.Option("--no-invalid", help="No reply was invalid.")] = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Each sequence of moves once.")
    ] = False,
) -> None:
    """Write stored games as a dataset, a JSON object a line."""
    chosen = GameFilter(
        player=player,
        opponent=opponent,
        result=result,
        source=source,
        formatted=formatted,
        no_invalid=no_invalid,
        distinct_only=distinct,
    )
    with context.obj.database(to_read=True) as database:
        lines = jsonl(rows(database, flavour, chosen))
        if str(out) == "-":
            sys.stdout.buffer.writelines(lines)
            return
        written = write_whole(out, track(lines, "Rows", console=words, transient=True))
    words.print(f"{written} rows in {escape(str(out))}", highlight=False)
