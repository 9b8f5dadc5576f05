"""Who talks to the server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.conftest import PASSWORD
from tests.web.process import Arena


@pytest.fixture
def visitor(arena: Arena) -> Iterator[httpx2.Client]:
    with arena.client() as client:
        yield client


@pytest.fixture
def operator(arena: Arena) -> Iterator[httpx2.Client]:
    with arena.client() as client:
        signed_in = client.post("operator/sign-in", json={"password": PASSWORD})
        assert signed_in.status_code == 204
        yield client
