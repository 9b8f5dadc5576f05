"""Runs of other environments as the routes give and remove them, on a server of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from storage import Database
from storage.imports import import_files
from storage.imports.rollouts import Rollout
from storage.transcripts import Transcript
from tests.conftest import MARKUP, PASSWORD
from tests.storage.imports.chats import PLAIN
from tests.storage.rollouts import rollout, write
from tests.web.process import Arena
from web.rewards import rollout_out

LINES = Path(__file__).parents[1] / "data" / "traces" / "lines.jsonl"
CALL = {"id": "1", "function": {"name": "count", "arguments": '{"x": 1}'}}
ODD: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url"}]},
    {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [CALL]},
    {"role": "tool", "content": f"\ud800 {MARKUP}"},
    {"role": "assistant", "content": 7, "tool_calls": [{"name": "f", "arguments": {}}, "g()", 5]},
]


def games() -> list[Rollout]:
    """A game won, one lost unseen, one that nobody believes, and a void one."""
    torn = PLAIN.tell([4, 0, 8, 2]).messages
    torn[3]["content"] = torn[3]["content"].replace("O", "X")
    chats = [PLAIN.tell(moves).messages for moves in ([4, 0, 1, 2, 7], [4, 0, 8])]
    parts = {"win": [1.0, None], "late": None}
    rollouts = [
        rollout(n, (f"{n // 2}", 0.5), "games", messages=chat, parts=parts)
        for n, chat in enumerate([*chats, torn])
    ]
    return [*rollouts, rollout(3, ("1", None), "games", messages=ODD, model=MARKUP)]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server with a run of `vf-eval` and one of games."""
    folder = tmp_path_factory.mktemp("runs")
    db = Database.open(folder / "data" / "arena.db")
    import_files(db, [LINES])
    write(db, games())
    db.close()
    server = Arena(folder / "data", {"ARENA_OPERATOR_PASSWORD": PASSWORD})
    server.start()
    yield server
    server.stop()


def get(arena: Arena, path: str, **asked: Any) -> Any:
    with arena.client() as visitor:
        answer = visitor.get(path, params=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_the_list_and_a_run_say_the_same(shown: Arena) -> None:
    played, lines = get(shown, "runs")["runs"]
    assert (lines["name"], lines["environment"], lines["models"]) == (
        "lines",
        "reverse_words",
        ["scripted"],
    )
    assert (lines["examples"], lines["rollouts"], lines["void"]) == (4, 12, 0)
    assert (lines["fewest"], lines["most"]) == (3, 3)
    assert lines["mean"] == pytest.approx(0.8)
    assert lines["standard_error"] == pytest.approx(0.2)
    whole = get(shown, f"runs/{lines['id']}")
    assert {key: whole[key] for key in lines} == lines
    assert [each["rollouts"] for each in whole["distribution"]] == [3, 9]
    assert [(each["name"], each["weight"]) for each in whole["functions"]] == [
        ("brief", 0.2),
        ("reversed_words", 0.8),
    ]
    assert whole["games"] is None
    assert (played["void"], played["reasons"]) == (1, [{"why": "it failed", "rollouts": 1}])


def test_games_as_far_as_they_are_shown(shown: Arena) -> None:
    number = get(shown, "runs")["runs"][0]["id"]
    found = get(shown, f"runs/{number}")["games"]
    wanted = {"games": 2, "distinct": 2, "won": 1, "drawn": 0, "lost": 0, "unseen": 1, "open": 0}
    assert found["opening"] == wanted
    assert found["replying"]["games"] == 0
    why = "the board cannot follow from the one before"
    assert found["unfollowed"] == [{"why": why, "rollouts": 1}]
    first, second, third, void = get(shown, f"runs/{number}/rollouts")["rollouts"]
    assert first["game"] == {
        "opener": "X",
        "mark": "X",
        "moves": "40127",
        "squares": ["O", "X", "O", None, "X", None, None, "X", None],
        "ending": "won",
    }
    assert (second["game"]["ending"], third["game"]) == ("unseen", None)
    assert third["unfollowed"] == f"message 4: {why}"
    assert first["parts"] == [
        {"name": "late", "score": None, "weight": None},
        {"name": "win", "score": 1.0, "weight": None},
    ]
    assert (void["reward"], void["why_void"], void["model"]) == (None, "it failed", MARKUP)


def test_messages_of_every_form_become_texts() -> None:
    parts: dict[str, Any] = {}
    odd = rollout_out(Transcript(1, "e", "", "", 0.0, parts, None, ODD, None, None))
    assert [each.text for each in odd.messages] == [
        'Look:\n{"type": "image_url"}',
        "",
        f"\ud800 {MARKUP}",
        "7",
    ]
    assert [each.reasoning for each in odd.messages] == [None, "hm", None, None]
    assert odd.messages[1].calls == ['count({"x": 1})']
    assert odd.messages[3].calls == ["f({})", "g()", "5"]


def test_rollouts_are_kept_ordered_and_paged(shown: Arena) -> None:
    number = get(shown, "runs")["runs"][1]["id"]

    def rewards(**asked: Any) -> list[float]:
        page = get(shown, f"runs/{number}/rollouts", **asked)
        return [round(each["reward"], 9) for each in page["rollouts"]]

    assert rewards(order="worst", limit=4) == [0.2, 0.2, 0.2, 1.0]
    assert rewards(order="best", skip=8, limit=100) == [1.0, 0.2, 0.2, 0.2]
    assert rewards(void="true") == []
    first = get(shown, f"runs/{number}/rollouts")
    assert (first["total"], len(first["rollouts"])) == (12, 10)
    example = first["rollouts"][4]["example"]
    only = get(shown, f"runs/{number}/rollouts", example=example, void="false")
    assert (only["total"], {each["example"] for each in only["rollouts"]}) == (3, {example})


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("runs/77", 404, "there is no imported run 77"),
        ("runs/77/rollouts", 404, "there is no imported run 77"),
        ("runs/x", 422, "run_id"),
        ("runs/-1", 422, "run_id"),
        ("runs/99999999999999999999", 422, "run_id"),
        ("runs/1/rollouts?order=sideways", 422, "order"),
        ("runs/1/rollouts?limit=101", 422, "limit"),
        ("runs/1/rollouts?skip=-1", 422, "skip"),
        ("runs/1/rollouts?colour=red", 422, "colour"),
    ],
)
def test_what_there_is_not(shown: Arena, path: str, status: int, said: str) -> None:
    with shown.client() as visitor:
        answer = visitor.get(path)
        assert answer.status_code == status
        assert said in answer.json()["error"]["message"]


def test_the_docs_name_the_routes(shown: Arena) -> None:
    paths = get(shown, "openapi.json")["paths"]
    for path in ("/runs", "/runs/{run_id}", "/runs/{run_id}/rollouts"):
        answer = paths[path]["get"]["responses"]["200"]["content"]["application/json"]
        assert "$ref" in json.dumps(answer)


def test_a_run_is_removed_by_the_operator_alone(shown: Arena) -> None:
    number = get(shown, "runs")["runs"][0]["id"]
    assert get(shown, f"runs/{number}")["removable"] is False
    with shown.client() as visitor:
        refused: httpx2.Response = visitor.delete(f"runs/{number}")
        assert refused.status_code == 403
    assert len(get(shown, "runs")["runs"]) == 2
    with shown.client() as operator:
        operator.post("operator/sign-in", json={"password": PASSWORD})
        assert operator.get(f"runs/{number}").json()["removable"] is True
        assert operator.delete(f"runs/{number}").json() == {"removed": 4}
        assert operator.delete(f"runs/{number}").status_code == 404
    assert [run["name"] for run in get(shown, "runs")["runs"]] == ["lines"]
