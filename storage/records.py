"""A game as rows of the tables, and back. The rows to write are plain dicts, for many at once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, func, insert, select
from sqlalchemy.orm import Session

from arena.board import Mark, Outcome
from arena.game import Attempt, Game, Request, Termination, Verdict
from arena.players import Kind
from storage import players
from storage.players import StoredPlayer
from storage.prompts import pack, unpack
from storage.tables import AttemptRow, GameRow, RequestRow, Source, TurnRow, table_of

GAMES = table_of(GameRow)
_TURNS = table_of(TurnRow)
_ATTEMPTS = table_of(AttemptRow)
_REQUESTS = table_of(RequestRow)


@dataclass(frozen=True)
class StoredGame:
    """A game with what the database knows of it besides."""

    id: str
    serial: int
    """The game's place in the order of arrival."""
    game: Game
    x: StoredPlayer
    o: StoredPlayer
    source: Source
    times: tuple[datetime | None, ...]
    """When each turn was taken; None where the game was stored whole."""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    demonstration: bool

    def player(self, mark: Mark) -> StoredPlayer:
        """Who plays a mark."""
        return self.x if mark is Mark.X else self.o

    @property
    def persons(self) -> frozenset[Mark]:
        """The marks that persons play."""
        return frozenset(m for m in Mark if self.player(m).identity.kind is Kind.HUMAN)


@dataclass
class Details:
    """Rows of what led to games, gathered to be inserted together."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    def add(self, serial: int, game: Game, since: int = 0, at: datetime | None = None) -> None:
        """Take a game's turns from ply `since` on, and what led to no turn."""
        for ply in range(since, len(game.turns)):
            turn = game.turns[ply]
            self.turns.append(
                {"game": serial, "ply": ply, "mark": turn.mark, "square": turn.square, "at": at}
            )
            self._add_attempts(serial, game, ply, turn.mark, turn.attempts)
        ply = len(game.turns)
        self._add_attempts(serial, game, ply, game.to_move, game.unanswered)
        self._add_requests(serial, ply, None, game.failed)

    def insert(self, session: Session) -> None:
        """Write the rows."""
        for table, rows in (
            (_TURNS, self.turns),
            (_ATTEMPTS, self.attempts),
            (_REQUESTS, self.requests),
        ):
            if rows:
                session.execute(insert(table), rows)

    def _add_attempts(
        self, serial: int, game: Game, ply: int, mark: Mark, attempts: Sequence[Attempt]
    ) -> None:
        before = _last_attempt_before(game, ply) if attempts else None
        for number, attempt in enumerate(attempts, start=1):
            self.attempts.append(
                {
                    "game": serial,
                    "ply": ply,
                    "number": number,
                    "mark": mark,
                    "prompt": pack(attempt.prompt, before),
                    "reply": attempt.reply,
                    "reasoning": attempt.reasoning,
                    "reasoning_field": attempt.reasoning_field,
                    "verdict": attempt.verdict,
                    "square": attempt.square,
                    "contains": attempt.contains,
                    "exact": attempt.exact,
                    "finish_reason": attempt.finish_reason,
                    "seed": attempt.seed,
                    "prompt_tokens": attempt.prompt_tokens,
                    "completion_tokens": attempt.completion_tokens,
                    "seconds": attempt.seconds,
                    "adaptations": list(attempt.adaptations),
                }
            )
            self._add_requests(serial, ply, number, attempt.requests)
            before = attempt

    def _add_requests(
        self, serial: int, ply: int, attempt: int | None, requests: Sequence[Request]
    ) -> None:
        self.requests.extend(
            {
                "game": serial,
                "ply": ply,
                "attempt": attempt,
                "number": number,
                "status": request.status,
                "seconds": request.seconds,
                "sent": dict(request.sent),
                "error": request.error,
                "finish_reason": request.finish_reason,
                "prompt_tokens": request.prompt_tokens,
                "completion_tokens": request.completion_tokens,
            }
            for number, request in enumerate(requests, start=1)
        )


def load(session: Session, serials: Sequence[int]) -> list[StoredGame]:
    """The games with these serials, in ascending order, replayed through the rules."""
    chosen = select(GAMES).where(GAMES.c.serial.in_(serials)).order_by(GAMES.c.serial)
    return replayed(session, session.execute(chosen).all(), {})


def replayed(
    session: Session,
    rows: Sequence[Row[Any]],
    known: dict[int, StoredPlayer],
    *,
    requests: bool = True,
) -> list[StoredGame]:
    """The games that these rows of `games` are of, in their order, replayed through the rules.

    Args:
        session: in which the rows were read.
        rows: all columns, and any others.
        known: players by number; those that are missing are read, and added.
        requests: whether the calls that led to attempts, or to nothing, are wanted too.
    """
    missing = {id for row in rows for id in (row.x_id, row.o_id)} - known.keys()
    if missing:
        known |= players.by_id(session, missing)
    # One parameter, however many games: the text of an IN of its own size takes longer to make
    # than the query to run.
    serials = {"serials": json.dumps([row.serial for row in rows])}
    moments: defaultdict[int, dict[int, datetime]] = defaultdict(dict)
    for game, ply, at in session.execute(_MOMENTS, serials).all():
        moments[game][ply] = at
    attempts = _by_game(session.execute(_MADE, serials).all())
    calls = _by_game(session.execute(_SENT, serials).all() if requests else ())
    return [
        StoredGame(
            id=row.id,
            serial=row.serial,
            game=_game(row, attempts.get(row.serial, ()), calls.get(row.serial, ())),
            x=known[row.x_id],
            o=known[row.o_id],
            source=Source(row.source),
            times=tuple(map(moments[row.serial].get, range(row.ply)))
            if row.serial in moments
            else (None,) * row.ply,
            created_at=row.created_at,
            updated_at=row.updated_at,
            finished_at=row.finished_at,
            demonstration=row.demonstration,
        )
        for row in rows
    ]


def _of_these(table: Any) -> ColumnElement[bool]:
    """Whether a row belongs to one of the games in the parameter `serials`, a list in JSON."""
    these = func.json_each(bindparam("serials")).table_valued("value")
    condition: ColumnElement[bool] = table.c.game.in_(select(these.c.value))
    return condition


# Built once: to build such a statement takes SQLAlchemy longer than to run it. What a turn took is
# in its game's row too, so that turns are read for their time alone, and few have one.
_MOMENTS = select(_TURNS.c.game, _TURNS.c.ply, _TURNS.c.at).where(
    _of_these(_TURNS), _TURNS.c.at.is_not(None)
)
_MADE = (
    select(_ATTEMPTS)
    .where(_of_these(_ATTEMPTS))
    .order_by(_ATTEMPTS.c.game, _ATTEMPTS.c.ply, _ATTEMPTS.c.number)
)
_SENT = select(_REQUESTS).where(_of_these(_REQUESTS)).order_by(_REQUESTS.c.game, _REQUESTS.c.id)


def _by_game(rows: Iterable[Row[Any]]) -> dict[int, list[Row[Any]]]:
    return {game: list(some) for game, some in groupby(rows, key=attrgetter("game"))}


def _game(row: Row[Any], attempts: Sequence[Row[Any]], requests: Sequence[Row[Any]]) -> Game:
    calls: defaultdict[tuple[int, int | None], list[Request]] = defaultdict(list)
    for call in requests:
        calls[call.ply, call.attempt].append(_request(call))
    replies: defaultdict[int, list[Attempt]] = defaultdict(list)
    before: dict[str, Attempt] = {}
    for reply in attempts:
        made = tuple(calls[reply.ply, reply.number])
        before[reply.mark] = attempt = _attempt(reply, before.get(reply.mark), made)
        replies[reply.ply].append(attempt)
    game = Game(Mark(row.opener), row.seed, rollout=row.rollout)
    for ply, square in enumerate(row.moves):
        game.move(int(square), tuple(replies[ply]) if ply in replies else ())
    if row.outcome is not None and game.outcome is None:
        winner = {Outcome.X: Mark.X, Outcome.O: Mark.O}.get(Outcome(row.outcome))
        game.end(
            Termination(row.termination),
            winner and winner.other,
            attempts=replies[row.ply],
            requests=calls[row.ply, None],
        )
    return game


def _attempt(row: Row[Any], before: Attempt | None, requests: tuple[Request, ...]) -> Attempt:
    return Attempt(
        prompt=unpack(row.prompt, before),
        reply=row.reply,
        verdict=Verdict(row.verdict),
        square=row.square,
        contains=row.contains,
        exact=row.exact,
        reasoning=row.reasoning,
        reasoning_field=row.reasoning_field,
        finish_reason=row.finish_reason,
        seed=row.seed,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        seconds=row.seconds,
        requests=requests,
        adaptations=tuple(row.adaptations),
    )


def _request(row: Row[Any]) -> Request:
    return Request(
        status=row.status,
        seconds=row.seconds,
        sent=row.sent,
        error=row.error,
        finish_reason=row.finish_reason,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
    )


def _last_attempt_before(game: Game, ply: int) -> Attempt | None:
    """The last attempt, before the turn at `ply`, of the seat whose turn that is."""
    for earlier in range(ply - 2, -1, -2):
        if game.turns[earlier].attempts:
            return game.turns[earlier].attempts[-1]
    return None
