"""Which games are meant: one filter for lists, counts and exports.

A filter speaks of games and of seats. A game passes where it meets every condition on games, and
where one of its two seats meets every condition on seats; an export of a model's replies takes the
seats that do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, UnaryExpression, and_, exists, func, or_, select, true, tuple_
from sqlalchemy.orm import Session
from sqlalchemy.sql.operators import custom_op

from arena.board import Mark, Outcome
from arena.game import Termination, Verdict
from arena.players import Kind
from storage.cells import entries_of
from storage.evaluations import Evaluation, named_in
from storage.players import ids_of
from storage.tables import AttemptRow, GameRow, PlayerRow, Source, table_of

_ATTEMPTS = table_of(AttemptRow)
_GAMES = table_of(GameRow)
_PLAYERS = table_of(PlayerRow)


class Result(StrEnum):
    """What a game was for one of its players."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


@dataclass(frozen=True)
class GameFilter:
    """Conditions that all must hold; what is left out is not asked."""

    # On a seat:
    player: str | int | None = None
    """Who sits there: a name, which several stored players may share, or a stored player's id."""
    opponent: str | int | None = None
    """Who sits opposite."""
    kind: Kind | None = None
    """Of the player who sits there."""
    opening: bool | None = None
    """Whether that player moved first."""
    result: Result | tuple[Result, ...] | None = None
    """What the game was for that player: this, or one of these."""
    formatted: bool = False
    """A model, every reply of which followed the format (`contains`)."""
    no_invalid: bool = False
    """A model, every reply of which named a free square."""
    keeps_value: bool = False
    """A player that never gave up a win or a draw that it held."""
    evaluation: str | None = None
    """The name of an evaluation: a player of it, in one of its cells."""

    # On a game:
    outcome: Outcome | None = None
    counts: bool | None = None
    """Whether it is over and not void."""
    termination: Termination | None = None
    source: Source | None = None
    rated: bool | None = None
    """Whether it is one of those that rates are of: not played in the browser."""
    people: bool | None = None
    """Whether a person played."""
    since: datetime | None = None
    """Begun at this time or later."""
    until: datetime | None = None
    """Begun before this time."""
    finished: bool | None = None
    ids: tuple[str, ...] | None = None
    demonstration: bool | None = None
    """Whether it came with the arena."""
    distinct_only: bool = False
    """Of the games that pass, the first of each line of the same two players; none that is void
    or under way."""


@dataclass(frozen=True)
class Selection:
    """A filter as SQL over one appearance of the games table."""

    games: Any
    """The table, or an alias of it."""
    game: ColumnElement[bool]
    """What is asked of the game."""
    seats: dict[Mark, ColumnElement[bool]]
    """What is asked of each seat."""
    by_player: bool
    """Whether a seat is asked for by name or id."""

    @property
    def where(self) -> ColumnElement[bool]:
        """What a game that passes meets."""
        return and_(self.game, or_(*self.seats.values()))


def select_games(session: Session, filter: GameFilter) -> Selection:
    """A filter as SQL; names are looked up now.

    Raises:
        NotFoundError: there is no evaluation of the name that is asked for.
    """
    evaluation = None if filter.evaluation is None else named_in(session, filter.evaluation)
    who = Asked(
        None if filter.player is None else ids_of(session, filter.player),
        None if filter.opponent is None else ids_of(session, filter.opponent),
        evaluation,
    )
    selection = _select(_GAMES, filter, who)
    if not filter.distinct_only:
        return selection
    earlier = _select(_GAMES.alias("earlier"), filter, who)
    same = and_(
        earlier.where,
        *(earlier.games.c[name] == _GAMES.c[name] for name in ("x_id", "o_id", "opener", "moves")),
        earlier.games.c.serial < _GAMES.c.serial,
    )
    first = ~exists(select(earlier.games.c.serial).where(same))
    return Selection(_GAMES, and_(selection.game, first), selection.seats, selection.by_player)


class Asked(NamedTuple):
    """What a filter names, looked up."""

    player: Sequence[int] | None
    opponent: Sequence[int] | None
    evaluation: Evaluation | None


def _select(games: Any, filter: GameFilter, who: Asked) -> Selection:
    by_player = who.player is not None or who.opponent is not None
    seats = {mark: and_(true(), *_on_seat(games, mark, filter, who)) for mark in Mark}
    return Selection(games, and_(true(), *_on_game(games, filter, by_player)), seats, by_player)


def _on_game(games: Any, filter: GameFilter, by_player: bool) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    column = games.c
    outcome, termination = column.outcome, column.termination
    if by_player:
        outcome, termination = _unindexed(outcome), _unindexed(termination)
    if filter.outcome is not None:
        found.append(outcome == filter.outcome)
    if filter.counts is not None:
        counts = and_(outcome.is_not(None), outcome != Outcome.VOID)
        found.append(counts if filter.counts else ~counts)
    if filter.termination is not None:
        found.append(termination == filter.termination)
    if filter.source is not None:
        found.append(column.source == filter.source)
    if filter.rated is not None:
        in_browser = column.source == Source.PLAY
        found.append(~in_browser if filter.rated else in_browser)
    if filter.people is not None:
        persons = or_(*(_of_kind(column[f"{seat}_id"], Kind.HUMAN) for seat in ("x", "o")))
        found.append(persons if filter.people else ~persons)
    if filter.since is not None:
        found.append(column.created_at >= filter.since)
    if filter.until is not None:
        found.append(column.created_at < filter.until)
    if filter.finished is not None:
        found.append(outcome.is_not(None) if filter.finished else outcome.is_(None))
    if filter.ids is not None:
        found.append(column.id.in_(filter.ids))
    if filter.demonstration is not None:
        found.append(column.demonstration == filter.demonstration)
    if filter.distinct_only:
        found.append(outcome != Outcome.VOID)
    return found


def _on_seat(games: Any, mark: Mark, filter: GameFilter, who: Asked) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    seat = games.c[f"{mark.lower()}_id"]
    opposite = games.c[f"{mark.other.lower()}_id"]
    for column, ids in ((seat, who.player), (opposite, who.opponent)):
        if ids is not None:
            found.append(column.in_(ids))
    if filter.kind is not None:
        found.append(_of_kind(seat, filter.kind))
    if filter.opening is not None:
        found.append(games.c.opener == (mark if filter.opening else mark.other))
    if filter.result is not None:
        outcomes = {
            Result.WIN: Outcome.win(mark),
            Result.DRAW: Outcome.DRAW,
            Result.LOSS: Outcome.win(mark.other),
        }
        asked = filter.result if isinstance(filter.result, tuple) else (filter.result,)
        found.append(_unindexed(games.c.outcome).in_([outcomes[each] for each in asked]))
    if filter.keeps_value:
        given_up = func.value_losing(games.c.opener, games.c.moves, mark.value)
        found.append(given_up == 0)
    if who.evaluation is not None:
        found += _in_evaluation(games, mark, who.evaluation)
    faults = [
        fault
        for wanted, fault in (
            (filter.formatted, ~_ATTEMPTS.c.contains),
            (filter.no_invalid, _ATTEMPTS.c.verdict != Verdict.OK),
        )
        if wanted
    ]
    if faults:
        bad = (_ATTEMPTS.c.game == games.c.serial, _ATTEMPTS.c.mark == mark, or_(*faults))
        found += [_of_kind(seat, Kind.MODEL), ~exists(select(_ATTEMPTS.c.id).where(*bad))]
    return found


def _in_evaluation(games: Any, mark: Mark, evaluation: Evaluation) -> list[ColumnElement[bool]]:
    """A cell of the evaluation, in which its player has the mark."""
    plan, columns = evaluation.plan, games.c
    cells = [
        (entry.player.id, entry.opponent.id, entry.opener.value)
        for entry in entries_of(evaluation)
        if entry.mark is mark
    ]
    seats = (columns.x_id, columns.o_id) if mark is Mark.X else (columns.o_id, columns.x_id)
    return [
        tuple_(*seats, columns.opener).in_(cells),
        columns.seed >= plan.seed,
        columns.seed < plan.seed + plan.games,
        columns.rollout < plan.rollouts,
        columns.source != Source.PLAY,
    ]


def _of_kind(player: ColumnElement[int], kind: Kind) -> ColumnElement[bool]:
    if kind is not Kind.HUMAN:
        # Engines and models play most games: to gather and sort them by their index takes longer
        # than to walk the list until a page is full. Persons play few.
        player = _unindexed(player)
    return player.in_(select(_PLAYERS.c.id).where(_PLAYERS.c.kind == kind))


def _unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column of which SQLite will use no index, by its documented unary plus.

    Where a player is asked for, the player's index is the better one, and SQLite, which keeps no
    statistics here, may take either.
    """
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)
