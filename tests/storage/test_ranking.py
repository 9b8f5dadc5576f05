from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from arena.board import Mark, Outcome
from arena.errors import NotFoundError
from arena.memorisation import NoGap, Result, exact_gap, memorisation_gap
from arena.opponents import symmetric_opponents
from arena.panels import PANELS, Panel
from arena.plan import Plan
from arena.rates import Measured, even_mean, rate
from arena.statistics import sums_of, wilson
from storage import Source, Tally
from storage.checkpoints import checkpoint
from storage.evaluations import Evaluations
from storage.ranking import Shown, families, family, leaderboard_of
from storage.references import REFERENCES, ceilings, references
from storage.setups import Setup
from tests.storage.panels import OTHER, PLAIN, always_alike, careless, engine, play, recorded
from tests.storage.samples import GREEDY, MODEL, PERSON, game_of

PANEL = Panel("three", ("random", "minimax", "minimax:tie=first"))
SYMMETRIC = symmetric_opponents()


def kept(game, mark):
    return game.outcome != Outcome.win(mark.other)


def row_of(db, panel=PANEL, **shown):
    (row,) = leaderboard_of(db, panel, Shown(**shown)).checkpoints
    return row


def test_nothing_played(db):
    found = leaderboard_of(db, PANEL)
    assert found.checkpoints == ()
    assert (found.prompts, found.temperatures, found.families) == ((), (), ())
    assert found.provisional is None
    assert families(db) == []


def test_rates_are_those_of_the_games_by_seed(games, db):
    some = recorded(MODEL, careless(0.5), PANEL.opponents, range(5), rollouts=3)
    games.record_many(some, Source.EVALUATION)
    row = row_of(db)
    assert row.identity == MODEL
    assert [each.opponent for each in row.versus] == list(PANEL.opponents)
    assert [each.perfect for each in row.versus] == [False, True, True]
    for each in row.versus:
        rates = {}
        for opening, mark in ((True, Mark.X), (False, Mark.O)):
            seeds = defaultdict(list)
            for game, x, o in some:
                if (o if opening else x) == engine(each.opponent):
                    seeds[game.seed].append(kept(game, mark))
            measured = Measured(sums_of((len(s), sum(s)) for s in seeds.values()))
            rates[opening] = rate(measured)
        assert (each.opening.rate, each.replying.rate) == (rates[True], rates[False])
        assert each.mean == even_mean(rates[True], rates[False])
        assert each.opening.tally.games == each.replying.tally.games == 15
    assert row.games == len(some) == row.opening.games + row.replying.games
    assert row.worst_replying.of == 2
    assert row.worst.of == 4
    assert row.worst.share == min(row.worst_opening.share, row.worst_replying.share)
    assert set(row.worst.opponents) <= {
        f"{spec} {seat}" for spec in PANEL.opponents[1:] for seat in ("opening", "replying")
    }


def test_an_opponent_that_was_never_met(games, db):
    games.record(play(careless(0.5), "minimax", Mark.O), engine("minimax"), MODEL, Source.STORE)
    row = row_of(db)
    never, met, _ = row.versus
    assert (never.opponent_id, never.opening.rate, never.replying.shares) == (None, None, None)
    assert met.opponent_id is not None
    assert met.opening.rate is None
    assert met.replying.rate.interval == wilson(int(met.replying.rate.share), 1)
    assert met.mean is None
    assert row.worst_opening is None
    assert row.worst_replying.missing == ("minimax:tie=first",)
    assert isinstance(row.gap, NoGap)
    assert "no game on an even seed" in row.gap.reason
    assert (row.tokens_per_move, row.format_followed, row.invalid_share) == (None, None, None)


def test_the_gap_is_that_of_the_games(games, db):
    knows = play_of_memoriser()
    some = recorded(MODEL, knows, SYMMETRIC, range(6), rollouts=2)
    games.record_many(some, Source.EVALUATION)
    results = [
        Result(x.name, game.seed, 1, int(kept(game, Mark.O))) for game, x, o in some if o == MODEL
    ]
    expected: Any = memorisation_gap(results)
    assert row_of(db, PANELS["memorisation"]).gap == expected
    assert expected.opponent == "minimax:tie=s5"
    assert expected.gap > 0.5
    # Whichever panel is shown.
    assert checkpoint(db, row_of(db, PANELS["memorisation"]).id, PANEL).gap == expected


def play_of_memoriser():
    """Somebody who replies well to what one opponent plays, and at random to all else."""
    known = {}
    best = careless(0)
    for seed in range(6):
        known.update(boards_of(play(best, "minimax:tie=s5", Mark.O, seed)))

    def choose(game):
        found = known.get(game.moves)
        return careless(1)(game) if found is None else found

    return choose


def boards_of(game):
    return {game.moves[:ply]: square for ply, square in enumerate(game.moves) if ply % 2}


def test_two_that_always_answer_alike_are_known_exactly(games, db):
    games.record_many(recorded(GREEDY, always_alike, SYMMETRIC, range(2)), Source.EVALUATION)
    row = row_of(db, PANELS["memorisation"])
    rates = {each.opponent: each.replying.rate for each in row.versus if each.replying.rate}
    assert all(found.interval is None for found in rates.values())
    assert row.gap == exact_gap({spec: found.share for spec, found in rates.items()})
    assert row.versus[0].replying.tally == Tally(draws=1, repeats=1, distinct=1)


def test_what_can_be_asked_for(games, db):
    cold = replace(OTHER, settings={"sampling": {"temperature": 0.5}}, family="cold")
    for who, seeds in ((MODEL, 2), (cold, 1), (PLAIN, 1)):
        games.record_many(recorded(who, careless(0.3), ("random",), range(seeds)), Source.STORE)
    found = leaderboard_of(db, PANEL)
    assert [row.identity for row in found.checkpoints] == [cold, PLAIN, MODEL]
    assert found.prompts == ("blind", "tags")
    assert found.temperatures == (0.5,)
    assert found.families == ("cold", "family") == tuple(families(db))
    assert row_of(db, family="cold").identity == cold
    assert row_of(db, prompt="blind").identity == PLAIN
    assert row_of(db, temperature=0.5).temperature == 0.5
    assert row_of(db, least_games=3).identity == MODEL
    assert row_of(db, name="plain").prompt == "blind"
    everybody = leaderboard_of(db, Panel("none", ("minimax",)), Shown(least_games=0)).checkpoints
    assert len(everybody) == 3
    assert leaderboard_of(db, Panel("none", ("minimax",))).checkpoints == ()


def test_games_of_the_browser_are_not_in_it(games, db):
    id = games.create(PERSON, MODEL, Mark.X, 0, {})
    for plies in range(1, 6):
        games.append(id, game_of((0, 3, 1, 4, 2)[:plies]))
    assert leaderboard_of(db, PANEL).checkpoints == ()


@pytest.fixture
def evaluation(db, games, clock):
    """Half of what it plans is played."""
    setup = Setup((MODEL, engine("minimax:epsilon=0.5")), Plan(PANEL.opponents, 4), None, 1)
    opened = Evaluations(db, clock).open("half", setup)
    games.record_many(recorded(MODEL, careless(0.4), PANEL.opponents, range(4)), Source.EVALUATION)
    return opened


def test_an_evaluation_by_itself(games, db, evaluation):
    games.record_many(recorded(MODEL, careless(1), PANEL.opponents, range(9, 12)), Source.STORE)
    found = leaderboard_of(db, PANEL, Shown(evaluation="half"))
    assert found.provisional == (24, 48)
    (row,) = found.checkpoints
    assert row.identity == MODEL
    assert row.games == 24 < row_of(db).games
    for each in row.versus:
        assert each.opening.tally.games == each.replying.tally.games == 4
        seen: Any = each.replying.rate
        assert seen.interval == wilson(round(4 * seen.share), 4)
    with pytest.raises(NotFoundError):
        leaderboard_of(db, PANEL, Shown(evaluation="none"))


def test_an_engine_is_a_row_where_an_evaluation_names_it(games, db, evaluation):
    spec = "minimax:epsilon=0.5"
    assert [row.identity.name for row in leaderboard_of(db, PANEL).checkpoints] == ["tiny"]
    games.record_many(
        recorded(engine(spec), careless(0.5), PANEL.opponents, range(2)), Source.EVALUATION
    )
    assert [row.identity.name for row in leaderboard_of(db, PANEL).checkpoints] == ["tiny", spec]


def test_a_family_by_step(games, db):
    late = replace(OTHER, step=None)
    early = replace(OTHER, step=5, name="z")
    for who in (late, MODEL, early):
        games.record_many(recorded(who, careless(0.5), ("random",), range(3)), Source.STORE)
    steps = family(db, "family", PANEL)
    assert [each.step for each in steps] == [5, 100, None]
    assert steps[0].mistakes == steps[1].mistakes
    assert steps[0].mistakes.moves > steps[0].mistakes.loses_value > 0
    assert steps[0].traps.met >= steps[0].traps.failed > 0
    with pytest.raises(NotFoundError):
        family(db, "none", PANEL)


def test_one_checkpoint_against_everybody_that_it_met(games, db):
    specs = ("random", "minimax:tie=last", "minimax:epsilon=0.5", "minimax")
    games.record_many(recorded(MODEL, careless(0.5), specs, range(2)), Source.STORE)
    row = checkpoint(db, row_of(db).id)
    order = ["minimax", "minimax:tie=last", "minimax:epsilon=0.5", "random"]
    assert [each.opponent for each in row.versus] == order
    assert row.last_at is not None
    with pytest.raises(NotFoundError):
        checkpoint(db, 99)


def test_references_are_exact():
    assert REFERENCES == ("minimax", "random")
    rows: Any = references(PANELS["standard"])
    perfect, chance = rows
    assert perfect.worst.share == 1
    assert perfect.worst.interval is None
    assert perfect.gap.gap == chance.gap.gap == 0
    against_random = perfect.versus[0]
    assert round(against_random.opening.shares.wins, 4) == 0.9678
    assert round(against_random.replying.shares.wins, 4) == 0.7775
    itself = chance.versus[0].opening.shares
    assert tuple(round(share, 4) for share in itself) == (0.5849, 0.1270, 0.2881)
    first = chance.versus[2]
    assert first.opponent == "minimax:tie=first"
    assert round(first.opening.shares.losses, 4) == 0.8063
    assert round(first.replying.shares.losses, 4) == 0.9948
    assert [round(most, 3) for most in ceilings()] == [0.995, 0.939, 0.916]
    assert perfect.games == 0
