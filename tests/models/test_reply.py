"""Reading replies: every recorded case, and that nothing can make it raise or take long."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from arena.board import Mark, board_of, start
from arena.game import Verdict
from models.reply import AnswerForm, read

DATA = Path(__file__).parents[1] / "data"
CASES = [json.loads(line) for line in (DATA / "replies.jsonl").read_text("utf-8").splitlines()]
TAGS = AnswerForm()


def board_for(case):
    squares = [Mark(mark) if mark else None for mark in case["board"]]
    mover = Mark(case["to_move"])
    level = squares.count(mover) == squares.count(mover.other)
    return board_of(squares, mover if level else mover.other)


def say(text, finish_reason="stop", form=TAGS, board=None, **fields):
    return read({"content": text, **fields}, finish_reason, form, board or start())


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{c['why']}" for n, c in enumerate(CASES)])
def test_every_recorded_reply(case):
    reading = say(case["reply"], case["finish_reason"], board=board_for(case))
    assert (reading.verdict, reading.square) == (case["verdict"], case["square"])
    assert reading.contains is case["follows_format"]
    assert reading.text == case["reply"]
    assert reading.contains or not reading.exact


@pytest.mark.parametrize(
    ("text", "finish_reason", "exact"),
    [
        ("<think>x</think><move>4</move>", "stop", True),
        ("\n <think>x\ny</think>\n\n<move>\n4 </move>\n", "stop", True),
        ("<think></think><move>nine</move>", "stop", True),
        ("<think>x</think><move>4</move>", "length", False),
        ("<think>x</think><move>4</move>", None, False),
        ("<think>x</think><move>4</move> so", "stop", False),
        ("so <think>x</think><move>4</move>", "stop", False),
        ("<think>x</think> so <move>4</move>", "stop", False),
        ("<think>x</think><move>4</move><move>4</move>", "stop", False),
        ("<think>x <move>1</move></think><move>4</move>", "stop", False),
        ("<think><think>x</think></think><move>4</move>", "stop", False),
        ("<move>4</move>", "stop", False),
    ],
)
def test_exact_is_one_thinking_then_one_answer_and_no_more(text, finish_reason, exact):
    assert say(text, finish_reason).exact is exact


def test_a_reasoning_field_counts_as_the_closed_thinking():
    reading = say("<move>4</move>", reasoning="Centre.")
    assert (reading.contains, reading.exact) == (True, True)
    assert (reading.reasoning, reading.reasoning_field) == ("Centre.", "reasoning")
    assert say("<move>4</move> maybe", "length", reasoning="Centre.").square == 4
    blank = say("<move>4</move>", reasoning_content=" \n")
    assert (blank.contains, blank.reasoning, blank.reasoning_field) == (False, None, None)


def test_thinking_among_the_parts_of_the_content_is_reasoning():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Centre."}]}
    reading = say([thinking, {"type": "text", "text": "<move>4</move>"}])
    assert (reading.text, reading.square) == ("<move>4</move>", 4)
    assert (reading.reasoning, reading.reasoning_field) == ("Centre.", "content")


def test_a_format_without_thinking_needs_the_answer_only():
    form = AnswerForm(thinking=False)
    assert say("<move>4</move>", form=form)[:4] == (Verdict.OK, 4, True, True)
    assert say("<move>4</move>", "length", form=form).verdict is Verdict.OK
    assert say("<think>x</think><move>4</move>", form=form).exact is False


def test_squares_may_be_counted_from_one():
    form = AnswerForm(opening="[[", closing="]]", base=1, thinking=False)
    assert say("[[1]]", form=form).square == 0
    assert say("[[9]]", form=form).square == 8
    assert say("[[0]]", form=form).verdict is Verdict.OUT_OF_RANGE
    assert say("[[[5]]]", form=form).square == 4


def test_each_complete_answer_is_recorded():
    assert say("<move>1</move> or <move>x <move> 3 </move> </move>").answers == ("1", " 3 ")


@pytest.mark.parametrize("reason", ["length", "model_length", "max_tokens"])
def test_servers_have_several_words_for_cut_off(reason):
    assert say("I think", reason).verdict is Verdict.TRUNCATED


@pytest.mark.parametrize(
    "tags",
    [("", "]"), ("<a b>", "]"), ("x", "]"), ("[", "["), ("[", "[["), ("<think>", "]"), ("<", "]")],
)
def test_tags_that_cannot_be_told_apart_are_refused(tags):
    with pytest.raises(ValidationError):
        AnswerForm(opening=tags[0], closing=tags[1])


ANY_TEXT = st.text(st.characters(codec=None)) | st.lists(
    st.sampled_from(["<think>", "</think>", "<move>", "</move>", "4", " ", "\x00", "\ud83d", "x"])
).map("".join)
_FIELDS = ["content", "reasoning", "reasoning_content", "reasoning_details", "refusal"]
_PARTS = ["tool_calls", "type", "text", "thinking", "summary", "role"]
ANY_FIELD = st.sampled_from(_FIELDS + _PARTS) | st.text(max_size=3)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_FIELD, inner),
    max_leaves=12,
)


@given(message=ANY_JSON, finish_reason=ANY_JSON, base=st.sampled_from([0, 1]), think=st.booleans())
@example(message={"content": [{"type": ["thinking"]}]}, finish_reason=[], base=0, think=True)
def test_reading_never_raises_whatever_was_sent(message, finish_reason, base, think):
    form = AnswerForm(base=base, thinking=think)
    reading = read(message, finish_reason, form, start())
    assert (reading.verdict is Verdict.OK) == (reading.square is not None)


@given(text=ANY_TEXT, finish_reason=st.sampled_from(["stop", "length", "content_filter", None]))
def test_a_text_is_kept_and_judged_by_its_last_answer(text, finish_reason):
    reading = say(text, finish_reason)
    assert reading.text == text
    if reading.square is not None:
        assert reading.answers[-1].strip() == str(reading.square)
    assert reading.contains or not reading.exact
    # An upper bound on the work: no answer overlaps another, so each character is read once.
    assert sum(map(len, reading.answers)) <= len(text)


@pytest.mark.parametrize(
    "unit",
    ["<think>", "</think>", "<move>", "</move>", "<move></move>", "<move>4", "\ud83d", "\x00", "9"],
)
def test_a_million_characters_are_read(unit):
    # Quadratic work would take minutes here, and the whole run would say so.
    text = unit * (1_000_000 // len(unit))
    assert say(text, "length").verdict is not Verdict.OK
    assert say(f"<think>x</think>{text}<move>{text}</move>").text.endswith("</move>")
