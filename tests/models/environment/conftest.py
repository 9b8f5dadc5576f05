"""Each run of a tool costs seconds, so every run is made once, and looked at by many tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.environment.script import BadNetwork, scripted, scripted_by_board
from tests.models.environment.tools import Tools
from tests.servers import Json, ModelServer, Say, Silence

GAMES = 36
OPTIONS = (
    *("--env.taskset.seed", "100", "--env.taskset.num-groups", "6"),
    *("--env.taskset.opponents", '["minimax:tie=first", "minimax:tie=trap", "random"]'),
    *("--env.taskset.epsilon-low", "0.1", "--env.taskset.epsilon-high", "0.5"),
    *("--env.taskset.opener", "either", "--env.taskset.sampling-seeds"),
    *("--env.taskset.max-replies", "6", "--env.taskset.task.check", "exact"),
    *("--env.taskset.task.win", "2", "--env.taskset.task.invalid", "0.3"),
)


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return Tools(tmp_path_factory.mktemp("verifiers"), path=(Path(__file__).parent,))


@pytest.fixture(scope="session")
def games(tools: Tools) -> str:
    """Games of many kinds over a bad network."""
    with ModelServer(BadNetwork()) as server:
        tools.evaluate("games", server, "tictactoe_arena", "-n", str(GAMES), "-c", "12", *OPTIONS)
    return "games"


@pytest.fixture(scope="session")
def boards(tools: Tools) -> str:
    """The same games with a fresh prompt each turn."""
    with ModelServer(scripted_by_board) as server:
        tools.evaluate(
            *("boards", server, "tictactoe_arena", "-n", str(GAMES), "-c", "12", *OPTIONS),
            *("--env.taskset.history", "board"),
        )
    return "boards"


@pytest.fixture(scope="session")
def duels(tools: Tools) -> str:
    """Model against model; X is a sparring partner of its own name."""
    with ModelServer(scripted) as server:
        tools.evaluate(
            *("duels", server, "tictactoe_arena", "--env.id", "tictactoe_arena_duel", "-n", "4"),
            *("--env.x.model", "sparring"),
        )
    return "duels"


def _faulty(body):
    """Silent to whoever opens, and refusing whoever replies."""
    if "you move first" in body["messages"][1]["content"]:
        return Silence()
    return Json(400, {"error": {"message": "no such luck"}})


@pytest.fixture(scope="session")
def faults(tools: Tools) -> str:
    """Timeouts and refusals, and the same run resumed once the server is well again."""
    with ModelServer(_faulty) as server:
        tools.evaluate(
            *("faults", server, "tictactoe_arena", "-n", "6", "-c", "6"),
            *("--env.agent.timeout.rollout", "15"),
        )
        before = tools.file("faults").read_bytes()
        tools.file("before").parent.mkdir()
        tools.file("before").write_bytes(before)
        server.answer = scripted
        config = tools.folder / "out" / "faults" / "configs" / "resolved" / "eval.json"
        tools.run("vf-eval", "@", str(config), "--resume")
    return "faults"


@pytest.fixture(scope="session")
def lines(tools: Tools) -> str:
    """Another taskset, of one turn, through our harness: four examples, three rollouts each."""

    def answer(body):
        words = body["messages"][-1]["content"].split()
        if words[0] == "a":
            return Say("I will not.")
        return Say(" ".join(reversed(words)))

    with ModelServer(answer) as server:
        tools.evaluate(
            *("lines", server, "reverse_words", "-r", "3"),
            *("--env.agent.harness.id", "tictactoe_arena"),
            *("--env.agent.runtime.type", "subprocess"),
        )
    return "lines"
