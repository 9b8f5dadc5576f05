"""Checkpoints' numbers as the routes give them. Pure: from `storage.checkpoints` to JSON.

Null is "not measured", wherever it stands; it is never a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from arena.memorisation import Gap
from arena.rates import Rate, Worst
from arena.statistics import Interval, wilson
from storage.checkpoints import Checkpoint
from storage.mistakes import Mistakes
from storage.players import StoredPlayer
from storage.ranking import Leaderboard, Step
from storage.seats import Seat, Shares, Versus
from storage.standings import Tally
from web.standings import IntervalOut, RankedOut, notes_of, ranked_out


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


def members_out(board: Leaderboard) -> FamiliesOut:
    """Everyone who can be looked at, in the order of a list."""
    members = [
        MemberOut(player=ranked_out(StoredPlayer(row.id, row.identity)), games=row.games)
        for row in board.checkpoints
        if row.id is not None
    ]
    members.sort(key=lambda m: (m.player.family is None, m.player.family or "", _step(m.player)))
    return FamiliesOut(families=list(board.families), members=members)


def family_out(
    name: str, panel: str, panels: list[str], steps: Sequence[Step], shown: FindingOut
) -> FamilyOut:
    """A family's page."""
    return FamilyOut(
        name=name,
        finding=shown,
        panel=panel,
        panels=panels,
        steps=[
            StepOut(
                step=each.step,
                checkpoint=checkpoint_out(each.checkpoint),
                moves=moves_out(each.mistakes),
                traps=passed_out(each.traps.met, each.traps.failed),
            )
            for each in steps
        ],
    )


def moves_out(made: Mistakes) -> MovesOut:
    """Moves by kind."""
    return MovesOut(
        moves=made.moves,
        keeps_value=made.keeps_value,
        loses_value=made.loses_value,
        win_to_draw=made.win_to_draw,
        win_to_loss=made.win_to_loss,
        draw_to_loss=made.draw_to_loss,
        missed_wins=made.missed_wins,
        missed_blocks=made.missed_blocks,
        fork_traps=made.fork_traps,
        let_offs=made.let_offs,
    )


def passed_out(met: int, failed: int) -> PassedOut:
    """A pass rate."""
    return PassedOut(
        met=met,
        failed=failed,
        pass_rate=(met - failed) / met if met else None,
        interval=interval_out(wilson(met - failed, met)),
    )


def checkpoint_out(checkpoint: Checkpoint) -> CheckpointOut:
    """A row."""
    who = checkpoint.identity
    return CheckpointOut(
        player=None if checkpoint.id is None else ranked_out(StoredPlayer(checkpoint.id, who)),
        name=who.name,
        reference=checkpoint.id is None,
        temperature=checkpoint.temperature,
        prompt=checkpoint.prompt,
        versus=[versus_out(each) for each in checkpoint.versus],
        worst_opening=_lowest(checkpoint.worst_opening),
        worst_replying=_lowest(checkpoint.worst_replying),
        worst=_lowest(checkpoint.worst),
        gap=_gap(checkpoint),
        opening=_totals(checkpoint.opening),
        replying=_totals(checkpoint.replying),
        total=_totals(checkpoint.total),
        format_followed=checkpoint.format_followed,
        invalid_share=checkpoint.invalid_share,
        tokens_per_move=checkpoint.tokens_per_move,
        seconds_per_move=checkpoint.seconds_per_move,
        notes=notes_of(checkpoint.total),
        last_at=checkpoint.last_at,
    )


def versus_out(versus: Versus) -> VersusOut:
    """A row's cell."""
    return VersusOut(
        opponent=versus.opponent,
        opponent_id=versus.opponent_id,
        perfect=versus.perfect,
        opening=seat_out(versus.opening),
        replying=seat_out(versus.replying),
        mean=_rate(versus.mean),
    )


def seat_out(seat: Seat) -> SeatOut:
    """One of its two seats."""
    tally = seat.tally
    return SeatOut(
        games=tally.games,
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.losses,
        forfeits=tally.forfeits,
        void=tally.void,
        context_exceeded=tally.context_exceeded,
        repeats=tally.repeats,
        distinct=tally.distinct,
        exact=seat.exact,
        rate=_rate(seat.rate),
        shares=_shares(seat.shares),
    )


def interval_out(interval: Interval | None) -> IntervalOut | None:
    """An interval."""
    return interval and IntervalOut(low=interval.low, high=interval.high)


def progress_out(board: Leaderboard) -> ProgressOut | None:
    """How far the evaluation is that was asked for."""
    if board.provisional is None:
        return None
    played, planned = board.provisional
    return ProgressOut(played=played, planned=planned)


def _step(player: RankedOut) -> tuple[bool, int, str, int]:
    return player.step is None, player.step or 0, player.name, player.id


def _rate(rate: Rate | None) -> RateOut | None:
    if rate is None:
        return None
    return RateOut(
        share=rate.share, interval=interval_out(rate.interval), bounds=interval_out(rate.bounds)
    )


def _shares(shares: Shares | None) -> SharesOut | None:
    return shares and SharesOut(**shares._asdict())


def _lowest(worst: Worst | None) -> LowestOut | None:
    if worst is None:
        return None
    return LowestOut(
        opponents=list(worst.opponents),
        share=worst.share,
        interval=interval_out(worst.interval),
        of=worst.of,
        missing=list(worst.missing),
    )


def _gap(checkpoint: Checkpoint) -> GapOut:
    gap = checkpoint.gap
    if not isinstance(gap, Gap):
        none = dict.fromkeys(("gap", "interval", "opponent", "own", "relatives"))
        return GapOut(**none, reason=gap.reason)
    return GapOut(
        gap=gap.gap,
        interval=interval_out(gap.interval),
        opponent=gap.opponent,
        own=gap.own.share,
        relatives=gap.relatives.share,
        reason=None,
    )


def _totals(tally: Tally) -> TotalsOut:
    return TotalsOut(
        games=tally.games,
        losses=tally.losses,
        forfeits=tally.forfeits,
        void=tally.void,
        context_exceeded=tally.context_exceeded,
        repeats=tally.repeats,
        distinct=tally.distinct,
        replies=tally.attempts,
        invalid_replies=tally.invalid_attempts,
    )


StandingsOut.model_rebuild()
