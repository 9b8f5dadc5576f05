import dataclasses
import json

import pytest

from arena.board import Mark, Outcome
from arena.errors import NotFoundError
from arena.game import Game, Message, Request, Termination, Turn, Verdict
from arena.players import Kind
from storage import Flavour, GameFilter, Result, Source, filter_of, jsonl, rows
from tests.storage.samples import (
    FIRST,
    MODEL,
    OPENER_WINS,
    PERSON,
    RANDOM,
    attempt,
    chat,
    game_of,
)

STORE = Source.STORE


def conversation(*, keep_reasoning=False, fresh=False, empty_at=None, reasoning=None):
    """A game that a model (X) won, with the attempts that led to its three moves.

    At ply 2 the model first names a square that is taken; at `empty_at` it first says nothing.
    """
    game = Game(seed=5)
    history = [Message("system", "rules")]

    def ask(text, reply, verdict=Verdict.OK):
        nonlocal history
        if fresh and "again" not in text:
            history = history[:1]
        if history[-1].role == "user":
            history[-1] = Message("user", f"{history[-1].content}\n{text}")
        else:
            history.append(Message("user", text))
        made = attempt(
            history,
            reply,
            verdict,
            4,
            reasoning=reasoning,
            requests=(Request(200, 0.1, {"top_p": 1, "stop": [None]}),),
        )
        if reply:
            history.append(Message("assistant", reply, reasoning if keep_reasoning else None))
        return made

    for ply, square in enumerate(OPENER_WINS):
        made = []
        if ply % 2 == 0:
            if ply == empty_at:
                made.append(ask(f"board {ply}", "", Verdict.EMPTY))
            elif ply == 2:
                made.append(ask(f"board {ply}", "<move>3</move>", Verdict.OCCUPIED))
            made.append(ask("again" if made else f"board {ply}", f"<move>{square}</move>"))
        game.add(Turn(game.to_move, square, tuple(made)))
    return game


def messages_of(db, filter=None):
    return list(rows(db, "messages", filter))


def texts(row):
    return [message["content"] for message in row["messages"]]


def test_a_chat_is_one_row_with_exactly_what_was_sent_and_received(games, db):
    game = conversation()
    id = games.record(game, MODEL, RANDOM, STORE)
    (row,) = messages_of(db)
    assert texts(row) == [
        "rules",
        "board 0",
        "<move>0</move>",
        "board 2",
        "<move>3</move>",
        "again",
        "<move>1</move>",
        "board 4",
        "<move>2</move>",
    ]
    assert [message["role"] for message in row["messages"]] == [
        "system",
        *["user", "assistant"] * 4,
    ]
    facts = {key: value for key, value in row.items() if key not in ("messages", "finished_at")}
    assert facts == {
        "game": id,
        "ply": None,
        "player": "tiny",
        "family": "family",
        "step": 100,
        "opponent": "random",
        "mark": "X",
        "opener": "X",
        "outcome": "x",
        "termination": "line",
        "result": "win",
        "moves": list(OPENER_WINS),
        "seed": 5,
        "rollout": 0,
        "source": "store",
        "prompt_format": "tags",
        "prompt_hash": "a1b2",
        "settings": '{"model":"t","sampling":{"top_p":1}}',
        "replies": 4,
        "invalid": 1,
        "contains": 3,
        "exact": 0,
        "demonstration": False,
        "replaced": 0,
    }


def test_fresh_prompts_make_one_row_a_turn(games, db):
    games.record(conversation(fresh=True), MODEL, RANDOM, STORE)
    found = messages_of(db)
    assert [row["ply"] for row in found] == [0, 2, 4]
    assert [row["replies"] for row in found] == [1, 2, 1]
    assert texts(found[1]) == ["rules", "board 2", "<move>3</move>", "again", "<move>1</move>"]


def test_an_empty_reply_that_was_left_out_cuts_the_chat(games, db):
    games.record(conversation(empty_at=4), MODEL, RANDOM, STORE)
    found = messages_of(db)
    assert [(row["ply"], row["replies"]) for row in found] == [(0, 1), (2, 2), (4, 1), (4, 1)]
    assert texts(found[2])[-2:] == ["board 4", ""]
    assert texts(found[3])[-2:] == ["board 4\nagain", "<move>2</move>"]
    assert all(len(texts(row)) > 2 for row in found)


def test_reasoning_that_was_dropped_cuts_the_chat(games, db):
    games.record(conversation(reasoning="because"), MODEL, RANDOM, STORE)
    found = messages_of(db)
    assert [row["ply"] for row in found] == [0, 2, 2, 4]
    for row in found:
        assert row["messages"][-1]["reasoning_content"] == "because"
        assert not any("reasoning_content" in each for each in row["messages"][:-1])


def test_reasoning_that_was_sent_back_stays(games, db):
    games.record(conversation(reasoning="because", keep_reasoning=True), MODEL, RANDOM, STORE)
    (row,) = messages_of(db)
    assert sum("reasoning_content" in each for each in row["messages"]) == 4


def test_each_models_seat_has_its_row(games, db):
    other = dataclasses.replace(MODEL, name="other")
    replies = {0: [attempt(chat("s", "u"), "0")], 1: [attempt(chat("S", "U"), "3")]}
    games.record(game_of(OPENER_WINS, attempts=replies), MODEL, other, STORE)
    assert [(row["player"], row["result"]) for row in messages_of(db)] == [
        ("tiny", "win"),
        ("other", "loss"),
    ]
    (row,) = messages_of(db, GameFilter(player="other"))
    assert (row["mark"], texts(row)) == ("O", ["S", "U", "3"])
    assert messages_of(db, GameFilter(player="other", result=Result.WIN)) == []


def test_what_has_no_row_of_messages(games, db):
    games.record(game_of(OPENER_WINS), FIRST, RANDOM, STORE)
    games.record(game_of(OPENER_WINS, seed=1), PERSON, RANDOM, Source.PLAY)
    games.create(PERSON, MODEL, Mark.X, 0, {})
    assert messages_of(db) == []
    assert messages_of(db, GameFilter(kind=Kind.ENGINE)) == []
    assert len(list(rows(db, "games"))) == 2


def test_the_number_of_games_in_an_export(games, db):
    games.record(game_of(OPENER_WINS), FIRST, RANDOM, STORE)
    games.record(conversation(fresh=True), MODEL, RANDOM, STORE)
    games.create(PERSON, MODEL, Mark.X, 0, {})
    for flavour, number in ((Flavour.MESSAGES, 1), (Flavour.GAMES, 2)):
        assert games.count(filter_of(flavour, GameFilter())) == number
        assert len({row["game"] for row in rows(db, flavour)}) == number


def test_the_end_without_a_move_is_part_of_the_chat(games, db):
    game = Game()
    wrong = attempt(chat("s", "u"), "?", Verdict.NO_MOVE, None)
    game.end(Termination.FORFEIT_INVALID, Mark.X, attempts=[wrong])
    games.record(game, MODEL, RANDOM, STORE)
    void = game_of([0, 4], seed=1)
    void.end(Termination.PROVIDER_ERROR, attempts=[wrong])
    games.record(void, MODEL, RANDOM, STORE)
    (lost,) = messages_of(db)
    (none,) = messages_of(db, GameFilter(outcome=Outcome.VOID))
    assert (texts(lost), lost["result"], lost["invalid"]) == (["s", "u", "?"], "loss", 1)
    assert (texts(none), none["result"], none["ply"]) == (["s", "u", "?"], None, None)


def test_a_row_of_games_has_everything(games, db):
    game = conversation(reasoning="because")
    games.record(game, MODEL, FIRST, STORE)
    (row,) = rows(db, "games")
    assert row["x"]["settings"] == '{"model":"t","sampling":{"top_p":1}}'
    assert row["o"]["deterministic"] is True
    assert [turn["square"] for turn in row["turns"]] == list(OPENER_WINS)
    made = row["turns"][2]["attempts"]
    kept = game.turns[2].attempts
    assert [each["verdict"] for each in made] == ["occupied", "ok"]
    assert [each["prompt"] for each in made] == [
        [{"role": m.role, "content": m.content} for m in each.prompt] for each in kept
    ]
    assert made[0]["requests"][0]["sent"] == '{"stop":[null],"top_p":1}'
    assert len(made[0]) == len(dataclasses.fields(kept[0]))


def test_no_secret_leaves(games, db):
    id = games.create(PERSON, RANDOM, Mark.X, 0, {Mark.X: "secret"})
    for plies in range(1, 6):
        games.append(id, game_of(OPENER_WINS[:plies]))
    (line,) = jsonl(rows(db, "games"))
    assert b"token" not in line
    assert b"secret" not in line
    assert json.loads(line)["turns"][0]["at"] == "2026-01-01T00:00:02.000+00:00"


def test_lines_are_ascii_and_hold_what_every_reader_takes(games, db):
    """Half of a pair becomes a replacement, and the row says so; both halves the character."""
    reply = "lone \ud800, é, \0, 😀, \ud83d\ude00\n"
    game = game_of(OPENER_WINS, attempts={0: [attempt(chat("s", "u"), reply)]})
    games.record(game, MODEL, RANDOM, STORE)
    for flavour in ("messages", "games"):
        (line,) = jsonl(rows(db, flavour))
        assert line.isascii()
        assert line.count(b"\n") == 1
    (line,) = jsonl(rows(db, "messages"))
    row = json.loads(line)
    assert row["messages"][-1]["content"] == "lone \ufffd, é, \0, 😀, 😀\n"
    assert row["replaced"] == 1
    (line,) = jsonl(rows(db, "games"))
    row = json.loads(line)
    kept = row["turns"][0]["attempts"][0]["reply"]
    assert kept == "lone \ufffd, é, \0, 😀, \ufffd\ufffd\n"
    assert json.loads(row["replaced"]) == {
        "turns.0.attempts.0.reply": [[5, "d800"], [17, "d83d"], [18, "de00"]]
    }


def test_the_same_games_give_the_same_bytes_in_order(games, db, monkeypatch):
    ids = [games.record(game_of(OPENER_WINS, seed=n), FIRST, RANDOM, STORE) for n in range(7)]
    whole = list(jsonl(rows(db, "games")))
    monkeypatch.setattr("storage.datasets.stream.BATCH", 2)
    assert list(jsonl(rows(db, "games"))) == whole
    assert [json.loads(line)["game"] for line in whole] == ids
    some = GameFilter(ids=tuple(ids[2:5]))
    assert list(jsonl(rows(db, "games", some))) == whole[2:5]


def test_games_that_arrive_meanwhile_are_left_out(games, db, monkeypatch):
    monkeypatch.setattr("storage.datasets.stream.BATCH", 1)
    for seed in range(3):
        games.record(game_of(OPENER_WINS, seed=seed), FIRST, RANDOM, STORE)
    seen = 0
    for row in rows(db, "games"):
        seen += 1
        games.record(game_of(OPENER_WINS, seed=100 + row["seed"]), FIRST, RANDOM, STORE)
    assert seen == 3


def test_whoever_is_told_of_each_game_may_end_the_rows(games, db, monkeypatch):
    monkeypatch.setattr("storage.datasets.stream.BATCH", 2)
    for seed in range(5):
        games.record(game_of(OPENER_WINS, seed=seed), MODEL, RANDOM, STORE)
    # For pairs the games are gone through twice.
    told = 0

    def count():
        nonlocal told
        told += 1

    def tire():
        count()
        if told > 3:
            raise KeyboardInterrupt

    for flavour, times in (("games", 5), ("turns", 5), ("preference", 10)):
        told = 0
        list(rows(db, flavour, on_game=count))
        assert told == times
    told = 0

    found = rows(db, "games", on_game=tire)
    assert [next(found)["seed"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt):
        next(found)
    assert list(found) == []


def test_an_unknown_flavour(db):
    with pytest.raises(NotFoundError, match="no flavour 'parquet': valid are messages, turns"):
        rows(db, "parquet")
