"""Games as data to train on and to keep: rows of plain JSON values, streamed.

`messages` has one row for each model that played a game: the chat, each reply as it was received.
Where the chat was begun anew on the way (a fresh prompt each turn), or what was sent back is not
what was received (an empty reply left out, a separate reasoning dropped), the chat is cut there and
within each turn, and each piece is a row of its own; its last message is the one to learn.
`games` has one row for each game, with everything that is known of it except the seats' secrets.

Games under way are left out, and void ones from `messages` unless the filter asks for them. What
has keys of its own for every player (settings, a request's parameters) is JSON in a string, so that
all rows have one schema. Rows come in the order in which the games arrived, and the same games give
the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select

from arena.board import Mark, Outcome
from arena.errors import NotFoundError
from arena.game import Attempt, Message, Request, Verdict
from arena.players import Kind
from storage import records
from storage.columns import canonical_json
from storage.database import Database
from storage.filters import GameFilter, Result, select_games
from storage.players import StoredPlayer
from storage.records import GAMES, StoredGame

_BATCH = 200
"""Games in memory at once."""


class Flavour(StrEnum):
    """What a row is."""

    MESSAGES = "messages"
    GAMES = "games"


def rows(db: Database, flavour: str, filter: GameFilter | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a flavour for the finished games that a filter lets through.

    Each batch of games is read in a transaction of its own, so that a slow reader holds up nobody;
    games that arrive after the first batch was read are left out.

    Raises:
        NotFoundError: there is no such flavour.
    """
    if flavour not in _ROWS_OF:
        raise NotFoundError(f"there is no flavour {flavour!r}: valid are {', '.join(_ROWS_OF)}")
    chosen = Flavour(flavour)
    return _stream(db, _ROWS_OF[chosen], filter_of(chosen, filter or GameFilter()))


def filter_of(flavour: Flavour, filter: GameFilter) -> GameFilter:
    """The filter that an export goes by: `Games.count` of it is the number of games in it."""
    filter = replace(filter, finished=True)
    if flavour is not Flavour.MESSAGES:
        return filter
    # A void game teaches nothing: whoever wants its chat all the same asks for that outcome.
    counts = True if filter.outcome is None else filter.counts
    return replace(filter, kind=filter.kind or Kind.MODEL, counts=counts)


def jsonl(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Each row as a line of JSON. ASCII alone, so that lone surrogates survive every reader."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=True).encode() + b"\n"


def _stream(
    db: Database,
    rows_of: Callable[[StoredGame, Sequence[Mark]], Iterator[dict[str, Any]]],
    filter: GameFilter,
) -> Iterator[dict[str, Any]]:
    last = 0
    end: int | None = None
    while True:
        with db.read() as session:
            if end is None:
                end = session.execute(select(func.max(GAMES.c.serial))).scalar() or 0
            chosen = select_games(session, filter)
            found = session.execute(
                select(GAMES.c.serial, *(chosen.seats[mark].label(mark) for mark in Mark))
                .where(chosen.where, GAMES.c.serial > last, GAMES.c.serial <= end)
                .order_by(GAMES.c.serial)
                .limit(_BATCH)
            ).all()
            games = records.load(session, [row.serial for row in found])
        for row, stored in zip(found, games, strict=True):
            yield from rows_of(stored, [mark for mark in Mark if getattr(row, mark)])
        if len(found) < _BATCH:
            return
        last = found[-1].serial


def _messages_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    for mark in seats:
        attempts = stored.game.attempts_of(mark)
        if stored.player(mark).identity.kind is not Kind.MODEL or not attempts:
            continue
        if len(_pieces(attempts)) == 1:
            yield _chat(stored, mark, None, attempts)
            continue
        for ply, made in _by_turn(stored, mark):
            for piece in _pieces(made):
                yield _chat(stored, mark, ply, piece)


def _by_turn(stored: StoredGame, mark: Mark) -> Iterator[tuple[int, Sequence[Attempt]]]:
    game = stored.game
    for ply, turn in enumerate(game.turns):
        if turn.mark is mark:
            yield ply, turn.attempts
    if game.to_move is mark:
        yield len(game.turns), game.unanswered


def _pieces(attempts: Sequence[Attempt]) -> list[list[Attempt]]:
    """Cut a chat wherever a prompt is not the one before it, its reply as received, and more."""
    pieces: list[list[Attempt]] = []
    for attempt in attempts:
        if pieces and _goes_on(pieces[-1][-1], attempt):
            pieces[-1].append(attempt)
        else:
            pieces.append([attempt])
    return pieces


def _goes_on(before: Attempt, attempt: Attempt) -> bool:
    so_far = (*before.prompt, _reply(before))
    return attempt.prompt[: len(so_far)] == so_far


def _reply(attempt: Attempt) -> Message:
    return Message("assistant", attempt.reply, attempt.reasoning)


def _chat(
    stored: StoredGame, mark: Mark, ply: int | None, attempts: Sequence[Attempt]
) -> dict[str, Any]:
    """A row of `messages`; `ply` where it is a part of a game's chat."""
    game, player, opponent = stored.game, stored.player(mark), stored.player(mark.other)
    return {
        "game": stored.id,
        "ply": ply,
        "player": player.identity.name,
        "family": player.identity.family,
        "step": player.identity.step,
        "opponent": opponent.identity.name,
        "mark": mark,
        "opener": game.opener,
        "outcome": game.outcome,
        "termination": game.termination,
        "result": _result(game.outcome, mark),
        "moves": list(game.moves),
        "seed": game.seed,
        "rollout": stored.game.rollout,
        "source": stored.source,
        "prompt_format": player.identity.prompt,
        "prompt_hash": player.identity.prompt_hash,
        "settings": canonical_json(dict(player.identity.settings)),
        "replies": len(attempts),
        "invalid": sum(a.verdict is not Verdict.OK for a in attempts),
        "contains": sum(a.contains for a in attempts),
        "exact": sum(a.exact for a in attempts),
        "finished_at": _time(stored.finished_at),
        "messages": _message_list((*attempts[-1].prompt, _reply(attempts[-1]))),
    }


def _result(outcome: Outcome | None, mark: Mark) -> Result | None:
    if outcome is None or outcome is Outcome.VOID:
        return None
    if outcome is Outcome.DRAW:
        return Result.DRAW
    return Result.WIN if outcome is Outcome.win(mark) else Result.LOSS


def _games_rows(stored: StoredGame, seats: Sequence[Mark]) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    game = stored.game
    yield {
        "game": stored.id,
        "x": _player(stored.x),
        "o": _player(stored.o),
        "opener": game.opener,
        "outcome": game.outcome,
        "termination": game.termination,
        "moves": list(game.moves),
        "seed": game.seed,
        "rollout": stored.game.rollout,
        "source": stored.source,
        "created_at": _time(stored.created_at),
        "updated_at": _time(stored.updated_at),
        "finished_at": _time(stored.finished_at),
        "turns": [
            {
                "mark": turn.mark,
                "square": turn.square,
                "at": _time(at),
                "attempts": [_attempt(attempt) for attempt in turn.attempts],
            }
            for turn, at in zip(game.turns, stored.times, strict=True)
        ],
        "unanswered": [_attempt(attempt) for attempt in game.unanswered],
        "failed": [_request(request) for request in game.failed],
    }


def _player(player: StoredPlayer) -> dict[str, Any]:
    identity = player.identity
    return {
        "kind": identity.kind,
        "name": identity.name,
        "family": identity.family,
        "step": identity.step,
        "prompt_format": identity.prompt,
        "prompt_hash": identity.prompt_hash,
        "settings": canonical_json(dict(identity.settings)),
        "deterministic": identity.deterministic,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "prompt": _message_list(attempt.prompt),
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
        "requests": [_request(request) for request in attempt.requests],
    }


def _request(request: Request) -> dict[str, Any]:
    return {
        "status": request.status,
        "seconds": request.seconds,
        "sent": canonical_json(dict(request.sent)),
        "error": request.error,
        "finish_reason": request.finish_reason,
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": request.completion_tokens,
    }


def _message_list(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The messages as chat templates take them; reasoning only where there is some."""
    return [
        {"role": message.role, "content": message.content}
        | ({} if message.reasoning is None else {"reasoning_content": message.reasoning})
        for message in messages
    ]


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="milliseconds")


_ROWS_OF = {Flavour.MESSAGES: _messages_rows, Flavour.GAMES: _games_rows}
