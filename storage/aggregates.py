"""Keeps the figures behind the leaderboard as games land, in the transaction that stores them; and
as they are removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, or_, select, update
from sqlalchemy import insert as plain_insert
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from arena.board import Mark, Outcome
from arena.game import NO_SEED, NO_TEMPERATURE, Attempt, Game, Termination, Verdict
from storage import clusters, lessons
from storage.clusters import Played
from storage.players import StoredPlayer, always_alike
from storage.recount import recount
from storage.tables import EntryRow, GameRow, LineRow, SeatRow, Source, table_of

_ENTRIES = table_of(EntryRow)
_GAMES = table_of(GameRow)
_LINES = table_of(LineRow)
_SEATS = table_of(SeatRow)
_LINE_KEYS = ("x_id", "o_id", "rated", "opener", "moves")
_ENTRY_KEYS = ("player_id", "opponent_id", "opening", "rated")
_COUNTS = [c.name for c in _ENTRIES.c if c.name not in (*_ENTRY_KEYS, "last_at")]
_PLAYED = ("wins", "draws", "losses", "void", "repeats")
"""The counts of which one holds each game of an entry."""
_SEAT_COUNTS = [c.name for c in _SEATS.c if c.name not in ("game", "mark", "requests")]

Line = tuple[int, int, bool, str, str]
"""The key of a row of `lines`: X, O, rated, opener, moves."""
EntryKey = tuple[int, int, bool, bool]
"""The key of a row of `entries`: player, opponent, opening, rated."""
Counts = dict[str, int]
"""What a game adds to the columns of an entry."""


class Landing(NamedTuple):
    """A finished game about to be counted."""

    serial: int
    game: Game
    x: StoredPlayer
    o: StoredPlayer
    source: Source
    at: datetime
    """When it ended."""


def _add_to_line() -> Any:
    new = insert(_LINES)
    total = _LINES.c.count + new.excluded.count
    return new.on_conflict_do_update(set_={"count": total}).returning(_LINES.c.count)


def _add_to_entry() -> Any:
    new = insert(_ENTRIES)
    sums = {name: _ENTRIES.c[name] + new.excluded[name] for name in _COUNTS}
    latest = func.max(_ENTRIES.c.last_at, new.excluded.last_at)
    return new.on_conflict_do_update(set_={**sums, "last_at": latest})


def _this_line() -> ColumnElement[bool]:
    return and_(*(_LINES.c[name] == bindparam(f"key_{name}") for name in _LINE_KEYS))


def _take_off_line() -> Any:
    lower = update(_LINES).values(count=_LINES.c.count - bindparam("times"))
    return lower.where(_this_line()).returning(_LINES.c.count)


def _take_off_entry() -> Any:
    this = and_(*(_ENTRIES.c[name] == bindparam(f"key_{name}") for name in _ENTRY_KEYS))
    lower = {name: _ENTRIES.c[name] - bindparam(f"gone_{name}") for name in _COUNTS}
    return update(_ENTRIES).where(this).values(lower).returning(_ENTRIES)


# Built once: to build such a statement takes SQLAlchemy longer than to run it.
_ADD_TO_LINE = _add_to_line()
_ADD_TO_ENTRY = _add_to_entry()
_TAKE_OFF_LINE = _take_off_line()
_DROP_LINE = delete(_LINES).where(_this_line())
_TAKE_OFF_ENTRY = _take_off_entry()
_ADD_SEAT = plain_insert(_SEATS)


def land(session: Session, landings: Sequence[Landing]) -> None:
    """Count finished games, in the order in which they landed.

    Where both players always answer alike, a game whose line is known is a repeat and nothing else:
    the entry is its distinct games. Void games count as void alone.
    """
    counts: defaultdict[EntryKey, Counter[str]] = defaultdict(Counter)
    last: dict[EntryKey, datetime] = {}
    counted: list[lessons.Line] = []
    rated: list[Played] = []
    played = _count_lines(session, landings)
    for landing in landings:
        _, game, x, o, source, at = landing
        line = _line(landing)
        known = played[line] > 0
        repeat = known and always_alike(x) and always_alike(o)
        for mark, player, opponent in ((Mark.X, x, o), (Mark.O, o, x)):
            key = (player.id, opponent.id, mark is game.opener, source is not Source.PLAY)
            counts[key].update(_counts(game, mark, known=known, repeat=repeat))
            last[key] = max(at, last.get(key, at))
        if game.outcome not in (None, Outcome.VOID):
            played[line] += 1
            counted.append(_as_line(landing, repeat=repeat))
            if source is not Source.PLAY and not repeat:
                rated.append(Played(x, o, game.opener, game.seed, game.outcome))
    if counts:
        _add(session, counts, last)
    clusters.add(session, rated)
    lessons.add(session, counted)
    seats = [row for landing in landings for row in _seat_rows(landing)]
    if seats:
        session.execute(_ADD_SEAT, seats)


def take_off(session: Session, landings: Sequence[Landing]) -> None:
    """Undo `land` for games that were removed in this transaction, with their rows of `seats`."""
    counts: defaultdict[EntryKey, Counter[str]] = defaultdict(Counter)
    last: dict[EntryKey, datetime] = {}
    left = _uncount_lines(session, landings)
    for landing in landings:
        _, game, x, o, source, at = landing
        line = _line(landing)
        if game.outcome is not Outcome.VOID:
            left[line] -= 1
        known = left[line] > 0
        repeat = known and always_alike(x) and always_alike(o)
        for mark, player, opponent in ((Mark.X, x, o), (Mark.O, o, x)):
            key = (player.id, opponent.id, mark is game.opener, source is not Source.PLAY)
            counts[key].update(_counts(game, mark, known=known, repeat=repeat))
            last[key] = max(at, last.get(key, at))
    for key, gone in counts.items():
        _subtract(session, key, gone, last[key])
    # An engine that only models met has nothing there, and may have most games of all.
    recount(
        session,
        {
            player.id
            for each in landings
            for player, opponent in ((each.x, each.o), (each.o, each.x))
            if lessons.is_examined(player, opponent) or clusters.is_clustered(player, opponent)
        },
    )


def moves_text(game: Game) -> str:
    """The squares of a game in the order in which they were taken, a digit each."""
    return "".join(map(str, game.moves))


def _line(landing: Landing) -> Line:
    _, game, x, o, source, _ = landing
    return (x.id, o.id, source is not Source.PLAY, game.opener.value, moves_text(game))


def _as_line(landing: Landing, *, repeat: bool) -> lessons.Line:
    serial, game, x, o, source, _ = landing
    rated = source is not Source.PLAY
    return lessons.Line(x, o, rated, game.opener, moves_text(game), int(not repeat), serial)


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
        "uncounted": sum(a.prompt_tokens is None or a.completion_tokens is None for a in attempts),
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
    session: Session, counts: dict[EntryKey, Counter[str]], last: dict[EntryKey, datetime]
) -> None:
    rows = [
        dict(zip(_ENTRY_KEYS, key, strict=True))
        | {name: int(added[name]) for name in _COUNTS}
        | {"last_at": last[key]}
        for key, added in counts.items()
    ]
    session.execute(_ADD_TO_ENTRY, rows)


def _uncount_lines(session: Session, landings: Iterable[Landing]) -> Counter[Line]:
    """Take the games off the lines; how often each line had been played before."""
    gone = Counter(_line(each) for each in landings if each.game.outcome is not Outcome.VOID)
    before: Counter[Line] = Counter()
    for line, times in gone.items():
        keys = {f"key_{name}": key for name, key in zip(_LINE_KEYS, line, strict=True)}
        left = session.execute(_TAKE_OFF_LINE, keys | {"times": times}).scalar_one()
        before[line] = left + times
        if not left:
            session.execute(_DROP_LINE, keys)
    return before


def _subtract(session: Session, key: EntryKey, gone: Counter[str], last: datetime) -> None:
    told: dict[str, Any] = {
        f"key_{name}": part for name, part in zip(_ENTRY_KEYS, key, strict=True)
    }
    told |= {f"gone_{name}": int(gone[name]) for name in _COUNTS}
    entry = session.execute(_TAKE_OFF_ENTRY, told).one()
    this = and_(*(_ENTRIES.c[name] == part for name, part in zip(_ENTRY_KEYS, key, strict=True)))
    if not any(getattr(entry, name) for name in _PLAYED):
        session.execute(delete(_ENTRIES).where(this))
    elif entry.last_at <= last:
        newest = select(func.max(_GAMES.c.finished_at)).where(_of_entry(key))
        session.execute(update(_ENTRIES).where(this).values(last_at=newest.scalar_subquery()))


def _of_entry(key: EntryKey) -> ColumnElement[bool]:
    """The finished games of an entry."""
    player, opponent, opening, rated = key
    in_browser = _GAMES.c.source == Source.PLAY
    seats = ((_GAMES.c.x_id, _GAMES.c.o_id, Mark.X), (_GAMES.c.o_id, _GAMES.c.x_id, Mark.O))
    return and_(
        or_(
            *(
                and_(
                    own == player,
                    other == opponent,
                    _GAMES.c.opener == (mark if opening else mark.other),
                )
                for own, other, mark in seats
            )
        ),
        ~in_browser if rated else in_browser,
        _GAMES.c.outcome.is_not(None),
    )
