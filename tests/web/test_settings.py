"""An argument wins over the environment, the environment over the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError
from web.settings import Settings, is_loopback, load

EVERYTHING = {
    "ARENA_DATA_DIR": "/srv/arena",
    "ARENA_MODELS": "/etc/models.toml",
    "ARENA_HOST": "0.0.0.0",
    "ARENA_PORT": "80",
    "ARENA_OPERATOR_PASSWORD": "secret",
    "ARENA_DEMO": "0",
}


def test_the_defaults() -> None:
    assert load({}) == Settings()
    assert load(dict.fromkeys(EVERYTHING, "")) == Settings()
    assert Settings().loopback_only
    assert Settings().operator_password is None


def test_the_environment() -> None:
    assert load(EVERYTHING) == Settings(
        data_dir=Path("/srv/arena"),
        database=Path("/srv/arena/arena.db"),
        models_file=Path("/etc/models.toml"),
        host="0.0.0.0",
        port=80,
        operator_password="secret",
        demo=False,
    )


def test_an_argument_wins() -> None:
    found = load(EVERYTHING, data_dir=Path("d"), database=Path("x.db"), host="localhost", port=0)
    assert (found.data_dir, found.database, found.host, found.port) == (
        Path("d"),
        Path("x.db"),
        "localhost",
        0,
    )
    assert load({}, data_dir=Path("d")).models_file == Path("d/models.toml")
    assert load(EVERYTHING, models_file=Path("m.toml")).models_file == Path("m.toml")


@pytest.mark.parametrize("port", ["http", "-1", "65536", "8e3", "٨", " 80"])
def test_a_port_that_is_none(port: str) -> None:
    with pytest.raises(ConfigError, match="ARENA_PORT"):
        load({"ARENA_PORT": port})


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST", "::1", "[::1]"]
)
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "0.0.0.0", "::", "192.168.0.1", "localhost.evil.example", "127.0.0.1.nip.io"]
)
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_the_password_is_not_shown() -> None:
    assert "secret" not in repr(load(EVERYTHING))
