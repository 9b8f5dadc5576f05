"""The JSON routes of a real server, over HTTP, with real SQLite and a real server as the model."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.conftest import PASSWORD
from tests.servers import Json, ModelServer, Reset, Say
from tests.web.process import Arena, Table, checkpoint, engine, human, says, squares, until

FIRST = engine("minimax:tie=first")


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    """The status and message of an error, after a look at its shape."""
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "message"}
    assert body["error"]["message"]
    return answer.status_code, body["error"]["message"]


def lines(answer: httpx2.Response) -> list[dict[str, Any]]:
    """The rows of an export."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.content.splitlines()]


def total(client: httpx2.Client) -> int:
    return client.get("games", params={"limit": 0}).json()["total"]


# -- a new game ------------------------------------------------------------------------------------


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


# -- moves -----------------------------------------------------------------------------------------


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


# -- resigning -------------------------------------------------------------------------------------


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


# -- models ----------------------------------------------------------------------------------------


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


# -- who may play whom -----------------------------------------------------------------------------


def test_a_model_that_is_not_public(visitor: httpx2.Client, operator: httpx2.Client) -> None:
    before = total(visitor)
    answer = visitor.post("games", json={"x": human(), "o": checkpoint("hidden")})
    assert error_of(answer)[0] == 403
    assert total(visitor) == before
    Table(operator, human(), checkpoint("hidden"))


def test_who_is_offered_what(visitor: httpx2.Client, operator: httpx2.Client) -> None:
    def offered(client: httpx2.Client) -> tuple[bool, dict[str, bool]]:
        players = client.get("players").json()
        assert players["password_set"]
        return players["operator"], {each["name"]: each["playable"] for each in players["models"]}

    is_operator, models = offered(visitor)
    assert (is_operator, models["tagger"], models["hidden"]) == (False, True, False)
    is_operator, models = offered(operator)
    assert (is_operator, models["tagger"], models["hidden"]) == (True, True, True)


def test_signing_in_and_out(arena: Arena) -> None:
    with arena.client() as client:
        wrong = client.post("operator/sign-in", json={"password": "correct horse battery"})
        assert error_of(wrong) == (403, "wrong password")
        assert not client.get("players").json()["operator"]
        right = client.post("operator/sign-in", json={"password": PASSWORD})
        cookie = right.headers["set-cookie"].lower()
        assert right.status_code == 204
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert PASSWORD not in cookie
        assert client.get("players").json()["operator"]
        assert client.post("operator/sign-out").status_code == 204
        assert not client.get("players").json()["operator"]


def test_a_forged_session(arena: Arena) -> None:
    for forged in ("", "x", "99999999999.0", "99999999999.", ".", "é.ü", "1" * 5000):
        with arena.client(headers={"cookie": f"arena_operator={forged}".encode()}) as client:
            answer = client.get("players")
            assert (answer.status_code, answer.json()["operator"]) == (200, False), forged


def test_visitors_share_a_cap(
    visitor: httpx2.Client, operator: httpx2.Client, model: ModelServer
) -> None:
    def begin(client: httpx2.Client) -> httpx2.Response:
        return client.post("games", json={"x": human(), "o": checkpoint("capped")})

    begun = [begin(visitor).json() for _ in range(2)]
    status, message = error_of(begin(visitor))
    assert status == 429
    assert "capped" in message
    assert begin(operator).status_code == 201
    assert error_of(begin(visitor))[0] == 429
    for each in begun:
        path = f"games/{each['game']['id']}/resign"
        assert visitor.post(path, json={"token": each["tokens"]["X"]}).status_code == 200
    after = begin(visitor)
    assert after.status_code == 201
    path = f"games/{after.json()['game']['id']}/resign"
    visitor.post(path, json={"token": after.json()["tokens"]["X"]})


# -- events ----------------------------------------------------------------------------------------


def events(client: httpx2.Client, game_id: str) -> Any:
    """The events of a game until it is over or a person is to move, as (name, data)."""
    with client.stream("GET", f"games/{game_id}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                yield name, data
                if name == "state" and data["waiting_for"] != "model":
                    return


def states(client: httpx2.Client, game_id: str) -> list[dict[str, Any]]:
    return [data for name, data in events(client, game_id) if name == "state"]


def test_the_events_of_a_models_turn(visitor: httpx2.Client, model: ModelServer) -> None:
    """What is said comes in pieces; what was said last may come with the turn only."""
    texts = ("nothing of use", "<think>corner</think><move>0</move>")
    model.answer = [Say(text, reasoning="let me see", piece_delay_s=0.1) for text in texts]
    table = Table(visitor, human(), checkpoint())
    table.move(4)
    seen = list(events(visitor, table.id))
    assert [name for name, _ in (seen[0], seen[-1])] == ["state", "state"]
    assert {name for name, _ in seen[1:-1]} == {"said"}
    assert seen[-1][1] == table.look()
    said: dict[int, dict[str, str]] = {}
    for _, data in seen[1:-1]:
        if data["start"]:
            said[data["attempt"]] = {"reasoning": "", "text": ""}
        for part in ("reasoning", "text"):
            said[data["attempt"]][part] += data[part]
    for number, text in enumerate(texts, 1):
        assert said[number]["reasoning"] == "let me see"
        assert said[number]["text"]
        assert text.startswith(said[number]["text"])


def test_what_is_being_said_is_in_the_state(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = Say("<think>long thoughts</think><move>0</move>", piece_delay_s=1)
    table = Table(visitor, checkpoint(), human())
    state = table.wait(lambda game: game["thinking"] and game["thinking"]["text"])
    assert state["thinking"]["text"].startswith("<thi")
    assert (state["thinking"]["attempt"], state["thinking"]["trouble"]) == (1, "")
    table.resign("O")


def test_the_events_of_a_finished_game_end(visitor: httpx2.Client) -> None:
    table = Table(visitor, FIRST, FIRST)
    with visitor.stream("GET", f"games/{table.id}/events") as answer:
        assert answer.read().count(b"event: state") == 1


def test_a_watcher_sees_the_moves_of_others(visitor: httpx2.Client, arena: Arena) -> None:
    table = Table(visitor, human(), human())
    with arena.client() as watcher, watcher.stream("GET", f"games/{table.id}/events") as answer:
        plies = []
        for line in answer.iter_lines():
            if line.startswith("data: "):
                plies.append(json.loads(line.removeprefix("data: "))["ply"])
                if len(plies) <= 5:
                    table.move((0, 3, 1, 4, 2)[len(plies) - 1])
    assert plies == [0, 1, 2, 3, 4, 5]


# -- lists and the leaderboard ---------------------------------------------------------------------


def test_the_list_of_games_and_its_pages(visitor: httpx2.Client) -> None:
    ids = [Table(visitor, human("Pia"), FIRST).id for _ in range(5)]
    query: dict[str, Any] = {"player": "Pia", "limit": 2}
    pages = [visitor.get("games", params=query).json()]
    while pages[-1]["older"]:
        pages.append(visitor.get("games", params=query | {"before": pages[-1]["older"]}).json())
    assert [page["total"] for page in pages] == [5, 5, 5]
    assert [game["id"] for page in pages for game in page["games"]] == ids[::-1]


def test_the_filters(visitor: httpx2.Client) -> None:
    won = Table(visitor, human("Fil"), human("Ter"))
    won.move(0, 3, 1, 4, 2)
    open_ = Table(visitor, human("Ter"), human("Fil"))

    def found(**query: Any) -> set[str]:
        answer = visitor.get("games", params={"player": "Fil"} | query)
        assert answer.status_code == 200, answer.text
        return {game["id"] for game in answer.json()["games"]}

    assert found() == found(opponent="Ter") == found(source="play") == {won.id, open_.id}
    assert found(opening=True) == found(outcome="x") == found(result="win") == {won.id}
    assert found(opening=False) == {open_.id}
    assert found(result="loss") == found(source="store") == found(rated=True) == set()
    assert found(id=won.id) == {won.id}
    assert found(since="2020-01-01T00:00:00Z") == {won.id, open_.id}
    assert found(until="2020-01-01T00:00:00Z") == set()
    assert found(since="2020-01-01") == {won.id, open_.id}


@pytest.mark.parametrize(
    "query",
    [
        {"outcome": "victory"},
        {"limit": 201},
        {"limit": "many"},
        {"before": -1},
        {"since": "yesterday"},
        {"colour": "red"},
    ],
)
@pytest.mark.parametrize("route", ["games", "export/games", "export/games/preview"])
def test_a_filter_that_is_none(visitor: httpx2.Client, route: str, query: dict[str, Any]) -> None:
    status, message = error_of(visitor.get(route, params=query))
    assert (status, next(iter(query)) in message) == (422, True)


@pytest.mark.parametrize(
    "query", [{"before": 1 << 64}, {"player": ""}, {"player": "\0"}, {"since": "0001-01-01"}]
)
def test_an_odd_filter_finds_what_it_finds(visitor: httpx2.Client, query: dict[str, Any]) -> None:
    answer = visitor.get("games", params=query)
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        error_of(answer)


def test_a_game_with_a_person_moves_no_rate(visitor: httpx2.Client) -> None:
    def row() -> dict[str, Any]:
        players = visitor.get("leaderboard").json()["players"]
        found = [each for each in players if each["player"]["name"] == "minimax:tie=edge"]
        return found[0] if found else {}

    assert row() == {}
    table = Table(visitor, human("Leo"), engine("minimax:tie=edge"))
    assert row() == {}
    table.resign("X")
    assert (row()["people"]["games"], row()["people"]["wins"]) == (1, 1)
    assert (row()["opening"]["games"], row()["replying"]["games"]) == (0, 0)
    assert row()["replying"]["not_lost"] is None
    standings = visitor.get("leaderboard").json()
    [leo] = [each for each in standings["people"] if each["player"]["name"] == "Leo"]
    assert (leo["people"]["games"], leo["people"]["losses"]) == (1, 1)
    ids = {leo["player"]["id"], row()["player"]["id"]}
    assert not [e for e in standings["matrix"] if {e["player_id"], e["opponent_id"]} & ids]


# -- exports ---------------------------------------------------------------------------------------


def test_messages_are_what_the_model_received_and_sent(
    visitor: httpx2.Client, model: ModelServer
) -> None:
    """Compared with the model server's own record of a game with an invalid reply in it."""
    replies = says(0, "<think>hm</think>nowhere", 8, 1)
    model.answer = replies
    table = Table(visitor, human("Mia"), checkpoint())
    table.move(4, 2)
    table.my_turn()
    table.resign("X")
    [row] = lines(visitor.get("export/messages", params={"id": table.id}))
    received = model.requests[-1].body["messages"]
    assert row["messages"] == [*received, {"role": "assistant", "content": replies[2].text}]
    answers = [each["content"] for each in row["messages"] if each["role"] == "assistant"]
    assert answers == [reply.text for reply in replies[:3]]
    for number, request in enumerate(model.requests):
        sent = request.body["messages"]
        assert sent == row["messages"][: len(sent)]
        assert row["messages"][len(sent)]["content"] == replies[number].text
    assert (row["game"], row["player"], row["opponent"], row["mark"]) == (
        table.id,
        "tagger",
        "Mia",
        "O",
    )
    assert (row["replies"], row["invalid"], row["result"]) == (3, 1, "win")


def test_games_hold_everything(visitor: httpx2.Client, model: ModelServer) -> None:
    model.answer = says("hm", 0)
    table = Table(visitor, human("Eve"), checkpoint())
    table.move(4)
    table.my_turn()
    table.resign("X")
    [row] = lines(visitor.get("export/games", params={"id": table.id}))
    state = table.look()
    assert [turn["square"] for turn in row["turns"]] == row["moves"] == squares(state) == [4, 0]
    assert (row["x"]["name"], row["o"]["name"]) == ("Eve", "tagger")
    assert (row["outcome"], row["termination"], row["seed"], row["source"]) == (
        "o",
        "resigned",
        state["seed"],
        "play",
    )
    attempts = row["turns"][1]["attempts"]
    assert [each["prompt"] for each in attempts] == [
        request.body["messages"] for request in model.requests
    ]
    assert [each["seed"] for each in attempts] == [
        request.body["seed"] for request in model.requests
    ]
    assert [each["requests"][0]["status"] for each in attempts] == [200, 200]
    assert json.loads(attempts[0]["requests"][0]["sent"])["max_tokens"] == 1024


def test_no_export_or_route_tells_a_secret(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), human())
    table.move(0, 3, 1, 4, 2)
    paths = (f"games/{table.id}", "games", "export/games", "export/games/preview", "leaderboard")
    told = "".join(visitor.get(path).text for path in paths)
    for token in table.tokens.values():
        assert token not in told
        assert hashlib.sha256(token.encode()).hexdigest() not in told
    assert "token_hash" not in told


def test_a_game_under_way_is_not_exported(visitor: httpx2.Client) -> None:
    table = Table(visitor, human(), FIRST)
    assert lines(visitor.get("export/games", params={"id": table.id})) == []


def test_an_unknown_flavour(visitor: httpx2.Client) -> None:
    for path in ("export/vanilla", "export/vanilla/preview"):
        status, message = error_of(visitor.get(path))
        assert status in (404, 422)
        assert "messages" in message


# -- every route -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "games/none", None, 404),
        ("GET", "games/none/events", None, 404),
        ("GET", "games/%00%ff", None, 404),
        ("POST", "games/none/moves", {"square": 0, "ply": 0, "token": ""}, 404),
        ("POST", "games/none/resign", {"token": ""}, 404),
        ("POST", "games/none/stop", {"token": ""}, 404),
        ("POST", "games/none/go-on", {"token": ""}, 404),
        ("POST", "games", None, 422),
        ("POST", "games", [], 422),
        ("POST", "games/none/moves", {"square": 0}, 422),
        ("POST", "operator/sign-in", {}, 422),
        ("POST", "operator/sign-in", {"password": "x" * 1001}, 422),
        ("GET", "nowhere", None, 404),
        ("DELETE", "games", None, 405),
        ("PUT", "games/none", {}, 405),
        ("GET", "operator/sign-in", None, 405),
        ("POST", "leaderboard", {}, 405),
    ],
)
def test_every_error_has_the_same_shape(
    visitor: httpx2.Client, method: str, path: str, body: Any, status: int
) -> None:
    answer = visitor.request(method, path, json=body)
    assert error_of(answer)[0] == status


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"nul", b'{"x": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_json(visitor: httpx2.Client, body: bytes) -> None:
    answer = visitor.post("games", content=body, headers={"content-type": "application/json"})
    assert error_of(answer)[0] in (400, 422)


def test_the_docs_load_nothing_from_elsewhere(arena: Arena) -> None:
    page = httpx2.get(f"{arena.url}/api/v1/docs")
    assert page.status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text
    spec = httpx2.get(f"{arena.url}/api/v1/openapi.json").json()
    assert {"/games", "/games/{game_id}/moves", "/export/{flavour}"} <= set(spec["paths"])
    for path, methods in spec["paths"].items():
        for method, told in methods.items():
            assert told.get("summary"), (method, path)
            assert "4XX" in told["responses"], (method, path)
