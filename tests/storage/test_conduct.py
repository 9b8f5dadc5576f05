"""An evaluation played in a process, on a real database: stored, gone on with, steered, killed."""

import asyncio
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from arena.board import Mark, Outcome
from arena.control import Control, State
from arena.errors import StorageError
from arena.opponents import parse
from arena.plan import Plan
from arena.players import EnginePlayer
from storage import Database, GameFilter, Games, Source, matrix, recompute
from storage import conduct as module
from storage.cells import done_cells
from storage.conduct import conduct
from storage.evaluations import Evaluations, Wanted
from storage.filters import Result
from storage.setups import Setup
from tests.storage.chatter import Chatter
from tests.storage.evaluator import OPPONENTS, now

ROOT = Path(__file__).parents[2]
PLAN = Plan(OPPONENTS, games=8)


@pytest.fixture
def evaluations(db, clock):
    return Evaluations(db, clock)


def cells(db):
    """The stored games that are not void, by opponent, whether the chatter opened, and seed."""
    games = Games(db, now).find(GameFilter(source=Source.EVALUATION, counts=True), limit=10_000)
    found: Counter[tuple[str, bool, int, int]] = Counter()
    for game in games:
        mark = Mark.X if game.x.identity.name == "chatter" else Mark.O
        opponent = (game.o if mark is Mark.X else game.x).identity.name
        found[opponent, mark is game.opener, game.seed, game.rollout] += 1
    return found


def planned(plan):
    return Counter((c.opponent, c.opening, c.seed, c.rollout) for c in plan)


async def go(evaluations, games, player=None, plan=PLAN, name="e", **options):
    player = player or Chatter()
    evaluation = evaluations.open(name, Setup((player.identity,), plan, concurrency=3))
    ended = await conduct(evaluations, games, evaluation, [player], first_pause_s=0.001, **options)
    return ended, player


async def test_it_is_played_and_marked_as_finished(evaluations, games, db):
    ended, _ = await go(evaluations, games)
    assert ended == (State.FINISHED, "", 0)
    assert cells(db) == planned(PLAN)
    stored = evaluations.get("e")
    assert (stored.state, stored.holder, stored.live) == (State.FINISHED, None, {})
    assert stored.finished_at > stored.created_at
    assert matrix(db) == recompute(db)


async def test_it_goes_on_and_grows(evaluations, games, db):
    await go(evaluations, games)
    ended, idle = await go(evaluations, games)
    assert (ended.state, idle.asked) == (State.FINISHED, 0)
    grown = Plan(OPPONENTS, games=10)
    await go(evaluations, games, plan=grown)
    assert cells(db) == planned(grown)


async def test_games_that_are_stored_are_not_played_again_whoever_played_them(
    evaluations, games, db
):
    await go(evaluations, games)
    _, idle = await go(evaluations, games, name="another", plan=Plan(OPPONENTS, games=6))
    assert idle.asked == 0
    rollouts = Plan(OPPONENTS, games=8, rollouts=2)
    _, player = await go(evaluations, games, name="more", plan=rollouts)
    assert player.asked
    assert cells(db) == planned(rollouts)
    assert sum(1 for _ in games.find(limit=1000)) == len(rollouts)


async def test_what_resumes_is_what_is_missing(evaluations, games, db):
    """Void games are missing, unless they do not fit the context; other games are not looked at."""
    player = Chatter(faults=0.3, outgrown=0.2)
    plan = Plan(OPPONENTS, games=20, seed=5)
    ended, _ = await go(evaluations, games, player, plan=plan)
    assert ended.state is State.FINISHED
    evaluation = evaluations.open("e", Setup((player.identity,), plan, concurrency=3))
    (done,) = done_cells(db, evaluation)
    kept = games.find(GameFilter(source=Source.EVALUATION), limit=10_000)
    outgrown = {game.id for game in kept if game.termination == "context_exceeded"}
    assert outgrown
    assert len(done) == sum(cells(db).values()) + len(outgrown) == len(plan) - ended.void
    _, again = await go(evaluations, games, plan=plan)
    assert bool(again.asked) is bool(ended.void)


async def test_replies_of_an_opponent_depend_on_the_seed_alone(tmp_path, clock):
    """At any concurrency, whatever was void before."""
    played = []
    for faults, concurrency in ((0.0, 1), (0.3, 7)):
        db = Database.open(tmp_path / f"{concurrency}.db")
        evaluations, games = Evaluations(db, clock), Games(db, clock)
        for _ in range(9):
            player = Chatter(faults=faults)
            setup = Setup((player.identity,), PLAN, concurrency=concurrency)
            ended = await conduct(
                evaluations, games, evaluations.open("e", setup), [player], first_pause_s=0.001
            )
            if not ended.void:
                break
        found = games.find(GameFilter(counts=True), limit=1000)
        key = lambda game: (game.x.identity.name, game.o.identity.name, game.seed)  # noqa: E731
        played.append({key(game): game.moves for game in found})
        db.close()
    assert played[0] == played[1]
    assert len(played[0]) == len(PLAN)


async def test_two_models_share_a_run(evaluations, games, db):
    players = [Chatter("chatter"), Chatter("other", settings={"a": 1})]
    setup = Setup(tuple(p.identity for p in players), PLAN, concurrency=4)
    await conduct(evaluations, games, evaluations.open("e", setup), players)
    assert [len(each) for each in done_cells(db, evaluations.get("e"))] == [len(PLAN)] * 2
    with pytest.raises(ValueError, match="not the players"):
        await conduct(evaluations, games, evaluations.get("e"), players[::-1])


async def until(evaluations, games, state, count=0):
    """The evaluation, once it is in a state and so many games are stored."""
    while True:
        # Before it is there, there are none.
        for found in await asyncio.to_thread(evaluations.all):
            if found.state is state and await asyncio.to_thread(games.count) >= count:
                return found
        await asyncio.sleep(0.01)


async def test_it_is_steered_from_another_process(evaluations, games, db, monkeypatch):
    monkeypatch.setattr(module, "BEAT_S", 0.01)

    plan = Plan(OPPONENTS, games=100_000)
    task = asyncio.create_task(go(evaluations, games, Chatter(wait_s=0.002), plan))
    await until(evaluations, games, State.RUNNING, count=20)
    running = await until(evaluations, games, State.RUNNING)
    assert running.live["boards"]
    assert set(running.live["boards"][0]["squares"]) <= {"X", "O", None}
    assert 0 < running.live["in_flight"] <= 3
    evaluations.want("e", Wanted.PAUSE)
    paused = await until(evaluations, games, State.PAUSED)
    evaluations.want("e", Wanted.RUN)
    running = await until(evaluations, games, State.RUNNING, count=games.count() + 10)
    assert running.live["games_per_s"] > 0
    assert running.live["seconds_left"] > 0
    evaluations.want("e", Wanted.STOP)
    ended, _ = await task
    assert ended.state is State.STOPPED
    stopped = evaluations.get("e")
    assert (stopped.state, stopped.finished_at) == (State.STOPPED, None)
    assert stopped.seconds > paused.seconds


async def test_an_endpoint_that_is_down_shows(evaluations, games, monkeypatch):
    monkeypatch.setattr(module, "BEAT_S", 0.01)
    control = Control()
    task = asyncio.create_task(
        go(evaluations, games, Chatter(faults=1.0), control=control, clock=time.monotonic)
    )
    paused = await until(evaluations, games, State.PAUSED)
    assert "chatter: " in paused.message
    assert "games in a row were void: busy" in paused.message
    assert paused.live["down"] == {"chatter": paused.message}
    control.stop()
    ended, _ = await task
    assert ended.state is State.STOPPED


async def test_a_disk_that_is_full_ends_it_and_says_so(evaluations, games, monkeypatch):
    def full(recordings, source):
        raise StorageError("the disk is full")

    monkeypatch.setattr(games, "record_many", full)
    with pytest.raises(StorageError, match="disk is full"):
        await go(evaluations, games)
    stored = evaluations.get("e")
    assert (stored.state, stored.message) == (State.FAILED, "the disk is full")


async def test_an_engine_can_be_evaluated_too(evaluations, games):
    player = EnginePlayer(parse("minimax:tie=first"))
    await go(evaluations, games, player)
    assert games.count(GameFilter(player=str(player.identity.name), result=Result.LOSS)) == 0
    assert games.count(GameFilter(outcome=Outcome.VOID)) == 0


def start(path, games, wait_s):
    command = [sys.executable, "-m", "tests.storage.evaluator", path, "e", str(games), str(wait_s)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_second_process_is_told_and_takes_over_when_the_first_is_dead(tmp_path, clock):
    path = tmp_path / "arena.db"
    first = start(path, 100_000, 0.01)
    assert first.stdout.readline() == "stored\n"
    second = start(path, 100_000, 0.01)
    said, wrong = second.communicate(timeout=60)
    assert second.returncode == 3, wrong
    assert f"'e' is being played by another process (number {first.pid})" in said
    first.kill()
    first.communicate()
    third = start(path, 100_000, 0.01)
    assert third.stdout.readline() == "stored\n"
    third.kill()
    third.communicate()


def test_killed_at_any_moment_it_loses_the_games_in_flight_and_doubles_none(tmp_path, clock):
    path, chance = tmp_path / "arena.db", random.Random(4)
    before, said = 0, 0
    for _ in range(6):
        process = start(path, 60, 0.004)
        lines = [process.stdout.readline() for _ in range(chance.randrange(25))]
        time.sleep(chance.random() / 20)
        process.kill()
        rest, _ = process.communicate(timeout=60)
        said += [*lines, *rest.splitlines(keepends=True)].count("stored\n")
        db = Database.open(path)
        stored = Games(db, clock).count(GameFilter(source=Source.EVALUATION))
        # What was said to be stored is; what was stored besides had not been said yet.
        assert before <= stored
        assert said <= stored <= said + 8 * 6
        assert set(cells(db).values()) <= {1}
        before = stored
        db.close()
    void = 1
    while void:
        out, err = start(path, 60, 0).communicate(timeout=120)
        state, left = out.splitlines()[-1].split()
        assert state == "finished", err
        void = int(left)
    db = Database.open(path)
    assert cells(db) == planned(Plan(OPPONENTS, 60))
    assert matrix(db) == recompute(db)
    assert Evaluations(db, clock).get("e").finished_at is not None
    db.close()
