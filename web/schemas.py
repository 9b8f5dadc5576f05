"""The JSON that the routes under /api/v1 take and give. Field descriptions end up in the docs."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from arena.board import Mark, Outcome
from arena.game import Termination, Verdict
from arena.players import Kind

_JOINER = "\u200d"
"""Unseen, but part of many an emoji."""


def _seen(name: str) -> str:
    """A name without signs that nobody sees or that turn the text around them."""
    unseen = ("Cc", "Cf")
    kept = "".join(c for c in name if c == _JOINER or unicodedata.category(c) not in unseen)
    kept = " ".join(kept.split())
    return kept if kept.strip(_JOINER + " ") else ""


Name = Annotated[str, StringConstraints(max_length=40), AfterValidator(_seen)]
Token = Annotated[str, StringConstraints(max_length=100)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HumanSeat(_In):
    """A person sits here: moves come by POST, with the seat's token."""

    kind: Literal[Kind.HUMAN]
    name: Name = Field("", description="shown with the game; may be empty")


class EngineSeat(_In):
    """An engine sits here."""

    kind: Literal[Kind.ENGINE]
    spec: str = Field(max_length=200, examples=["minimax:tie=first", "random"])


class ModelSeat(_In):
    """A model of the operator's `models.toml` sits here."""

    kind: Literal[Kind.MODEL]
    name: str = Field(max_length=200)


Seat = Annotated[HumanSeat | EngineSeat | ModelSeat, Field(discriminator="kind")]


class NewGame(_In):
    """Who sits where, and who opens."""

    x: Seat
    o: Seat
    opener: Mark = Mark.X
    seed: int | None = Field(
        None, ge=0, lt=1 << 53, description="decides the engines' draws; random where left out"
    )


class Move(_In):
    """A person's move. `ply` says which board it answers, so that a stale tab plays nothing."""

    square: int = Field(ge=0, le=8, strict=True)
    ply: int = Field(
        ge=0, le=8, strict=True, description="moves on the board that the person looked at"
    )
    token: Token


class SeatToken(_In):
    """What a person does who holds a seat."""

    token: Token


class SignIn(_In):
    """The operator's password."""

    password: str = Field(max_length=1000)


class PlayerOut(BaseModel):
    """Who sits in a seat."""

    kind: Kind
    name: str
    family: str | None = None
    step: int | None = None
    prompt: str | None = Field(None, description="the name of a model's prompt format")


class MessageOut(BaseModel):
    """A message of a chat, as it was sent."""

    role: str
    content: str


class AttemptOut(BaseModel):
    """One reply of a model, with its verdict."""

    number: int = Field(description="1 for the first reply on this board")
    verdict: Verdict
    square: int | None
    reply: str
    reasoning: str | None
    contains: bool
    exact: bool
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    requests: int = Field(description="HTTP calls that it took, retries included")
    adaptations: list[str] = Field(description="what the server made us change, in words")
    prompt: list[MessageOut]


class TurnOut(BaseModel):
    """One accepted move."""

    ply: int
    mark: Mark
    square: int
    attempts: list[AttemptOut]


class Thinking(BaseModel):
    """What a model that is to move has said so far."""

    seconds: float = Field(description="since it was asked")
    attempt: int
    reasoning: str
    text: str
    trouble: str = Field(description="why the last request failed, in words")


class GameOut(BaseModel):
    """The state of a game."""

    id: str
    url: str = Field(description="the page of this game")
    opener: Mark
    seed: int
    x: PlayerOut
    o: PlayerOut
    squares: list[Mark | None]
    ply: int
    to_move: Mark | None = Field(description="null when the game is over")
    waiting_for: Kind | None = Field(description="the kind of player that is to move")
    outcome: Outcome | None
    termination: Termination | None
    line: tuple[int, int, int] | None
    turns: list[TurnOut]
    unanswered: list[AttemptOut] = Field(description="replies that led to no turn")
    fault: str | None = Field(description="why a void game could not go on, in words")
    thinking: Thinking | None
    stopped: bool = Field(description="the model's reply was broken off: `go-on` asks it again")
    demonstration: bool = Field(description="it came with the arena")
    created_at: datetime
    updated_at: datetime


class NewGameOut(BaseModel):
    """A new game, and the secrets of the seats that people hold."""

    game: GameOut
    tokens: dict[Mark, str] = Field(description="one for each person; shown only once")


class GameRow(BaseModel):
    """A game in a list."""

    id: str
    url: str
    opener: Mark
    seed: int
    x: PlayerOut
    o: PlayerOut
    moves: str = Field(description="the squares in order, one digit each")
    outcome: Outcome | None
    termination: Termination | None
    source: str
    demonstration: bool = Field(description="it came with the arena")
    created_at: datetime


class GamesOut(BaseModel):
    """A page of a list of games, newest first."""

    total: int
    games: list[GameRow]
    older: int | None = Field(description="where the next page begins; null on the last")


class EngineOption(BaseModel):
    """An engine that is offered by name; any other spec may be typed."""

    spec: str
    label: str


class ModelOption(BaseModel):
    """A model that the operator has registered."""

    name: str
    family: str | None
    step: int | None
    playable: bool = Field(description="whether you may play it")
    card: CardOut | None = Field(description="null where it was not examined")


class ProbeOut(BaseModel):
    """One thing that was looked at."""

    name: str
    outcome: str = Field(description="ok, note, problem or unknown")
    seen: str
    change: str | None = Field(description="what to change; for the operator alone")


class CardOut(BaseModel):
    """What `arena doctor` found of a model."""

    at: datetime
    ok: bool
    summary: str
    probes: list[ProbeOut]
    adaptations: list[str] = Field(description="what the server forces on every game, in words")


class PlayersOut(BaseModel):
    """Who can take a seat."""

    engines: list[EngineOption]
    models: list[ModelOption]
    operator: bool
    password_set: bool = Field(description="whether operators sign in with a password")


class PreviewOut(BaseModel):
    """The first rows of a dataset."""

    games: int = Field(description="games with rows in this dataset")
    rows: list[dict[str, Any]]


class DemonstrationOut(BaseModel):
    """The games that came with the arena."""

    games: int
    removable: bool = Field(description="whether you are the operator")
    evaluations: dict[str, int] = Field(
        description="the evaluations that are made of them, and of how many"
    )


class RemovedOut(BaseModel):
    """What was removed."""

    removed: int = Field(description="games")


class ErrorOut(BaseModel):
    """Every error has this shape."""

    class Detail(BaseModel):
        """What was wrong, and what would be right."""

        type: str
        message: str

    error: Detail
