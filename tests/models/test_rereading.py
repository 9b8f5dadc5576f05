"""Stored verdicts against what the replies say, read again."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from arena.board import start
from arena.game import Attempt, Message, Verdict
from arena.players import Identity, Kind
from models.library import SHIPPED
from models.reply import read
from models.rereading import rereader
from tests.models.test_reply import CASES, board_for

REREAD = rereader(SHIPPED)
TAGS = SHIPPED["tags"]
MODEL = Identity(Kind.MODEL, "m", prompt=TAGS.name, prompt_hash=TAGS.hash)
RIGHT = Attempt(
    prompt=(Message("user", "Your move."),),
    reply="<think>center 4</think><move>4</move>",
    verdict=Verdict.OK,
    square=4,
    contains=True,
    exact=True,
    finish_reason="stop",
)


NOTHING = replace(RIGHT, reply="", square=None, contains=False, exact=False)


def test_a_verdict_that_the_reply_bears_out():
    assert REREAD(MODEL, start(), RIGHT) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reply": "<think>x</think><move>5</move>"}, "read as ok on square 5, .* ok on square 4"),
        ({"reply": "four"}, "read as no_move, .* ok on square 4"),
        ({"verdict": Verdict.OCCUPIED}, "read as ok on square 4, .* occupied on square 4"),
        ({"verdict": Verdict.NO_MOVE, "square": None}, "read as ok on square 4, .* no_move"),
    ],
)
def test_a_verdict_that_it_contradicts(change, words):
    wrong = REREAD(MODEL, start(), replace(RIGHT, **change))
    assert wrong is not None
    assert re.search(words, wrong)


def test_what_the_text_alone_cannot_contradict():
    refused = replace(NOTHING, verdict=Verdict.REFUSAL)
    assert REREAD(MODEL, start(), refused) is None
    called_a_tool = replace(NOTHING, verdict=Verdict.NO_MOVE)
    assert REREAD(MODEL, start(), called_a_tool) is None


def test_a_format_that_is_not_known_is_borne():
    stranger = replace(MODEL, prompt_hash="0" * 12)
    assert REREAD(stranger, start(), replace(RIGHT, reply="four")) is None


@pytest.mark.parametrize("case", CASES)
def test_every_recorded_reply_is_what_the_reader_stored(case):
    board = board_for(case)
    found = read({"content": case["reply"]}, case["finish_reason"], TAGS.answer, board)
    stored = replace(
        RIGHT,
        reply=found.text,
        verdict=found.verdict,
        square=found.square,
        contains=found.contains,
        exact=found.exact,
        finish_reason=case["finish_reason"],
    )
    assert REREAD(MODEL, board, stored) is None
    for check, flipped in (
        ("contains", replace(stored, contains=not stored.contains)),
        ("exact", replace(stored, exact=not stored.exact)),
    ):
        wrong = REREAD(MODEL, board, flipped)
        assert wrong is not None
        assert f"the format ({check}), and the line says" in wrong
