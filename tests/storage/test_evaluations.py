"""An evaluation by its name: new, gone on with, grown or refused; held by one."""

import dataclasses
import os
from datetime import timedelta

import pytest

from arena.board import Mark
from arena.control import State
from arena.errors import BusyError, ConfigError, ConflictError, NotFoundError
from arena.opponents import parse
from arena.panels import PANELS
from arena.plan import Plan
from arena.players import EnginePlayer
from storage import Database
from storage.evaluations import Evaluations, Wanted
from storage.setups import Setup
from tests.storage.samples import GREEDY, MODEL, PERSON

PLAN = Plan(("random", "minimax:tie=first"), games=5, seed=7)
SETUP = Setup((MODEL, GREEDY), PLAN, "mine", 4)


@pytest.fixture
def evaluations(db, clock):
    return Evaluations(db, clock)


def changed(**changes):
    """The setup with another plan."""
    return dataclasses.replace(SETUP, plan=dataclasses.replace(PLAN, **changes))


def test_a_new_one(evaluations, clock):
    before = clock.time
    made = evaluations.open("first", SETUP)
    assert [player.identity for player in made.players] == [MODEL, GREEDY]
    assert [player.identity for player in made.opponents] == [
        EnginePlayer(parse(spec)).identity for spec in PLAN.opponents
    ]
    assert (made.plan, made.panel, made.concurrency) == (PLAN, "mine", 4)
    assert (made.state, made.wanted, made.message) == (State.STOPPED, Wanted.RUN, "")
    assert (made.live, made.holder, made.seconds, made.finished_at) == ({}, None, 0, None)
    assert before < made.created_at
    assert not made.is_alive(clock())
    assert evaluations.get("first") == made


def test_they_are_listed_newest_first(evaluations):
    assert evaluations.all() == []
    panel = PANELS["course"]
    one = evaluations.open("one", SETUP)
    two = evaluations.open(
        "zwei ü", Setup((MODEL,), Plan(panel.opponents, 3, mark=panel.mark), "course")
    )
    assert evaluations.all() == [two, one]
    assert two.plan.mark is Mark.X
    with pytest.raises(NotFoundError, match="no evaluation 'three'"):
        evaluations.get("three")


def test_the_same_settings_go_on(evaluations):
    made = evaluations.open("first", SETUP)
    assert evaluations.open("first", SETUP) == made
    assert len(evaluations.all()) == 1


def test_games_grow_once_it_is_held(evaluations):
    evaluations.open("first", SETUP)
    grown = evaluations.open("first", changed(games=8))
    assert grown.plan.games == 8
    assert evaluations.get("first").plan.games == 5
    with evaluations.hold(grown):
        assert evaluations.get("first").plan.games == 8
    with pytest.raises(ConflictError, match="games 8 there, 5 here, and they can only grow"):
        evaluations.open("first", SETUP)


def test_panel_and_concurrency_may_change(evaluations):
    evaluations.open("first", SETUP)
    other = evaluations.open("first", dataclasses.replace(SETUP, panel=None, concurrency=9))
    with evaluations.hold(other):
        pass
    stored = evaluations.get("first")
    assert (stored.panel, stored.concurrency) == (None, 9)


@pytest.mark.parametrize(
    ("setup", "difference"),
    [
        (changed(seed=0), "seed 7 there, 0 here"),
        (changed(rollouts=2), "rollouts 1 there, 2 here"),
        (changed(mark=Mark.X), "mark not set there, X here"),
        (changed(games=4, seed=1), "seed 7 there, 1 here; games 5 there, 4 here"),
        (changed(opponents=("random", "minimax")), "minimax:tie=first only there and minimax only"),
        (changed(opponents=("random",)), "opponents: minimax:tie=first only there\\."),
        (changed(opponents=PLAN.opponents[::-1]), "opponents: in another order"),
        (dataclasses.replace(SETUP, players=(MODEL,)), "players tiny, greedy there, tiny here"),
        (
            dataclasses.replace(
                SETUP,
                players=(
                    dataclasses.replace(
                        MODEL,
                        prompt_hash="c3",
                        settings={"model": "t", "sampling": {"top_p": 0.5, "min_p": 0}},
                    ),
                    GREEDY,
                ),
            ),
            "tiny's prompt hash a1b2 there, c3 here; tiny's sampling.min_p not set there, 0 here; "
            "tiny's sampling.top_p 1 there, 0.5 here",
        ),
    ],
)
def test_other_settings_are_refused_key_by_key(evaluations, setup, difference):
    made = evaluations.open("first", SETUP)
    with pytest.raises(ConflictError, match=f"'first' was set up otherwise: .*{difference}"):
        evaluations.open("first", setup)
    assert evaluations.get("first") == made


@pytest.mark.parametrize(
    ("name", "setup", "reason"),
    [
        (" ", SETUP, "name"),
        ("a\nb", SETUP, "printable"),
        ("n" * 201, SETUP, "1 to 200"),
        ("a", dataclasses.replace(SETUP, players=()), "needs a player"),
        ("a", dataclasses.replace(SETUP, players=(PERSON,)), "a person"),
        ("a", dataclasses.replace(SETUP, players=(MODEL, MODEL)), "tiny is named twice"),
        ("a", dataclasses.replace(SETUP, concurrency=0), "at least one game"),
    ],
)
def test_what_is_no_evaluation(evaluations, name, setup, reason):
    with pytest.raises(ConfigError, match=reason):
        evaluations.open(name, setup)
    assert evaluations.all() == []


def test_one_holds_it_at_a_time(evaluations, db, clock):
    made = evaluations.open("first", SETUP)
    other = evaluations.open("second", SETUP)
    elsewhere = Database.open(db.path)
    with evaluations.hold(made), evaluations.hold(other):
        assert evaluations.get("first").holder == os.getpid()
        with (
            pytest.raises(BusyError, match=rf"'first' is being played .*number {os.getpid()}\)"),
            Evaluations(elsewhere, clock).hold(made),
        ):
            pass
    with Evaluations(elsewhere, clock).hold(made):
        pass
    elsewhere.close()


def test_settings_that_changed_meanwhile_are_not_played(evaluations):
    made = evaluations.open("first", SETUP)
    with evaluations.hold(evaluations.open("first", changed(games=9))):
        pass
    with pytest.raises(ConflictError, match="9 there, 5 here"), evaluations.hold(made):
        pass
    with evaluations.hold(evaluations.open("first", changed(games=9))):
        pass


def test_signs_of_life_and_what_is_wanted(evaluations, clock):
    made = evaluations.open("first", SETUP)
    live = {"boards": [{"squares": ["X", None]}], "requests_per_s": 1.5}
    with evaluations.hold(made):
        assert evaluations.get("first").is_alive(clock())
        assert evaluations.beat(made, State.RUNNING, "", live, 1.5) is Wanted.RUN
        evaluations.want("first", Wanted.PAUSE)
        assert evaluations.beat(made, State.PAUSED, "down", live, 1.0) is Wanted.PAUSE
        stored = evaluations.get("first")
        assert (stored.state, stored.message, stored.live) == (State.PAUSED, "down", live)
        assert (stored.wanted, stored.seconds) == (Wanted.PAUSE, 2.5)
        assert stored.is_alive(clock())
        assert not stored.is_alive(clock() + timedelta(seconds=15))
        evaluations.end(made, State.STOPPED, "", 0.25)
    stopped = evaluations.get("first")
    assert (stopped.state, stopped.wanted, stopped.live) == (State.STOPPED, Wanted.RUN, {})
    assert (stopped.holder, stopped.seconds, stopped.finished_at) == (None, 2.75, None)
    assert not stopped.is_alive(clock())
    with pytest.raises(NotFoundError):
        evaluations.want("nobody's", Wanted.STOP)


def test_the_finish_mark_goes_when_it_is_played_on(evaluations):
    made = evaluations.open("first", SETUP)
    with evaluations.hold(made):
        evaluations.end(made, State.FINISHED, "", 0)
    assert evaluations.get("first").finished_at is not None
    with evaluations.hold(evaluations.open("first", changed(games=6))):
        assert evaluations.get("first").finished_at is None
