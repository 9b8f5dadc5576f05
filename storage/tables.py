"""The tables, as the newest migration leaves them. A test holds the two against each other.

    players ─< games ─< turns
                    ─< attempts      a model's replies
                    ─< requests      the calls that led to them, or to nothing
    players ─< lines                 every different game of two players, counted
    cards                            what `arena doctor` found of a model
                ─< seats         what a player's replies in a game come to, counted as it lands
    players ─< entries               what the leaderboard shows, maintained as games land
    evaluations                      what is planned, how it stands, what is wanted of it
    demonstrations                   which demonstration games came in, and went again

Runs of other environments are in `storage.reward_tables`, what is counted from games in
`storage.derived`.

Times are whole milliseconds since 1970 in UTC. Within the database a game is known by its
`serial`, a small number in the order of arrival that keeps the rows of a game together; outside
by its `id`, which cannot be guessed.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Index, MetaData, Text, text
from sqlmodel import Field, SQLModel

from storage.columns import Instant, Json, LosslessText, Whole


class Source(StrEnum):
    """Where a game was played."""

    PLAY = "play"
    """In the browser: stored move by move, and never part of a rate."""
    STORE = "store"
    """By a command that was told to store it."""
    EVALUATION = "evaluation"
    """By an evaluation."""


class Table(SQLModel):
    """What all tables share: a catalogue of their own."""

    metadata = MetaData()


class PlayerRow(Table, table=True):
    """One `arena.players.Identity`. Equal identities share a row."""

    __tablename__ = "players"

    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(sa_type=Text)
    name: str = Field(sa_type=LosslessText, index=True)
    family: str | None = Field(sa_type=LosslessText)
    step: int | None
    prompt: str | None = Field(sa_type=LosslessText)
    prompt_hash: str | None = Field(sa_type=LosslessText)
    settings: dict[str, Any] = Field(sa_type=Json)
    deterministic: bool
    fingerprint: str = Field(sa_type=Text, unique=True)
    """SHA-256 over the identity's canonical JSON."""


class GameRow(Table, table=True):
    """One game, under way or finished."""

    __tablename__ = "games"
    __table_args__ = (
        Index("ix_games_pair", "x_id", "o_id"),
        Index("ix_games_line", "x_id", "o_id", "opener", "moves"),
        # A cell of an evaluation is never counted twice; a void game may be played again.
        Index(
            "ux_games_cell",
            "x_id",
            "o_id",
            "opener",
            "seed",
            "rollout",
            unique=True,
            sqlite_where=text("source <> 'play' AND outcome <> 'void'"),
        ),
        Index(
            "ix_games_void",
            "x_id",
            "o_id",
            "opener",
            "seed",
            "rollout",
            sqlite_where=text("source <> 'play' AND outcome = 'void'"),
        ),
        Index("ix_games_demonstration", "x_id", "o_id", sqlite_where=text("demonstration")),
    )

    serial: int | None = Field(default=None, primary_key=True)
    id: str = Field(sa_type=Text, unique=True)
    x_id: int = Field(foreign_key="players.id", index=True)
    o_id: int = Field(foreign_key="players.id", index=True)
    opener: str = Field(sa_type=Text)
    seed: int
    source: str = Field(sa_type=Text)
    rollout: int
    """Which repetition of its cell this is."""
    ply: int
    """Turns taken so far."""
    moves: str = Field(sa_type=Text)
    """Their squares, a digit each."""
    outcome: str | None = Field(sa_type=Text, index=True)
    """Null while the game is under way."""
    termination: str | None = Field(sa_type=Text, index=True)
    x_token_hash: str | None = Field(sa_type=Text)
    """SHA-256 of the seat's secret; null where no person sits."""
    o_token_hash: str | None = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=Instant, index=True)
    updated_at: datetime = Field(sa_type=Instant)
    finished_at: datetime | None = Field(sa_type=Instant)
    demonstration: bool = Field(sa_column_kwargs={"server_default": "0"})
    """Whether it came with the arena, to show something at the first start."""


class TurnRow(Table, table=True):
    """One accepted move."""

    __tablename__ = "turns"
    __table_args__ = {"sqlite_with_rowid": False}

    game: int = Field(foreign_key="games.serial", primary_key=True)
    ply: int = Field(primary_key=True)
    mark: str = Field(sa_type=Text)
    square: int
    at: datetime | None = Field(sa_type=Instant)
    """Null where the game was stored whole."""


class AttemptRow(Table, table=True):
    """One reply of a model; `ply` is the turn that it led to or was to lead to."""

    __tablename__ = "attempts"
    __table_args__ = (Index("ux_attempts_game", "game", "ply", "number", unique=True),)

    id: int | None = Field(default=None, primary_key=True)
    game: int = Field(foreign_key="games.serial")
    ply: int
    number: int
    """From 1, within the turn."""
    mark: str = Field(sa_type=Text)
    prompt: str = Field(sa_type=LosslessText)
    """What changed since the seat's attempt before: see `storage.prompts`."""
    reply: str = Field(sa_type=LosslessText)
    reasoning: str | None = Field(sa_type=LosslessText)
    reasoning_field: str | None = Field(sa_type=LosslessText)
    verdict: str = Field(sa_type=Text)
    square: int | None = Field(sa_type=Whole)
    contains: bool
    exact: bool
    finish_reason: str | None = Field(sa_type=LosslessText)
    seed: int | None = Field(sa_type=Whole)
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    adaptations: list[str] = Field(sa_type=Json, sa_column_kwargs={"server_default": "[]"})


class RequestRow(Table, table=True):
    """One HTTP call to an endpoint."""

    __tablename__ = "requests"

    id: int | None = Field(default=None, primary_key=True)
    game: int = Field(foreign_key="games.serial", index=True)
    ply: int
    attempt: int | None
    """The attempt's number; null where the call led to none."""
    number: int
    """From 1, within the attempt."""
    status: int | None
    seconds: float
    sent: dict[str, Any] = Field(sa_type=Json)
    error: str | None = Field(sa_type=LosslessText)
    finish_reason: str | None = Field(sa_type=LosslessText)
    prompt_tokens: int | None
    completion_tokens: int | None


class SeatRow(Table, table=True):
    """What a player's replies in one finished game come to; no row where it made no request."""

    __tablename__ = "seats"
    __table_args__ = {"sqlite_with_rowid": False}

    game: int = Field(foreign_key="games.serial", primary_key=True)
    mark: str = Field(sa_type=Text, primary_key=True)
    attempts: int
    invalid_attempts: int
    contains: int
    exact: int
    prompt_tokens: int
    completion_tokens: int
    milliseconds: int
    """Of the attempts, each rounded, and of the requests that led to none."""
    default_temperature: int
    requests: int
    """Failed ones too."""
    uncounted: int = Field(sa_column_kwargs={"server_default": "0"})
    """Attempts of which the server did not say how many tokens they took."""


class LineRow(Table, table=True):
    """How often two players played one (opener, moves) to an end that counts."""

    __tablename__ = "lines"
    __table_args__ = {"sqlite_with_rowid": False}

    x_id: int = Field(foreign_key="players.id", primary_key=True)
    o_id: int = Field(foreign_key="players.id", primary_key=True)
    rated: bool = Field(primary_key=True)
    opener: str = Field(sa_type=Text, primary_key=True)
    moves: str = Field(sa_type=Text, primary_key=True)
    count: int


class EntryRow(Table, table=True):
    """A player's results against one opponent, opening or replying, rated or not.

    Void games and repeats stand in their own columns and in no other, so that every other figure
    is about the same games: those that count.
    """

    __tablename__ = "entries"
    __table_args__ = {"sqlite_with_rowid": False}

    player_id: int = Field(foreign_key="players.id", primary_key=True)
    opponent_id: int = Field(foreign_key="players.id", primary_key=True)
    opening: bool = Field(primary_key=True)
    rated: bool = Field(primary_key=True)
    wins: int
    draws: int
    losses: int
    forfeits: int
    """The player's own, part of its losses."""
    opponent_forfeits: int
    """Part of its wins."""
    void: int
    context_exceeded: int
    """Part of void: the player's own prompt did not fit."""
    repeats: int
    """Games whose line was known already, where both players are deterministic."""
    distinct: int
    attempts: int
    invalid_attempts: int
    contains: int
    exact: int
    prompt_tokens: int
    completion_tokens: int
    milliseconds: int
    """Of the player's attempts, each rounded: whole numbers add up in any order."""
    default_temperature: int = Field(sa_column_kwargs={"server_default": "0"})
    """Attempts that were drawn at the server's default temperature, whatever was asked."""
    unseeded: int = Field(sa_column_kwargs={"server_default": "0"})
    """Attempts that were drawn without a seed."""
    last_at: datetime = Field(sa_type=Instant)


class EvaluationRow(Table, table=True):
    """A named plan, and the process that plays it. Its games are found by their cells."""

    __tablename__ = "evaluations"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=LosslessText, unique=True)
    settings: dict[str, Any] = Field(sa_type=Json)
    state: str = Field(sa_type=Text)
    message: str = Field(sa_type=LosslessText)
    """Why it is in this state; empty where there is nothing to say."""
    wanted: str = Field(sa_type=Text)
    """What the process that plays is to do: run, pause or stop."""
    live: dict[str, Any] = Field(sa_type=Json)
    """What goes on, as that process last said."""
    holder: int | None
    """That process's number, for people."""
    milliseconds: int
    """How long it has been played, over all processes."""
    created_at: datetime = Field(sa_type=Instant)
    beat_at: datetime | None = Field(sa_type=Instant)
    """The last sign of life of the process that plays."""
    finished_at: datetime | None = Field(sa_type=Instant)
    """When nothing was left to play; written last."""


class DemonstrationRow(Table, table=True):
    """One file of demonstration games that was imported."""

    __tablename__ = "demonstrations"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=LosslessText)
    """The file's, without its folder."""
    begun_at: datetime = Field(sa_type=Instant)
    finished_at: datetime | None = Field(sa_type=Instant)
    """Null where the import was broken off: the next start goes on with it."""
    removed_at: datetime | None = Field(sa_type=Instant)
    """When its games were removed again. The row stays, so that they do not come back."""


class CardRow(Table, table=True):
    """What the last examination of a model found."""

    __tablename__ = "cards"

    model: str = Field(sa_type=LosslessText, primary_key=True)
    """The name of its entry."""
    card: dict[str, Any] = Field(sa_type=Json)
    at: datetime = Field(sa_type=Instant)


def table_of(model: type[Table]) -> Any:
    """The SQLAlchemy table behind a model, for statements over many rows at once."""
    return model.metadata.tables[str(model.__tablename__)]
