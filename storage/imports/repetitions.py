"""Numbers the repetitions of a cell, where a file does not: the n-th game of it becomes rollout n.

A trace tells which example was played and not which rollout of it this was. Two rollouts of one
example are two true games, so neither may be left out as a game of a cell that is stored already.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena.board import Outcome
from storage import players
from storage.imports.check import Incoming
from storage.imports.traced import Traced
from storage.records import GAMES
from storage.tables import Source


def number(session: Session, batch: Sequence[Incoming]) -> None:
    """Give each game of a trace its rollout: the one it is stored by, else the first free one."""
    traced = [each for each in batch if isinstance(each, Traced)]
    ids = [each.id for each in traced]
    known = session.execute(select(GAMES.c.id, GAMES.c.rollout).where(GAMES.c.id.in_(ids)))
    stored: dict[str, int] = {row.id: row.rollout for row in known}
    taken: dict[tuple[object, ...], set[int]] = {}
    for each in traced:
        if each.id not in stored and each.game.outcome is not Outcome.VOID:
            cell = (players.fingerprint(each.x), players.fingerprint(each.o), *_start(each))
            if cell not in taken:
                taken[cell] = _taken(session, each)
            rollout = next(n for n in range(len(taken[cell]) + 1) if n not in taken[cell])
            taken[cell].add(rollout)
            stored[each.id] = rollout
        each.game.rollout = stored.get(each.id, 0)


def _start(each: Incoming) -> tuple[object, object]:
    return each.game.opener, each.game.seed


def _taken(session: Session, each: Incoming) -> set[int]:
    """The rollouts of a cell that are stored and count."""
    x, o = (players.fingerprint(identity) for identity in (each.x, each.o))
    known = players.by_fingerprint(session, (x, o))
    if x not in known or o not in known:
        return set()
    wanted = select(GAMES.c.rollout).where(
        GAMES.c.x_id == known[x].id,
        GAMES.c.o_id == known[o].id,
        GAMES.c.opener == each.game.opener,
        GAMES.c.seed == each.game.seed,
        GAMES.c.source != Source.PLAY,
        GAMES.c.outcome != Outcome.VOID,
    )
    return set(session.scalars(wanted))
