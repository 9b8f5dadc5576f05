"""What the tests of models share: an endpoint that never really waits, and one way to a server."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import settings

from models.endpoint import Endpoint, Patience
from tests.servers import ModelServer
from tests.servers.fixtures import serve

__all__ = ["connect", "serve", "time"]

settings.register_profile("arena", deadline=None, derandomize=True, database=None)
settings.load_profile("arena")

QUICK = Patience(timeout_s=5, max_tries=4, max_wait_s=600)


class Time:
    """A clock that only a pause moves on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def connect(time: Time) -> AsyncIterator[Callable[..., Endpoint]]:
    """An endpoint whose pauses are only counted; it is closed with the test."""
    endpoints: list[Endpoint] = []

    def start(server: ModelServer | str, **options) -> Endpoint:
        base_url = server if isinstance(server, str) else server.base_url
        defaults: dict[str, Any] = {
            "patience": QUICK,
            "environ": {},
            "generator": random.Random(1),
            "sleep": time.sleep,
            "clock": time,
        }
        endpoints.append(Endpoint(base_url, "m", **(defaults | options)))
        return endpoints[-1]

    yield start
    for endpoint in endpoints:
        await endpoint.aclose()
