import asyncio
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from arena.board import Mark, Outcome
from arena.errors import ConflictError, NotFoundError, RulesError
from arena.game import Game, Termination, Turn, Verdict
from arena.match import play
from arena.opponents import parse
from arena.players import EnginePlayer, Person
from storage import Recording, Source, matrix
from tests.storage.samples import (
    FIRST,
    MODEL,
    OPENER_WINS,
    OTHER_PERSON,
    PERSON,
    RANDOM,
    attempt,
    chat,
    game_of,
    played,
)

STORE = Source.STORE


def begin(games, x=PERSON, o=RANDOM, opener=Mark.X, tokens=None):
    return games.create(x, o, opener, 7, tokens or {Mark.X: "secret"})


def test_a_new_game(games):
    id = begin(games)
    stored = games.load(id)
    assert stored.game == Game(Mark.X, 7)
    assert (stored.x.identity, stored.o.identity) == (PERSON, RANDOM)
    assert stored.source is Source.PLAY
    assert stored.persons == {Mark.X}
    assert stored.created_at == stored.updated_at
    assert stored.finished_at is None
    assert games.unfinished_ids() == [id]


def test_ids_cannot_be_guessed_and_players_are_shared(games, db):
    ids = {begin(games) for _ in range(20)}
    assert len(ids) == 20
    assert all(len(id) == 12 for id in ids)
    with db.read() as session:
        assert session.scalar(text("SELECT count(*) FROM players")) == 2


def test_a_game_move_by_move(games, clock):
    id = begin(games)
    person, engine = Person(moves=[4]), EnginePlayer(parse("minimax"))

    async def answer():
        game = games.load(id).game
        async for _ in play(game, person, engine):
            games.append(id, game)
        return game

    game = asyncio.run(answer())
    stored = games.load(id)
    assert stored.game == game
    assert len(game.turns) == 2
    assert stored.created_at < stored.times[0] < stored.times[1] == stored.updated_at


@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(played(finished=False), played())
def test_every_game_comes_back_whichever_way_it_was_stored(games, open_game, finished):
    for game in (open_game, finished):
        id = games.create(MODEL, MODEL, game.opener, game.seed, {})
        for copy in prefixes(game):
            games.append(id, copy)
            assert games.load(id).game == copy
        if game.termination not in (None, Termination.LINE, Termination.FULL_BOARD):
            games.finish(id, game)
        assert games.load(id).game == game
    # The cell may have been recorded by an example before; a game from the browser has none.
    (whole,) = games.record_many([Recording(finished, MODEL, MODEL)], Source.PLAY)
    assert whole is not None
    assert games.load(whole).game == finished


def prefixes(game):
    """The game after each of its moves, before it was ended otherwise."""
    copy = Game(game.opener, game.seed)
    for turn in game.turns:
        copy.add(turn)
        yield copy


def test_a_turn_and_the_end_that_followed_it_are_stored_together(games):
    id = begin(games, PERSON, MODEL)
    game = game_of([4], seed=7)
    game.end(
        Termination.FORFEIT_INVALID,
        Mark.O,
        attempts=[attempt(chat("s", "u"), "?", Verdict.NO_MOVE, None)],
    )
    games.append(id, game)
    assert games.load(id).game == game
    assert games.unfinished_ids() == []


def test_a_stale_or_repeated_move_changes_nothing(games, db):
    id = begin(games)
    game = game_of([4], seed=7)
    games.append(id, game)
    other = game_of([0], seed=7)
    for again in (game, other, game_of([0, 1], seed=7), game_of([4, 1, 2], seed=7)):
        with pytest.raises(ConflictError, match="gone on"):
            games.append(id, again)
    assert games.load(id).game == game
    game.end(Termination.RESIGNED, Mark.X)
    games.finish(id, game)
    with pytest.raises(ConflictError):
        games.finish(id, game)
    with pytest.raises(ConflictError):
        games.append(id, game_of([4, 0], seed=7))
    with pytest.raises(ConflictError):
        games.append(id, Game(seed=7))
    assert games.load(id).game == game
    assert [entry.opening.losses for entry in matrix(db, rated=False)] == [0, 1]


def test_of_many_clicks_one_is_taken(games):
    id = begin(games)

    def click(square):
        try:
            games.append(id, game_of([square], seed=7))
        except ConflictError:
            return 0
        return 1

    with ThreadPoolExecutor(9) as threads:
        assert sum(threads.map(click, range(9))) == 1
    assert len(games.load(id).game.turns) == 1


def test_a_game_that_is_not_there(games):
    for ask in (
        lambda: games.load("x"),
        lambda: games.append("x", game_of([4])),
        lambda: games.seat_of("x", "secret"),
    ):
        with pytest.raises(NotFoundError, match="no game 'x'"):
            ask()


def test_a_game_under_way_has_no_end(games):
    with pytest.raises(RulesError):
        games.finish(begin(games), game_of([4], seed=7))
    with pytest.raises(RulesError):
        games.record(game_of([4]), FIRST, RANDOM, STORE)


def test_seats(games, db):
    both = {Mark.X: "secret", Mark.O: "other\ud800"}
    id = begin(games, PERSON, OTHER_PERSON, tokens=both)
    assert games.seat_of(id, "secret") == {Mark.X}
    assert games.seat_of(id, "other\ud800") == {Mark.O}
    assert games.seat_of(id, "Secret") == games.seat_of(id, "") == frozenset()
    same = begin(games, PERSON, PERSON, tokens={Mark.X: "s", Mark.O: "s"})
    assert games.seat_of(same, "s") == {Mark.X, Mark.O}
    db.close()
    assert b"secret" not in db.path.read_bytes()


def test_a_cell_is_recorded_once(games):
    game = game_of(OPENER_WINS, seed=3)
    id = games.record(game, FIRST, RANDOM, STORE)
    assert games.record(game, FIRST, RANDOM, STORE) is None
    assert games.load(id).game == game
    assert games.load(id).times == (None,) * 5
    others = (
        (game_of(OPENER_WINS, seed=3, rollout=1), FIRST, RANDOM, STORE),
        (game, RANDOM, FIRST, STORE),
        (game_of(OPENER_WINS, Mark.O, 3), FIRST, RANDOM, STORE),
        (game_of(OPENER_WINS, seed=4), FIRST, RANDOM, STORE),
        (game, dataclasses.replace(FIRST, settings={"a": 1}), RANDOM, STORE),
        (game, FIRST, RANDOM, Source.PLAY),
        (game, FIRST, RANDOM, Source.PLAY),
    )
    assert all(games.record(*each) for each in others)


def test_a_void_game_may_be_played_again(games):
    void = Game(seed=3)
    void.end(Termination.PROVIDER_ERROR)
    assert games.record(void, MODEL, RANDOM, STORE)
    assert games.record(void, MODEL, RANDOM, STORE)
    assert games.record(game_of(OPENER_WINS, seed=3), MODEL, RANDOM, STORE)
    assert games.record(void, MODEL, RANDOM, STORE)
    assert games.record(game_of(OPENER_WINS, seed=3), MODEL, RANDOM, STORE) is None


def test_many_at_once(games):
    some = [Recording(game_of(OPENER_WINS, seed=seed % 700), FIRST, RANDOM) for seed in range(1100)]
    ids = games.record_many(iter(some), STORE)
    assert [id is None for id in ids] == [False] * 700 + [True] * 400
    assert games.load(ids[699]).game.seed == 699
    assert games.record_many([], STORE) == []


def test_abandoned_games(games, db, clock):
    waits = begin(games)
    engine_to_move = begin(games, opener=Mark.O)
    moved = begin(games, PERSON, OTHER_PERSON)
    clock.time += timedelta(hours=25)
    games.append(moved, game_of([4], seed=7))
    fresh = begin(games)
    assert games.abandon(timedelta(hours=24)) == 1
    assert games.unfinished_ids() == [engine_to_move, moved, fresh]
    game = games.load(waits).game
    assert (game.outcome, game.termination) == (Outcome.VOID, Termination.ABANDONED)
    assert games.abandon(timedelta(hours=24)) == 0
    assert [entry.opening.void for entry in matrix(db, rated=False)] == [0, 1]
    with pytest.raises(ConflictError):
        games.append(waits, game_of([4], seed=7))


def test_many_abandoned_games(games, clock, monkeypatch):
    monkeypatch.setattr("storage.games._CHUNK", 3)
    for opener in [Mark.X, Mark.O] * 4:
        begin(games, opener=opener)
    clock.time += timedelta(hours=25)
    assert games.abandon(timedelta(hours=24)) == 4
    assert len(games.unfinished_ids()) == 4


def test_a_square_that_is_none_of_nine(games):
    wrong = attempt(chat("s", "u"), "<move>9</move>", Verdict.OUT_OF_RANGE, 10**40)
    game = Game()
    game.add(Turn(Mark.X, 4, (wrong, attempt(chat("s", "u", "r", "u"), "4", square=4))))
    game.end(Termination.RESIGNED, Mark.O)
    id = games.record(game, MODEL, RANDOM, STORE)
    assert games.load(id).game.turns[0].attempts[0].square == 10**40


@given(st.data())
@settings(deadline=None, max_examples=20)
def test_identities_share_a_row_if_and_only_if_they_are_equal(data):
    from storage.players import fingerprint
    from tests.storage.samples import json_values, texts

    changes = st.fixed_dictionaries(
        {},
        optional={
            "name": texts,
            "family": texts,
            "step": st.integers(0, 3),
            "deterministic": st.booleans(),
            "settings": st.dictionaries(texts, json_values, max_size=2),
        },
    )
    one, two = (dataclasses.replace(MODEL, **data.draw(changes)) for _ in range(2))
    assert (fingerprint(one) == fingerprint(two)) == (one == two)
