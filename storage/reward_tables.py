"""The tables of imported runs of other environments.

    reward_runs ─< reward_rollouts

Their rollouts are no games of the arena's, also where a game can be followed in them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Text
from sqlmodel import Field

from storage.columns import Instant, Json, LosslessText
from storage.tables import Table, table_of


class RewardRunRow(Table, table=True):
    """A run of some environment that was imported: its rollouts are no games of the arena's."""

    __tablename__ = "reward_runs"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(sa_type=LosslessText, unique=True)
    """What an import knows it by."""
    name: str = Field(sa_type=LosslessText)
    environment: str = Field(sa_type=LosslessText)
    file_hash: str | None = Field(sa_type=Text)
    """SHA-256 of the file that last added to it, in hex; null where a run has an id of its own."""


class RewardRolloutRow(Table, table=True):
    """One rollout of such a run."""

    __tablename__ = "reward_rollouts"
    __table_args__ = (
        Index("ux_reward_rollouts_key", "run_id", "key", unique=True),
        Index("ix_reward_rollouts_example", "run_id", "example", "seat", "reward"),
        Index("ix_reward_rollouts_reward", "run_id", "reward"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="reward_runs.id")
    key: str = Field(sa_type=LosslessText)
    """What an import knows it by, within its run."""
    example: str = Field(sa_type=LosslessText)
    """Equal for rollouts of one example."""
    model: str = Field(sa_type=LosslessText)
    seat: str = Field(sa_type=LosslessText)
    """Where several play; else empty."""
    reward: float | None
    """Null where it counts for nobody."""
    parts: dict[str, Any] = Field(sa_type=Json)
    """By reward function: its score and weight, or null."""
    why_void: str | None = Field(sa_type=LosslessText)
    messages: list[dict[str, Any]] = Field(sa_type=Json)
    """The chat, last reply included."""
    at: datetime | None = Field(sa_type=Instant)
    opener: str | None = Field(sa_type=Text)
    """Of the game of tic-tac-toe that can be followed in the chat; null where there is none."""
    mark: str | None = Field(sa_type=Text)
    """The model's."""
    moves: str | None = Field(sa_type=Text)
    """Their squares, a digit each, both sides', as far as the chat shows them."""
    unfollowed: str | None = Field(sa_type=LosslessText)
    """Why there is none, though the chat draws boards."""


RUNS = table_of(RewardRunRow)
ROLLOUTS = table_of(RewardRolloutRow)
