"""What is said of a leaderboard, a family and a checkpoint: true of its numbers, and no more."""

from __future__ import annotations

from collections.abc import Iterable

from arena.memorisation import Gap, NoGap
from arena.players import Identity, Kind
from arena.rates import Measured, Rate
from arena.statistics import Interval, sums_of
from storage.checkpoints import Checkpoint
from storage.mistakes import Mistakes, TrapCounts
from storage.ranking import Step
from storage.seats import Seat, Versus
from storage.standings import Tally
from web.findings import finding, finding_of_checkpoint, finding_of_family

OPPONENTS = ("minimax", "minimax:tie=first")
NO_GAP = NoGap("no game on an even seed counts against minimax:tie=first")


def seat(games: int, kept: int) -> Seat:
    """Games on as many seeds, some of them drawn and the others lost."""
    sums = sums_of([(1, 1)] * kept + [(1, 0)] * (games - kept))
    return Seat(Tally(draws=kept, losses=games - kept, distinct=games), Measured(sums))


def row(
    name: str,
    replying: Iterable[tuple[int, int]],
    opening: Iterable[tuple[int, int]] = ((100, 100), (100, 100)),
    gap: Gap | NoGap = NO_GAP,
    step: int | None = None,
) -> Checkpoint:
    versus = tuple(
        Versus(spec, n, seat(*o), seat(*r))
        for n, (spec, o, r) in enumerate(zip(OPPONENTS, opening, replying, strict=True))
    )
    return Checkpoint(Identity(Kind.MODEL, name, "tiny", step), 1, versus, gap, None)


def gap(own: float, relatives: float, low: float, high: float) -> Gap:
    against, others = (Rate(share, Interval(share, share)) for share in (own, relatives))
    return Gap(OPPONENTS[1], against, others, own - relatives, Interval(low, high))


def step(checkpoint: Checkpoint) -> Step:
    return Step(checkpoint, Mistakes(), TrapCounts())


STRONG = row("rl3", [(100, 97), (100, 96)])
WEAK = row("base", [(100, 10), (100, 3)])
BOOK = row("book", [(100, 4), (100, 100)], gap=gap(1.0, 0.04, 0.9, 0.98))


def test_a_memoriser_is_named_first() -> None:
    found = finding([STRONG, BOOK, WEAK], "standard")
    assert found.title == (
        "book draws 100 % against an opponent that it knows, 4.0 % against its mirror images"
    )
    assert "memorised" in found.text
    assert "rl3 keeps 96.0 % at its weakest, minimax:tie=first replying" in found.text


def test_a_gap_that_chance_may_explain_is_no_memorising() -> None:
    small = row("rl1", [(100, 85), (100, 90)], gap=gap(0.95, 0.85, -0.02, 0.22))
    sure_but_small = row("rl2", [(100, 85), (100, 90)], gap=gap(0.95, 0.85, 0.02, 0.18))
    for each in (small, sure_but_small):
        found = finding([each], "standard")
        assert "memorised" not in found.title + found.text
        assert found.title.startswith(f"{each.identity.name} keeps 85.0 % at its weakest")


def test_who_is_ahead_beyond_chance_and_who_may_not_be() -> None:
    assert "ahead of base, beyond chance" in finding([WEAK, STRONG], "standard").text
    close = row("rl2", [(100, 95), (100, 96)])
    found = finding([close, STRONG], "standard")
    assert found.title.startswith("rl3 keeps 96.0 %")
    assert "rl2 follows with 95.0 %" in found.text
    assert "may be chance" in found.text


def test_a_player_that_never_lost() -> None:
    perfect = row("rl4", [(100, 100), (100, 100)])
    found = finding([perfect], "standard")
    assert found.title == "rl4 has lost no game to a perfect opponent, in all 4 pairings"
    assert "95 % interval" in found.text


def test_several_that_never_lost() -> None:
    perfect = row("rl4", [(100, 100), (100, 100)])
    found = finding([perfect, STRONG, row("rl5", [(50, 50), (100, 100)])], "standard")
    assert found.title == "2 of 3 have lost no game to a perfect opponent"
    assert found.text.startswith("They are rl4, rl5. ")
    assert "below 8" in found.text


def test_nobody_and_nothing() -> None:
    assert finding([], "standard").title == "No checkpoint has played the panel standard yet"
    void = row("rl1", [(0, 0), (0, 0)], [(0, 0), (0, 0)])
    assert finding([void], "standard").title == "No game counts yet"
    half = row("rl1", [(100, 50), (0, 0)])
    assert finding([half], "standard").title == "No checkpoint has met every opponent yet"
    assert finding([half, STRONG], "standard").title.startswith("rl3 keeps 96.0 %")


def test_what_training_did() -> None:
    first, last = (
        row("base", [(100, 3), (100, 9)], step=0),
        row("rl", [(100, 81), (100, 90)], step=9),
    )
    best = row("mid", [(100, 85), (100, 90)], step=5)
    found = finding_of_family("tiny", [step(each) for each in (first, best, last)])
    assert found.title == ("From base to rl the lowest rate goes from 3.0 % to 81.0 %, replying")
    assert "The highest is mid at step 5, with 85.0 %." in found.text
    alone = finding_of_family("tiny", [step(last)])
    assert alone.title == "rl keeps 81.0 % at its weakest, replying"
    assert alone.text.startswith("1 checkpoint of")
    same = finding_of_family("tiny", [step(first), step(row("b", [(100, 3), (100, 9)], step=4))])
    assert "stays at 3.0 %" in same.title


def test_a_family_without_steps_or_games() -> None:
    void = row("rl1", [(0, 0), (0, 0)], [(0, 0), (0, 0)], step=1)
    for each in (void, STRONG):
        assert "no step is measured" in finding_of_family("tiny", [step(each)]).title


def test_where_a_checkpoint_goes_wrong() -> None:
    made = [Mistakes(moves=100, win_to_draw=1, draw_to_loss=1), Mistakes(moves=100)]
    found = finding_of_checkpoint(STRONG, made, [(3, 0), (4, 2), (0, 0)])
    assert found.title == "rl3 keeps 96.0 % at its weakest, minimax:tie=first replying"
    assert found.text == (
        "Of 200 moves, 1.0 % lose value. Of 3 fork traps it met 2 and fell into 1 of them."
    )


def test_a_checkpoint_that_never_played_has_no_share() -> None:
    void = row("rl1", [(0, 0), (0, 0)], [(0, 0), (0, 0)])
    found = finding_of_checkpoint(void, [], [(0, 0)])
    assert (found.title, found.text) == ("rl1 has no game yet that counts", "")
