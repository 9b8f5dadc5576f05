"""The JSON that the routes of evaluations take and give."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from arena.board import Mark
from web.standings import IntervalOut, RankedOut

MOST_SEED = (1 << 53) - 1
"""What JSON can hold everywhere."""


class Standing(StrEnum):
    """How it stands with an evaluation, as somebody sees it from outside."""

    NEW = "new"
    """Nobody has begun to play it."""
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"
    DEAD = "dead"
    """It was running, and its process gives no sign of life."""

    @property
    def is_live(self) -> bool:
        """Whether a process plays it, or is about to."""
        return self in (Standing.STARTING, Standing.RUNNING, Standing.PAUSED)


class Action(StrEnum):
    """What the operator may do with an evaluation."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    GO_ON = "go-on"
    """Start it again: it plays what is missing."""


class NewEvaluation(BaseModel):
    """What is to be played. The same name with the same settings goes on where it was."""

    model_config = ConfigDict(extra="forbid")

    checkpoints: list[str] = Field(
        min_length=1, max_length=200, description="models, families or engines' specs"
    )
    panel: str = Field("standard", max_length=60)
    opponents: list[str] | None = Field(
        None, max_length=200, description="specs, instead of a panel"
    )
    games: int = Field(50, ge=1, description="seeds: each is two games an opponent")
    seed: int = Field(0, ge=0, le=MOST_SEED, description="the first seed")
    rollouts: int = Field(1, ge=1, description="how often each game is played")
    concurrency: int = Field(16, ge=1, le=4096, description="games at once")
    name: str | None = Field(
        None, max_length=200, description="checkpoint-panel-seed where it is left out"
    )


class EvaluationName(BaseModel):
    """Which evaluation."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=200)


class EvaluationStarted(BaseModel):
    """Where an evaluation that was started can be followed."""

    name: str
    url: str


class PanelOut(BaseModel):
    """A named list of opponents."""

    name: str
    opponents: list[str]
    mark: Mark | None = Field(description="the checkpoint's in every game, where it is fixed")


class PanelsOut(BaseModel):
    """The panels that there are."""

    panels: list[PanelOut]


class PartsOut(BaseModel):
    """The means of the reward's parts."""

    outcome: float
    format: float
    invalid: float = Field(description="zero or less")


class EntryOut(BaseModel):
    """A checkpoint against one opponent in one seat."""

    checkpoint: str
    player_id: int
    opponent: str
    opponent_id: int
    opening: bool
    planned: int
    played: int = Field(description="cells that are done")
    games: int = Field(description="games that count: neither void nor repeats")
    wins: int
    draws: int
    losses: int
    forfeits: int = Field(description="losses by invalid replies; part of the losses")
    void: int = Field(description="games that an endpoint's fault made void")
    context_exceeded: int = Field(description="games that outgrew the model's context: void too")
    repeats: int = Field(description="further games of a known line; part of played")
    distinct: int = Field(description="different (opener, squares) among the games")
    exact: bool = Field(description="the games are all that there can be: no interval")
    not_lost: float | None = Field(description="share of wins and draws; null where none counts")
    interval: IntervalOut | None = Field(description="95 %, over seeds; around the bounds")
    bounds: IntervalOut | None = Field(
        description="of the rate, where games outgrew the context: all lost to all drawn"
    )
    spread_within_seeds: float | None = Field(description="of games that share a seed")
    spread_between_seeds: float | None
    reward: float | None
    reward_deviation: float | None
    reward_parts: PartsOut | None


class WorstOut(BaseModel):
    """The lowest of a checkpoint's rates against perfect opponents; of all, where none is."""

    checkpoint: str
    opponents: list[str] = Field(description="several where they tie")
    opening: bool
    not_lost: float = Field(description="games that outgrew the context count as lost")
    interval: IntervalOut | None = Field(
        description="95 %, of the lowest of so many rates; null where it is known exactly"
    )
    of: int = Field(description="of how many rates it is the lowest")


class AnswerOut(BaseModel):
    """What is found of one checkpoint."""

    player: RankedOut
    sentences: list[str]
    worst: WorstOut | None


class CostOut(BaseModel):
    """What a checkpoint's games cost, void ones and repeats too."""

    checkpoint: str
    games: int
    requests: int
    prompt_tokens: int | None = Field(description="null where the server counts none")
    completion_tokens: int | None
    at_least: bool = Field(description="the server did not count the tokens of every reply")
    seconds: float = Field(description="between requests and replies, added up")
    money: float | None = Field(description="null where no prices or no tokens are known")
    currency: str | None


class BoardOut(BaseModel):
    """A game under way."""

    player: str
    opponent: str
    mark: Mark
    opening: bool
    seed: int
    rollout: int
    squares: list[Mark | None]
    to_move: Mark


class LiveOut(BaseModel):
    """What goes on, as the process that plays said last; rates over the last half minute."""

    requests_per_s: float
    tokens_per_s: float
    games_per_s: float
    seconds_left: float | None
    in_flight: int
    down: dict[str, str] = Field(description="who pauses because of its endpoint, and why")
    boards: list[BoardOut] = Field(description="the oldest of the games under way")


class EvaluationRow(BaseModel):
    """An evaluation in a list."""

    name: str
    url: str
    checkpoints: list[str]
    panel: str | None
    opponents: int
    state: Standing
    state_said: str = Field(description="the state in words")
    planned: int
    played: int
    provisional: bool
    worst: WorstOut | None = Field(description="over all its checkpoints")
    created_at: datetime


class EvaluationsOut(BaseModel):
    """A page of the list, newest first."""

    total: int
    evaluations: list[EvaluationRow]
    older: int | None = Field(description="where the next page begins; null on the last")


class EvaluationOut(BaseModel):
    """An evaluation, its figures, and what goes on."""

    name: str
    state: Standing
    state_said: str
    problem: str | None = Field(description="why its process ended; for the operator alone")
    may: list[Action] = Field(description="what you may do with it now")
    headline: str
    answers: list[AnswerOut] = Field(description="one for each checkpoint")
    panel: str | None
    opponents: list[str]
    mark: Mark | None
    games: int = Field(description="seeds")
    seed: int
    rollouts: int
    concurrency: int
    planned: int
    played: int
    provisional: bool = Field(description="games are to come")
    seconds: float = Field(description="how long it has been played")
    created_at: datetime
    finished_at: datetime | None
    live: LiveOut | None
    entries: list[EntryOut]
    costs: list[CostOut]
