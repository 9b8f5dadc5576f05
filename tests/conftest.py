"""What the tests over HTTP and those in a browser share: the real server and a model behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.servers import ModelServer, PolicyModel, closed_port
from tests.web.process import Arena

# Property tests run the same examples each time, and however slow the machine is.
settings.register_profile("arena", deadline=None, derandomize=True, database=None)
settings.load_profile("arena")

PASSWORD = "correct horse"
KEY = "sk-canary-5b1f09d7c3"
"""The key of every model: it must be found nowhere."""
MARKUP = "<img src=x onerror=fire()>"
TRICKS = (MARKUP, "${fire()}", "{{constructor.constructor('fire()')()}}")
"""Names that would run a page's `fire` if they were anything but text; the first is a model's."""

MODELS = f"""
[[model]]
name = "tagger"
base_url = "BASE_URL"
model = "tagger"
api_key_env = "CANARY_KEY"
family = "taggers"
step = 100
public = true
max_games = 1000
max_tries = 1

[[model]]
name = "capped"
base_url = "BASE_URL"
model = "capped"
public = true
max_games = 2

[[model]]
name = "hidden"
base_url = "BASE_URL"
model = "hidden"

[[model]]
name = "{MARKUP}"
base_url = "BASE_URL"
model = "markup"
public = true

[[model]]
name = "unreachable"
base_url = "http://127.0.0.1:{closed_port()}/v1"
model = "nobody"
public = true
max_tries = 1
"""
"""tagger for most tests; the others for what their names say."""


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServer]:
    """The server behind every model of the arenas."""
    with ModelServer(PolicyModel()) as server:
        yield server


@pytest.fixture
def model(model_server: ModelServer) -> ModelServer:
    """The model server, which plays well unless a test gives it another `answer`."""
    model_server.answer = PolicyModel()
    model_server.requests.clear()
    return model_server


def _arena(tmp_path_factory: pytest.TempPathFactory, models: str, **environment: str) -> Arena:
    folder = tmp_path_factory.mktemp("arena") / "data"
    folder.mkdir()
    (folder / "models.toml").write_text(models, "utf-8")
    return Arena(folder, {"CANARY_KEY": KEY, **environment})


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory, model_server: ModelServer) -> Iterator[Arena]:
    """A server with an operator's password: everybody is a visitor at first."""
    models = MODELS.replace("BASE_URL", model_server.base_url)
    server = _arena(tmp_path_factory, models, ARENA_OPERATOR_PASSWORD=PASSWORD)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, model_server: ModelServer) -> Iterator[Arena]:
    """A server without a password, which tests may stop, kill and start again."""
    models = MODELS.replace("BASE_URL", model_server.base_url)
    server = _arena(tmp_path_factory, models)
    server.start()
    yield server
    server.stop()
