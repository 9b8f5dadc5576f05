"""The filters of games as a query says them, the same for lists, previews and exports."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field, field_validator

from arena.board import Outcome
from storage.filters import GameFilter, Result
from storage.tables import Source


class FilterQuery(BaseModel):
    """The filters of games, the same for lists, previews and exports."""

    model_config = ConfigDict(extra="forbid")

    player: str | None = Field(None, description="the exact name of a player")
    opponent: str | None = Field(None, description="the exact name of the other one")
    player_id: int | None = Field(None, ge=0, lt=1 << 63, description="one of those of a name")
    opponent_id: int | None = Field(None, ge=0, lt=1 << 63)
    finished: bool | None = None
    outcome: Outcome | None = None
    result: Result | None = None
    opening: bool | None = None
    source: Source | None = None
    rated: bool | None = None
    formatted: bool = False
    no_invalid: bool = False
    keeps_value: bool = Field(False, description="the player never gave up a win or a draw")
    evaluation: str | None = Field(None, description="the name of an evaluation")
    demonstration: bool | None = Field(None, description="games that came with the arena")
    distinct_only: bool = False
    id: str | None = None
    since: datetime | None = Field(None, description="begun then or later; UTC where not said")
    until: datetime | None = Field(None, description="begun before")

    @field_validator("since", "until")
    @classmethod
    def _in_utc(cls, value: datetime | None) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def filter_of(query: FilterQuery) -> GameFilter:
    """The filter that a query asks for."""
    own = {"id", "player", "opponent", "player_id", "opponent_id"}
    return GameFilter(
        **query.model_dump(include=set(FilterQuery.model_fields) - own),
        player=query.player if query.player_id is None else query.player_id,
        opponent=query.opponent if query.opponent_id is None else query.opponent_id,
        ids=None if query.id is None else (query.id,),
    )
