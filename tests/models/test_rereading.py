"""Stored verdicts against what the replies say, read again."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from arena.board import start
from arena.game import Attempt, Message, Verdict
from arena.players import Identity, Kind
from models.library import SHIPPED
from models.rereading import rereader

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
    refused = replace(RIGHT, reply="", verdict=Verdict.REFUSAL, square=None)
    assert REREAD(MODEL, start(), refused) is None
    called_a_tool = replace(RIGHT, reply="", verdict=Verdict.NO_MOVE, square=None)
    assert REREAD(MODEL, start(), called_a_tool) is None


def test_a_format_that_is_not_known_is_borne():
    stranger = replace(MODEL, prompt_hash="0" * 12)
    assert REREAD(stranger, start(), replace(RIGHT, reply="four")) is None
