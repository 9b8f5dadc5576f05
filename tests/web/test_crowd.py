"""Many who want to look at the same, where a look costs much."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from storage import Database, rewards
from tests.storage.rollouts import store
from web import api_rewards
from web.access import Access
from web.crowd import Crowd
from web.settings import Settings


class Slow:
    """A look that takes until it is let go; it says what was there when it began."""

    def __init__(self) -> None:
        self.there = 0
        self.begun: list[int] = []
        self.under_way = self.most = 0
        self.go = threading.Event()

    def __call__(self) -> int:
        self.begun.append(self.there)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        seen = self.there
        assert self.go.wait(30)
        self.under_way -= 1
        return seen


async def begun(slow: Slow, number: int) -> None:
    async with asyncio.timeout(30):
        while len(slow.begun) < number:  # noqa: ASYNC110 - told from a thread
            await asyncio.sleep(0)


async def test_who_waits_shares_a_look_and_nobody_is_shown_an_older_one() -> None:
    crowd, slow = Crowd(), Slow()
    first = asyncio.create_task(crowd.look(1, slow))
    await begun(slow, 1)
    slow.there = 1
    later = [asyncio.create_task(crowd.look(1, slow)) for _ in range(20)]
    await asyncio.sleep(0)
    slow.go.set()
    assert await first == 0
    assert await asyncio.gather(*later) == [1] * 20
    assert slow.begun == [0, 1]
    assert await crowd.look(1, slow) == 1
    assert len(slow.begun) == 3


async def test_looks_at_different_things_come_one_after_the_other() -> None:
    crowd, slow = Crowd(), Slow()
    looks = [asyncio.create_task(crowd.look(at, slow)) for at in range(5)]
    await begun(slow, 1)
    slow.go.set()
    await asyncio.gather(*looks)
    assert (len(slow.begun), slow.most) == (5, 1)


async def test_who_goes_takes_nothing_from_the_others() -> None:
    crowd, slow = Crowd(), Slow()
    gone, stays = (asyncio.create_task(crowd.look(1, slow)) for _ in range(2))
    await begun(slow, 1)
    gone.cancel()
    slow.go.set()
    assert await stays == 0
    assert gone.cancelled()


async def test_what_fails_fails_for_all_who_wait_and_not_for_the_next() -> None:
    crowd, fails = Crowd(), True

    def look() -> str:
        if fails:
            raise ValueError("not now")
        return "seen"

    waiting = [crowd.look(1, look) for _ in range(3)]
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(each) for each in found] == ["not now"] * 3
    fails = False
    assert await crowd.look(1, look) == "seen"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "arena.db")
    store(database, 0.5, 1.0, parts={"won": [1.0, None]})
    yield database
    database.close()


@pytest.mark.parametrize(("path", "part"), [("/runs/1", "functions"), ("/runs", "runs")])
async def test_a_crowd_at_a_run_costs_two_looks(
    database: Database, monkeypatch: pytest.MonkeyPatch, path: str, part: str
) -> None:
    slow = Slow()
    real = getattr(rewards, part)

    def counted(*asked: object) -> object:
        slow()
        return real(*asked)

    monkeypatch.setattr(rewards, part, counted)
    api = FastAPI()
    api_rewards.add_rewards(api, database, Access(Settings()))
    transport = httpx2.ASGITransport(api)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        first = asyncio.create_task(client.get(path))
        await begun(slow, 1)
        asked = [asyncio.create_task(client.get(path)) for _ in range(12)]
        for _ in range(200):
            await asyncio.sleep(0)
        slow.go.set()
        answers = await asyncio.gather(first, *asked)
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert len(slow.begun) == 2
