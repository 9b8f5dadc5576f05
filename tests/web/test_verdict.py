"""What an evaluation has found, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.board import Mark
from arena.opponents import parse
from arena.players import EnginePlayer, Identity, Kind
from arena.statistics import sums_of
from storage.cells import Entry
from storage.costs import Costs
from storage.figures import Figures
from storage.players import StoredPlayer
from storage.seats import is_perfect
from web.verdict import answer, headline, percent


def found(
    opponent: str,
    record: tuple[int, int, int],
    *,
    opening: bool = False,
    planned: int | None = None,
    forfeits: int = 0,
    unknown: int = 0,
    name: str = "rl",
) -> Figures:
    """An entry's figures, of so many wins, draws and losses, each game with a seed of its own."""
    wins, draws, losses = record
    games = sum(record)
    player = StoredPlayer(1, Identity(Kind.MODEL, name, settings={}))
    engine = StoredPlayer(2, EnginePlayer(parse(opponent)).identity)
    mark = Mark.X if opening else Mark.O
    sums = sums_of([(1, 1)] * (wins + draws) + [(1, 0)] * losses)
    return Figures(
        entry=Entry(player, engine, opening, mark, Mark.X),
        planned=games + unknown if planned is None else planned,
        wins=wins,
        draws=draws,
        losses=losses,
        forfeits=forfeits,
        repeats=0,
        void=0,
        context_exceeded=unknown,
        distinct=games,
        attempts=0,
        invalid_attempts=0,
        contains=0,
        exact=0,
        default_temperature=0,
        not_lost=sums,
        reward=sums,
        parts=None,
        costs=Costs(),
    )


LAST, EDGE, HALF = "minimax:tie=last", "minimax:tie=edge", "minimax:epsilon=0.5"


def test_the_weakest_of_the_perfect_opponents_is_the_answer() -> None:
    told = answer(
        [
            found(LAST, (0, 100, 0), opening=True),
            found(EDGE, (0, 90, 10), opening=True),
            found(LAST, (0, 64, 36)),
            found(EDGE, (0, 99, 1)),
            # An imperfect opponent is no measure of it, however often it wins.
            found(HALF, (0, 10, 90)),
        ]
    )
    first, interval, other = told.sentences
    assert first == "rl is weakest against minimax:tie=last, replying: 64.0 % not lost"
    assert interval.startswith("The 95 % interval of the lowest of 2 rates replying is 52.")
    assert other == "The lowest opening is 90.0 %, against minimax:tie=edge"
    assert told.lowest is not None
    assert (told.lowest[0], told.lowest[1].share) == (False, 0.64)


def test_who_has_not_lost_may_still_lose() -> None:
    told = answer([found(LAST, (0, 50, 0), opening=True), found(EDGE, (0, 50, 0), opening=True)])
    first, sure = told.sentences
    assert told.unbeaten
    assert first == "rl has not lost to any of 2 perfect opponents"
    assert sure == "With 95 % confidence every rate is at least 90.9 % opening"


def test_under_way_it_is_so_far() -> None:
    told = answer([found(LAST, (0, 3, 0), planned=50), found(LAST, (0, 0, 0), opening=True)])
    assert told.sentences[0] == "rl has not lost to minimax:tie=last so far"
    told = answer([found(LAST, (0, 0, 3), planned=50)])
    assert told.sentences[0].endswith("replying: every game lost so far")


def test_nothing_counts_yet() -> None:
    told = answer([found(LAST, (0, 0, 0), planned=5)])
    assert told.sentences == ("rl has no game yet that counts",)
    assert (told.lowest, told.unbeaten) == (None, False)
    assert headline([told]) == "rl has no game yet that counts"
    assert headline([told, told]) == "No game counts yet"


def test_an_opponent_without_games_is_missing() -> None:
    told = answer([found(LAST, (0, 9, 1)), found(EDGE, (0, 0, 0), planned=10)])
    assert "One of these rates has no game yet that counts" in told.sentences


def test_what_outgrew_the_context_counts_as_lost_and_is_said() -> None:
    told = answer([found(LAST, (0, 8, 0), unknown=2)])
    assert told.sentences[0] == "rl is weakest against minimax:tie=last, replying: 80.0 % not lost"
    assert (
        "2 games that outgrew the context count as lost here, since nobody knows" in told.sentences
    )


def test_random_and_forfeits_are_told_beside_it() -> None:
    told = answer(
        [
            found("random", (48, 2, 0), opening=True),
            found("random", (41, 5, 4), forfeits=1),
            found(LAST, (0, 50, 0)),
        ]
    )
    assert told.sentences[2:] == (
        "Against random it won 48 of 50 opening and 41 of 50 replying, and lost 4",
        "1 of its 4 losses is a forfeit, by invalid replies",
    )


def test_without_a_perfect_opponent_all_are_compared() -> None:
    told = answer([found(HALF, (5, 0, 5)), found("random", (9, 0, 1))])
    assert not told.perfect
    assert (
        told.sentences[0] == "rl is weakest against minimax:epsilon=0.5, replying: 50.0 % not lost"
    )


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ((0, 0), "None of 2 checkpoints has lost to any perfect opponent"),
        ((0, 3), "1 of 2 checkpoints has not lost to any perfect opponent"),
        ((1, 3), "Each of 2 checkpoints has lost to some perfect opponent"),
    ],
)
def test_several_checkpoints(losses: tuple[int, int], said: str) -> None:
    told = [answer([found(LAST, (0, 9, each))]) for each in losses]
    assert headline(told) == said


def test_ties_for_the_lowest_rate() -> None:
    entries = [found(LAST, (0, 5, 5)), found(EDGE, (0, 5, 5)), found("minimax", (0, 9, 1))]
    assert "against minimax:tie=last and 1 other, replying" in answer(entries).sentences[0]
    assert "against each of 2 opponents, replying" in answer(entries[:2]).sentences[0]


def test_exact_entries_have_no_interval() -> None:
    sure = found(LAST, (0, 1, 0))
    engine = StoredPlayer(1, EnginePlayer(parse("minimax:tie=first")).identity)
    told = answer([replace(sure, entry=sure.entry._replace(player=engine))])
    assert told.sentences == ("minimax:tie=first has not lost to minimax:tie=last",)


def test_perfect() -> None:
    assert is_perfect("minimax:value=plain")
    assert not is_perfect("minimax:epsilon=0.1")
    assert not is_perfect("random")


def test_percent() -> None:
    assert [percent(rate) for rate in (0, 0.5, 0.995, 1)] == ["0 %", "50.0 %", "99.5 %", "100 %"]
