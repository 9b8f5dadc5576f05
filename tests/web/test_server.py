"""The process: what it serves, what it keeps when it is killed, what it never tells."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest

from tests.conftest import KEY
from tests.servers import Json, ModelServer, Say
from tests.web.process import ROOT, Arena, Table, checkpoint, engine, human, says, squares, until

# -- what it serves --------------------------------------------------------------------------------


def test_it_is_well(arena: Arena) -> None:
    answer = httpx2.get(f"{arena.url}/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/leaderboard",
        "/checkpoints",
        "/checkpoint",
        "/compare",
        "/games",
        "/datasets",
        "/game",
    ],
)
def test_every_page_answers(arena: Arena, path: str) -> None:
    answer = httpx2.get(f"{arena.url}{path}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")


def test_the_permalink_of_a_game(arena: Arena) -> None:
    answer = httpx2.get(f"{arena.url}/game/a-b_c")
    assert (answer.status_code, answer.headers["location"]) == (307, "/game?id=a-b_c")
    answer = httpx2.get(f"{arena.url}/game/%0d%0aset-cookie:x&id=y")
    assert answer.headers["location"] == "/game?id=%0D%0Aset-cookie%3Ax%26id%3Dy"
    assert "set-cookie" not in answer.headers


def test_a_page_that_is_not_there(arena: Arena) -> None:
    assert httpx2.get(f"{arena.url}/nowhere").status_code == 404


def test_a_port_that_is_taken_is_said_in_a_sentence(arena: Arena) -> None:
    command = [sys.executable, "app.py", "--port", str(arena.port)]
    tried = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert tried.returncode == 1
    assert str(arena.port) in tried.stderr
    assert "Traceback" not in tried.stderr


# -- what it keeps ---------------------------------------------------------------------------------


@dataclass
class Killed:
    """Games of a server that was killed in the midst of them, and has started again."""

    people: Table
    """Three moves made."""
    against_engine: Table
    """One move made, and answered."""
    thinking: Table
    """One move made, which a model was to answer."""
    gone: Table
    """The same, but the model has been removed meanwhile."""
    gone_later: Table
    """Its model has been removed, but a person is to move."""


@pytest.fixture(scope="module")
def killed(home: Arena, model_server: ModelServer) -> Iterator[Killed]:
    model_server.answer = Say("<move>0</move>", delay_s=60)
    model_server.requests.clear()
    file = home.folder / "models.toml"
    models = file.read_text("utf-8")
    with home.client() as client:
        tables = Killed(
            Table(client, human(), human()),
            Table(client, human(), engine(), seed=7),
            Table(client, human(), checkpoint()),
            *(Table(client, human(), checkpoint("capped")) for _ in range(2)),
        )
        tables.people.move(0, 3, 1)
        for table in (tables.against_engine, tables.thinking, tables.gone):
            table.move(4)
        until(lambda: len(model_server.requests) == 2)
        home.stop(signal.SIGKILL)
        model_server.answer = says(0)
        file.write_text(models.replace('name = "capped"', 'name = "uncapped"'), "utf-8")
        home.start()
        yield tables
    file.write_text(models, "utf-8")


def test_every_answered_move_is_there(killed: Killed) -> None:
    assert squares(killed.people.look()) == [0, 3, 1]
    assert squares(killed.against_engine.look()) == [4, 0]


def test_the_game_goes_on(killed: Killed) -> None:
    killed.people.move(4, 2)
    assert killed.people.state["outcome"] == "x"
    assert killed.against_engine.move(8)["ply"] == 4


def test_the_model_goes_on_by_itself(killed: Killed, model_server: ModelServer) -> None:
    until(lambda: len(model_server.requests) == 3)
    assert squares(killed.thinking.my_turn()) == [4, 0]
    assert killed.thinking.move(8)["ply"] == 3


def test_a_model_that_is_gone_makes_the_game_void(killed: Killed) -> None:
    state = killed.gone.my_turn()
    assert (state["outcome"], squares(state)) == ("void", [4])
    assert "capped is not registered" in state["fault"]


def test_a_game_whose_model_is_gone_waits_for_its_person(killed: Killed) -> None:
    assert killed.gone_later.look()["outcome"] is None
    killed.gone_later.move(4)
    assert killed.gone_later.my_turn()["outcome"] == "void"


THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
from arena.board import start
from arena.solver import solve
found = []
threads = [threading.Thread(target=lambda: found.append(start())) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for board in found: solve(board)
"""


def test_the_first_requests_may_come_at_once() -> None:
    """Boards are compared by identity, and threads that load games are the first to need them."""
    subprocess.run([sys.executable, "-c", THREADS], cwd=ROOT, check=True, capture_output=True)


# -- what it never tells ---------------------------------------------------------------------------


def test_a_key_is_found_nowhere(arena: Arena, model: ModelServer) -> None:
    """A careless server quotes the request's headers in its errors."""

    def quote(body: object) -> Json:
        received = model.requests[-1].headers
        assert KEY in received["Authorization"]
        return Json(400, {"error": {"message": f"bad request with {received}", "was": received}})

    model.answer = quote
    with arena.client() as client:
        table = Table(client, human(), checkpoint())
        table.move(4)
        assert "bad request" in table.my_turn()["fault"]
        routes = (
            f"games/{table.id}",
            f"games/{table.id}/events",
            "games",
            "players",
            "leaderboard",
            "export/games",
            "export/messages",
            "export/games/preview",
            "openapi.json",
        )
        told = [client.get(route).content for route in routes]
        told += [httpx2.get(f"{arena.url}{page}").content for page in ("/", "/game")]
    told += [file.read_bytes() for file in arena.folder.rglob("*") if file.is_file()]
    told.append(arena.log.read_bytes())
    assert table.id.encode() in b"".join(told)
    assert KEY.encode() not in b"".join(told)


def test_the_log_is_quiet(arena: Arena) -> None:
    """It says where the server is. A traceback would be a fault that nobody saw."""
    first, *rest = arena.log.read_text("utf-8").splitlines()
    assert first == f"Tic-Tac-Toe Arena: http://localhost:{arena.port}"
    assert [line for line in rest if "Traceback" in line or line.startswith("ERROR")] == []
