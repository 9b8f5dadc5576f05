from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, insert, select, text

from storage.columns import Instant, Json, LosslessText, Whole
from tests.storage.conftest import Clock
from tests.storage.samples import json_values, texts

TABLE = Table(
    "things",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("words", LosslessText),
    Column("json", Json),
    Column("number", Whole),
    Column("at", Instant),
)


def stored(**values):
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        TABLE.create(connection)
        connection.execute(insert(TABLE).values(**values))
        back = connection.execute(select(TABLE)).one()
        raw = connection.execute(text("SELECT * FROM things")).one()
    engine.dispose()
    return back, raw


@settings(deadline=None, max_examples=200)
@given(texts, json_values, st.none() | st.integers())
def test_everything_comes_back(words, json, number):
    back, _ = stored(words=words, json=json, number=number)
    assert (back.words, back.json, back.number) == (words, json, number)


def test_two_lone_surrogates_in_a_row_are_no_character():
    back, _ = stored(words="\ud83d\ude00", json=["\ud83d\ude00"])
    assert list(back.words) == ["\ud83d", "\ude00"]
    assert back.json == ["\ud83d\ude00"]


def test_ordinary_text_is_readable_in_the_shell():
    _, raw = stored(words="é 😀\n", json={"b": "é", "a": 1}, number=1 << 62)
    assert (raw.words, raw.json, raw.number) == ("é 😀\n", '{"a":1,"b":"é"}', 1 << 62)


def test_nothing_is_nothing():
    back, raw = stored(words=None, number=None, at=None)
    assert back.words is back.number is back.at is None
    assert raw.words is raw.at is None


def test_a_time_is_milliseconds():
    at = Clock()().replace(microsecond=123_999)
    back, raw = stored(at=at)
    assert back.at == at.replace(microsecond=123_000)
    assert raw.at == int(at.timestamp()) * 1000 + 123
