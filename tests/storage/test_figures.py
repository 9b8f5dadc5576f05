"""The figures of an evaluation against the same, counted one by one from its games."""

import dataclasses
import statistics
from collections import defaultdict

import pytest

from arena.board import Mark, Outcome
from arena.game import Game, Request, Termination, Turn, Verdict
from arena.opponents import parse
from arena.plan import Plan
from arena.players import EnginePlayer
from arena.reward import Check, Weights, reward
from arena.statistics import Sums
from storage import GameFilter, Source
from storage.cells import done_cells, entries_of
from storage.conduct import conduct
from storage.costs import Costs
from storage.evaluations import Evaluations
from storage.figures import figures
from storage.setups import Setup
from tests.storage.chatter import Chatter
from tests.storage.samples import (
    DRAW,
    FIRST,
    GREEDY,
    LAST,
    MODEL,
    OPENER_WINS,
    REPLIER_WINS,
    attempt,
    game_of,
)

OPPONENTS = ("random", "minimax:epsilon=0.5")
CHECKS = [(Check.CONTAINS, Weights()), (Check.EXACT, Weights(1, 0.25, -1, 0.5, 0.3))]


@pytest.fixture
def evaluations(db, clock):
    return Evaluations(db, clock)


def recount(games, evaluation):
    """For each entry its cells' games, those that count, and how many cells do not."""
    stored = [games.load(found.id) for found in games.find(limit=10_000)][::-1]
    for entry in entries_of(evaluation):
        x, o = (entry.player, entry.opponent)[:: 1 if entry.mark is Mark.X else -1]
        cells = defaultdict(list)
        for each in stored:
            game = each.game
            if (
                (each.x, each.o, game.opener) == (x, o, entry.opener)
                and each.source is not Source.PLAY
                and game.seed in evaluation.plan.seeds
                and game.rollout < evaluation.plan.rollouts
            ):
                cells[game.seed, game.rollout].append(game)
        counted: list[Game] = []
        repeats = void = outgrown = 0
        for played in cells.values():
            over = [game for game in played if game.outcome is not Outcome.VOID]
            assert len(over) <= 1
            outgrew = [
                game
                for game in played
                if game.termination is Termination.CONTEXT_EXCEEDED and game.attempts_of(entry.mark)
            ]
            known = over and entry.deterministic and over[0].moves in [g.moves for g in counted]
            if known:
                repeats += 1
            elif over:
                counted += over
            elif outgrew:
                outgrown += 1
            else:
                void += 1
        yield entry, cells, counted, (repeats, void, outgrown)


def sums_of(values_by_seed):
    groups = [group for group in values_by_seed.values() if group]
    values = [value for group in groups for value in group]
    return pytest.approx(
        Sums(
            clusters=len(groups),
            n=len(values),
            total=sum(values),
            squares=sum(value**2 for value in values),
            sizes_squared=sum(len(group) ** 2 for group in groups),
            totals_squared=sum(sum(group) ** 2 for group in groups),
            products=sum(len(group) * sum(group) for group in groups),
            means=sum(sum(group) ** 2 / len(group) for group in groups),
        )
    )


def compare(games, evaluation, check, weights):
    """How many games the figures, which are right, speak of."""
    found = figures(games._db, evaluation, check=check, weights=weights)
    again = list(recount(games, evaluation))
    assert len(found) == len(again) == len(entries_of(evaluation))
    for got, (entry, cells, counted, spoilt) in zip(found, again, strict=True):
        assert got.entry == entry
        assert got.planned == evaluation.plan.games * evaluation.plan.rollouts
        mark = entry.mark
        won = [game for game in counted if game.outcome == Outcome.win(mark)]
        lost = [game for game in counted if game.outcome == Outcome.win(mark.other)]
        assert (got.wins, got.losses, got.games) == (len(won), len(lost), len(counted))
        assert got.forfeits == sum(game.termination.is_forfeit for game in lost)
        assert (got.repeats, got.void, got.context_exceeded) == spoilt
        assert got.played == len(cells) - got.void
        assert got.distinct == len({game.moves for game in counted})
        said = [a for game in counted for a in game.attempts_of(mark)]
        assert got.attempts == len(said)
        assert got.invalid_attempts == sum(a.verdict is not Verdict.OK for a in said)
        assert got.contains == sum(a.contains for a in said)
        assert got.exact == sum(a.exact for a in said)
        kept, rewards = defaultdict(list), defaultdict(list)
        parts = [reward(game, mark, check=check, weights=weights) for game in counted]
        for game, part in zip(counted, parts, strict=True):
            kept[game.seed].append(game.outcome != Outcome.win(mark.other))
            rewards[game.seed].append(part.total)
        assert got.not_lost == sums_of(kept)
        assert got.reward == sums_of(rewards)
        if got.parts:
            assert got.parts == pytest.approx(tuple(map(statistics.mean, zip(*parts, strict=True))))
            assert got.reward.mean == pytest.approx(got.parts.total)
        else:
            assert not counted
        every = [game for played in cells.values() for game in played]
        replies = [a for game in every for a in game.attempts_of(mark)]
        failed = [request for game in every for request in game.failed]
        seconds = sum(a.seconds for a in replies) + sum(request.seconds for request in failed)
        # Milliseconds are what is stored, and 0.0625 s is a half more than 62 of them.
        assert got.costs.seconds == pytest.approx(seconds, abs=0.0006 * (len(replies) + 1))
        assert dataclasses.replace(got.costs, seconds=0) == Costs(
            games=len(every),
            requests=sum(len(a.requests) for a in replies) + len(failed),
            attempts=len(replies),
            uncounted=sum(a.prompt_tokens is None for a in replies),
            prompt_tokens=sum(a.prompt_tokens or 0 for a in replies),
            completion_tokens=sum(a.completion_tokens or 0 for a in replies),
        )
    return sum(each.games for each in found)


@pytest.mark.parametrize("rollouts", [1, 3])
@pytest.mark.parametrize(("check", "weights"), CHECKS)
async def test_they_are_what_a_recount_gives(evaluations, games, rollouts, check, weights):
    players = [
        Chatter(faults=0.1, outgrown=0.05, forfeits=0.05, seed=rollouts),
        Chatter("other", "minimax", faults=0.03, outgrown=0.02),
    ]
    plan = Plan(OPPONENTS, games=6, seed=3, rollouts=rollouts)
    setup = Setup(tuple(player.identity for player in players), plan, concurrency=3)
    evaluation = evaluations.open("e", setup)
    assert compare(games, evaluation, check, weights) == 0
    ended = await conduct(evaluations, games, evaluation, players, first_pause_s=0.001)
    await conduct(evaluations, games, evaluation, players, first_pause_s=0.001)
    assert games.count(GameFilter(outcome=Outcome.VOID)) > ended.void
    assert compare(games, evaluation, check, weights) > 30 * rollouts
    # Other seeds, other rollouts and people's games are none of its own; a stored series is.
    me, opponent = evaluation.players[0].identity, evaluation.opponents[0].identity
    for seed, source in ((2, Source.STORE), (9, Source.STORE), (3, Source.PLAY)):
        games.record(game_of(OPENER_WINS, seed=seed), me, opponent, source)
    games.record(game_of(DRAW, seed=3, rollout=rollouts), me, opponent, Source.STORE)
    before = compare(games, evaluation, check, weights)
    larger = evaluations.open("larger", Setup(setup.players, Plan(OPPONENTS, 7, 3, rollouts)))
    assert compare(games, larger, check, weights) == before + 1


def test_where_both_are_deterministic_a_line_counts_once(evaluations, games):
    plan = Plan((FIRST.name, LAST.name), games=5)
    other = EnginePlayer(parse("minimax:tie=edge")).identity
    evaluation = evaluations.open("e", Setup((other,), plan))
    for seed in range(4):
        games.record(game_of(OPENER_WINS, seed=seed), other, FIRST, Source.EVALUATION)
        games.record(game_of(DRAW, seed=seed), other, LAST, Source.EVALUATION)
    games.record(game_of(DRAW, seed=4), other, FIRST, Source.STORE)
    # The same line outside of the plan makes none of it a repeat.
    games.record(game_of(DRAW, seed=9), other, LAST, Source.STORE)
    assert compare(games, evaluation, *CHECKS[0]) == 3
    opening, _, last, _ = figures(games._db, evaluation)
    assert (opening.wins, opening.draws, opening.repeats, opening.distinct) == (1, 1, 3, 2)
    assert (opening.is_exact, last.repeats, last.played) == (True, 3, 4)


def test_a_server_that_takes_no_temperature_is_not_greedy(evaluations, games):
    evaluation = evaluations.open("e", Setup((GREEDY,), Plan((FIRST.name,), games=3)))
    said = (attempt([("user", "?")], "0", adaptations=("no_temperature",)),)
    for seed in range(3):
        game = game_of(OPENER_WINS, seed=seed, attempts={0: said})
        games.record(game, GREEDY, FIRST, Source.EVALUATION)
    opening, replying = figures(games._db, evaluation)
    assert (opening.wins, opening.repeats, opening.default_temperature) == (3, 0, 3)
    assert (opening.is_exact, replying.is_exact) == (False, False)


def test_a_greedy_model_is_exact_for_as_long_as_it_is_greedy(evaluations, games):
    evaluation = evaluations.open("e", Setup((GREEDY,), Plan((FIRST.name,), games=4)))
    for seed in range(3):
        games.record(game_of(OPENER_WINS, seed=seed), GREEDY, FIRST, Source.EVALUATION)
    opening, _ = figures(games._db, evaluation)
    assert (opening.wins, opening.repeats, opening.is_exact) == (3, 0, True)
    games.record(game_of(REPLIER_WINS, seed=3), GREEDY, FIRST, Source.EVALUATION)
    opening, _ = figures(games._db, evaluation)
    assert (opening.wins, opening.losses, opening.is_exact) == (3, 1, False)


def test_a_cell_that_was_void_and_is_not_any_more(evaluations, games):
    evaluation = evaluations.open("e", Setup((MODEL,), Plan((FIRST.name,), games=3)))
    failed = Request(503, 1.5, {}, "busy")
    for termination in (Termination.PROVIDER_ERROR, Termination.CONTEXT_EXCEEDED):
        for seed in range(3):
            game = Game(seed=seed)
            if seed < 2:
                game.add(Turn(Mark.X, 4, (attempt([("user", "?")], "4"),)))
                game.add(Turn(Mark.O, 0))
            game.end(termination, requests=[failed])
            games.record(game, MODEL, FIRST, Source.EVALUATION)
    games.record(game_of(OPENER_WINS), MODEL, FIRST, Source.EVALUATION)
    found = figures(games._db, evaluation)[0]
    # The third did not even begin.
    assert (found.games, found.void, found.context_exceeded) == (1, 1, 1)
    assert found.costs == Costs(games=7, requests=6, attempts=4, uncounted=4, seconds=9.0)
    assert not found.costs.has_tokens
    (done,) = done_cells(games._db, evaluation)
    assert len(done) == found.played == 2
    assert compare(games, evaluation, *CHECKS[0]) == 1


def test_costs_add_up_and_have_a_price():
    costs = Costs(1, 2, 3, 1, 1_000_000, 500_000, 1.5)
    assert costs + costs == Costs(2, 4, 6, 2, 2_000_000, 1_000_000, 3.0)
    assert costs.money(0.25, 2.0) == 1.25
