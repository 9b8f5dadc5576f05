"""The form in which the routes give checkpoints' numbers; `web.number_views` fills it.

Null is "not measured", wherever it stands; it is never a zero.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from web.standings import IntervalOut, RankedOut


class RateOut(BaseModel):
    """A share of games that were not lost."""

    share: float
    interval: IntervalOut | None = Field(description="95 %, over seeds; null where it is exact")
    bounds: IntervalOut | None = Field(
        description="of the rate, where games outgrew the context: all lost to all drawn"
    )


class SharesOut(BaseModel):
    """Shares of the games that count; their sum is 1."""

    wins: float
    draws: float
    losses: float


class SeatOut(BaseModel):
    """Opening or replying, against one opponent."""

    games: int = Field(description="those that count: neither void nor repeats")
    wins: int
    draws: int
    losses: int
    forfeits: int = Field(description="losses by invalid replies; part of the losses")
    void: int
    context_exceeded: int = Field(description="part of void: the prompt outgrew the context")
    repeats: int
    distinct: int = Field(description="different (opener, squares) among the games")
    exact: bool = Field(description="all that there can be, or computed: no interval")
    rate: RateOut | None = Field(description="null where no game counts")
    shares: SharesOut | None


class VersusOut(BaseModel):
    """A checkpoint against one opponent."""

    opponent: str
    opponent_id: int | None = Field(description="null where the two never met")
    perfect: bool = Field(description="it never gives up value")
    opening: SeatOut
    replying: SeatOut
    mean: RateOut | None = Field(description="the even mean of both seats")


class LowestOut(BaseModel):
    """The lowest of several rates."""

    opponents: list[str] = Field(description="whose it is; several where they tie")
    share: float
    interval: IntervalOut | None = Field(description="at 1 - 0.05/k for k rates")
    of: int
    missing: list[str] = Field(description="against whom no game counts yet")


class GapOut(BaseModel):
    """The memorisation gap, replying; or the reason why there is none."""

    gap: float | None = Field(description="`own` less `relatives`")
    interval: IntervalOut | None
    opponent: str | None = Field(description="picked on even seeds, measured on odd ones")
    own: float | None = Field(description="the share not lost against it")
    relatives: float | None = Field(
        description="against the seven that differ from it by a symmetry alone"
    )
    reason: str | None = Field(description="why there is none, in words")


class TotalsOut(BaseModel):
    """Over all opponents shown, in one seat or in both: counts, and no rate of results."""

    games: int
    losses: int
    forfeits: int
    void: int
    context_exceeded: int
    repeats: int
    distinct: int
    replies: int
    invalid_replies: int


class CheckpointOut(BaseModel):
    """A player against the opponents of a panel."""

    player: RankedOut | None = Field(description="null for a reference, computed and not played")
    name: str
    reference: bool
    temperature: float | None
    prompt: str | None
    versus: list[VersusOut] = Field(description="in the panel's order")
    worst_opening: LowestOut | None = Field(
        description="of the perfect opponents; of all, where the panel has none"
    )
    worst_replying: LowestOut | None
    worst: LowestOut | None = Field(description="of both seats; names say the seat")
    gap: GapOut
    opening: TotalsOut
    replying: TotalsOut
    total: TotalsOut
    format_followed: float | None = Field(description="share of replies, by the check `contains`")
    invalid_share: float | None = Field(description="share of replies")
    tokens_per_move: float | None
    seconds_per_move: float | None
    notes: list[str] = Field(description="what servers made us change, where it matters")
    last_at: datetime | None


class CeilingsOut(BaseModel):
    """The share of games that the best counter-strategy wins against `random`."""

    opening: float
    replying: float
    replying_keeping_value: float = Field(description="without ever giving up value")


class StandingsOut(BaseModel):
    """The leaderboard of a panel."""

    finding: FindingOut
    panel: str
    opponents: list[str]
    panels: list[str] = Field(description="what may be asked for; so the next four")
    prompts: list[str]
    temperatures: list[float]
    families: list[str]
    evaluation: str | None
    provisional: ProgressOut | None = Field(description="while cells of the evaluation are to come")
    checkpoints: list[CheckpointOut]
    references: list[CheckpointOut]
    ceilings: CeilingsOut


class FindingOut(BaseModel):
    """What a table shows, in words that hold for its numbers and for no more."""

    title: str
    text: str


class ProgressOut(BaseModel):
    """How far an evaluation is."""

    played: int
    planned: int


class MemberOut(BaseModel):
    """A checkpoint that played a rated game."""

    player: RankedOut
    games: int = Field(description="against the opponents of the standard panel")


class FamiliesOut(BaseModel):
    """Who can be looked at."""

    families: list[str]
    members: list[MemberOut] = Field(description="by family and step; engines last")


class MovesOut(BaseModel):
    """A player's moves by what they were worth. A move may be of several kinds."""

    moves: int
    keeps_value: int
    loses_value: int
    win_to_draw: int
    win_to_loss: int
    draw_to_loss: int
    missed_wins: int
    missed_blocks: int
    fork_traps: int = Field(description="entered")
    let_offs: int = Field(description="the opponent's error was given back")


class PassedOut(BaseModel):
    """How often fork traps were met, and how often failed."""

    met: int
    failed: int
    pass_rate: float | None
    interval: IntervalOut | None = Field(description="95 % Wilson, over moves made in a trap")


class StepOut(BaseModel):
    """A checkpoint in the course of its family's training."""

    step: int | None
    checkpoint: CheckpointOut
    moves: MovesOut
    traps: PassedOut


class FamilyOut(BaseModel):
    """A family's checkpoints in the order of their steps."""

    name: str
    finding: FindingOut
    panel: str
    panels: list[str]
    steps: list[StepOut]


StandingsOut.model_rebuild()
