"""Lists, the leaderboard and exports: the JSON routes of a real server."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import httpx2
import pytest

from tests.servers import ModelServer
from tests.web.answers import FIRST, error_of, lines
from tests.web.process import Table, checkpoint, engine, human, says, squares


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
    # Nobody else's on this server, which tests share.
    spec = "minimax:tie=edge,epsilon=0.625"

    def row() -> dict[str, Any]:
        players = visitor.get("leaderboard").json()["players"]
        found = [each for each in players if each["player"]["name"] == spec]
        return found[0] if found else {}

    assert row() == {}
    table = Table(visitor, human("Leo"), engine(spec))
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
