"""`arena leaderboard`: what is stored."""

from __future__ import annotations

import json

import typer
from rich.table import Table

from cli.context import Json, output, plain
from storage import standings
from web.standings import leaderboard_out


def leaderboard(context: typer.Context, as_json: Json = False) -> None:
    """Print every player's results, opening and replying apart."""
    with context.obj.database(to_read=True) as database:
        found = leaderboard_out(
            standings.leaderboard(database),
            standings.matrix(database),
            standings.sums_by_seed(database),
        )
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
            # Over several opponents a rate has none.
            between = side.interval.percent() if side.interval else "exact" if side.exact else "–"
            rate = "–" if side.not_lost is None else f"{100 * side.not_lost:.1f}"
            counts = (side.games, side.wins, side.draws, side.losses, side.forfeits, side.void)
            shown = (rate, between if side.games else "–", *map(str, counts))
            # What tells two players of one name apart.
            detail = f" ({row.player.detail})" if row.player.detail else ""
            name = row.player.name + detail
            table.add_row(plain(name), seat, *shown)
            if row.demonstration:
                came = f"  demonstration: {row.demonstration:,} of its games came with the arena"
                table.add_row(came)
            for note in side.notes:
                table.add_row(plain(f"  {note}"))
    output().print(table if table.row_count else "No rated games are stored yet.")
