"""What the last examination of each model found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from storage.database import Database
from storage.tables import CardRow, table_of

_CARDS = table_of(CardRow)


@dataclass(frozen=True)
class StoredCard:
    """A card, as it was made."""

    model: str
    """The name of the model's entry."""
    card: Mapping[str, Any]
    """Plain JSON values."""
    at: datetime


def save(db: Database, model: str, card: Mapping[str, Any], now: Callable[[], datetime]) -> None:
    """Keep a card in place of the model's last one."""
    row = {"model": model, "card": dict(card), "at": now()}
    with db.write() as session:
        new = insert(_CARDS).values(row)
        session.execute(new.on_conflict_do_update(set_={"card": row["card"], "at": row["at"]}))


def find_all(db: Database) -> dict[str, StoredCard]:
    """The cards, by the names of the models."""
    with db.read() as session:
        rows = session.execute(select(_CARDS)).all()
    return {row.model: StoredCard(row.model, row.card, row.at) for row in rows}
