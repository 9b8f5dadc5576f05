"""Resigning, stopping, and what models answer: the JSON routes of a real server."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.servers import Json, ModelServer, Reset, Say
from tests.web.answers import FIRST, error_of, lines, states
from tests.web.process import Table, checkpoint, human, says, squares, until


def test_resign_on_ones_own_turn(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), FIRST)
    state = table.resign("X")
    assert (state["outcome"], state["termination"]) == ("o", "resigned")
    assert error_of(table.try_resign("X"))[0] == 409


@pytest.mark.parametrize(("mark", "outcome"), [("X", "o"), ("O", "x")])
def test_resign_on_either_turn(visitor: httpx2.Client, mark: str, outcome: str) -> None:
    table = Table(visitor, human(), human())
    assert table.resign(mark)["outcome"] == outcome


def test_resign_while_the_model_thinks(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = Say("<move>4</move>", delay_s=30)
    table = Table(visitor, checkpoint(), human())
    until(lambda: model.requests)
    state = table.resign("O")
    assert (state["outcome"], state["termination"], state["ply"]) == ("x", "resigned", 0)
    assert table.look() == state


def test_stop_a_model_and_ask_again(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = Say("<move>4</move>", delay_s=60)
    table = Table(visitor, checkpoint(), human())
    until(lambda: model.requests)
    own, wrong = {"token": table.tokens["O"]}, {"token": "wrong"}
    for path in ("stop", "go-on"):
        assert error_of(visitor.post(f"games/{table.id}/{path}", json=wrong))[0] == 403
    model.answer = says(4)
    stopped = visitor.post(f"games/{table.id}/stop", json=own).json()
    assert (stopped["stopped"], stopped["ply"], stopped["thinking"]) == (True, 0, None)
    assert table.look()["stopped"]
    assert len(model.requests) == 1
    for _ in range(2):
        assert visitor.post(f"games/{table.id}/go-on", json=own).status_code == 200
    assert squares(table.my_turn()) == [4]
    assert len(model.requests) == 2


def test_an_invalid_reply_and_another_chance(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = says("I refuse to think.", 4, 0)
    table = Table(visitor, human(), checkpoint())
    table.move(4)
    table.my_turn()
    attempts = table.state["turns"][1]["attempts"]
    assert [each["verdict"] for each in attempts] == ["no_move", "occupied", "ok"]
    assert [each["number"] for each in attempts] == [1, 2, 3]
    assert [each["contains"] for each in attempts] == [False, True, True]
    assert attempts[0]["reply"] == "I refuse to think."
    assert table.state["turns"][1]["square"] == 0


def test_no_valid_reply_forfeits(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = says("no")
    table = Table(visitor, human(), checkpoint())
    table.move(4)
    table.my_turn()
    assert (table.state["outcome"], table.state["termination"]) == ("x", "forfeit_invalid")
    assert len(table.state["unanswered"]) == len(model.requests) == 8


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Json(500, {"error": {"message": "the GPU is on fire"}}), "the GPU is on fire"),
        (Json(401, {"error": {"message": "who are you"}}), "refused the key"),
        (Json(404, {"error": {"message": "The model does not exist"}}), "does not know the model"),
        (Reset(), "broke"),
    ],
)
def test_a_fault_of_the_provider_is_void_and_says_why(
    visitor: httpx2.Client, model: ModelServer, answer: Any, words: str
) -> None:
    model.answer = answer
    table = Table(visitor, human(), checkpoint())
    table.move(4)
    state = table.my_turn()
    assert (state["outcome"], state["termination"]) == ("void", "provider_error")
    assert words in state["fault"]
    assert squares(state) == [4]


def test_a_server_that_is_not_there(visitor: httpx2.Client) -> None:
    table = Table(visitor, checkpoint("unreachable"), human())
    assert table.my_turn()["termination"] == "provider_error"
    assert "refused" in table.state["fault"]


def test_odd_characters_of_a_reply_survive(visitor: httpx2.Client, model: ModelServer) -> None:
    """Lone surrogates, NUL, line separators, markup: the same everywhere, but for surrogates in
    exports, whose readers do not take them."""
    reply = "<think>\ud800 \x00 \u2028 \udfff</think><move>0</move><script>fire()</script>"
    model.answer = [Say(reply, reasoning="\udc00\0")]
    table = Table(visitor, human(), checkpoint())
    table.move(4)
    table.my_turn()
    assert table.state["turns"][1]["attempts"][0]["reply"] == reply
    assert table.state["turns"][1]["attempts"][0]["reasoning"] == "\udc00\0"
    table.resign("X")
    [state] = states(visitor, table.id)
    assert state["turns"][1]["attempts"][0]["reply"] == reply
    readable = reply.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    [row] = lines(visitor.get("export/games", params={"id": table.id}))
    assert row["turns"][1]["attempts"][0]["reply"] == readable
    assert json.loads(row["replaced"])["turns.1.attempts.0.reply"] == [[7, "d800"], [13, "dfff"]]
    [row] = lines(visitor.get("export/messages", params={"id": table.id}))
    assert row["messages"][-1]["content"] == readable
    assert row["replaced"] == 3
    preview = visitor.get("export/messages/preview", params={"id": table.id}).json()
    assert preview["rows"] == [row]
