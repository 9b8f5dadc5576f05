"""Transcripts by example, in each order, kept and paged."""

import pytest

from arena.errors import NotFoundError
from storage import rewards
from storage.transcripts import Kept, Order, count_transcripts, transcripts
from tests.storage.rollouts import rollout, store, write

REWARDS = [("a", 0.5), ("b", 1.0), ("a", 0.1), ("c", None), ("b", 0.0), ("a", None), ("d", 0.4)]


@pytest.fixture
def run(db):
    store(db, 0.7, 0.6, run="another")
    store(db, *REWARDS)
    return rewards.runs(db)[0].id


def told(found):
    return [(each.example, each.reward) for each in found]


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        (
            Order.GIVEN,
            [("a", 0.5), ("a", 0.1), ("a", None), ("b", 1.0), ("b", 0.0), ("c", None), ("d", 0.4)],
        ),
        (
            Order.BEST,
            [("b", 1.0), ("b", 0.0), ("d", 0.4), ("a", 0.5), ("a", 0.1), ("a", None), ("c", None)],
        ),
        (
            Order.WORST,
            [("a", 0.1), ("a", 0.5), ("a", None), ("d", 0.4), ("b", 0.0), ("b", 1.0), ("c", None)],
        ),
    ],
)
def test_those_of_one_example_stand_together(db, run, order, wanted):
    assert told(transcripts(db, run, order=order)) == wanted
    pages = [transcripts(db, run, order=order, skip=skip, limit=3) for skip in (0, 3, 6, 9)]
    assert [told(page) for page in pages] == [wanted[:3], wanted[3:6], wanted[6:], []]


def test_what_is_kept(db, run):
    assert told(transcripts(db, run, Kept(example="b"))) == [("b", 1.0), ("b", 0.0)]
    assert told(transcripts(db, run, Kept(void=True))) == [("a", None), ("c", None)]
    counted = transcripts(db, run, Kept("a", void=False), order=Order.WORST)
    assert told(counted) == [("a", 0.1), ("a", 0.5)]
    assert count_transcripts(db, run) == len(REWARDS)
    assert count_transcripts(db, run, Kept("a", void=True)) == 1
    assert count_transcripts(db, run, Kept("0")) == 0


@pytest.mark.parametrize("example", ["", "  x ", "\ud800\n", "x" * 100_000])
def test_an_example_by_one_of_its_rollouts(db, example):
    store(db, (example, 0.0), ("x", 1.0), (example, 1.0), run="odd")
    store(db, (example, 0.5), run="another")
    (another,), (first, last, _) = (transcripts(db, number) for number in (2, 1))
    for each in (first, last):
        found = transcripts(db, 1, Kept(like=each.id), order=Order.WORST)
        assert told(found) == [(example, 0.0), (example, 1.0)]
    assert count_transcripts(db, 1, Kept(like=another.id)) == 0


def test_all_that_was_stored_comes_back(db):
    chat = [{"role": "user", "content": "\ud800 <b>"}, {"role": "assistant", "content": [1]}]
    parts = {"f": [0.5, None], "g": None}
    one = rollout(0, ("e", 0.5), messages=chat, parts=parts, model="m", seat="left")
    write(db, [one])
    (found,) = transcripts(db, rewards.runs(db)[0].id)
    assert (found.messages, found.parts) == (chat, parts)
    assert (found.model, found.seat, found.why_void) == ("m", "left", None)
    assert found.game is None
    assert found.unfollowed is None


def test_there_is_no_such_run(db, run):
    for look in (transcripts, count_transcripts):
        with pytest.raises(NotFoundError, match="no imported run 77"):
            look(db, 77)
