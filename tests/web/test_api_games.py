"""New games and moves: the JSON routes of a real server."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.servers import ModelServer, Say
from tests.web.answers import FIRST, error_of, total
from tests.web.process import Arena, Table, checkpoint, engine, human, says, squares


def test_a_person_against_an_engine(visitor: httpx2.Client) -> None:
    table = Table(visitor, human("Ann"), FIRST)
    assert table.state["x"] == {
        "kind": "human",
        "name": "Ann",
        "family": None,
        "step": None,
        "prompt": None,
    }
    assert table.state["o"]["name"] == "minimax:tie=first"
    assert (table.state["to_move"], table.state["waiting_for"], table.state["ply"]) == (
        "X",
        "human",
        0,
    )
    assert set(table.tokens) == {"X"}
    assert table.state["url"] == f"/game/{table.id}"


def test_an_engine_that_opens_has_moved_at_once(visitor: httpx2.Client) -> None:
    table = Table(visitor, FIRST, human())
    assert (squares(table.state), table.state["to_move"]) == ([0], "O")
    table = Table(visitor, human(), FIRST, opener="O")
    assert (table.state["turns"][0]["mark"], table.state["to_move"]) == ("O", "X")


def test_two_engines_play_to_the_end_at_once(visitor: httpx2.Client) -> None:
    table = Table(visitor, FIRST, engine("minimax"))
    assert (table.state["outcome"], table.state["termination"]) == ("draw", "full_board")
    assert table.tokens == {}


def test_a_spec_is_stored_in_its_one_form(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), engine("minimax: tie=s0, value=depth"))
    assert table.state["o"]["name"] == "minimax:tie=first"


def test_a_model_that_opens(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = says(4)
    table = Table(visitor, checkpoint(), human())
    assert table.state["waiting_for"] == "model"
    table.my_turn()
    [turn] = table.state["turns"]
    assert (turn["mark"], turn["square"], turn["attempts"][0]["verdict"]) == ("X", 4, "ok")
    assert (table.state["x"]["family"], table.state["x"]["step"]) == ("taggers", 100)


def test_two_models(visitor: httpx2.Client, model: ModelServer) -> None:
    table = Table(visitor, checkpoint(), checkpoint("unreachable"))
    table.wait(lambda game: game["outcome"])
    assert (table.state["outcome"], table.state["ply"]) == ("void", 1)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"o": engine("minimax:tie=sideways")}, 422, "uniform, first, last"),
        ({"o": engine("stockfish")}, 422, "random"),
        ({"o": engine("x" * 201)}, 422, "200"),
        ({"o": checkpoint("taggr")}, 404, "tagger"),
        ({"o": checkpoint("tagger\0")}, 404, "no model is called"),
        ({"o": human("x" * 41)}, 422, "40"),
        ({"o": human("\ud800")}, 422, "string"),
        ({"o": {"kind": "oracle"}}, 422, "human"),
        ({"o": {"kind": "human", "spec": "random"}}, 422, "spec"),
        ({"o": {}}, 422, "kind"),
        ({"o": None}, 422, "o"),
        ({"opener": "Z"}, 422, "opener"),
        ({"seed": -1}, 422, "seed"),
        ({"seed": 1 << 53}, 422, "seed"),
        ({"surprise": 1}, 422, "surprise"),
    ],
)
def test_what_cannot_be_played_is_refused_and_nothing_is_stored(
    visitor: httpx2.Client, change: dict[str, Any], status: int, words: str
) -> None:
    before = total(visitor)
    body = json.dumps({"x": human(), "o": FIRST} | change)
    answer = visitor.post("games", content=body, headers={"content-type": "application/json"})
    found, message = error_of(answer)
    assert (found, total(visitor)) == (status, before)
    assert words in message


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("a\0b\u202e😀\n${1}", "ab😀${1}"),
        ("  Ann \t Lee ", "Ann Lee"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("\u200b\u2066\ufeff", ""),
        ("\u200d", ""),
    ],
)
def test_a_name_keeps_what_can_be_seen(visitor: httpx2.Client, typed: str, kept: str) -> None:
    table = Table(visitor, human(typed), FIRST)
    assert table.look()["x"]["name"] == kept


def test_games_of_one_of_the_players_of_a_name(visitor: httpx2.Client) -> None:
    """A person may be called like an engine: an entry of the leaderboard tells them apart."""
    spec = "minimax:tie=s6"
    Table(visitor, human(spec), engine(spec)).move(4)
    Table(visitor, engine("random"), engine(spec))
    rows = visitor.get("leaderboard").json()["players"]
    (own,) = (row["player"]["id"] for row in rows if row["player"]["name"] == spec)
    games = visitor.get("games", params={"player": spec, "player_id": own}).json()["games"]
    assert {g["x"]["kind"] for g in games} == {"human", "engine"}
    assert all(g["o"]["name"] == spec and g["o"]["kind"] == "engine" for g in games)
    assert visitor.get("games", params={"player": spec, "finished": False}).json()["total"] == 1


def test_a_whole_game(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), human())
    table.move(0, 3, 1, 4, 2)
    assert (table.state["outcome"], table.state["termination"]) == ("x", "line")
    assert table.state["line"] == [0, 1, 2]
    assert (table.state["to_move"], table.state["waiting_for"]) == (None, None)
    assert table.look() == table.state
    assert [turn["mark"] for turn in table.state["turns"]] == ["X", "O", "X", "O", "X"]


def test_the_engine_answers_within_the_request(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), FIRST)
    assert len(squares(table.move(4))) == 2


def test_the_same_seed_gets_the_same_replies(visitor: httpx2.Client) -> None:
    def line(seed: int) -> list[int]:
        return squares(Table(visitor, engine("random"), engine("minimax"), seed=seed).state)

    lines = [line(seed) for seed in (1, 1, 2, 3, 4)]
    assert lines[0] == lines[1]
    assert len({tuple(each) for each in lines}) > 1


def test_a_double_click_plays_one_move(visitor: httpx2.Client, arena: Arena) -> None:
    for _ in range(5):
        table = Table(visitor, human(), FIRST)
        with arena.client() as other, ThreadPoolExecutor(2) as pool:
            move = {"square": 4, "ply": 0, "token": table.tokens["X"]}
            path = f"games/{table.id}/moves"
            sent = [pool.submit(client.post, path, json=move) for client in (visitor, other)]
            answers = [each.result() for each in sent]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        assert squares(table.look()) == [4, 0]


def test_two_different_moves_at_once_play_one(visitor: httpx2.Client, arena: Arena) -> None:
    table = Table(visitor, human(), FIRST)
    with arena.client() as other, ThreadPoolExecutor(2) as pool:
        path = f"games/{table.id}/moves"
        answers = list(
            pool.map(
                lambda client, square: client.post(
                    path, json={"square": square, "ply": 0, "token": table.tokens["X"]}
                ),
                (visitor, other),
                (4, 8),
            )
        )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert table.look()["ply"] == 2


def test_a_stale_tab_plays_nothing(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), FIRST)
    table.move(4)
    assert error_of(table.try_move(8, ply=0))[0] == 409
    assert table.try_move(4, ply=0).status_code == 200
    assert error_of(table.try_move(8, ply=5))[0] == 409
    assert squares(table.look()) == [4, 0]


def test_a_taken_square(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), FIRST)
    table.move(4)
    status, message = error_of(table.try_move(0))
    assert (status, table.look()["ply"]) == (422, 2)
    assert "0" in message


@pytest.mark.parametrize("square", [-1, 9, 1.5, "centre", None, 10**30])
def test_no_square(visitor: httpx2.Client, square: Any) -> None:
    table = Table(visitor, human(), FIRST)
    assert error_of(table.try_move(square))[0] == 422
    assert table.look()["ply"] == 0


@pytest.mark.parametrize("token", ["", "wrong", "x" * 100, "☃", "None", "\0"])
def test_a_wrong_token(visitor: httpx2.Client, token: str) -> None:
    table = Table(visitor, human(), FIRST)
    assert error_of(table.try_move(4, token=token))[0] == 403
    answer = visitor.post(f"games/{table.id}/resign", json={"token": token})
    assert error_of(answer)[0] == 403
    assert (table.look()["ply"], table.state["outcome"]) == (0, None)


def test_the_token_of_the_other_seat_and_of_another_game(visitor: httpx2.Client) -> None:
    table, other = (Table(visitor, human(), human()) for _ in range(2))
    assert error_of(table.try_move(4, token=table.tokens["O"]))[0] == 403
    assert error_of(table.try_move(4, token=other.tokens["X"]))[0] == 403
    assert table.look()["ply"] == 0


def test_a_person_cannot_move_for_the_model(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = Say("<move>4</move>", delay_s=30)
    table = Table(visitor, checkpoint(), human())
    assert error_of(table.try_move(0, token=table.tokens["O"]))[0] == 403
    table.resign("O")


def test_a_move_after_the_end(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), human())
    table.move(0, 3, 1, 4, 2)
    assert error_of(table.try_move(5, token=table.tokens["O"]))[0] == 409
    answer = table.try_move(2, ply=4)
    assert (answer.status_code, answer.json()) == (200, table.state)
    assert table.look()["ply"] == 5


def test_two_people_at_one_board(visitor: httpx2.Client, arena: Arena) -> None:
    """Each in a browser of their own, with a seat each."""
    table = Table(visitor, human("Ann"), human("Bob"), opener="O")
    with arena.client() as other:
        for mark, square, client in (("O", 4, visitor), ("X", 0, other), ("O", 8, visitor)):
            body = {"square": square, "ply": table.look()["ply"], "token": table.tokens[mark]}
            assert client.post(f"games/{table.id}/moves", json=body).status_code == 200
    assert [turn["mark"] for turn in table.look()["turns"]] == ["O", "X", "O"]
