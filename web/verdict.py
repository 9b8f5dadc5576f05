"""What an evaluation has found, in words. Pure.

A checkpoint is as good as its rate against the worst of its perfect opponents, opening and replying
apart; `arena.rates.worst` says how far that rate is to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.rates import Measured, Worst, worst
from storage.figures import Figures
from storage.players import StoredPlayer
from storage.seats import is_perfect

RANDOM = "random"


@dataclass(frozen=True)
class Answer:
    """What is found of one checkpoint."""

    player: StoredPlayer
    seats: dict[bool, Worst]
    """The lowest rate, by whether it opens; without a seat in which no game counts yet."""
    perfect: bool
    """Whether these are the rates against perfect opponents; else they are all there are."""
    sentences: tuple[str, ...]
    """The first is the answer, the others what belongs to it; without their full stops."""

    @property
    def lowest(self) -> tuple[bool, Worst] | None:
        """The lower of both seats' rates, and whether it is of opening; None without any."""
        return min(self.seats.items(), key=_order) if self.seats else None

    @property
    def unbeaten(self) -> bool:
        """Whether nothing was lost, of what is measured."""
        return bool(self.seats) and all(each.share == 1 for each in self.seats.values())


def measured(each: Figures) -> Measured:
    """An entry's games, for `arena.rates`."""
    return Measured(each.not_lost, each.is_exact, each.context_exceeded)


def answer(found: Sequence[Figures]) -> Answer:
    """What one checkpoint's entries come to."""
    player = found[0].entry.player
    perfect = [each for each in found if is_perfect(_opponent(each))]
    compared = perfect or found
    lows = {
        opening: worst({_opponent(e): measured(e) for e in compared if e.entry.opening is opening})
        for opening in (True, False)
    }
    seats = {opening: each for opening, each in lows.items() if each is not None}
    bare = Answer(player, seats, bool(perfect), ())
    told = [*_first(bare, found), *_missing(seats.values()), *_context(compared)]
    told += [*_against_random(found), *_forfeits(found)]
    return Answer(player, seats, bool(perfect), tuple(told))


def headline(answers: Sequence[Answer]) -> str:
    """What all checkpoints come to."""
    if len(answers) == 1:
        return answers[0].sentences[0]
    seen = [each for each in answers if each.seats]
    if not seen:
        return "No game counts yet"
    kind = "perfect opponent" if all(each.perfect for each in seen) else "opponent"
    unbeaten = sum(each.unbeaten for each in seen)
    if not unbeaten:
        return f"Each of {len(seen)} checkpoints has lost to some {kind}"
    if unbeaten == len(answers):
        return f"None of {len(answers)} checkpoints has lost to any {kind}"
    verb = "has" if unbeaten == 1 else "have"
    return f"{unbeaten} of {len(answers)} checkpoints {verb} not lost to any {kind}"


def percent(rate: float) -> str:
    """A share in per cent."""
    return f"{100 * rate:.{0 if rate in (0, 1) else 1}f} %"


def _order(seat: tuple[bool, Worst]) -> tuple[float, float]:
    share, interval = seat[1].share, seat[1].interval
    return share, interval.low if interval else share


def _opponent(each: Figures) -> str:
    return each.entry.opponent.identity.name


def _seat(opening: bool) -> str:
    return "opening" if opening else "replying"


def _first(seen: Answer, found: Sequence[Figures]) -> list[str]:
    """The answer, and how sure it is."""
    name = seen.player.identity.name
    so_far = " so far" if any(each.played < each.planned for each in found) else ""
    if seen.lowest is None:
        return [f"{name} has no game yet that counts"]
    opening, lowest = seen.lowest
    kind = "perfect opponent" if seen.perfect else "opponent"
    if seen.unbeaten:
        whom = f"any of {lowest.of} {kind}s" if lowest.of > 1 else lowest.opponents[0]
        first = f"{name} has not lost to {whom}{so_far}"
        sure = [
            f"at least {percent(each.interval.low)} {_seat(at)}"
            for at, each in seen.seats.items()
            if each.interval
        ]
        which = "every rate is" if lowest.of > 1 else "the share not lost is"
        return [first, *([f"With 95 % confidence {which} {' and '.join(sure)}"] if sure else [])]
    first = f"{name} is weakest against {_whom(lowest)}, {_seat(opening)}: "
    rate = f"{percent(lowest.share)} not lost" if lowest.share else "every game lost"
    told = [f"{first}{rate}{so_far}"]
    if lowest.interval:
        low, high = (f"{100 * bound:.1f}" for bound in lowest.interval)
        lowest_of = f"the lowest of {lowest.of} rates" if lowest.of > 1 else "that rate"
        told.append(f"The 95 % interval of {lowest_of} {_seat(opening)} is {low} to {high} %")
    other = seen.seats.get(not opening)
    if other and other.share < 1:
        against = f", against {_whom(other)}" if other.of > 1 else ""
        told.append(f"The lowest {_seat(not opening)} is {percent(other.share)}{against}")
    elif other:
        article = "an" if kind.startswith("o") else "a"
        told.append(f"It has lost no game {_seat(not opening)} to {article} {kind}{so_far}")
    return told


def _whom(low: Worst) -> str:
    first, *others = low.opponents
    if not others:
        return first
    if len(others) == low.of - 1:
        return f"each of {low.of} opponents"
    return f"{first} and {len(others)} other{'s' if len(others) > 1 else ''}"


def _missing(seats: Iterable[Worst]) -> list[str]:
    missing = sum(len(each.missing) for each in seats)
    if not missing:
        return []
    them = "One of these rates has" if missing == 1 else f"{missing} of these rates have"
    return [f"{them} no game yet that counts"]


def _context(compared: Sequence[Figures]) -> list[str]:
    unknown = sum(each.context_exceeded for each in compared)
    if not unknown:
        return []
    games = "One game that outgrew the context counts"
    if unknown > 1:
        games = f"{unknown:,} games that outgrew the context count"
    return [f"{games} as lost here, since nobody knows"]


def _against_random(found: Sequence[Figures]) -> list[str]:
    seen = [each for each in found if _opponent(each) == RANDOM]
    if not seen or not all(each.games for each in seen):
        return []
    won = " and ".join(f"{e.wins:,} of {e.games:,} {_seat(e.entry.opening)}" for e in seen)
    lost = sum(each.losses for each in seen)
    return [f"Against random it won {won}, and lost {f'{lost:,}' if lost else 'none'}"]


def _forfeits(found: Sequence[Figures]) -> list[str]:
    forfeits = sum(each.forfeits for each in found)
    losses = sum(each.losses for each in found)
    if not forfeits:
        return []
    are = "is a forfeit" if forfeits == 1 else "are forfeits"
    return [f"{forfeits:,} of its {losses:,} losses {are}, by invalid replies"]
