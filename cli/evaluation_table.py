"""What `arena evaluate` prints: an evaluation's figures as tables and as JSON.

The tables are 110 columns wide at most, whatever panel is played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from arena.rates import rate
from cli.context import counted, plain
from storage.evaluations import Evaluation
from storage.figures import Figures
from web.costs import Bill
from web.verdict import answer, measured

Reasons = Sequence[tuple[str, int]]
"""Why games are void, and how many."""
DASH = "–"


def report(
    evaluation: Evaluation, found: Sequence[Figures], bills: Sequence[Bill], reasons: Reasons
) -> RenderableType:
    """Everything that is known of an evaluation.

    Args:
        evaluation: as it is stored.
        found: its figures, in the order of `storage.cells.entries_of`.
        bills: what its checkpoints cost.
        reasons: why games are void.
    """
    parts: list[RenderableType] = []
    for entries in by_checkpoint(found):
        parts += [f"{plain(sentence)}." for sentence in answer(entries).sentences]
        parts += ["", _title(entries, "results"), results(entries), ""]
        if any(each.parts for each in entries):
            title = _title(entries, "reward of a game: mean ± standard deviation, and its parts")
            parts += [title, _rewards(entries), ""]
        if evaluation.plan.rollouts > 1:
            title = _title(
                entries, "standard deviations within a seed's rollouts and between seeds"
            )
            parts += [title, _spreads(entries), ""]
    parts += [f"{plain(name)}: {said}" for name, said in _costs(bills)]
    parts += map(plain, void_lines(reasons))
    parts.append(f"Played for {_clock(evaluation.seconds)} (h:mm:ss)")
    return Group(*parts)


def by_checkpoint(found: Sequence[Figures]) -> list[list[Figures]]:
    """The entries of each checkpoint."""
    return [list(entries) for _, entries in groupby(found, lambda each: each.entry.player)]


def results(entries: Sequence[Figures]) -> Table:
    """A line for each entry of one checkpoint."""
    table = _table()
    for column in ("Done", "Not lost", "95 %", "W", "D", "L", "Forf.", "Void"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in entries:
        table.add_row(
            *_whom(each),
            f"{each.played}/{each.planned}",
            *_rate(each),
            *map(str, (each.wins, each.draws, each.losses, each.forfeits)),
            str(each.void + each.context_exceeded),
        )
    return table


def progress(found: Sequence[Figures]) -> tuple[int, int]:
    """How many games are done, and how many are planned."""
    return sum(each.played for each in found), sum(each.planned for each in found)


def any_void(found: Sequence[Figures]) -> bool:
    """Whether games are void, so that it is worth looking why."""
    return any(each.void or each.context_exceeded for each in found)


def void_lines(reasons: Reasons) -> list[str]:
    """Why games are void, a line each; unescaped."""
    return [
        f"{times:,} void {'game' if times == 1 else 'games'}: {reason}" for reason, times in reasons
    ]


def as_json(
    evaluation: Evaluation, found: Sequence[Figures], bills: Sequence[Bill], reasons: Reasons
) -> dict[str, Any]:
    """The same as `report`, for programs."""
    played, planned = progress(found)
    return {
        "name": evaluation.name,
        "state": evaluation.state,
        "message": evaluation.message,
        "provisional": played < planned,
        "seconds": round(evaluation.seconds, 3),
        "findings": [answer(entries).sentences for entries in by_checkpoint(found)],
        "entries": [_entry(each) for each in found],
        "costs": [_bill(each) for each in bills],
        "void_reasons": [{"reason": reason, "games": times} for reason, times in reasons],
    }


def _title(entries: Sequence[Figures], what: str) -> str:
    """What a table shows, and whether it is provisional: it is until all games are played."""
    name = plain(entries[0].entry.player.identity.name)
    played, planned = progress(entries)
    left = f", provisional: {planned - played:,} games to come" if played < planned else ""
    return f"{name}, {what}{left}"


def _table() -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for column in ("Opponent", "Seat"):
        table.add_column(column, no_wrap=True)
    return table


def _whom(each: Figures) -> tuple[str, str]:
    name = plain(each.entry.opponent.identity.name)
    return name, "opening" if each.entry.opening else "replying"


def _rate(each: Figures) -> tuple[str, str]:
    """The share not lost, or its bounds, and the interval; a dash where nothing was measured."""
    found = rate(measured(each))
    if found is None:
        return DASH, DASH
    share = f"{100 * found.share:.1f}"
    if found.bounds:
        share = _range(*found.bounds)
    return share, "exact" if found.interval is None else _range(*found.interval)


def _range(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _rewards(entries: Sequence[Figures]) -> Table:
    table = _table()
    for column in ("Distinct", "Reward", "Outcome", "Format", "Invalid"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in entries:
        parts = [DASH] * 3 if each.parts is None else [f"{part:.3f}" for part in each.parts]
        deviation = f" ± {each.reward.deviation:.3f}" if each.reward.deviation is not None else ""
        table.add_row(
            *_whom(each),
            f"{each.distinct}/{each.games}" if each.games else DASH,
            DASH if each.reward.mean is None else f"{each.reward.mean:.3f}{deviation}",
            *parts,
        )
    return table


def _spreads(entries: Sequence[Figures]) -> Table:
    """How much of the spread is the sampling's, and how much the seeds'."""
    table = _table()
    for column in ("Not lost, within", "between", "Reward, within", "between"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in entries:
        spreads = (s for sums in (each.not_lost, each.reward) for s in (sums.within, sums.between))
        table.add_row(*_whom(each), *(DASH if s is None else f"{s:.3f}" for s in spreads))
    return table


def _costs(bills: Sequence[Bill]) -> Iterator[tuple[str, str]]:
    """Each checkpoint's name, and what its games cost in words."""
    for bill in bills:
        spent = bill.costs
        if not spent.requests:
            yield bill.checkpoint, f"{counted(spent.games, 'game')}, no request"
            continue
        least = "at least " if bill.is_lower_bound else ""
        said = f"{counted(spent.games, 'game')}, {counted(spent.requests, 'request')}"
        if spent.has_tokens:
            tokens = (spent.prompt_tokens, spent.completion_tokens)
            told, replied = (f"{count:,} ({count / spent.games:,.0f} a game)" for count in tokens)
            said += f"; {least}{told} tokens in, {replied} out"
        else:
            said += f"; tokens {DASH}"
        money, prices = bill.money, bill.prices
        if money is None or prices is None:
            said += f"; money {DASH}"
        else:
            a_game = f"{money / spent.games:.3g}"
            said += f"; {least}{money:,.4f} {prices.currency} ({a_game} a game)"
        if bill.is_lower_bound:
            said += f"; {spent.uncounted:,} of {spent.attempts:,} replies came without their tokens"
        yield bill.checkpoint, said


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _entry(each: Figures) -> dict[str, Any]:
    found = rate(measured(each))
    return {
        "checkpoint": each.entry.player.identity.name,
        "opponent": each.entry.opponent.identity.name,
        "opening": each.entry.opening,
        "planned": each.planned,
        "played": each.played,
        "wins": each.wins,
        "draws": each.draws,
        "losses": each.losses,
        "forfeits": each.forfeits,
        "void": each.void,
        "context_exceeded": each.context_exceeded,
        "distinct": each.distinct,
        "exact": each.is_exact,
        "not_lost": each.not_lost.mean,
        "interval": list(found.interval) if found and found.interval else None,
        "bounds": list(found.bounds) if found and found.bounds else None,
        "spread_within_seeds": each.not_lost.within,
        "spread_between_seeds": each.not_lost.between,
        "reward": each.reward.mean,
        "reward_deviation": each.reward.deviation,
        "reward_parts": each.parts and each.parts._asdict(),
        "requests": each.costs.requests,
        "prompt_tokens": each.costs.prompt_tokens if each.costs.has_tokens else None,
        "completion_tokens": each.costs.completion_tokens if each.costs.has_tokens else None,
    }


def _bill(bill: Bill) -> dict[str, Any]:
    spent, money = bill.costs, bill.money
    counted = spent.has_tokens
    return {
        "checkpoint": bill.checkpoint,
        "games": spent.games,
        "requests": spent.requests,
        "attempts": spent.attempts,
        "attempts_without_tokens": spent.uncounted,
        "is_lower_bound": bill.is_lower_bound,
        "prompt_tokens": spent.prompt_tokens if counted else None,
        "completion_tokens": spent.completion_tokens if counted else None,
        "request_seconds": round(spent.seconds, 3),
        "money": money,
        "money_per_game": None if money is None else money / spent.games,
        "currency": bill.prices.currency if bill.prices else None,
    }
