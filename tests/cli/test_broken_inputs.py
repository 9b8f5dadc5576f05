"""A folder of broken files: each gets its own message, and the database is as before."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_commands import arena, figures, numbers

TRACES = Path(__file__).parents[1] / "data" / "traces"
Json = dict[str, Any]


def changed(row: Json, path: str, value: object) -> bytes:
    """The row's line with another value at a path."""
    row = copy.deepcopy(row)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder: Any = row
    for part in way:
        holder = holder[part]
    holder[last] = value
    return line(row)


def line(row: object) -> bytes:
    return json.dumps(row).encode() + b"\n"


def parquet(rows: list[Json]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


PROVENANCE = ("game", "player", "opponent", "mark", "opener", "prompt_hash")
RESULT: Json = {"prompt": "Say it.", "completion": "It.", "reward": 1.0}


def files(game: Json, episode: Json) -> dict[str, tuple[bytes, str]]:
    """By name: what is in it, and what has to be said of it."""
    first = game["moves"][0]
    trace = episode["traces"][0]
    facts = "traces.0.info.game"
    squares = trace["info"]["game"]["squares"]
    other = {"x": "o", "o": "draw", "draw": "x"}[trace["info"]["game"]["outcome"]]
    return {
        # Files that are no files.
        "nothing.jsonl": (b"", ": the file is empty"),
        "noise.jsonl": (bytes(range(1, 256)), ", line 1: no JSON"),
        "text.jsonl": (b"Dear arena,\n", ", line 1: no JSON"),
        "web-page.jsonl": (b"<!doctype html>\n", ", line 1: no JSON"),
        "list.jsonl": (line([game]), ", line 1: no JSON object"),
        "nested.jsonl": (b'{"a":' * 50_000 + b"\n", ", line 1: no JSON"),
        "torn.jsonl": (line(game)[:200], ", line 1: the file ends in the middle of this line"),
        "half.jsonl.gz": (gzip.compress(line(game))[:60], "in the middle of what is compressed"),
        "zip-of-noise.jsonl.gz": (b"\x1f\x8b" + b"\0" * 40, "cannot be unpacked"),
        "half.parquet": (parquet([game])[:400], "half.parquet: it cannot be read"),
        "head.parquet": (b"PAR1", "head.parquet: it cannot be read"),
        "late.parquet": (
            parquet([{**RESULT, "when": pa.scalar(10**18, pa.timestamp("us"))}]),
            ", line 1: a value of it cannot be read",
        ),
        "others.parquet": (parquet([{"a": 1}]), ", line 1: no row of the flavour games"),
        # Games that are none.
        "chess.jsonl": (changed(game, "schema", "chess/1"), "its schema is 'chess/1'"),
        "turns.jsonl": (line({"prompt": [], "game": "g"}), "no row of the flavour games"),
        "messages.jsonl": (
            line({**dict.fromkeys(PROVENANCE, "x"), "messages": []}) * 2,
            "messages.jsonl: rows of the flavour messages: only the flavour games holds",
        ),
        "seed.jsonl": (changed(game, "seed", -1), "seed: Input should be greater"),
        "float.jsonl": (changed(game, "seed", 1.5), "seed: Input should be a valid integer"),
        "square.jsonl": (changed(game, "turns.0.square", 9), "turns.0.square:"),
        "twice.jsonl": (changed(game, "turns.1.square", first), "turn 1: "),
        "mark.jsonl": (changed(game, "turns.0.mark", "O"), "it is X's turn, not O's"),
        "winner.jsonl": (changed(game, "outcome", "draw"), "it claims draw by"),
        "moves.jsonl": (changed(game, "moves", [first]), f"moves says [{first}], and the turns"),
        "cheat.jsonl": (
            changed(game, "o.name", "minimax:tie=last"),
            "o is the engine minimax:tie=last, and not described",
        ),
        "engine.jsonl": (
            changed(game, "o.name", "minmax"),
            "unknown engine 'minmax': valid are random, minimax",
        ),
        "date.jsonl": (changed(game, "finished_at", "soon"), "finished_at:"),
        # Traces.
        "later.jsonl": (changed(episode, "traces.0.version", 99), "a trace of version 99"),
        "taskless.jsonl": (changed(episode, "task", None), "task: "),
        "illegal-trace.jsonl": (
            changed(episode, f"{facts}.squares", [squares[0], *squares]),
            ", line 1: turn ",
        ),
        "loud.jsonl": (changed(episode, f"{facts}.outcome", other), f"it claims {other} by"),
        "endless-trace.jsonl": (
            changed(episode, "traces.0.nodes", trace["nodes"] + trace["nodes"][-1:] * 1001),
            "replies, and a seat has 1000 at most",
        ),
        # Result rows.
        "unrewarded.jsonl": (
            line(RESULT) + line({**RESULT, "reward": "a lot"}),
            ", line 2: reward: 'a lot' is no finite number",
        ),
        "speechless.jsonl": (line({**RESULT, "completion": 7}), "completion: neither a text nor"),
        # Lists of moves.
        "nameless.csv": (b"a,b\n1,2\n", "the first line names no column moves"),
        "short.csv": (b"moves\n0 1\n", ", line 2: the moves end before the game does"),
        "illegal.csv": (b"moves\n0 0 1 2 3\n", ", line 2: 0 is not a free square"),
        "ragged.csv": (b"moves,seed\n0 3 1 4 2\n", "1 fields, and the first line names 2"),
        "claims.csv": (b"moves,outcome\n0 3 1 4 2,o\n", "it claims 'o'"),
    }


@pytest.fixture
def broken(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The folder, and what has to be said of each file."""
    numbers(tmp_path / "there", "random", "minimax", "--games", "1", "--seed", "3", "--store")
    exported = arena(tmp_path / "there", "export", "games", "--out", "-").stdout
    episode = json.loads((TRACES / "games.jsonl").read_text("utf-8").splitlines()[0])
    folder = tmp_path / "broken"
    folder.mkdir()
    says = {}
    for name, (content, message) in files(json.loads(exported), episode).items():
        (folder / name).write_bytes(content)
        says[name] = message
    (folder / "pointer.jsonl").symlink_to(folder / "nowhere")
    says["pointer.jsonl"] = "pointer.jsonl: it cannot be read: No such file"
    return folder, says


def test_each_of_a_folder_is_told_and_nothing_comes_in(tmp_path: Path, broken):
    folder, says = broken
    assert len(says) >= 30
    here = tmp_path / "here"
    numbers(here, "random", "minimax", "--games", "5", "--seed", "90", "--store")
    before = arena(here, "export", "games", "--out", "-").stdout, figures(here, "leaderboard")
    done = arena(here, "import", str(folder))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for name, message in says.items():
        told = [each for each in done.stderr.splitlines() if f"{folder / name}" in each]
        assert told, name
        assert message in told[0]
    # The one row that is good among them is a rollout of another environment.
    assert "0 games imported, 0 here already, 1 rollout" in done.stderr
    after = arena(here, "export", "games", "--out", "-").stdout, figures(here, "leaderboard")
    assert after == before
