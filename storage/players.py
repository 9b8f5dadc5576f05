"""Players as they are stored: one row for each `arena.players.Identity`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Row, bindparam, insert, select
from sqlalchemy.orm import Session

from arena.players import Identity, Kind
from storage.columns import canonical_json
from storage.tables import PlayerRow, table_of

_PLAYERS = table_of(PlayerRow)
_KNOWN = select(_PLAYERS.c.id).where(_PLAYERS.c.fingerprint == bindparam("fingerprint"))


@dataclass(frozen=True)
class StoredPlayer:
    """A player with the number that the database knows it by."""

    id: int
    identity: Identity

    @cached_property
    def settings(self) -> str:
        """The identity's settings as JSON; a player has many games."""
        return canonical_json(dict(self.identity.settings))


def always_alike(player: StoredPlayer) -> bool:
    """Whether the player is certain to answer a board alike each time.

    Only of an engine is that certain. A greedy model's settings say so too, but servers that batch
    requests do not keep it: its games are all counted, and what they show is what is said.
    """
    return player.identity.kind is Kind.ENGINE and player.identity.deterministic


def fingerprint(identity: Identity) -> str:
    """What two identities share if and only if they are equal: SHA-256 of their canonical JSON."""
    text = canonical_json(
        {
            "kind": identity.kind,
            "name": identity.name,
            "family": identity.family,
            "step": identity.step,
            "prompt": identity.prompt,
            "prompt_hash": identity.prompt_hash,
            "settings": dict(identity.settings),
            "deterministic": identity.deterministic,
        }
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def ensure(session: Session, identity: Identity) -> StoredPlayer:
    """The stored player of this identity, stored now if it was not. For a writing transaction."""
    mark = fingerprint(identity)
    known = session.execute(_KNOWN, {"fingerprint": mark}).scalar_one_or_none()
    if known is None:
        values = {
            "kind": identity.kind.value,
            "name": identity.name,
            "family": identity.family,
            "step": identity.step,
            "prompt": identity.prompt,
            "prompt_hash": identity.prompt_hash,
            "settings": dict(identity.settings),
            "deterministic": identity.deterministic,
            "fingerprint": mark,
        }
        known = session.execute(
            insert(_PLAYERS).values(values).returning(_PLAYERS.c.id)
        ).scalar_one()
    return StoredPlayer(known, identity)


def by_id(session: Session, ids: Iterable[int]) -> dict[int, StoredPlayer]:
    """The players with these numbers."""
    rows = session.execute(select(_PLAYERS).where(_PLAYERS.c.id.in_(set(ids))))
    return {row.id: StoredPlayer(row.id, _identity(row)) for row in rows}


def by_fingerprint(session: Session, fingerprints: Iterable[str]) -> dict[str, StoredPlayer]:
    """The players with these fingerprints."""
    rows = session.execute(select(_PLAYERS).where(_PLAYERS.c.fingerprint.in_(set(fingerprints))))
    return {row.fingerprint: StoredPlayer(row.id, _identity(row)) for row in rows}


def ids_of(session: Session, who: str | int) -> list[int]:
    """The numbers of the players with a name (there may be several), or that one number."""
    if isinstance(who, int):
        return [who]
    return list(session.execute(select(_PLAYERS.c.id).where(_PLAYERS.c.name == who)).scalars())


def _identity(row: Row[Any]) -> Identity:
    return Identity(
        kind=Kind(row.kind),
        name=row.name,
        family=row.family,
        step=row.step,
        prompt=row.prompt,
        prompt_hash=row.prompt_hash,
        settings=row.settings,
        deterministic=row.deterministic,
    )
