"""`arena export` as a user runs it: files, folders, filters, a preview."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from storage import Database, GameFilter, Games
from storage.datasets import Flavour
from tests.cli.test_commands import arena, numbers, write_model
from tests.servers.policy import PolicyModel
from tests.servers.server import ModelServer
from web.preview import preview


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of a model that errs, stored and evaluated, and of engines."""
    folder = tmp_path_factory.mktemp("data")
    with ModelServer(PolicyModel("minimax:epsilon=0.4", invalid=0.1, seed=5)) as server:
        write_model(folder, server.base_url, history="board")
        numbers(folder, "ckpt", "random", "--games", "12", "--opener", "alternate", "--store")
        numbers(folder, "random", "minimax", "--games", "5", "--store")
        command = ("evaluate", "ckpt", "--opponents", "minimax", "--games", "2", "--name", "ev")
        done = arena(folder, *command)
        assert done.returncode == 0, done.stderr
    return folder


def lines(data: Path, *arguments: str) -> list[dict]:
    done = arena(data, "export", *arguments, "--out", "-")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_file_by_its_ending(data: Path, tmp_path: Path):
    contents = {}
    for ending in (".jsonl", ".jsonl.gz", ".parquet"):
        out = tmp_path / f"turns{ending}"
        assert arena(data, "export", "turns", "--out", str(out)).returncode == 0
        contents[ending] = out.read_bytes()
        assert arena(data, "export", "turns", "--out", str(out)).returncode == 0
        assert out.read_bytes() == contents[ending]
    assert gzip.decompress(contents[".jsonl.gz"]) == contents[".jsonl"]
    rows = pq.read_table(tmp_path / "turns.parquet").to_pylist()
    told = [json.loads(line) for line in contents[".jsonl"].splitlines()]
    assert [row["completion"][0]["content"] for row in rows] == [
        row["completion"][0]["content"] for row in told
    ]


def test_a_folder_with_many_flavours(data: Path, tmp_path: Path):
    out = tmp_path / "set"
    command = ("export", "messages", "kto", "games", "--out", str(out), "--format", "jsonl")
    done = arena(data, *command, "--json")
    told = json.loads(done.stdout)["flavours"]
    assert [each["flavour"] for each in told] == ["messages", "kto", "games"]
    for each in told:
        for split, number in each["rows"].items():
            path = out / each["flavour"] / f"{split}-00000.jsonl"
            assert (len(path.read_text().splitlines()) if path.exists() else 0) == number
    assert "arena-" not in "".join(path.name for path in tmp_path.iterdir())
    again = arena(data, *command)
    assert again.returncode == 1
    assert "holds an export already" in again.stderr
    assert arena(data, *command, "--replace").returncode == 0


def test_the_filters(data: Path):
    everything = lines(data, "games")
    assert len(everything) == 12 + 5 + 4
    evaluated = lines(data, "turns", "--evaluation", "ev")
    assert {(row["source"], row["opponent"]) for row in evaluated} == {("evaluation", "minimax")}
    assert lines(data, "turns", "--source", "evaluation") == evaluated
    perfect = lines(data, "turns", "--checkpoint", "ckpt", "--keeps-value")
    assert 0 < len(perfect) < len(lines(data, "turns"))
    assert not any(row["loses_value"] for row in perfect)
    opening = lines(data, "turns", "--opening")
    assert {row["mark"] == row["opener"] for row in opening} == {True}
    assert lines(data, "games", "--since", "2100-01-01") == []
    assert lines(data, "games", "--until", "2100-01-01T00:00:00") == everything
    assert lines(data, "games", "--demonstration") == []
    assert {row["outcome"] for row in lines(data, "games", "--outcome", "draw")} == {"draw"}
    assert all(row["invalid"] == 0 for row in lines(data, "messages", "--no-invalid"))


def test_a_preview_writes_nothing(data: Path):
    done = arena(data, "export", "kto", "--preview", "2")
    decoder, text, rows = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        row, end = decoder.raw_decode(text)
        rows.append(row)
        text = text[end:].strip()
    assert rows == lines(data, "kto")[:2]


def test_a_preview_looks_at_more_than_the_first_games(tmp_path: Path):
    """As the page does: only pairs are looked for in some of the games."""
    numbers(tmp_path, "random", "random", "--games", "2200", "--store")
    numbers(tmp_path, "random", "minimax", "--games", "1", "--store")
    done = arena(tmp_path, "export", "games", "--opponent", "minimax", "--preview", "1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["o"]["name"] == "minimax"
    with closing(Database.open(tmp_path / "arena.db")) as database:
        games = Games(database, lambda: datetime.now(UTC))
        kept = GameFilter(opponent="minimax")
        assert preview(database, games, Flavour.GAMES, kept, 5).games == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("kto", "games", "--player", "nobody"), 1, "rows of the flavour kto\narena: no finished"),
        (("messages", "--player", "random"), 1, "no finished game fits"),
        (("preference", "--evaluation", "ev"), 1, "no row of the flavour preference"),
        (("preference", "games", "--evaluation", "ev"), 0, "no row of the flavour preference"),
    ],
)
def test_a_preview_of_nothing_says_so(data: Path, arguments: tuple[str, ...], code: int, says: str):
    done = arena(data, "export", *arguments, "--preview", "3")
    assert done.returncode == code
    assert says in done.stderr
    assert bool(done.stdout) is (code == 0)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("games",), 2, "--out"),
        (("games", "turns", "--out", "x.jsonl"), 2, "a file has one flavour"),
        (("games", "--out", "-", "--evaluation", "nope"), 2, "no evaluation 'nope'"),
        (("games", "--out", "x", "--player", "nobody"), 1, "nothing to export"),
        (("games", "--out", "x", "--validation", "2"), 2, "--validation"),
        (("games", "--out", "-", "--since", "yesterday"), 2, "--since"),
    ],
)
def test_wrong_use(data: Path, arguments: tuple[str, ...], code: int, says: str):
    done = arena(data, "export", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
