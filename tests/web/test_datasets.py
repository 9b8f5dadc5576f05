"""Datasets and the demonstration as the routes give and remove them, on a server of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pyarrow.parquet as pq
import pytest

from arena.plan import Plan
from storage import Database, Games
from storage.evaluations import Evaluations
from storage.imports import import_demonstration
from storage.setups import Setup
from tests.conftest import PASSWORD
from tests.storage.conftest import Clock
from tests.storage.imports.samples import FIRST, LAST, exported, fill
from tests.web.process import PATIENCE_S, Arena
from web.api_datasets import _from_thread, _lines


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server whose database came with 66 games."""
    folder = tmp_path_factory.mktemp("demonstration")
    there = Database.open(folder / "there.db")
    fill(Games(there, Clock()))
    exported(there, folder / "games.jsonl")
    there.close()
    here = Database.open(folder / "data" / "arena.db")
    import_demonstration(here, Path(folder / "games.jsonl"), Clock())
    Evaluations(here, Clock()).open("theirs", Setup((FIRST,), Plan((LAST.name,), games=1)))
    here.close()
    server = Arena(folder / "data", {"ARENA_OPERATOR_PASSWORD": PASSWORD})
    server.start()
    yield server
    server.stop()


def test_the_same_rows_as_parquet(shown: Arena, tmp_path: Path) -> None:
    with shown.client() as visitor:
        for flavour in ("messages", "turns", "preference", "kto", "games"):
            lines = visitor.get(f"export/{flavour}").content.splitlines()
            found = visitor.get(f"export/{flavour}", params={"format": "parquet"})
            assert found.headers["content-type"] == "application/vnd.apache.parquet"
            assert f'filename="arena-{flavour}.parquet"' in found.headers["content-disposition"]
            (tmp_path / "rows.parquet").write_bytes(found.content)
            assert pq.read_metadata(tmp_path / "rows.parquet").num_rows == len(lines)


def test_the_filters_of_an_export(shown: Arena) -> None:
    with shown.client() as visitor:

        def rows(**asked: str) -> list[dict[str, Any]]:
            answer = visitor.get("export/turns", params=asked)
            assert answer.status_code == 200, answer.text
            return [json.loads(line) for line in answer.content.splitlines()]

        everything = rows()
        perfect = rows(keeps_value="true")
        assert 0 < len(perfect) < len(everything)
        assert not any(row["loses_value"] for row in perfect)
        assert rows(demonstration="true") == everything
        assert rows(demonstration="false") == []
        assert rows(since="2026-01-01") == everything
        assert rows(until="2026-01-01") == []
        for path in ("export/turns", "export/turns/preview"):
            refused = visitor.get(path, params={"evaluation": "nope"})
            assert refused.status_code == 404
            assert "no evaluation 'nope'" in refused.json()["error"]["message"]
        assert visitor.get("export/turns", params={"format": "csv"}).status_code == 422


def test_the_demonstration_is_shown_as_such_and_removed_by_the_operator_alone(
    shown: Arena,
) -> None:
    with shown.client() as visitor:
        assert visitor.get("demonstration").json() == {
            "games": 66,
            "removable": False,
            "evaluations": {"theirs": 2},
        }
        games = visitor.get("games").json()["games"]
        assert all(game["demonstration"] for game in games)
        assert visitor.get(f"games/{games[0]['id']}").json()["demonstration"] is True
        board = visitor.get("leaderboard").json()
        assert all(row["demonstration"] > 0 for row in board["players"])
        refused: httpx2.Response = visitor.delete("demonstration")
        assert refused.status_code == 403
        assert visitor.get("demonstration").json()["games"] == 66
    with shown.client() as operator:
        operator.post("operator/sign-in", json={"password": PASSWORD})
        assert operator.get("demonstration").json()["removable"] is True
        assert operator.delete("demonstration").json() == {"removed": 66}
        assert operator.get("demonstration").json()["evaluations"] == {}
        assert operator.get("leaderboard").json()["players"] == []
        assert operator.get("games").json()["total"] == 0


async def test_an_export_ends_when_whoever_asked_has_gone() -> None:
    """Also while it is at work, in a thread that nobody can end from outside."""
    begun, left, ended = (threading.Event() for _ in range(3))

    def pieces() -> Iterator[bytes]:
        yield b"first"
        begun.set()
        left.wait(PATIENCE_S)
        ended.set()
        yield b"never"

    came: list[bytes] = []

    async def read() -> None:
        async for piece in _from_thread(pieces(), left, anyio.CapacityLimiter(1)):
            came.append(piece)

    reader = asyncio.create_task(read())
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    reader.cancel()
    await asyncio.wait([reader])
    assert reader.cancelled()
    assert await asyncio.to_thread(ended.wait, PATIENCE_S)
    assert left.is_set()
    assert came == [b"first"]


def test_the_first_line_leaves_at_once_and_the_others_together() -> None:
    looked_at = 0

    def found() -> Iterator[dict[str, Any]]:
        nonlocal looked_at
        for number in range(30_000):
            looked_at += 1
            yield {"number": number, "said": "x" * 50}

    pieces = _lines(found())
    assert [json.loads(next(pieces))["number"], looked_at] == [0, 1]
    rest = list(pieces)
    assert len(rest) < 30
    numbers = [json.loads(line)["number"] for piece in rest for line in piece.splitlines()]
    assert numbers == list(range(1, 30_000))
