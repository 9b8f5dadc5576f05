"""The server as a fixture, for any folder of tests: import it in that folder's conftest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.servers.server import ModelServer


@pytest.fixture
def serve() -> Iterator[Callable[..., ModelServer]]:
    """Start a model server with `ModelServer`'s arguments; it ends with the test."""
    with ExitStack() as servers:
        yield lambda *args, **options: servers.enter_context(ModelServer(*args, **options))
