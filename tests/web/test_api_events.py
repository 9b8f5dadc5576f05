"""What who watches a game is told: the JSON routes of a real server."""

from __future__ import annotations

import json

import httpx2

from tests.servers import ModelServer, Say
from tests.web.answers import FIRST, events
from tests.web.process import Arena, Table, checkpoint, human


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
