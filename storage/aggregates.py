"""Keeps the figures behind the leaderboard as games land, in the transaction that stores them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func
from sqlalchemy import insert as plain_insert
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from arena.board import Mark, Outcome
from arena.game import NO_SEED, NO_TEMPERATURE, Attempt, Game, Termination, Verdict
from storage.players import StoredPlayer, always_alike
from storage.tables import EntryRow, LineRow, SeatRow, Source, table_of

_ENTRIES = table_of(EntryRow)
_LINES = table_of(LineRow)
_SEATS = table_of(SeatRow)
_LINE_KEYS = ("x_id", "o_id", "rated", "opener", "moves")
_ENTRY_KEYS = ("player_id", "opponent_id", "opening", "rated")
_COUNTS = [c.name for c in _ENTRIES.c if c.name not in (*_ENTRY_KEYS, "last_at")]
_SEAT_COUNTS = [c.name for c in _SEATS.c if c.name not in ("game", "mark", "requests")]

Line = tuple[int, int, bool, str, str]
"""The key of a row of `lines`: X, O, rated, opener, moves."""
Counts = dict[str, int]
"""What a game adds to the columns of an entry."""


class Landing(NamedTuple):
    """A finished game about to be counted."""

    serial: int
    game: Game
    x: StoredPlayer
    o: StoredPlayer
    source: Source


def _add_to_line() -> Any:
    new = insert(_LINES)
    total = _LINES.c.count + new.excluded.count
    return new.on_conflict_do_update(set_={"count": total}).returning(_LINES.c.count)


def _add_to_entry() -> Any:
    new = insert(_ENTRIES)
    sums = {name: _ENTRIES.c[name] + new.excluded[name] for name in _COUNTS}
    latest = func.max(_ENTRIES.c.last_at, new.excluded.last_at)
    return new.on_conflict_do_update(set_={**sums, "last_at": latest})


# Built once: to build such a statement takes SQLAlchemy longer than to run it.
_ADD_TO_LINE = _add_to_line()
_ADD_TO_ENTRY = _add_to_entry()
_ADD_SEAT = plain_insert(_SEATS)


def land(session: Session, landings: Sequence[Landing], at: datetime) -> None:
    """Count finished games, in the order in which they landed.

    Where both players always answer alike, a game whose line is known is a repeat and nothing else:
    the entry is its distinct games. Void games count as void alone.
    """
    counts: defaultdict[tuple[int, int, bool, bool], Counter[str]] = defaultdict(Counter)
    played = _count_lines(session, landings)
    for landing in landings:
        _, game, x, o, source = landing
        line = _line(landing)
        known = played[line] > 0
        if game.outcome is not Outcome.VOID:
            played[line] += 1
        repeat = known and always_alike(x) and always_alike(o)
        for mark, player, opponent in ((Mark.X, x, o), (Mark.O, o, x)):
            key = (player.id, opponent.id, mark is game.opener, source is not Source.PLAY)
            counts[key].update(_counts(game, mark, known=known, repeat=repeat))
    if counts:
        _add(session, counts, at)
    seats = [row for landing in landings for row in _seat_rows(landing)]
    if seats:
        session.execute(_ADD_SEAT, seats)


def moves_text(game: Game) -> str:
    """The squares of a game in the order in which they were taken, a digit each."""
    return "".join(map(str, game.moves))


def _line(landing: Landing) -> Line:
    _, game, x, o, source = landing
    return (x.id, o.id, source is not Source.PLAY, game.opener.value, moves_text(game))


def _count_lines(session: Session, landings: Iterable[Landing]) -> Counter[Line]:
    """Add the games to the lines; how often each line had been played before."""
    new = Counter(_line(each) for each in landings if each.game.outcome is not Outcome.VOID)
    before: Counter[Line] = Counter()
    for line, times in new.items():
        row = dict(zip(_LINE_KEYS, line, strict=True)) | {"count": times}
        before[line] = session.execute(_ADD_TO_LINE, row).scalar_one() - times
    return before


def _counts(game: Game, mark: Mark, *, known: bool, repeat: bool) -> Counts:
    """What the game adds to the entry of the player of `mark`."""
    assert game.termination is not None
    if game.outcome is Outcome.VOID:
        own = game.termination is Termination.CONTEXT_EXCEEDED and game.to_move is mark
        return {"void": 1, "context_exceeded": own}
    if repeat:
        return {"repeats": 1}
    won = game.outcome == Outcome.win(mark)
    lost = game.outcome == Outcome.win(mark.other)
    forfeit = game.termination.is_forfeit
    return {
        "wins": won,
        "draws": not won and not lost,
        "losses": lost,
        "forfeits": lost and forfeit,
        "opponent_forfeits": won and forfeit,
        "distinct": not known,
        **_spoken(game.attempts_of(mark)),
    }


def _spoken(attempts: Sequence[Attempt]) -> Counts:
    return {
        "attempts": len(attempts),
        "invalid_attempts": sum(a.verdict is not Verdict.OK for a in attempts),
        "contains": sum(a.contains for a in attempts),
        "exact": sum(a.exact for a in attempts),
        "prompt_tokens": sum(a.prompt_tokens or 0 for a in attempts),
        "completion_tokens": sum(a.completion_tokens or 0 for a in attempts),
        "milliseconds": sum(_milliseconds(a.seconds) for a in attempts),
        "default_temperature": sum(NO_TEMPERATURE in a.adaptations for a in attempts),
        "unseeded": sum(NO_SEED in a.adaptations for a in attempts),
    }


def _seat_rows(landing: Landing) -> Iterator[dict[str, Any]]:
    """What each player that made requests said in a game, void or not."""
    game = landing.game
    for mark in Mark:
        attempts = game.attempts_of(mark)
        failed = game.failed if game.to_move is mark else ()
        if not attempts and not failed:
            continue
        counts = _spoken(attempts)
        row = {name: int(counts[name]) for name in _SEAT_COUNTS}
        row["milliseconds"] += sum(_milliseconds(request.seconds) for request in failed)
        requests = sum(len(attempt.requests) for attempt in attempts) + len(failed)
        yield {"game": landing.serial, "mark": mark, "requests": requests, **row}


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000 + 0.5)


def _add(
    session: Session,
    counts: dict[tuple[int, int, bool, bool], Counter[str]],
    at: datetime,
) -> None:
    rows = [
        dict(zip(_ENTRY_KEYS, key, strict=True))
        | {name: int(added[name]) for name in _COUNTS}
        | {"last_at": at}
        for key, added in counts.items()
    ]
    session.execute(_ADD_TO_ENTRY, rows)
