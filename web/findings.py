"""What a leaderboard shows, in words that hold for any data. Pure.

A claim is made only where its interval carries it: that a player has memorised an opponent, where
the memorisation gap is surely large; that one is ahead, where its interval lies above the next
one's.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.memorisation import Gap
from arena.players import Kind
from arena.rates import Worst
from storage.checkpoints import Checkpoint
from storage.mistakes import Mistakes
from storage.ranking import Step
from web.numbers import FindingOut
from web.verdict import percent

SURELY_LARGE = 0.2
"""A gap whose interval lies above this is called memorising. Of many rows some gap lies above 0 by
chance; this far above, none does."""


def finding(rows: Sequence[Checkpoint], panel: str) -> FindingOut:
    """What the rows show.

    Args:
        rows: without references.
        panel: what it is called.
    """
    memorised = sorted((row for row in rows if _memorises(row)), key=lambda row: -_gap_of(row).gap)
    # Engines say little that is not known of them: models are what is looked for.
    models = [row for row in rows if row.identity.kind is Kind.MODEL] or rows
    ranked = sorted(
        ((row, row.worst) for row in models if row.worst and not row.worst.missing),
        key=lambda pair: (-pair[1].share, pair[0].identity.name),
    )
    if memorised:
        return FindingOut(
            title=_memorising(memorised[0]),
            text=" ".join(
                [_what_that_means(memorised), *([_ahead(ranked)] if len(ranked) > 1 else [])]
            ),
        )
    unbeaten = [(row, worst) for row, worst in ranked if worst.share == 1]
    if len(unbeaten) > 1:
        return FindingOut(
            title=f"{len(unbeaten)} of {len(ranked)} have lost no game to {_kind(unbeaten[0][0])}",
            text=_unbeaten(unbeaten),
        )
    if ranked:
        row, worst = ranked[0]
        return FindingOut(title=_weakest(row, worst), text=_order_of(ranked))
    if not rows:
        return FindingOut(
            title=f"No checkpoint has played the panel {panel} yet",
            text="A checkpoint appears here with its first rated game against an opponent of the "
            "panel.",
        )
    if any(row.worst for row in models):
        return FindingOut(
            title="No checkpoint has met every opponent yet",
            text="The lowest of several rates is known only when all of them are measured.",
        )
    return FindingOut(
        title="No game counts yet",
        text="Void games count for nobody: a rate begins with the first game that was played to "
        "its end.",
    )


def _gap_of(row: Checkpoint) -> Gap:
    assert isinstance(row.gap, Gap)
    return row.gap


def _memorises(row: Checkpoint) -> bool:
    gap = row.gap
    if not isinstance(gap, Gap):
        return False
    return (gap.interval.low if gap.interval else gap.gap) > SURELY_LARGE


def _memorising(row: Checkpoint) -> str:
    gap = _gap_of(row)
    return (
        f"{_name(row)} draws {percent(gap.own.share)} against an opponent that it knows, "
        f"{percent(gap.relatives.share)} against its mirror images"
    )


def _what_that_means(rows: Sequence[Checkpoint]) -> str:
    first = "It has memorised: the eight are one player seen in mirrors, and equally strong."
    if len(rows) == 1:
        return first
    others = ", ".join(_name(row) for row in rows[1:])
    return f"{first} So {'has' if len(rows) == 2 else 'have'} {others}."


def _ahead(ranked: Sequence[tuple[Checkpoint, Worst]]) -> str:
    row, worst = ranked[0]
    kind = "models" if row.identity.kind is Kind.MODEL else "engines"
    return (
        f"{_weakest(row, worst)}: the highest of the lowest rates of {len(ranked)} {kind} "
        "that met every opponent."
    )


def _weakest(row: Checkpoint, worst: Worst) -> str:
    """A row's lowest rate as a sentence without its full stop."""
    if worst.share == 1:
        against = worst.opponents[0] if worst.of == 1 else f"in all {worst.of} pairings"
        return f"{_name(row)} has lost no game to {_kind(row)}, {against}"
    first, *others = worst.opponents
    whom = f"{first} and {len(others)} more" if others else first
    return f"{_name(row)} keeps {percent(worst.share)} at its weakest, {whom}"


def _kind(row: Checkpoint) -> str:
    """Whom the lowest rate is about."""
    perfect = any(each.perfect for each in row.versus)
    return "a perfect opponent" if perfect else "any opponent"


def _unbeaten(found: Sequence[tuple[Checkpoint, Worst]]) -> str:
    """Who they are, and what that proves."""
    names = ", ".join(_name(row) for row, _ in found)
    least = min(_low(worst) for _, worst in found)
    told = f"They are {names}."
    if least < 1:
        told += (
            f" So much is sure with 95 % confidence: no rate of theirs is below {percent(least)}."
        )
    return told


def _order_of(ranked: Sequence[tuple[Checkpoint, Worst]]) -> str:
    """How sure the first place is."""
    _, worst = ranked[0]
    told = ["Each checkpoint is as good as the lowest of its rates."]
    if worst.interval:
        low, high = (100 * end for end in worst.interval)
        told.append(f"The 95 % interval of this one is {low:.1f} to {high:.1f} %.")
    if len(ranked) > 1:
        other, next_worst = ranked[1]
        if _low(worst) > _high(next_worst):
            told.append(f"It is ahead of {_name(other)}, beyond chance.")
        else:
            told.append(
                f"{_name(other)} follows with {percent(next_worst.share)}; "
                "their intervals overlap, so that the order may be chance."
            )
    return " ".join(told)


def _low(worst: Worst) -> float:
    return worst.interval.low if worst.interval else worst.share


def _high(worst: Worst) -> float:
    return worst.interval.high if worst.interval else worst.share


def _name(row: Checkpoint) -> str:
    return row.identity.name


def finding_of_family(name: str, steps: Sequence[Step]) -> FindingOut:
    """What training did, from the first step measured to the last."""
    rows = [each.checkpoint for each in steps]
    ordered = [each for each in steps if each.step is not None and each.checkpoint.worst_replying]
    told = [_memorising(row) + "." for row in rows if _memorises(row)]
    many = f"{len(rows)} checkpoint{'s' if len(rows) > 1 else ''} of the family {name}."
    if not ordered:
        return FindingOut(title=f"{name}: no step is measured yet", text=" ".join([many, *told]))
    first, last = ordered[0], ordered[-1]
    assert first.checkpoint.worst_replying
    assert last.checkpoint.worst_replying
    before, after = first.checkpoint.worst_replying.share, last.checkpoint.worst_replying.share
    if first is last:
        title = f"{_name(last.checkpoint)} keeps {percent(after)} at its weakest, replying"
    elif before == after:
        title = (
            f"From {_name(first.checkpoint)} to {_name(last.checkpoint)} the lowest rate stays "
            f"at {percent(after)}, replying"
        )
    else:
        title = (
            f"From {_name(first.checkpoint)} to {_name(last.checkpoint)} the lowest rate goes "
            f"from {percent(before)} to {percent(after)}, replying"
        )
    best = max(ordered, key=lambda each: _lowest_replying(each).share)
    if best is not last and _lowest_replying(best).share > after:
        told.append(
            f"The highest is {_name(best.checkpoint)} at step {best.step}, "
            f"with {percent(_lowest_replying(best).share)}."
        )
    return FindingOut(title=title, text=" ".join([many, *told]))


def finding_of_checkpoint(
    row: Checkpoint, made: Sequence[Mistakes], traps: Sequence[tuple[int, int]]
) -> FindingOut:
    """Where one checkpoint goes wrong.

    Args:
        row: its rates.
        made: its moves, in parts that add up.
        traps: of each class of fork traps, how often it was met and how often failed.
    """
    moves = sum(each.moves for each in made)
    lost = sum(each.loses_value for each in made)
    told = [f"{_memorising(row)}."] if _memorises(row) else []
    if moves:
        told.append(f"Of {moves:,} moves, {percent(lost / moves)} lose value.")
    met = [(times, failed) for times, failed in traps if times]
    if met:
        fell = sum(failed > 0 for _, failed in met)
        told.append(
            f"Of {len(traps)} fork traps it met {len(met)} and fell into "
            f"{fell if fell else 'none'}{' of them' if fell else ''}."
        )
    if row.worst is None:
        title = f"{_name(row)} has no game yet that counts"
    else:
        title = _weakest(row, row.worst)
        if row.worst.missing:
            told.append(
                f"{len(row.worst.missing)} of {row.worst.of} rates have no game yet that counts."
            )
    return FindingOut(title=title, text=" ".join(told))


def _lowest_replying(step: Step) -> Worst:
    assert step.checkpoint.worst_replying
    return step.checkpoint.worst_replying
