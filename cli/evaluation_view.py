"""An evaluation under way, as a terminal shows it: one line, or as much as its height allows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.text import Text

from arena.control import State
from arena.rates import rate
from cli.context import visible
from cli.evaluation_table import Reasons, by_checkpoint, progress, results, void_lines
from storage.evaluations import Evaluation
from storage.figures import Figures
from web.verdict import measured

_TITLES = 2
"""Lines of a table above its rows."""


def progress_line(evaluation: Evaluation, found: Sequence[Figures]) -> str:
    """How far it is, how fast, and until when; unescaped."""
    played, planned = progress(found)
    parts = [f"{evaluation.name}: {played:,} of {planned:,} games"]
    live = evaluation.live
    if live:
        parts += [
            f"{live['requests_per_s']:,.1f} requests/s",
            f"{live['tokens_per_s']:,.0f} tokens/s",
            f"{live['games_per_s']:,.1f} games/s",
        ]
        if live["seconds_left"] is not None:
            parts.append(f"{timedelta(seconds=live['seconds_left'])} left")
    if evaluation.state is State.PAUSED:
        parts.append("paused")
    return ", ".join(parts)


def paused_lines(evaluation: Evaluation) -> list[str]:
    """Why checkpoints pause, a line each; unescaped."""
    return [f"paused: {why}" for why in evaluation.live.get("down", {}).values()]


def live_view(
    evaluation: Evaluation, found: Sequence[Figures], reasons: Reasons, height: int
) -> RenderableType:
    """What a terminal of so many lines shows: all entries, or the lowest rates and a summary.

    Args:
        evaluation: as it is stored, with what its process last said.
        found: its figures.
        reasons: why games are void.
        height: lines, of which one stays free for the cursor.
    """
    above = [f"Provisional. {progress_line(evaluation, found)}"]
    # The first of them, where there is little room.
    below = [*paused_lines(evaluation), *void_lines(reasons)][: max(1, height // 4)]
    checkpoints = by_checkpoint(found)
    room = height - 1 - len(above) - len(below)
    if len(found) + _TITLES * len(checkpoints) > room:
        # A summary takes a line, and each table that has a row two more.
        room -= 1 + _TITLES * min(len(checkpoints), max(1, room // 5))
        shown = _lowest(found, max(1, room))
        below.insert(0, _rest(found, shown))
        checkpoints = by_checkpoint(shown)
    tables: list[RenderableType] = []
    for entries in checkpoints:
        tables += [_line(entries[0].entry.player.identity.name), results(entries)]
    return Group(*map(_line, above), *tables, *map(_line, below))


def _line(text: str) -> Text:
    """One line of a terminal, cut where it ends."""
    return Text(visible(text), no_wrap=True, overflow="ellipsis")


def _lowest(found: Sequence[Figures], most: int) -> list[Figures]:
    """The entries with the lowest rates, in their own order: first of those under way."""

    def key(place: int) -> tuple[bool, float, int]:
        each = found[place]
        share = rate(measured(each))
        return each.played == each.planned, share.least if share else 2.0, place

    places = sorted(range(len(found)), key=key)[:most]
    return [found[place] for place in sorted(places)]


def _rest(found: Sequence[Figures], shown: Sequence[Figures]) -> str:
    """One line for the entries that have no line of their own."""
    rest = [each for each in found if each not in shown]
    played, planned = progress(rest)
    games = sum(each.games for each in rest)
    kept = sum(each.wins + each.draws for each in rest)
    lost = f", {100 * kept / games:.1f} % not lost" if games else ""
    return f"and {len(rest)} more entries: {played:,} of {planned:,} games{lost}"
