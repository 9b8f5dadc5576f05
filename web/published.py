"""The table in the form in which such results are published elsewhere: checkpoints against chance
and against perfect play, as Markdown to copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pydantic import BaseModel, Field

from arena.panels import Panel
from arena.players import Kind
from storage.checkpoints import Checkpoint
from storage.database import Database
from storage.filters import GameFilter
from storage.games import Games
from storage.players import StoredPlayer
from storage.ranking import Shown, leaderboard_of
from storage.seats import Seat, Versus
from web.standings import ranked_out

_OPPONENTS = {"random": "Random", "minimax": "Optimal"}
_PANEL = Panel("published", tuple(_OPPONENTS))
_HEAD = (
    "Model",
    "Opponent",
    "Seat",
    "Games",
    "Wins %",
    "Draws %",
    "Losses %",
    "Follows format %",
    "Games with invalid moves %",
)
_DASH = "–"


class PublishedOut(BaseModel):
    """A table."""

    markdown: str = Field(description="empty where no such game was played")


def published(database: Database, games: Games, family: str | None = None) -> PublishedOut:
    """The table of a family's checkpoints, or of all; `–` where nothing was measured."""
    found = leaderboard_of(database, _PANEL, Shown(family=family))
    rows = [row for each in found.checkpoints for row in _rows(games, each)]
    if not rows:
        return PublishedOut(markdown="")
    rule = ["---", "---", "---", *["---:"] * (len(_HEAD) - 3)]
    return PublishedOut(markdown="\n".join(_line(row) for row in (_HEAD, rule, *rows)) + "\n")


def _rows(games: Games, row: Checkpoint) -> Iterator[list[str]]:
    for versus in row.versus:
        for opening in (True, False):
            seat = versus.opening if opening else versus.replying
            if seat.tally.games:
                yield [
                    _name(row),
                    _OPPONENTS[versus.opponent],
                    "opening" if opening else "replying",
                    str(seat.tally.games),
                    *_results(seat),
                    *_replies(games, row, versus, opening),
                ]


def _results(seat: Seat) -> list[str]:
    shares = seat.shares
    return [_DASH] * 3 if shares is None else [_percent(share) for share in shares]


def _replies(games: Games, row: Checkpoint, versus: Versus, opening: bool) -> list[str]:
    """How often replies followed the format, and in how many games one was invalid."""
    tally = (versus.opening if opening else versus.replying).tally
    if row.identity.kind is not Kind.MODEL or not tally.attempts:
        return [_DASH, _DASH]
    played = GameFilter(
        player=row.id, opponent=versus.opponent_id, opening=opening, rated=True, counts=True
    )
    of, clean = games.count(played), games.count(replace(played, no_invalid=True))
    return [_percent(tally.contains / tally.attempts), _percent((of - clean) / of)]


def _name(row: Checkpoint) -> str:
    detail = ranked_out(StoredPlayer(row.id or 0, row.identity)).detail
    return f"{row.identity.name} ({detail})" if detail else row.identity.name


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(cell: str) -> str:
    """A name as a cell of a table: nothing in it ends the cell or the row."""
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())
