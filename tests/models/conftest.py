"""What the tests of models share: an endpoint that never really waits, and one way to a server."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from models.endpoint import Endpoint, Patience
from models.registry import Registry
from tests.models import tiny_gguf
from tests.servers import ModelServer
from tests.servers.fixtures import serve

__all__ = ["connect", "registry", "serve", "time", "tiny"]

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


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file that answers with noise."""
    return tiny_gguf.write(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
async def registry(tmp_path: Path, tiny: Path) -> AsyncIterator[Callable[..., Registry]]:
    """A registry of entries, which are given as TOML; one of the file `tiny`, called so, where
    none is. Processes of its files end with the test.
    """
    registries: list[Registry] = []

    def load(*entries: str, **fields: object) -> Registry:
        own = "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
        tables = entries or (f'name = "tiny"\ngguf = {json.dumps(str(tiny))}\n',)
        few = "max_wait_s = 60\nsampling = { max_tokens = 8 }\n"
        path = tmp_path / "models.toml"
        path.write_text("".join(f"[[model]]\n{table}\n{own}{few}" for table in tables), "utf-8")
        registries.append(Registry.load(path))
        return registries[-1]

    yield load
    for each in registries:
        await each.close()
