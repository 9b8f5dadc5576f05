from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.board import Mark
from arena.game import Game, Termination, Verdict
from storage import Database, Games, Recording, Source, Tally, leaderboard, matrix, recompute
from tests.storage.conftest import Clock
from tests.storage.samples import (
    DRAW,
    FIRST,
    GREEDY,
    LAST,
    MODEL,
    OPENER_WINS,
    OPENER_WINS_TOO,
    PERSON,
    PLAYERS,
    RANDOM,
    REPLIER_WINS,
    attempt,
    chat,
    game_of,
    played,
)

STORE = Source.STORE


def tallies(db, player, opponent):
    """Opening and replying of one entry."""
    for entry in matrix(db):
        if (entry.player.identity, entry.opponent.identity) == (player, opponent):
            return entry.opening, entry.replying
    raise LookupError


def test_nothing_played(db):
    assert leaderboard(db) == []
    assert matrix(db) == recompute(db) == []


def test_both_seats_are_counted(games, db):
    for seed, (moves, opener) in enumerate(
        [
            (OPENER_WINS, Mark.X),
            (REPLIER_WINS, Mark.X),
            (DRAW, Mark.X),
            (OPENER_WINS, Mark.O),
            (OPENER_WINS, Mark.X),
        ]
    ):
        games.record(game_of(moves, opener, seed), RANDOM, MODEL, STORE)
    games.record(game_of(OPENER_WINS, Mark.X), MODEL, RANDOM, STORE)
    opening, replying = tallies(db, RANDOM, MODEL)
    assert opening == Tally(wins=2, draws=1, losses=1, distinct=3)
    assert replying == Tally(wins=0, draws=0, losses=2, distinct=2)
    opening, replying = tallies(db, MODEL, RANDOM)
    assert opening == Tally(wins=2, losses=0, distinct=2)
    assert replying == Tally(wins=1, draws=1, losses=2, distinct=3)
    assert opening.games + replying.games == 6


def test_a_deterministic_pair_counts_each_line_once(games, db):
    for rollout in range(3):
        games.record(game_of(OPENER_WINS, rollout=rollout), FIRST, LAST, STORE)
    games.record_many(
        [Recording(game_of(OPENER_WINS_TOO, seed=seed), FIRST, LAST) for seed in (5, 6)], STORE
    )
    assert tallies(db, FIRST, LAST)[0] == Tally(wins=2, repeats=3, distinct=2)
    assert tallies(db, LAST, FIRST)[1] == Tally(losses=2, repeats=3, distinct=2)
    assert matrix(db) == recompute(db)


def test_void_games_count_as_void_alone(games, db):
    replies = [attempt(chat("s", "u"), "4", prompt_tokens=5, seconds=1.0)]
    for seed, termination in enumerate(t for t in Termination if t.is_void):
        game = game_of([4, 0], attempts={0: replies}, seed=seed)
        game.end(termination, attempts=replies)
        games.record(game, MODEL, RANDOM, STORE)
    assert tallies(db, MODEL, RANDOM)[0] == Tally(void=3, context_exceeded=1)
    assert tallies(db, RANDOM, MODEL)[1] == Tally(void=3)


def test_forfeits_are_losses_shown_apart(games, db):
    game = Game()
    invalid = attempt(
        chat("s", "u"),
        "?",
        Verdict.NO_MOVE,
        None,
        contains=True,
        prompt_tokens=10,
        completion_tokens=3,
        seconds=0.0015,
    )
    game.end(Termination.FORFEIT_TRUNCATED, Mark.X, attempts=[invalid, invalid])
    games.record(game, MODEL, RANDOM, STORE)
    assert tallies(db, MODEL, RANDOM)[0] == Tally(
        losses=1,
        forfeits=1,
        distinct=1,
        attempts=2,
        invalid_attempts=2,
        contains=2,
        prompt_tokens=20,
        completion_tokens=6,
        milliseconds=4,
    )
    assert tallies(db, RANDOM, MODEL)[1] == Tally(wins=1, opponent_forfeits=1, distinct=1)
    resigned = game_of([4], seed=1)
    resigned.end(Termination.RESIGNED, Mark.X)
    games.record(resigned, MODEL, RANDOM, STORE)
    assert tallies(db, MODEL, RANDOM)[0].forfeits == 1


def test_a_player_against_itself(games, db):
    games.record(game_of(OPENER_WINS, Mark.O), MODEL, MODEL, STORE)
    assert tallies(db, MODEL, MODEL) == (Tally(wins=1, distinct=1), Tally(losses=1, distinct=1))


def test_games_of_the_browser_move_no_rate(games, db):
    id = games.create(PERSON, MODEL, Mark.X, 0, {})
    for plies in range(1, 6):
        games.append(id, game_of(OPENER_WINS[:plies]))
    games.record(game_of(REPLIER_WINS), RANDOM, MODEL, STORE)
    model, engine, person = leaderboard(db)
    assert model.player.identity == MODEL
    assert (model.opening, model.replying) == (Tally(), Tally(wins=1, distinct=1))
    assert model.people == Tally(losses=1, distinct=1)
    assert (engine.opening, engine.people) == (Tally(losses=1, distinct=1), Tally())
    assert person.people == Tally(wins=1, distinct=1)
    assert (person.opening, person.replying) == (Tally(), Tally())
    assert person.last_at < engine.last_at == model.last_at


def test_the_leaderboard_adds_up_the_matrix(games, db):
    for seed in range(4):
        games.record(game_of(OPENER_WINS, seed=seed), MODEL, RANDOM, STORE)
        games.record(game_of(DRAW, seed=seed), MODEL, FIRST, STORE)
    standing = leaderboard(db)[0]
    assert standing.opening == Tally(wins=4, draws=4, distinct=2)
    assert [entry.opponent.identity for entry in matrix(db)[:2]] == [FIRST, RANDOM]


def test_every_game_of_a_greedy_model_counts(games, db):
    """Servers that batch requests do not answer alike, whatever the temperature."""
    for seed in range(6):
        line = OPENER_WINS if seed < 5 else REPLIER_WINS
        games.record(game_of(line, seed=seed), GREEDY, FIRST, STORE)
    tally = leaderboard(db)[0].opening
    assert (tally.wins, tally.losses, tally.repeats, tally.distinct) == (5, 1, 0, 2)
    assert matrix(db) == recompute(db)


def test_a_greedy_model_at_the_servers_own_temperature_is_not_greedy(games, db):
    for seed in range(3):
        said = attempt(chat("s", "u"), "0", adaptations=("no_temperature", "no_seed"))
        game = game_of(OPENER_WINS, seed=seed, attempts={0: (said,)})
        games.record(game, GREEDY, FIRST, STORE)
    tally = leaderboard(db)[0].opening
    assert (tally.wins, tally.repeats, tally.distinct) == (3, 0, 1)
    assert (tally.default_temperature, tally.unseeded, tally.attempts) == (3, 3, 3)
    assert matrix(db) == recompute(db)


landings = st.tuples(
    played(rollouts=2),
    st.sampled_from(PLAYERS),
    st.sampled_from(PLAYERS),
    st.sampled_from((STORE, Source.EVALUATION, Source.PLAY)),
)


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(st.lists(landings, max_size=4), max_size=4))
def test_what_is_kept_is_what_is_counted_anew(batches):
    with TemporaryDirectory() as folder:
        db = Database.open(f"{folder}/arena.db")
        games = Games(db, Clock())
        stored = 0
        for batch in batches:
            for game, x, o, source in batch[1:]:
                stored += games.record(game, x, o, source) is not None
            for game, x, o, _ in batch[:1]:
                again = [Recording(game, x, o)] * 2
                stored += sum(id is not None for id in games.record_many(again, STORE))
        for rated in (True, False):
            assert matrix(db, rated=rated) == recompute(db, rated=rated)
        assert games.count() == stored
        total = sum(
            tally.games + tally.void + tally.repeats
            for rated in (True, False)
            for entry in matrix(db, rated=rated)
            for tally in (entry.opening, entry.replying)
        )
        assert total == 2 * stored
        db.close()
