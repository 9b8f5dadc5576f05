"""Who may play whom: the JSON routes of a real server."""

from __future__ import annotations

import httpx2

from tests.conftest import PASSWORD
from tests.servers import ModelServer
from tests.web.answers import error_of, total
from tests.web.process import Arena, Table, checkpoint, human


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
