import dataclasses
from datetime import timedelta

import pytest
from sqlalchemy import Engine, event

from arena.board import Mark, Outcome
from arena.game import Game, Termination, Turn, Verdict
from arena.players import Kind
from storage import GameFilter, Result, Source
from tests.storage.samples import (
    DRAW,
    FIRST,
    LAST,
    MODEL,
    OPENER_WINS,
    OPENER_WINS_TOO,
    PERSON,
    RANDOM,
    REPLIER_WINS,
    attempt,
    chat,
    game_of,
)

STORE = Source.STORE
WARMER = dataclasses.replace(MODEL, settings={"temperature": 2})


@pytest.fixture
def named(games):
    """Games by a name each, in the order in which they were stored."""
    good = attempt(chat("s", "u"), "4", square=OPENER_WINS[0])
    sloppy = dataclasses.replace(good, contains=False)
    wrong = attempt(chat("s", "u"), "9", Verdict.OUT_OF_RANGE, 9, contains=True)
    forfeit = game_of([4], seed=9)
    forfeit.end(Termination.FORFEIT_INVALID, Mark.O, attempts=[wrong])
    void = Game(seed=10)
    void.end(Termination.PROVIDER_ERROR)
    return {
        "model opens, wins": games.record(
            game_of(OPENER_WINS, attempts={0: (good,)}), MODEL, RANDOM, STORE
        ),
        "again": games.record(
            game_of(OPENER_WINS, attempts={0: (sloppy,)}, seed=1), MODEL, RANDOM, STORE
        ),
        "model replies, wins": games.record(
            game_of(REPLIER_WINS, attempts={1: (wrong, good)}), RANDOM, MODEL, STORE
        ),
        "warmer replies as X, draws": games.record(
            game_of(DRAW, Mark.O, attempts={1: (good,)}), WARMER, RANDOM, STORE
        ),
        "forfeit": games.record(forfeit, RANDOM, MODEL, STORE),
        "void": games.record(void, MODEL, FIRST, STORE),
        "engines": games.record(game_of(OPENER_WINS_TOO), FIRST, LAST, STORE),
        "itself": games.record(game_of(OPENER_WINS), MODEL, MODEL, STORE),
        "person": games.create(PERSON, MODEL, Mark.X, 0, {}),
    }


def names(games, named, filter):
    by_id = {id: name for name, id in named.items()}
    found = [by_id[summary.id] for summary in games.find(filter)]
    assert games.count(filter) == len(found)
    return found[::-1]


def test_without_conditions_all_newest_first(games, named):
    assert [each.id for each in games.find()] == list(named.values())[::-1]
    assert games.count() == len(named)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"player": "minimax:tie=first"}, ["void", "engines"]),
        ({"player": "nobody"}, []),
        ({"player": "nobody", "opponent": "tiny"}, []),
        ({"player": "tiny", "opponent": "tiny"}, ["itself"]),
        ({"player": "tiny", "opponent": "Ann"}, ["person"]),
        ({"player": "Ann", "opponent": "tiny"}, ["person"]),
        ({"opponent": "Ann"}, ["person"]),
        (
            {"player": "tiny", "opening": True},
            ["model opens, wins", "again", "void", "itself"],
        ),
        (
            {"player": "tiny", "opening": False, "opponent": "random"},
            ["model replies, wins", "warmer replies as X, draws", "forfeit"],
        ),
        (
            {"player": "tiny", "result": Result.WIN},
            ["model opens, wins", "again", "model replies, wins", "itself"],
        ),
        ({"player": "random", "result": Result.WIN}, ["forfeit"]),
        ({"player": "tiny", "result": Result.LOSS}, ["forfeit", "itself"]),
        ({"player": "tiny", "result": Result.DRAW}, ["warmer replies as X, draws"]),
        ({"kind": Kind.HUMAN}, ["person"]),
        ({"kind": Kind.MODEL, "opening": True}, ["model opens, wins", "again", "void", "itself"]),
        ({"outcome": Outcome.VOID}, ["void"]),
        ({"outcome": Outcome.O}, ["model replies, wins"]),
        ({"outcome": Outcome.O, "player": "tiny"}, ["model replies, wins"]),
        ({"termination": Termination.FORFEIT_INVALID}, ["forfeit"]),
        ({"termination": Termination.FORFEIT_INVALID, "player": "tiny"}, ["forfeit"]),
        ({"source": Source.PLAY}, ["person"]),
        ({"people": True}, ["person"]),
        ({"people": False, "player": "minimax:tie=last"}, ["engines"]),
        ({"finished": False}, ["person"]),
        ({"finished": True, "opponent": "minimax:tie=first"}, ["void", "engines"]),
        ({"finished": False, "player": "tiny"}, ["person"]),
        (
            {"formatted": True, "opponent": "random"},
            ["model opens, wins", "model replies, wins", "warmer replies as X, draws", "forfeit"],
        ),
        (
            {"no_invalid": True, "opponent": "random"},
            ["model opens, wins", "again", "warmer replies as X, draws"],
        ),
        ({"formatted": True, "player": "random"}, []),
        (
            {"formatted": True, "no_invalid": True, "player": "tiny", "opponent": "random"},
            ["model opens, wins", "warmer replies as X, draws"],
        ),
        (
            {"distinct_only": True},
            [
                "model opens, wins",
                "model replies, wins",
                "warmer replies as X, draws",
                "forfeit",
                "engines",
                "itself",
            ],
        ),
        ({"ids": ()}, []),
    ],
)
def test_conditions(games, named, conditions, expected):
    assert names(games, named, GameFilter(**conditions)) == expected


def test_distinct_is_told_among_the_games_that_pass(games, named):
    by_id = GameFilter(ids=(named["again"],), distinct_only=True)
    assert names(games, named, by_id) == ["again"]


def test_one_of_the_players_of_a_name(games, named):
    warmer = games.load(named["warmer replies as X, draws"]).x
    found = names(games, named, GameFilter(player=warmer.id))
    assert found == ["warmer replies as X, draws"]


def test_dates(games, named):
    third = games.load(named["model replies, wins"]).created_at
    assert len(names(games, named, GameFilter(until=third))) == 2
    assert names(games, named, GameFilter(since=third))[0] == "model replies, wins"
    day = timedelta(days=1)
    assert games.count(GameFilter(since=third - day, until=third + day)) == len(named)


def test_ids(games, named):
    wanted = (named["void"], named["itself"], "no such id")
    assert names(games, named, GameFilter(ids=wanted)) == ["void", "itself"]


@pytest.mark.parametrize("filter", [GameFilter(), GameFilter(player="tiny")])
def test_pages(games, named, filter):
    whole = games.find(filter)
    pages = []
    before = None
    while page := games.find(filter, limit=2, before=before):
        pages += page
        before = page[-1].serial
    assert pages == whole


def test_a_line_of_the_list(games, named):
    (line,) = games.find(GameFilter(termination=Termination.FORFEIT_INVALID))
    assert (line.x.identity, line.o.identity) == (RANDOM, MODEL)
    assert (line.moves, line.outcome, line.seed) == ((4,), Outcome.X, 9)
    assert line.finished_at == line.updated_at == line.created_at
    (line,) = games.find(GameFilter(people=True))
    assert (line.moves, line.outcome, line.termination, line.finished_at) == ((), None, None, None)


def test_a_players_list_walks_its_index(games, db, named):
    """Neither all games nor a sorted copy of the player's: fast however many there are."""
    plans = []

    def explain(connection, cursor, statement, parameters, context, many):
        if "UNION ALL" in statement:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.append([row[3] for row in cursor.fetchall()])

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        for more in (
            {},
            {"opponent": "minimax:tie=last"},
            {"outcome": Outcome.X},
            {"finished": True},
            {"result": Result.DRAW, "opening": False},
        ):
            games.find(GameFilter(player="random", **more))
    finally:
        event.remove(Engine, "before_cursor_execute", explain)
    assert len(plans) == 5
    for steps in plans:
        assert "MERGE (UNION ALL)" in steps
        assert not any("SCAN games" in step or "TEMP B-TREE" in step for step in steps), steps


def test_what_is_asked_of_a_game_is_asked_of_open_games_too(games):
    id = games.create(PERSON, MODEL, Mark.X, 0, {})
    game = Game()
    game.add(Turn(Mark.X, 4))
    games.append(id, game)
    assert games.find(GameFilter(player="Ann", result=Result.WIN)) == []
    assert games.find(GameFilter(distinct_only=True)) == []
