"""From stored evaluations and their figures to what the routes give. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from arena.control import State
from arena.panels import Panel
from arena.rates import rate
from arena.statistics import Interval
from storage.evaluations import Evaluation, Wanted
from storage.figures import Figures
from storage.players import StoredPlayer
from web.children import Child
from web.costs import Bill
from web.evaluations import (
    Action,
    AnswerOut,
    CostOut,
    EntryOut,
    EvaluationOut,
    EvaluationRow,
    LiveOut,
    PanelOut,
    PartsOut,
    Standing,
    WorstOut,
)
from web.standings import IntervalOut, ranked_out
from web.verdict import Answer, answer, headline, measured


def standing_of(evaluation: Evaluation, child: Child | None, now: datetime) -> Standing:
    """How it stands.

    Args:
        evaluation: as it is stored.
        child: the last process that this server started for it.
        now: a time with a zone.
    """
    if child and child.runs and not child.has_begun(evaluation):
        return Standing.STARTING
    if evaluation.state in (State.RUNNING, State.PAUSED):
        # Of its own child the server knows at once that it has ended.
        gone = child is not None and child.pid == evaluation.holder and not child.runs
        alive = evaluation.is_alive(now) and not gone
        return Standing(evaluation.state) if alive else Standing.DEAD
    if evaluation.beat_at is None:
        return Standing.NEW
    return Standing(evaluation.state)


def said(evaluation: Evaluation, standing: Standing, found: Sequence[Figures]) -> str:
    """The state in words."""
    why = evaluation.message
    if standing is Standing.NEW:
        return "not begun"
    if standing is Standing.DEAD:
        return "its process died: go on with it"
    if standing is Standing.FAILED:
        return f"failed: {why}" if why else "failed"
    if standing.is_live and evaluation.wanted is Wanted.STOP:
        return "stopping after the games in flight"
    if standing is Standing.RUNNING:
        if evaluation.wanted is Wanted.PAUSE:
            return "pausing"
        return f"running, in part: {why}" if why else "running"
    if standing is Standing.PAUSED and why:
        return f"paused until the endpoint is back: {why}"
    void = sum(each.void for each in found)
    if standing is Standing.FINISHED and void:
        return f"finished, but {void:,} of its games stayed void"
    missing = sum(each.planned - each.played for each in found)
    if standing is Standing.FINISHED and missing:
        # The demonstration was removed, or files were: what it found stored is stored no more.
        return f"finished, but {missing:,} of its games are gone: go on to play them"
    return standing.value


def actions(evaluation: Evaluation, standing: Standing, *, complete: bool) -> list[Action]:
    """What an operator may do now.

    Args:
        evaluation: as it is stored.
        standing: how it stands.
        complete: whether every cell is done.
    """
    if standing is Standing.STARTING or (standing.is_live and evaluation.wanted is Wanted.STOP):
        return []
    if standing.is_live:
        paused = evaluation.wanted is Wanted.PAUSE
        return [Action.RESUME if paused else Action.PAUSE, Action.STOP]
    return [] if complete and standing is Standing.FINISHED else [Action.GO_ON]


def evaluation_out(
    evaluation: Evaluation,
    standing: Standing,
    found: Sequence[Figures],
    spent: Sequence[Bill],
    *,
    operator: bool,
    problem: str | None,
) -> EvaluationOut:
    """An evaluation as its page shows it.

    Args:
        evaluation: as it is stored.
        standing: how it stands.
        found: its figures, in the order of `storage.cells.entries_of`.
        spent: what it has cost, a bill for each checkpoint.
        operator: whether the operator looks.
        problem: why its process ended.
    """
    plan = evaluation.plan
    answers = [answer(each) for each in _by_player(found)]
    planned, played = _progress(found)
    running = standing in (Standing.RUNNING, Standing.PAUSED) and evaluation.live
    may = actions(evaluation, standing, complete=played == planned)
    return EvaluationOut(
        name=evaluation.name,
        state=standing,
        state_said=said(evaluation, standing, found),
        problem=problem if operator else None,
        may=may if operator else [],
        headline=headline(answers),
        answers=[
            AnswerOut(
                player=ranked_out(each.player),
                sentences=[f"{sentence}." for sentence in each.sentences],
                worst=_worst(each),
            )
            for each in answers
        ],
        panel=evaluation.panel,
        opponents=list(plan.opponents),
        mark=plan.mark,
        games=plan.games,
        seed=plan.seed,
        rollouts=plan.rollouts,
        concurrency=evaluation.concurrency,
        planned=planned,
        played=played,
        provisional=played < planned,
        seconds=evaluation.seconds,
        created_at=evaluation.created_at,
        finished_at=evaluation.finished_at,
        live=LiveOut.model_validate(evaluation.live) if running else None,
        entries=[_entry(each) for each in found],
        costs=[_cost(bill) for bill in spent],
    )


def row_out(
    evaluation: Evaluation, standing: Standing, found: Sequence[Figures], url: str
) -> EvaluationRow:
    """An evaluation in a list."""
    planned, played = _progress(found)
    worst = [shown for each in _by_player(found) if (shown := _worst(answer(each)))]
    return EvaluationRow(
        name=evaluation.name,
        url=url,
        checkpoints=[player.identity.name for player in evaluation.players],
        panel=evaluation.panel,
        opponents=len(evaluation.opponents),
        state=standing,
        state_said=said(evaluation, standing, found),
        planned=planned,
        played=played,
        provisional=played < planned,
        worst=min(worst, key=lambda each: each.not_lost, default=None),
        created_at=evaluation.created_at,
    )


def panel_out(panel: Panel) -> PanelOut:
    """A panel as it is offered."""
    return PanelOut(name=panel.name, opponents=list(panel.opponents), mark=panel.mark)


def _by_player(found: Sequence[Figures]) -> list[list[Figures]]:
    def player(each: Figures) -> StoredPlayer:
        return each.entry.player

    return [list(entries) for _, entries in groupby(found, player)]


def _progress(found: Sequence[Figures]) -> tuple[int, int]:
    return sum(each.planned for each in found), sum(each.played for each in found)


def _worst(found: Answer) -> WorstOut | None:
    if found.lowest is None:
        return None
    opening, worst = found.lowest
    return WorstOut(
        checkpoint=found.player.identity.name,
        opponents=list(worst.opponents),
        opening=opening,
        not_lost=worst.share,
        interval=_interval(worst.interval),
        of=worst.of,
    )


def _interval(found: Interval | None) -> IntervalOut | None:
    return None if found is None else IntervalOut(low=found.low, high=found.high)


def _entry(each: Figures) -> EntryOut:
    found = rate(measured(each))
    return EntryOut(
        checkpoint=each.entry.player.identity.name,
        player_id=each.entry.player.id,
        opponent=each.entry.opponent.identity.name,
        opponent_id=each.entry.opponent.id,
        opening=each.entry.opening,
        planned=each.planned,
        played=each.played,
        games=each.games,
        wins=each.wins,
        draws=each.draws,
        losses=each.losses,
        forfeits=each.forfeits,
        void=each.void,
        context_exceeded=each.context_exceeded,
        repeats=each.repeats,
        distinct=each.distinct,
        exact=each.is_exact,
        not_lost=each.not_lost.mean,
        interval=_interval(found and found.interval),
        bounds=_interval(found and found.bounds),
        spread_within_seeds=each.not_lost.within,
        spread_between_seeds=each.not_lost.between,
        reward=each.reward.mean,
        reward_deviation=each.reward.deviation,
        reward_parts=each.parts and PartsOut(**each.parts._asdict()),
    )


def _cost(bill: Bill) -> CostOut:
    spent, money = bill.costs, bill.money
    return CostOut(
        checkpoint=bill.checkpoint,
        games=spent.games,
        requests=spent.requests,
        prompt_tokens=spent.prompt_tokens if spent.has_tokens else None,
        completion_tokens=spent.completion_tokens if spent.has_tokens else None,
        at_least=spent.has_tokens and bill.is_lower_bound,
        seconds=spent.seconds,
        money=money,
        currency=bill.prices.currency if bill.prices and money is not None else None,
    )
