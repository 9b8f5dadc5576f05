"""Evaluations over HTTP: real processes that a real server starts, against a real model server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.servers import Json, ModelServer, PolicyModel
from tests.web.evaluating import (
    Slow,
    evaluating,
    look,
    process_of,
    sign_in,
    start,
    steer,
    watch,
)
from tests.web.process import ROOT, Arena, until

ARENA = (sys.executable, "-m", "cli")
FINISHED = "finished"
SLOW_S = 0.1


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(PolicyModel()) as server:
        yield server


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Iterator[Arena]:
    with evaluating(tmp_path_factory.mktemp("evaluations") / "data", server) as arena:
        yield arena


@pytest.fixture(scope="module")
def whole(desk: Arena) -> dict[str, Any]:
    """The first evaluation, at its end."""
    asked = {"opponents": ["random", "minimax:tie=s3"], "games": 3, "rollouts": 2, "seed": 7}
    with desk.client() as client:
        sign_in(client)
        begun = start(client, "whole", **asked)
        assert (begun.status_code, begun.json()["url"]) == (202, "/evaluation?name=whole")
        return watch(client, "whole", ended)


@pytest.fixture
def visitor(desk: Arena) -> Iterator[httpx2.Client]:
    with desk.client() as client:
        yield client


@pytest.fixture
def operator(desk: Arena, server: ModelServer) -> Iterator[httpx2.Client]:
    server.answer = PolicyModel()
    with desk.client() as client:
        sign_in(client)
        yield client


def ended(found: dict[str, Any]) -> bool:
    return found["state"] in ("stopped", "finished", "failed", "dead")


def message(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["message"]


def command(desk: Arena, *arguments: str) -> dict[str, Any]:
    """What `arena evaluate --json` prints."""
    done = subprocess.run(
        [*ARENA, f"--data-dir={desk.folder}", "evaluate", "--json", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


# -- who may --------------------------------------------------------------------------------------


def test_a_visitor_may_look_and_no_more(visitor: httpx2.Client, whole: dict[str, Any]) -> None:
    assert start(visitor, "by a visitor").status_code == 403
    assert visitor.get("panels").status_code == 403
    for action in ("pause", "resume", "stop", "go-on"):
        refused = visitor.post(f"evaluation/{action}", json={"name": "whole"})
        assert message(refused) == (403, "only the operator may do this: sign in first")
    seen = look(visitor, "whole")
    assert (seen["state"], seen["may"]) == (FINISHED, [])
    assert seen["entries"] == whole["entries"]
    names = [row["name"] for row in visitor.get("evaluations").json()["evaluations"]]
    assert "whole" in names
    assert "by a visitor" not in names


def test_a_page_of_another_site_starts_nothing(operator: httpx2.Client) -> None:
    asked = {"checkpoints": ["random"], "name": "from afar"}
    headers = {"origin": "https://example.org"}
    assert operator.post("evaluations", json=asked, headers=headers).status_code == 403
    assert operator.get("evaluation", params={"name": "from afar"}).status_code == 404


# -- from start to end ----------------------------------------------------------------------------


def test_the_panels_are_listed_with_the_operators_own(operator: httpx2.Client) -> None:
    panels = {panel["name"]: panel for panel in operator.get("panels").json()["panels"]}
    assert len(panels["standard"]["opponents"]) == 9
    assert panels["course"]["mark"] == "X"
    assert panels["always X"] == {"name": "always X", "opponents": ["minimax:tie=s3"], "mark": "X"}


def test_it_plays_to_the_end_and_says_what_the_command_says(
    desk: Arena, whole: dict[str, Any]
) -> None:
    seen = whole
    assert (seen["state_said"], seen["played"], seen["planned"]) == (FINISHED, 24, 24)
    assert (seen["provisional"], seen["live"], seen["may"]) == (False, None, [])
    opponents = ("--opponents", "random", "--opponents", "minimax:tie=s3")
    numbers = ("--games", "3", "--rollouts", "2", "--seed", "7")
    printed = command(desk, "steady", *opponents, *numbers, "--name", "whole")
    assert printed["state"] == seen["state"]
    assert len(printed["entries"]) == len(seen["entries"]) == 4
    for mine, theirs in zip(seen["entries"], printed["entries"], strict=True):
        for key in set(mine) & set(theirs) - {"interval"}:
            assert mine[key] == theirs[key], key
        interval = mine["interval"] and [mine["interval"]["low"], mine["interval"]["high"]]
        assert interval == theirs["interval"]
        counts = ("wins", "draws", "losses", "forfeits", "void", "distinct", "not_lost", "reward")
        assert {*counts, "spread_within_seeds"} <= set(mine) & set(theirs)
    (cost,) = seen["costs"]
    spent = cost["prompt_tokens"] * 0.5 + cost["completion_tokens"] * 2.0
    assert cost["prompt_tokens"] > 0
    assert (cost["games"], cost["currency"]) == (24, "EUR")
    assert cost["money"] == pytest.approx(spent / 1e6)


def test_engines_need_no_model(operator: httpx2.Client) -> None:
    asked = {"checkpoints": ["minimax:tie=first"], "opponents": ["random"], "games": 4}
    assert start(operator, "engines", **asked).status_code == 202
    seen = watch(operator, "engines", ended)
    assert (seen["state"], seen["played"]) == (FINISHED, 8)
    assert seen["headline"] == "minimax:tie=first has not lost to random"


def test_a_family_and_a_panel_are_known_by_their_names(operator: httpx2.Client) -> None:
    asked = {"checkpoints": ["rising"], "panel": "always X", "games": 1, "seed": 3}
    begun = operator.post("evaluations", json=asked)
    assert begun.json()["name"] == "rising-always X-3"
    seen = watch(operator, "rising-always X-3", ended)
    assert [answer["player"]["name"] for answer in seen["answers"]] == ["rising-10", "rising-20"]
    assert (seen["state"], seen["panel"], seen["mark"]) == (FINISHED, "always X", "X")
    assert (seen["played"], seen["planned"]) == (4, 4)
    rows = operator.get("evaluations").json()["evaluations"]
    row = next(row for row in rows if row["name"] == "rising-always X-3")
    assert row["checkpoints"] == ["rising-10", "rising-20"]
    assert (row["worst"]["not_lost"], row["worst"]["opponents"]) == (1.0, ["minimax:tie=s3"])


def test_it_may_have_any_name(operator: httpx2.Client) -> None:
    name = "a/b?c=1&d #<b>ü</b> -- --panel"
    begun = start(operator, name, games=1)
    assert begun.status_code == 202
    assert watch(operator, name, ended)["state"] == FINISHED
    assert httpx2.URL(begun.json()["url"]).params["name"] == name


def test_only_games_may_grow(operator: httpx2.Client) -> None:
    start(operator, "grows", games=2)
    watch(operator, "grows", ended)
    assert start(operator, "grows", games=3).status_code == 202
    grown = watch(operator, "grows", lambda it: it["played"] == 6 and ended(it))
    assert (grown["planned"], grown["games"]) == (6, 3)
    status, said = message(start(operator, "grows", games=2))
    assert (status, "games 3 there, 2 here" in said) == (409, True)
    status, said = message(start(operator, "grows", games=3, seed=1))
    assert (status, "seed 0 there, 1 here" in said) == (409, True)


@pytest.mark.usefixtures("whole")
def test_what_has_not_changed_is_not_sent_again(operator: httpx2.Client) -> None:
    whole = operator.get("evaluation", params={"name": "whole"})
    headers = {"if-none-match": whole.headers["etag"]}
    again = operator.get("evaluation", params={"name": "whole"}, headers=headers)
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.usefixtures("whole")
def test_a_page_of_the_list_after_the_other(operator: httpx2.Client) -> None:
    everything = operator.get("evaluations", params={"limit": 100}).json()
    pages, older = [], None
    for _ in range(everything["total"]):
        page = operator.get("evaluations", params={"limit": 1, "before": older or 1 << 62}).json()
        pages += page["evaluations"]
        older = page["older"]
    assert older is None
    assert pages == everything["evaluations"]
    assert pages[-1]["name"] == "whole"


# -- while it is played ---------------------------------------------------------------------------


def test_pause_resume_stop_and_go_on(operator: httpx2.Client, server: ModelServer) -> None:
    server.answer = Slow(SLOW_S)
    start(operator, "steered", games=30, concurrency=2, seed=4000)
    seen = watch(
        operator,
        "steered",
        lambda it: it["played"] > 2 and it["live"] and it["live"]["in_flight"] == 2,
    )
    assert (seen["state"], seen["may"], seen["provisional"]) == ("running", ["pause", "stop"], True)
    boards = seen["live"]["boards"]
    assert len(boards) == 2
    assert {len(board["squares"]) for board in boards} == {9}
    assert seen["headline"].endswith("so far")

    steer(operator, "steered", "pause")
    paused = watch(
        operator, "steered", lambda it: it["state"] == "paused" and not it["live"]["in_flight"]
    )
    assert (paused["may"], paused["state_said"]) == (["resume", "stop"], "paused")
    asked = len(server.requests)
    time.sleep(1.5)
    assert len(server.requests) == asked
    assert look(operator, "steered")["played"] >= paused["played"]

    steer(operator, "steered", "resume")
    watch(operator, "steered", lambda it: it["played"] > paused["played"] + 2)
    steer(operator, "steered", "stop")
    stopped = watch(operator, "steered", ended)
    assert (stopped["state"], stopped["may"]) == ("stopped", ["go-on"])
    assert 0 < stopped["played"] < 60
    status, said = message(operator.post("evaluation/pause", json={"name": "steered"}))
    assert (status, said) == (409, "the evaluation 'steered' is not being played")

    server.answer = PolicyModel()
    steer(operator, "steered", "go-on")
    done = watch(operator, "steered", lambda it: it["state"] == FINISHED)
    assert (done["played"], done["planned"]) == (60, 60)


def test_a_killed_one_is_seen_to_be_dead_and_goes_on(
    operator: httpx2.Client, server: ModelServer
) -> None:
    server.answer = Slow(SLOW_S)
    asked = {"games": 20, "concurrency": 2, "seed": 1000}
    start(operator, "killed", **asked)
    watch(operator, "killed", lambda it: it["played"] > 2)
    os.kill(process_of(operator, "killed", **asked), signal.SIGKILL)
    dead = watch(operator, "killed", ended)
    assert (dead["state"], dead["state_said"]) == ("dead", "its process died: go on with it")
    assert (dead["may"], dead["live"]) == (["go-on"], None)
    assert dead["problem"] == "it was ended from outside, by SIGKILL"
    assert dead["played"] < 40

    server.answer = PolicyModel()
    steer(operator, "killed", "go-on")
    done = watch(operator, "killed", lambda it: it["state"] == FINISHED)
    assert (done["played"], done["planned"], done["problem"]) == (40, 40, None)


def test_two_starts_at_once_are_one(operator: httpx2.Client, server: ModelServer) -> None:
    server.answer = Slow(SLOW_S)
    asked = {"games": 200, "seed": 5000, "concurrency": 2}
    with ThreadPoolExecutor() as pool:
        starts = [pool.submit(start, operator, "twice", **asked) for _ in range(3)]
    answers = sorted((each.result() for each in starts), key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [202, 429, 429]
    assert "is being played already" in message(answers[1])[1]
    watch(operator, "twice", lambda it: it["played"])
    status, said = message(operator.post("evaluation/go-on", json={"name": "twice"}))
    assert (status, "follow it, or stop it first" in said) == (429, True)
    steer(operator, "twice", "stop")
    assert watch(operator, "twice", ended)["state"] == "stopped"


def test_it_goes_on_without_the_server_that_started_it(
    desk: Arena, operator: httpx2.Client, server: ModelServer
) -> None:
    server.answer = Slow(SLOW_S)
    start(operator, "outlives", games=100, concurrency=2, seed=2000)
    before = watch(operator, "outlives", lambda it: it["played"] > 1)
    desk.restart()
    assert "an evaluation goes on without the server: process" in desk.log.read_text("utf-8")
    sign_in(operator)
    watch(operator, "outlives", lambda it: it["played"] > before["played"] + 2)
    steer(operator, "outlives", "stop")
    assert watch(operator, "outlives", ended)["state"] == "stopped"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.usefixtures("whole")
def test_an_ended_process_is_waited_for() -> None:
    def zombies() -> list[str]:
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = status.read_text().rpartition(")")
            except OSError:
                continue
            state, parent = rest.split()[:2]
            if (
                state == "Z"
                and (Path("/proc") / parent / "cmdline").read_bytes().find(b"app.py") > 0
            ):
                found.append(name)
        return found

    until(zombies, lambda found: not found)


# -- what cannot be played ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"checkpoints": ["stedy"]}, 404, "did you mean 'steady'?"),
        ({"checkpoints": ["minimax:tie=frist"]}, 422, "frist"),
        ({"checkpoints": []}, 422, "checkpoints"),
        ({"checkpoints": ["steady", "steady"]}, 422, "steady is named twice"),
        ({"checkpoints": ["models/some.gguf"]}, 404, "no model is called"),
        ({"opponents": None, "panel": "standrd"}, 404, "did you mean 'standard'?"),
        ({"opponents": ["random", "random"]}, 422, "random is named twice"),
        ({"opponents": ["perfect"]}, 422, "perfect"),
        ({"games": 0}, 422, "games"),
        ({"games": 10_000_000}, 422, "take fewer games"),
        ({"rollouts": 1.5}, 422, "rollouts"),
        ({"seed": -1}, 422, "seed"),
        ({"concurrency": 5000}, 422, "concurrency"),
        ({"name": "two\nlines"}, 422, "printable"),
        ({"name": " "}, 422, "printable"),
        ({"color": "red"}, 422, "color"),
    ],
)
def test_what_is_wrong_is_said(
    operator: httpx2.Client, asked: dict[str, Any], status: int, said: str
) -> None:
    before = operator.get("evaluations").json()["total"]
    answer = start(operator, **({"name": "wrong"} | asked))
    assert answer.status_code == status
    assert said in message(answer)[1]
    assert operator.get("evaluations").json()["total"] == before


def test_there_is_none_of_that_name(operator: httpx2.Client) -> None:
    for answer in (
        operator.get("evaluation", params={"name": "nobody's"}),
        operator.post("evaluation/stop", json={"name": "nobody's"}),
    ):
        status, said = message(answer)
        assert (status, "there is no evaluation" in said) == (404, True)


def test_a_start_that_fails_at_once_is_explained_to_the_operator(
    desk: Arena, operator: httpx2.Client, visitor: httpx2.Client
) -> None:
    """The process reads models.toml anew: it may say otherwise than when the server started."""
    models = desk.folder / "models.toml"
    kept = models.read_text("utf-8")
    models.write_text(kept.replace('model = "steady"', 'model = "another"'), "utf-8")
    try:
        start(operator, "cannot start", games=1)
        seen = watch(operator, "cannot start", lambda it: it["problem"])
    finally:
        models.write_text(kept, "utf-8")
    assert (seen["state"], seen["state_said"], seen["may"]) == ("new", "not begun", ["go-on"])
    assert "set up otherwise" in seen["problem"]
    assert "steady there, another here" in seen["problem"]
    assert look(visitor, "cannot start")["problem"] is None
    steer(operator, "cannot start", "go-on")
    done = watch(operator, "cannot start", lambda it: it["state"] == FINISHED)
    assert done["problem"] is None


def test_a_fatal_fault_is_told(operator: httpx2.Client, server: ModelServer) -> None:
    body = {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}
    server.answer = Json(401, body)
    start(operator, "no key", games=2, seed=3000)
    seen = watch(operator, "no key", ended)
    assert seen["state"] == "failed"
    assert seen["state_said"].startswith("failed: steady")
    assert "refused the key" in seen["state_said"]
    assert seen["headline"] == "steady has no game yet that counts"
    assert seen["problem"] is None
