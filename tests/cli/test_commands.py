"""The command line as a user runs it: in a process of its own, on a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from tests.servers.answers import Answer, Json, Say
from tests.servers.policy import PolicyModel
from tests.servers.server import ModelServer

ROOT = Path(__file__).resolve().parents[2]


def arena(folder: Path, *arguments: str, environment: dict[str, str] | None = None):
    """Run `arena` with its data in `folder`; the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "cli", "--data-dir", str(folder), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "120", "ARENA_DEMO": "0", **(environment or {})},
    )


def figures(folder: Path, *arguments: str) -> dict:
    done = arena(folder, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def numbers(folder: Path, *arguments: str) -> dict:
    """What `arena play` counted, without its speed."""
    return {k: v for k, v in figures(folder, "play", *arguments).items() if k != "games_per_s"}


def write_model(folder: Path, base_url: str, **more: object) -> None:
    entry = {"name": "ckpt", "base_url": base_url, "model": "m", **more}
    lines = "\n".join(f"{key} = {_toml(value)}" for key, value in entry.items())
    (folder / "models.toml").write_text(f"[[model]]\n{lines}\n")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def test_perfect_players_never_lose_and_the_same_seed_gives_the_same_numbers(tmp_path: Path):
    command = ("minimax:tie=first", "minimax", "--games", "2000", "--seed", "1")
    first = numbers(tmp_path, *command)
    assert first["x_wins"] == first["o_wins"] == first["void"] == first["forfeits"] == 0
    assert first["draws"] == 2000
    assert numbers(tmp_path, *command) == first


def test_random_against_random_is_what_exact_play_says(tmp_path: Path):
    n = 20_000
    seen = numbers(tmp_path, "random", "random", "--games", str(n), "--seed", "1")
    for name, p in (("x_wins", 737 / 1260), ("draws", 8 / 63), ("o_wins", 121 / 420)):
        assert abs(seen[name] / n - p) < 4 * sqrt(p * (1 - p) / n)


def test_the_opener_may_alternate(tmp_path: Path):
    command = ("random", "minimax", "--games", "40", "--opener")
    by_opener = {opener: numbers(tmp_path, *command, opener) for opener in ("X", "O", "alternate")}
    assert len({json.dumps(seen) for seen in by_opener.values()}) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("play", "minimax:tie=frst", "random"), "valid are uniform, first"),
        (("play", "nobody", "random"), "engines are random, minimax"),
        (("play", "random"), "Missing argument"),
        (("play", "random", "random", "--games", "0"), "--games"),
        (("play", "random", "random", "--opener", "Z"), "alternate"),
        (("export", "poems", "--out", "x"), "messages"),
        (("nonsense",), "nonsense"),
    ],
)
def test_wrong_use_is_named_and_exits_with_2(tmp_path: Path, arguments: tuple[str, ...], says: str):
    done = arena(tmp_path, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_typo_in_models_toml_is_named_with_file_entry_and_key(tmp_path: Path):
    write_model(tmp_path, "http://localhost:1/v1", temprature=1)
    done = arena(tmp_path, "models")
    assert done.returncode == 1
    for part in (str(tmp_path / "models.toml"), "ckpt", "temprature"):
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_games_are_stored_once_shown_and_exported(tmp_path: Path):
    command = ("random", "minimax", "--games", "30", "--seed", "3", "--store")
    assert numbers(tmp_path, *command)["stored"] == 30
    again = numbers(tmp_path, *command)
    assert (again["stored"], again["stored_before"]) == (0, 30)

    rows = figures(tmp_path, "leaderboard")["players"]
    assert {row["player"]["name"]: row["opening"]["games"] for row in rows} == {
        "random": 30,
        "minimax": 0,
    }
    assert "minimax" in arena(tmp_path, "leaderboard").stdout

    out = tmp_path / "games.jsonl"
    assert arena(tmp_path, "export", "games", "--out", str(out)).returncode == 0
    lines = out.read_text().splitlines()
    assert [json.loads(line)["seed"] for line in lines] == list(range(3, 33))
    piped = arena(tmp_path, "export", "games", "--out", "-")
    assert piped.stdout.splitlines() == lines
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".arena")] == []


def test_without_store_nothing_is_kept(tmp_path: Path):
    numbers(tmp_path, "random", "random", "--games", "5")
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_cannot_be_written_says_so(tmp_path: Path):
    numbers(tmp_path, "random", "random", "--games", "1", "--store")
    done = arena(tmp_path, "export", "games", "--out", str(tmp_path / "no" / "such" / "folder"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("leaderboard",), ("export", "games", "--out", "-")])
def test_reading_makes_no_database(tmp_path: Path, command: tuple[str, ...]):
    done = arena(tmp_path / "mistyped", *command)
    assert done.returncode == 1
    assert "there is no database" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_model_plays_and_its_chats_are_exported_as_they_were(tmp_path: Path):
    with ModelServer(PolicyModel("minimax:tie=last", invalid=0.2, seed=5)) as server:
        write_model(tmp_path, server.base_url)
        seen = numbers(tmp_path, "ckpt", "minimax", "--games", "6", "--seed", "1", "--store")
        sent = [request.body["messages"] for request in server.requests]
    assert (seen["draws"] + seen["forfeits"], seen["void"], seen["stored"]) == (6, 0, 6)
    out = arena(tmp_path, "export", "messages", "--out", "-").stdout
    chats = [json.loads(line)["messages"] for line in out.splitlines()]
    assert len(chats) == 6
    for chat in chats:
        assert chat[-1]["role"] == "assistant"
        assert chat[:-1] in sent


def test_a_fatal_fault_stops_at_once_with_one_sentence(tmp_path: Path):
    refusal = Json(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
    with ModelServer(refusal) as server:
        write_model(tmp_path, server.base_url)
        done = arena(tmp_path, "play", "ckpt", "random", "--games", "50", "--json")
        assert len(server.requests) == 1
    assert done.returncode == 1
    assert json.loads(done.stdout)["void"] == 1
    assert "refused the key" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_failing_endpoint_makes_void_games_and_stops_the_series(tmp_path: Path):
    with ModelServer(Json(500, {"error": {"message": "internal error"}})) as server:
        write_model(tmp_path, server.base_url, max_tries=1)
        done = arena(tmp_path, "play", "ckpt", "random", "--games", "50", "--json", "--store")
    seen = json.loads(done.stdout)
    assert done.returncode == 1
    assert (seen["x_wins"], seen["draws"], seen["o_wins"], seen["void"]) == (0, 0, 0, 5)
    assert "internal error" in done.stderr


def test_a_few_void_games_are_explained_once(tmp_path: Path):
    refused = Json(500, {"error": {"message": "internal error"}})
    with ModelServer([refused] * 2 + [Say("<think>x</think><move>4</move>")]) as server:
        write_model(tmp_path, server.base_url, max_tries=1)
        done = arena(tmp_path, "play", "ckpt", "random", "--games", "3", "--json")
    assert json.loads(done.stdout)["void"] == 2
    assert done.returncode == 0
    assert len(done.stderr.strip().splitlines()) == 1
    assert "internal error" in done.stderr


def test_nothing_but_void_games_is_a_failure(tmp_path: Path):
    write_model(tmp_path, "http://127.0.0.1:9/v1", max_tries=1)
    done = arena(tmp_path, "play", "ckpt", "random", "--games", "2", "--json")
    assert (done.returncode, json.loads(done.stdout)["void"]) == (1, 2)
    assert "the connection was refused" in done.stderr


def test_models_are_listed_without_their_keys(tmp_path: Path):
    write_model(tmp_path, "http://localhost:1/v1", api_key_env="CKPT_KEY")
    done = arena(tmp_path, "models", "--json", environment={"CKPT_KEY": "sk-canary"})
    (model,) = json.loads(done.stdout)["models"]
    assert model["key"] == "CKPT_KEY is set"
    assert "sk-canary" not in done.stdout + done.stderr
    assert "ckpt" in arena(tmp_path, "models").stdout


def test_only_serve_imports_gradio(tmp_path: Path):
    program = (
        "import sys; from cli import main; "
        "code = main(['--data-dir', sys.argv[1], 'play', 'random', 'random', '--store', '--json']);"
        "code += main(['--data-dir', sys.argv[1], 'leaderboard', '--json']);"
        "sys.exit(code + any(name in sys.modules for name in ('gradio', 'openai', 'fastapi')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_reply_that_is_markup_for_the_terminal_is_shown_as_text(tmp_path: Path):
    with ModelServer(Say("[red]no move[/red]")) as server:
        write_model(tmp_path, server.base_url, name="[bold]ckpt")
        done = arena(tmp_path, "play", "[bold]ckpt", "random", "--games", "1", "--store")
        assert "[bold]ckpt v random" in done.stdout
        assert "[bold]ckpt" in arena(tmp_path, "leaderboard").stdout


def test_what_a_server_forces_and_void_games_are_told(tmp_path: Path):
    """A greedy run that the server refused must not look greedy."""
    playing = PolicyModel()

    refused = {"message": "Unsupported: temperature", "param": "temperature"}

    def answer(body: dict[str, Any]) -> Answer:
        return Json(400, {"error": refused}) if "temperature" in body else playing(body)

    with ModelServer(answer) as server:
        write_model(tmp_path, server.base_url, sampling={"temperature": 0.0})
        done = arena(tmp_path, "play", "ckpt", "random", "--games", "3", "--store", "--json")
    assert "not greedy" in done.stderr
    shown = arena(tmp_path, "leaderboard").stdout
    assert "not greedy" in shown
    assert "temperature 0" in shown
    write_model(tmp_path, "http://127.0.0.1:9/v1", name="gone", max_tries=1)
    arena(tmp_path, "play", "gone", "random", "--games", "2", "--store")
    (line,) = (x for x in arena(tmp_path, "leaderboard").stdout.splitlines() if "gone" in x)
    assert line.split()[-1] == "2"
