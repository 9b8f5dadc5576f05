"""`arena evaluate` as a user runs it, against a real model server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.test_commands import ROOT, arena, write_model
from tests.servers import Json, ModelServer, PolicyModel
from tests.web.process import until

OPPONENTS = ("--opponents", "random", "--opponents", "minimax:tie=last")


def evaluate(folder: Path, *arguments: str) -> dict:
    done = arena(folder, "evaluate", "ckpt", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_evaluation_goes_on_where_it_was_and_grows(tmp_path: Path):
    with ModelServer(PolicyModel()) as server:
        write_model(tmp_path, server.base_url)
        first = evaluate(tmp_path, *OPPONENTS, "--games", "3", "--seed", "5")
        asked = len(server.requests)
        again = evaluate(tmp_path, *OPPONENTS, "--games", "3", "--seed", "5")
        assert len(server.requests) == asked
        grown = evaluate(tmp_path, *OPPONENTS, "--games", "4", "--seed", "5")
        assert len(server.requests) > asked
    assert first["state"] == "finished"
    assert first["name"] == "ckpt-opponents-5"
    assert again["entries"] == first["entries"]
    assert len(first["entries"]) == 4
    for entry in first["entries"]:
        assert (entry["planned"], entry["played"], entry["losses"], entry["void"]) == (3, 3, 0, 0)
        assert entry["not_lost"] == 1.0
    assert {entry["played"] for entry in grown["entries"]} == {4}


def test_other_settings_under_the_same_name_are_refused(tmp_path: Path):
    with ModelServer(PolicyModel()) as server:
        write_model(tmp_path, server.base_url)
        evaluate(tmp_path, *OPPONENTS, "--games", "1", "--name", "run")
        done = arena(tmp_path, "evaluate", "ckpt", *OPPONENTS, "--seed", "9", "--name", "run")
    assert done.returncode == 1
    assert "seed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_family_and_a_panel_of_ones_own(tmp_path: Path):
    (tmp_path / "panels.toml").write_text(
        '[[panel]]\nname = "mine"\nopponents = ["minimax:tie=s3"]\nmark = "X"\n'
    )
    with ModelServer(PolicyModel()) as server:
        entry = 'base_url = "{}"\nmodel = "m-{{step}}"\nfamily = "f"\nsteps = [10, 20]\n'
        models = '[[model]]\nname = "f-{step}"\n' + entry.format(server.base_url)
        (tmp_path / "models.toml").write_text(models)
        done = arena(tmp_path, "evaluate", "f", "--panel", "mine", "--games", "2", "--json")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)["entries"]
    assert [(e["checkpoint"], e["opening"], e["played"]) for e in seen] == [
        ("f-10", True, 2),
        ("f-10", False, 2),
        ("f-20", True, 2),
        ("f-20", False, 2),
    ]


def test_a_refused_key_ends_it_with_one_sentence(tmp_path: Path):
    refusal = Json(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
    with ModelServer(refusal) as server:
        write_model(tmp_path, server.base_url)
        done = arena(tmp_path, "evaluate", "ckpt", *OPPONENTS, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["state"] == "failed"
    assert "refused the key" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_panel_is_wrong_use(tmp_path: Path):
    done = arena(tmp_path, "evaluate", "random", "--panel", "standrd")
    assert done.returncode == 2
    assert "standard" in done.stderr


def test_an_interrupted_one_is_resumed(tmp_path: Path):
    """Ctrl-C ends with the games in flight; the same command plays the rest."""
    command = ("evaluate", "ckpt", *OPPONENTS, "--games", "20", "--concurrency", "2", "--json")
    with ModelServer(PolicyModel()) as server:
        write_model(tmp_path, server.base_url)
        process = subprocess.Popen(
            [sys.executable, "-m", "cli", "--data-dir", str(tmp_path), *command],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until(lambda: len(server.requests) > 20)
        process.send_signal(signal.SIGINT)
        out, words = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "is stopped" in words
        stopped = sum(entry["played"] for entry in json.loads(out)["entries"])
        assert 0 < stopped < 80
        done = arena(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert [entry["played"] for entry in json.loads(done.stdout)["entries"]] == [20] * 4
