"""Stores games that were checked, as they were stored where they come from, and counts them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from arena.players import Identity
from storage import players, records
from storage.aggregates import Landing, land, moves_text
from storage.columns import as_stored
from storage.imports.check import Incoming
from storage.players import StoredPlayer
from storage.records import GAMES, Details, StoredGame

_INSERT_IF_NEW = insert(GAMES).on_conflict_do_nothing().returning(GAMES.c.serial)


class Fate(Enum):
    """What became of a game."""

    IMPORTED = auto()
    KNOWN = auto()
    """It is stored already."""
    OTHER_GAME = auto()
    """Another one of its id is, or the same with other replies, players or dates."""
    SAME_CELL = auto()
    """Another one of its cell is, and counts."""


def write(session: Session, batch: Sequence[Incoming], *, demonstration: bool) -> list[Fate]:
    """Store the games that are new; what became of each.

    Args:
        session: a writing transaction.
        batch: some hundreds.
        demonstration: mark all of them so; else those alone that say so themselves.
    """
    ids = [each.id for each in batch]
    serials = session.scalars(select(GAMES.c.serial).where(GAMES.c.id.in_(ids))).all()
    stored = {each.id: _told(each) for each in records.load(session, serials)}
    known = _Players(session)
    details = Details()
    landings: list[Landing] = []
    fates = []
    for each in batch:
        if each.id in stored:
            same = _told(each) == stored[each.id]
            fates.append(Fate.KNOWN if same else Fate.OTHER_GAME)
            continue
        x, o = known.ensure(each.x), known.ensure(each.o)
        row = _row(each, x, o, demonstration or each.demonstration)
        serial = session.execute(_INSERT_IF_NEW, row).scalar_one_or_none()
        if serial is None:
            fates.append(Fate.SAME_CELL)
            continue
        fates.append(Fate.IMPORTED)
        stored[each.id] = _told(each)
        turns = len(details.turns)
        details.add(serial, each.game)
        for turn, at in zip(details.turns[turns:], each.times, strict=True):
            turn["at"] = at
        landings.append(Landing(serial, each.game, x, o, each.source, each.finished_at))
    details.insert(session)
    land(session, landings)
    return fates


class _Players:
    """The players of a batch, each looked up once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, StoredPlayer] = {}

    def ensure(self, identity: Identity) -> StoredPlayer:
        mark = players.fingerprint(identity)
        if mark not in self._known:
            self._known[mark] = players.ensure(self._session, identity)
        return self._known[mark]


def _told(each: StoredGame | Incoming) -> tuple[object, ...]:
    """Everything that an import tells of a game, but for what marks it as a demonstration."""
    x, o = (who.identity if isinstance(who, StoredPlayer) else who for who in (each.x, each.o))
    dates = (each.created_at, each.updated_at, each.finished_at)
    return each.game, x, o, each.source, *map(as_stored, (*dates, *each.times))


def _row(each: Incoming, x: StoredPlayer, o: StoredPlayer, demonstration: bool) -> dict[str, Any]:
    game = each.game
    return {
        "id": each.id,
        "x_id": x.id,
        "o_id": o.id,
        "opener": game.opener,
        "seed": game.seed,
        "source": each.source,
        "rollout": game.rollout,
        "ply": len(game.turns),
        "moves": moves_text(game),
        "outcome": game.outcome,
        "termination": game.termination,
        "created_at": each.created_at,
        "updated_at": each.updated_at,
        "finished_at": each.finished_at,
        "demonstration": demonstration,
    }
