"""What the tools of verifiers make of the environment, offline, as real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

from arena.board import Mark, Outcome
from arena.reward import Check, Weights, reward
from models.environment.facts import game_of
from tests.models.environment.script import scripted
from tests.models.environment.tools import KEY, ROOT, scores


def test_neither_the_app_nor_the_command_line_loads_verifiers():
    code = "import sys, app, cli; print('verifiers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip().endswith("False"), done.stderr


def test_a_bad_network_is_waited_out_and_on_record(tools, games):
    episodes = tools.traces(games)
    calls = [call for episode in episodes for call in episode["traces"][0]["calls"]]
    failed = [call["error"]["status_code"] for call in calls if call.get("error")]
    assert {429, 503} <= set(failed)
    assert all(episode["ok"] for episode in episodes)


def test_the_key_is_in_no_file(tools, games):
    files = [path for path in tools.folder.rglob("*") if path.is_file()]
    assert any(path.name == "traces.jsonl" for path in files)
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_validate_plays_each_game_through(tools):
    said = tools.run(
        *("vf-validate", "tictactoe_arena", "-n", "5", "--no-rich"),
        *("--runtime.type", "subprocess", "-o", "checked", "--run.name", "checked"),
    )
    rows = (tools.folder / "checked" / "checked" / "results.jsonl").read_text().splitlines()
    assert [json.loads(row)["reason"] for row in rows] == ["valid"] * 5, said


def test_replay_scores_the_same_games_by_other_weights(tools, games):
    tools.run(
        *("vf-replay", str(tools.folder / "out" / games), "--output-dir", "replayed"),
        *("--no-rich", "--taskset.id", "tictactoe_arena"),
        *("--taskset.task.check", "contains", "--taskset.task.win", "5"),
        *("--taskset.task.invalid", "0.3"),
    )
    file = tools.folder / "replayed" / "traces.jsonl"
    again = {each["id"]: each for each in _traces(file)}
    wins = 0
    for episode in tools.traces(games):
        (trace,) = episode["traces"]
        facts = trace["info"]["game"]
        mark = Mark(facts["mark"])
        game = game_of(facts)
        weights = Weights(win=5, invalid=0.3)
        parts = reward(game, mark, check=Check.CONTAINS, weights=weights)
        assert scores(again[trace["id"]]) == dict(parts._asdict())
        wins += game.outcome is Outcome.win(mark)
    assert wins


def test_in_a_duel_each_seat_has_a_trace_of_one_game(tools, duels):
    episodes = tools.traces(duels)
    assert len(episodes) == 4
    for episode in episodes:
        x, o = sorted(episode["traces"], key=lambda trace: trace["agent"]["name"], reverse=True)
        assert [trace["agent"]["name"] for trace in (x, o)] == ["x", "o"]
        assert [trace["agent"]["trainable"] for trace in (x, o)] == [False, True]
        seen = [trace["info"]["game"] for trace in (x, o)]
        assert [facts["mark"] for facts in seen] == ["X", "O"]
        assert [facts["opponent"] for facts in seen] == ["scripted", "sparring"]
        for key in ("squares", "outcome", "termination", "players", "seed"):
            assert seen[0][key] == seen[1][key]
        for trace, facts in zip((x, o), seen, strict=True):
            game = game_of(facts)
            assert scores(trace) == dict(reward(game, Mark(facts["mark"]))._asdict())
            said = [node for node in trace["nodes"] if node["sampled"]]
            assert len(said) == len(facts["attempts"])


def test_a_timeout_or_a_refusal_is_no_loss(tools, faults):
    """Neither has a reward, both are errors, and the game is void."""
    kinds: Counter[tuple[bool, str]] = Counter()
    for episode in tools.traces("before"):
        (trace,) = episode["traces"]
        facts = trace["info"]["game"]
        assert not episode["ok"]
        assert not trace["ok"]
        assert trace["errors"]
        assert scores(trace) == {}
        assert (facts["outcome"], facts["termination"]) == ("void", "provider_error")
        assert facts["why_void"]
        kinds[trace["is_timeout"], trace["errors"][-1]["type"]] += 1
    assert set(kinds) == {(True, "VoidGameError"), (False, "ProviderError")}


def test_what_failed_is_played_again_on_resume(tools, faults):
    episodes = tools.traces(faults)
    assert len(episodes) == 6
    assert all(episode["ok"] for episode in episodes)
    assert {episode["traces"][0]["info"]["game"]["outcome"] for episode in episodes} <= {
        *("x", "o", "draw")
    }


def test_the_harness_serves_another_taskset(tools, lines):
    episodes = tools.traces(lines)
    assert len(episodes) == 12
    values = [scores(episode["traces"][0])["reversed_words"] for episode in episodes]
    assert Counter(values) == {1.0: 9, 0.0: 3}


def test_a_wrong_option_is_told_before_anything_is_asked(tools, serve):
    server = serve(scripted)
    said = tools.evaluate(
        *("wrong", server, "tictactoe_arena", "-n", "1", "--env.taskset.prompt", "tag"), code=1
    )
    assert "did you mean 'tags'?" in " ".join(said.split())
    assert server.requests == []


def _traces(file):
    for line in file.read_text("utf-8").splitlines():
        yield from json.loads(line)["traces"]
