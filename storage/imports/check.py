"""A line of a file as a game that may be believed: replayed through the rules, and every claim
that can be checked is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import ValidationError

from arena.board import Mark, Outcome
from arena.errors import RulesError, SpecError
from arena.game import (
    Attempt,
    Game,
    Message,
    Request,
    Termination,
    Turn,
    Verdict,
    forfeit_of,
)
from arena.opponents import Engine, parse
from arena.players import Identity, Kind
from storage.datasets.lossless import put_back
from storage.datasets.record import SCHEMA
from storage.imports.form import GameForm, unknown_keys
from storage.imports.troubles import LineError, Trouble
from storage.tables import Source

WHOLE = frozenset({"game", "x", "o", "turns"})
"""Keys of a whole game."""
_HOTTEST = 1000
"""Far above what any server takes."""


@dataclass(frozen=True)
class Incoming:
    """A game that was checked."""

    id: str
    game: Game
    x: Identity
    o: Identity
    source: Source
    demonstration: bool
    times: tuple[datetime | None, ...]
    created_at: datetime
    updated_at: datetime
    finished_at: datetime
    unknown: tuple[str, ...]
    """Keys that the line had besides."""


def read_line(line: bytes) -> Incoming:
    """The game in a line.

    Raises:
        LineError: there is none that may be believed.
    """
    form = _form(line)
    row = form.model_dump()
    try:
        put_back(row, {} if form.replaced is None else _object(form.replaced, "replaced"))
    except ValueError as error:
        raise LineError(Trouble.CONTRADICTION, f"replaced: {error}") from None
    x, o = _identity(row["x"], "x"), _identity(row["o"], "o")
    try:
        game = _game(row, {Mark.X: x, Mark.O: o})
    except RulesError as error:
        raise LineError(Trouble.ILLEGAL, str(error)) from None
    if form.source is not Source.PLAY and Kind.HUMAN in (x.kind, o.kind):
        _refuse("a person plays, and the game claims to be rated")
    return Incoming(
        id=form.game,
        game=game,
        x=x,
        o=o,
        source=form.source,
        demonstration=form.demonstration,
        times=tuple(turn["at"] for turn in row["turns"]),
        created_at=form.created_at,
        updated_at=form.updated_at,
        finished_at=form.finished_at,
        unknown=tuple(unknown_keys(form)),
    )


def _form(line: bytes) -> GameForm:
    try:
        return GameForm.model_validate_json(line)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False)
        if wrong[0]["type"] == "json_invalid":
            raise LineError(Trouble.NOT_JSON, f"no JSON: {wrong[0]['msg']}") from None
        _tell_foreign(line)
        where = ".".join(map(str, wrong[0]["loc"]))
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise LineError(Trouble.FORM, f"{where}: {wrong[0]['msg']}{more}") from None


def _tell_foreign(line: bytes) -> None:
    """Say so where a line was never meant to be a game of this flavour."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise LineError(Trouble.FOREIGN, "no JSON object")
    schema = row.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise LineError(Trouble.FOREIGN, f"its schema is {schema!r:.80}, and not {SCHEMA!r}")
    if not row.keys() >= WHOLE:
        raise LineError(
            Trouble.FOREIGN,
            "no row of the flavour games, which is the only one that holds whole games",
        )


def _identity(row: dict[str, Any], seat: str) -> Identity:
    settings = _object(row["settings"], f"{seat}.settings")
    # What pages read of it.
    sampling = settings.get("sampling", {})
    heat = sampling.get("temperature", 0) if isinstance(sampling, dict) else None
    if isinstance(heat, bool) or not isinstance(heat, int | float):
        raise LineError(Trouble.FORM, f"{seat}.settings: sampling is no set of parameters")
    if not 0 <= heat <= _HOTTEST:
        why = f"its temperature is none from 0 to {_HOTTEST}"
        raise LineError(Trouble.FORM, f"{seat}.settings: {why}")
    identity = Identity(
        kind=row["kind"],
        name=row["name"],
        family=row["family"],
        step=row["step"],
        prompt=row["prompt_format"],
        prompt_hash=row["prompt_hash"],
        settings=settings,
        deterministic=row["deterministic"],
    )
    if identity.kind is Kind.ENGINE:
        engine = _engine(identity.name)
        if identity != Identity(Kind.ENGINE, str(engine), deterministic=engine.deterministic):
            _refuse(f"{seat} is the engine {identity.name}, and not described as it is")
    return identity


@lru_cache(maxsize=512)
def _engine(spec: str) -> Engine:
    try:
        return parse(spec)
    except SpecError as error:
        raise LineError(Trouble.FORM, str(error)) from None


def _game(row: dict[str, Any], players: dict[Mark, Identity]) -> Game:
    """The game, replayed; its claims are compared with what the rules say.

    Raises:
        RulesError: a move is illegal.
    """
    game = Game(row["opener"], row["seed"], rollout=row["rollout"])
    for ply, each in enumerate(row["turns"]):
        turn = Turn(each["mark"], each["square"], _attempts(each["attempts"]))
        if game.outcome is None and turn.mark is game.to_move:
            _check_turn(game, turn, players[turn.mark])
        try:
            game.add(turn)
        except RulesError as error:
            raise RulesError(f"turn {ply}: {error}") from None
    if row["moves"] != list(game.moves):
        _refuse(f"moves says {row['moves']}, and the turns {list(game.moves)}")
    outcome, termination = row["outcome"], row["termination"]
    unanswered, failed = _attempts(row["unanswered"]), _requests(row["failed"])
    if game.outcome is None:
        _check_end(game, outcome, termination, unanswered, players)
        winner = {Outcome.X: Mark.X, Outcome.O: Mark.O}.get(outcome)
        game.end(termination, winner and winner.other, attempts=unanswered, requests=failed)
    elif unanswered or failed:
        _refuse("the game ended on the board, and somebody was asked afterwards")
    if (game.outcome, game.termination) != (outcome, termination):
        _refuse(
            f"it claims {outcome} by {termination}, and the moves come to "
            f"{game.outcome} by {game.termination}"
        )
    return game


def _check_turn(game: Game, turn: Turn, player: Identity) -> None:
    ply = len(game.turns)
    *before, last = [attempt.verdict is Verdict.OK for attempt in turn.attempts] or [True]
    if not last or any(before):
        _refuse(f"turn {ply}: of its replies the last must be ok, and no other")
    if turn.attempts and turn.attempts[-1].square != turn.square:
        _refuse(f"turn {ply}: the reply names {turn.attempts[-1].square}, not {turn.square}")
    if bool(turn.attempts) is not (player.kind is Kind.MODEL):
        _refuse(f"turn {ply}: a model moves by replies, and nobody else does")
    if player.kind is Kind.ENGINE:
        square = _engine(player.name).choose(game.board, game.salt)
        if square != turn.square:
            _refuse(
                f"turn {ply}: {player.name} takes {square} here in a game of seed {game.seed}, "
                f"not {turn.square}"
            )


def _check_end(
    game: Game,
    outcome: Outcome,
    termination: Termination,
    unanswered: Sequence[Attempt],
    players: dict[Mark, Identity],
) -> None:
    """Whether a game can end so before the board is decided."""
    to_move = players[game.to_move]
    models = (Termination.CONTEXT_EXCEEDED, Termination.PROVIDER_ERROR)
    if termination in (Termination.LINE, Termination.FULL_BOARD):
        _refuse(f"it claims to have ended by {termination}, and the board is still open")
    if termination.is_void != (outcome is Outcome.VOID) or outcome is Outcome.DRAW:
        _refuse(f"a game that ends by {termination} is not {outcome}")
    if termination.is_forfeit and outcome is not Outcome.win(game.to_move.other):
        _refuse(f"{game.to_move} was to move, and so the forfeit is not the other's")
    if (termination.is_forfeit or termination in models) and to_move.kind is not Kind.MODEL:
        _refuse(f"{to_move.kind} was to move: only a model's turn ends by {termination}")
    if termination is Termination.ABANDONED and to_move.kind is not Kind.HUMAN:
        _refuse(f"{to_move.kind} was to move: only a person abandons a game")
    if termination is Termination.RESIGNED:
        loser = next(mark for mark in Mark if outcome is Outcome.win(mark.other))
        if players[loser].kind is not Kind.HUMAN:
            _refuse(f"{loser} is a {players[loser].kind}: only a person resigns")
    if termination.is_forfeit:
        _check_forfeit(termination, to_move, [*game.attempts_of(game.to_move), *unanswered])
    if unanswered and to_move.kind is not Kind.MODEL:
        _refuse("only a model replies")
    if any(attempt.verdict is Verdict.OK for attempt in unanswered):
        _refuse("a reply that is ok led to no turn")


def _check_forfeit(termination: Termination, player: Identity, attempts: Sequence[Attempt]) -> None:
    """Whether a model's replies come to a forfeit, and to which."""
    told = player.settings.get("max_replies")
    most = told if isinstance(told, int) else max(1, len(attempts))
    if len(attempts) != most:
        _refuse(f"it ends by {termination} after {len(attempts)} of the model's {most} replies")
    if forfeit_of(attempts) is not termination:
        _refuse(f"its replies come to {forfeit_of(attempts)}, not {termination}")


def _attempts(rows: list[dict[str, Any]]) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(
            prompt=tuple(
                Message(m["role"], m["content"], m["reasoning_content"]) for m in row["prompt"]
            ),
            requests=_requests(row["requests"]),
            adaptations=tuple(row["adaptations"]),
            **{key: row[key] for key in _AS_THEY_ARE},
        )
        for row in rows
    )


_AS_THEY_ARE = (
    *("reply", "reasoning", "reasoning_field", "verdict", "square", "contains", "exact"),
    *("finish_reason", "seed", "prompt_tokens", "completion_tokens", "seconds"),
)


def _requests(rows: list[dict[str, Any]]) -> tuple[Request, ...]:
    return tuple(
        Request(
            sent=_object(row["sent"], "sent"),
            **{
                key: row[key]
                for key in (
                    *("status", "seconds", "error", "finish_reason"),
                    *("prompt_tokens", "completion_tokens"),
                )
            },
        )
        for row in rows
    )


@lru_cache(maxsize=512)
def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _object(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a string; not to be changed."""
    value = _parsed(text)
    if value is None:
        raise LineError(Trouble.FORM, f"{where}: no JSON object in a string")
    return value


def _refuse(why: str) -> NoReturn:
    raise LineError(Trouble.CONTRADICTION, why)
