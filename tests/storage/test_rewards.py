"""Runs of other environments in figures, each against a plain count."""

import statistics
from contextlib import contextmanager
from itertools import pairwise
from math import isclose, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import NotFoundError, StorageError
from storage import rewards
from storage.rewards import Bin, _bins
from tests.storage.imports.samples import dump
from tests.storage.rollouts import rollout, store, write


def test_a_mean_counts_examples(db):
    store(db, ("a", 1.0), ("a", 0.0), ("b", 0.9), ("c", 0.2), ("c", None), ("d", None))
    (run,) = rewards.runs(db)
    assert (run.examples, run.rollouts, run.void) == (3, 4, 2)
    assert (run.fewest, run.most) == (1, 2)
    means = [0.5, 0.9, 0.2]
    assert run.mean == pytest.approx(statistics.mean(means))
    assert run.standard_error == pytest.approx(statistics.stdev(means) / sqrt(3))
    assert run.reasons == (("it failed", 2),)
    assert rewards.run(db, run.id) == run


def test_an_episode_that_nobody_sat_down_to_is_one_of_its_examples_rollouts(db):
    played = [rollout(n, ("a", 1.0), seat="agent") for n in range(3)]
    write(db, [*played, rollout(3, ("a", None))])
    (run,) = rewards.runs(db)
    assert (run.fewest, run.most) == (4, 4)
    assert (run.examples, run.rollouts, run.void) == (1, 3, 1)
    # Of each seat's where several play; alone, an example has no others.
    seats = [rollout(n + 10, ("b", 1.0), seat=seat) for n, seat in enumerate(("x", "o", "o"))]
    write(db, [*seats, rollout(20, ("b", None)), rollout(21, ("c", None))])
    (run,) = rewards.runs(db)
    assert (run.fewest, run.most, run.void) == (1, 4, 3)


def test_what_was_not_measured_is_none(db):
    store(db, 0.5)
    store(db, None, run="all failed")
    failed, one = rewards.runs(db)
    assert (one.mean, one.standard_error) == (0.5, None)
    assert (failed.mean, failed.examples, failed.rollouts) == (None, 0, 0)
    assert rewards.distribution(db, failed.id) == []
    assert rewards.functions(db, failed.id) == []


def test_reasons_the_most_frequent_first(db):
    write(
        db,
        [rollout(n, None, why_void=why) for n, why in enumerate(("b", "a", "c", "a", "c", "c"))],
    )
    assert rewards.runs(db)[0].reasons == (("c", 3), ("a", 2), ("b", 1))


def test_few_rewards_are_told_one_by_one(db):
    store(db, 0.1 + 0.2, 0.3, 1, -0.0, 0.0)
    id = rewards.runs(db)[0].id
    assert rewards.distribution(db, id) == [Bin(0.0, 0.0, 2), Bin(0.3, 0.3, 2), Bin(1.0, 1.0, 1)]


def test_many_rewards_fall_into_intervals(db):
    store(db, *(n / 1000 for n in range(1000)), 5.0)
    id = rewards.runs(db)[0].id
    found = rewards.distribution(db, id)
    assert found[0] == Bin(0.0, 0.5, 500)
    assert found[1] == Bin(0.5, 1.0, 500)
    assert [each.rollouts for each in found[2:-1]] == [0] * 8
    assert found[-1] == Bin(5.0, 5.5, 1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=21, max_size=60, unique=True))
def test_intervals_hold_every_reward_once(values):
    values = sorted({round(value, 9) for value in values})
    if len(values) < 2:
        return
    found = _bins(dict.fromkeys(values, 2))
    assert sum(each.rollouts for each in found) == 2 * len(values)
    assert len(found) <= rewards.FEW + 2
    width = found[0].high - found[0].low
    for one, other in pairwise(found):
        assert one.high == other.low
        assert isclose(other.high - other.low, width, rel_tol=1e-6, abs_tol=1e-9)
    # What lies on an edge, but for the last digits, is on it.
    slack = 1e-11 * width
    for each in found:
        within = sum(each.low - slack <= value < each.high + slack for value in values)
        assert each.rollouts <= 2 * within


def test_reward_functions_have_means_of_their_own(db):
    parts = (
        ("a", {"won": [1.0, 1.0], "format": [0.5, 0.2]}),
        ("a", {"won": [0.0, 1.0], "format": None}),
        ("b", {"won": [1.0, 1.0], "late": None}),
        ("b", {"won": [1.0, 1.0], "format": [1.0, 0.4]}),
    )
    rollouts = [rollout(n, (ex, 1.0), parts=each) for n, (ex, each) in enumerate(parts)]
    write(db, [*rollouts, rollout(9, ("c", None), parts={"won": [0.0, 1.0]})])
    format_, late, won = rewards.functions(db, rewards.runs(db)[0].id)
    assert (won.name, won.weight, won.rollouts, won.mean) == ("won", 1.0, 4, 0.75)
    assert won.standard_error == pytest.approx(statistics.stdev([0.5, 1.0]) / sqrt(2))
    assert (format_.weight, format_.rollouts, format_.mean) == (None, 2, 0.75)
    assert (late.rollouts, late.mean, late.weight) == (0, None, None)


def test_a_run_is_removed_whole_and_alone(db):
    before = dump(db)
    store(db, 1.0, None)
    alone = dump(db)
    store(db, 0.0, 0.5, 1.0, run="another")
    another, first = rewards.runs(db)
    assert rewards.remove(db, another.id) == 3
    assert dump(db) == alone
    assert rewards.remove(db, first.id) == 2
    assert dump(db) == before


def test_a_removal_that_is_broken_off_leaves_true_figures(db, monkeypatch):
    store(db, *[1.0] * 1200, parts={"won": [1.0, 1.0]})
    writes, write = 0, db.write

    @contextmanager
    def held():
        nonlocal writes
        writes += 1
        if writes > 2:
            raise StorageError("another process holds it")
        with write() as session:
            yield session

    monkeypatch.setattr(db, "write", held)
    with pytest.raises(StorageError, match="another process"):
        rewards.remove(db, 1)
    monkeypatch.undo()
    (left,) = rewards.runs(db)
    (won,) = rewards.functions(db, 1)
    assert 0 < left.rollouts == left.examples == won.rollouts < 1200
    assert rewards.remove(db, 1) == left.rollouts
    assert rewards.runs(db) == []


@pytest.mark.parametrize("look", [rewards.run, rewards.distribution, rewards.functions])
def test_there_is_no_such_run(db, look):
    store(db, 1.0)
    with pytest.raises(NotFoundError, match="no imported run 7"):
        look(db, 7)
    with pytest.raises(NotFoundError, match="no imported run 7"):
        rewards.remove(db, 7)
    assert len(rewards.runs(db)) == 1
