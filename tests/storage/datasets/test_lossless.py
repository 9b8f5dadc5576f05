"""What no reader takes is found wherever it stands, taken out, and put back."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from storage.datasets.lossless import REPLACEMENT, fits, put_back, take_out, text_of, tidied
from tests.storage.samples import texts

numbers = st.integers(-(1 << 66), 1 << 66)
values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("a"), inner),
    max_leaves=6,
)
rows = st.fixed_dictionaries(
    {"reply": values, "more": st.lists(st.fixed_dictionaries({"square": numbers, "said": values}))}
)


def is_taken(value: Any) -> bool:
    """Whether UTF-8 and 64 bits hold it all."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    if isinstance(value, dict | list):
        return all(map(is_taken, value.values() if isinstance(value, dict) else value))
    return True


@given(rows)
@example({"reply": "\ud800", "more": []})
@example({"reply": [[["é", {"a": "\udfff"}]]], "more": []})
@example({"reply": "é", "more": [{"square": 1 << 63, "said": None}]})
@example({"reply": "é", "more": [{"square": -(1 << 63), "said": "😀"}]})
def test_a_row_comes_back_as_it_was(row: dict[str, Any]) -> None:
    before = copy.deepcopy(row)
    assert fits(row.values()) == is_taken(row)
    fitting, kept = take_out(row)
    assert row == before
    assert (text_of(kept) is None) == is_taken(row)
    assert is_taken(fitting)
    json.dumps(fitting, ensure_ascii=False).encode()
    there = copy.deepcopy(fitting)
    put_back(there, kept)
    assert there == before


@given(rows)
def test_a_row_for_training_says_what_it_lost(row: dict[str, Any]) -> None:
    before = copy.deepcopy(row)
    tidy = tidied(row)
    assert row == before
    text = json.dumps({key: tidy[key] for key in row}, ensure_ascii=False)
    text.encode()
    asked = json.dumps(before, ensure_ascii=False)
    assert text.count(REPLACEMENT) - asked.count(REPLACEMENT) == tidy["replaced"]
