"""Checkpoints' numbers from `storage.checkpoints` to what the routes give. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from arena.memorisation import Gap
from arena.rates import Rate, Worst
from arena.statistics import Interval, wilson
from storage.checkpoints import Checkpoint
from storage.mistakes import Mistakes
from storage.players import StoredPlayer
from storage.ranking import Leaderboard, Step
from storage.seats import Seat, Shares, Versus
from storage.standings import Tally
from web.numbers import (
    CheckpointOut,
    FamiliesOut,
    FamilyOut,
    FindingOut,
    GapOut,
    LowestOut,
    MemberOut,
    MovesOut,
    PassedOut,
    ProgressOut,
    RateOut,
    SeatOut,
    SharesOut,
    StepOut,
    TotalsOut,
    VersusOut,
)
from web.standings import IntervalOut, RankedOut, notes_of, ranked_out


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
