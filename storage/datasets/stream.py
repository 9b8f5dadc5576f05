"""Rows of a flavour, streamed from the database in the order in which the games arrived."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Any

from sqlalchemy import bindparam, func, select

from arena.board import Mark
from arena.errors import NotFoundError
from arena.players import Kind
from storage import records
from storage.database import Database
from storage.datasets.chats import chat_rows
from storage.datasets.lossless import tidied
from storage.datasets.pairs import pair_rows
from storage.datasets.record import game_rows
from storage.datasets.replies import labelled_rows, turn_rows
from storage.filters import GameFilter, select_games
from storage.players import StoredPlayer
from storage.records import GAMES, StoredGame

BATCH = 200
"""Games in memory at once."""


class Flavour(StrEnum):
    """What a row is."""

    MESSAGES = "messages"
    """A chat, from a model's seat."""
    TURNS = "turns"
    """A prompt and the reply that became a move."""
    PREFERENCE = "preference"
    """A prompt, a reply that keeps value and one that loses it."""
    KTO = "kto"
    """A prompt, a reply, and whether it is wanted."""
    GAMES = "games"
    """A game, with everything that is stored of it."""


Row = dict[str, Any]
Seated = tuple[StoredGame, list[Mark]]
"""A game, and which of its seats a filter means."""


def rows(
    db: Database,
    flavour: str,
    filter: GameFilter | None = None,
    *,
    most: int | None = None,
    on_game: Callable[[], None] | None = None,
) -> Iterator[Row]:
    """The rows of a flavour for the finished games that a filter lets through.

    Each batch of games is read in a transaction of its own, so that a slow reader holds up nobody;
    games that arrive after the first batch was read are left out.

    Args:
        db: where the games are.
        flavour: what a row is.
        filter: which games; all by default.
        most: look at so many games at most, the first ones.
        on_game: is called before each game is looked at; what it raises ends the rows.

    Raises:
        NotFoundError: there is no such flavour, or no evaluation that the filter names.
    """
    valid = [each.value for each in Flavour]
    if flavour not in valid:
        raise NotFoundError(f"there is no flavour {flavour!r}: valid are {', '.join(valid)}")
    chosen = Flavour(flavour)
    kept = filter_of(chosen, filter or GameFilter())
    with db.read() as session:
        # Now, and not at the first row: a name that does not exist is the caller's mistake.
        select_games(session, kept)
    return _rows(db, chosen, kept, most, on_game)


def filter_of(flavour: Flavour, filter: GameFilter) -> GameFilter:
    """The filter that an export goes by: `Games.count` of it is the number of games in it.

    For `preference`, of those that are looked at.
    """
    filter = replace(filter, finished=True)
    if flavour is Flavour.GAMES:
        return filter
    # A void game teaches nothing: whoever wants its chat all the same asks for that outcome.
    counts = True if filter.outcome is None else filter.counts
    return replace(filter, kind=filter.kind or Kind.MODEL, counts=counts)


def line_of(row: Row) -> bytes:
    """A row as a line of JSON in ASCII."""
    return json.dumps(row, ensure_ascii=True).encode() + b"\n"


def jsonl(rows: Iterable[Row]) -> Iterator[bytes]:
    """Each row as a line of JSON in ASCII."""
    for row in rows:
        yield line_of(row)


def _rows(
    db: Database,
    flavour: Flavour,
    filter: GameFilter,
    most: int | None,
    on_game: Callable[[], None] | None,
) -> Iterator[Row]:
    with db.read() as session:
        end = session.execute(select(func.max(GAMES.c.serial))).scalar() or 0

    def games() -> Iterator[Seated]:
        for each in _games(db, filter, end, most, requests=flavour is Flavour.GAMES):
            if on_game:
                on_game()
            yield each

    if flavour is Flavour.PREFERENCE:
        found = pair_rows(games)
    else:
        rows_of = _ROWS_OF[flavour]
        found = (row for stored, seats in games() for row in rows_of(stored, seats))
    return found if flavour is Flavour.GAMES else map(tidied, found)


def _games(
    db: Database, filter: GameFilter, end: int, most: int | None, *, requests: bool
) -> Iterator[Seated]:
    """The games up to serial `end`."""
    with db.read() as session:
        chosen = select_games(session, filter)
    some = (
        select(GAMES, *(chosen.seats[mark].label(mark) for mark in Mark))
        .where(chosen.where, GAMES.c.serial > bindparam("last"), GAMES.c.serial <= end)
        .order_by(GAMES.c.serial)
        .limit(bindparam("batch"))
    )
    last, left = 0, most
    known: dict[int, StoredPlayer] = {}
    while left is None or left > 0:
        batch = BATCH if left is None else min(BATCH, left)
        with db.read() as session:
            found = session.execute(some, {"last": last, "batch": batch}).all()
            games = records.replayed(session, found, known, requests=requests)
        for row, stored in zip(found, games, strict=True):
            yield stored, [mark for mark in Mark if getattr(row, mark)]
        if len(found) < batch:
            return
        last = found[-1].serial
        left = None if left is None else left - batch


_ROWS_OF = {
    Flavour.MESSAGES: chat_rows,
    Flavour.TURNS: turn_rows,
    Flavour.KTO: labelled_rows,
    Flavour.GAMES: game_rows,
}
