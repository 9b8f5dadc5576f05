"""The operator's settings: where data lies, where the server listens, who is the operator."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arena.errors import ConfigError

DEFAULT_PORT = 7860


@dataclass(frozen=True)
class Settings:
    """Everything that the environment and the command line may change."""

    data_dir: Path = Path("data")
    """Holds the database and, unless told otherwise, `models.toml` and `formats.toml`."""
    database: Path = Path("data/arena.db")
    models_file: Path = Path("data/models.toml")
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    operator_password: str | None = field(default=None, repr=False)
    demo: bool = True
    """Whether the checkpoints that come with the arena can be played, and a new database begins
    with their games.
    """

    @property
    def loopback_only(self) -> bool:
        """Whether the server can be reached from this machine alone."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine and nothing else."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def load(
    environment: Mapping[str, str],
    *,
    data_dir: Path | None = None,
    database: Path | None = None,
    models_file: Path | None = None,
    host: str | None = None,
    port: int | None = None,
) -> Settings:
    """The settings: an argument wins over the environment, the environment over the default.

    Reads `ARENA_DATA_DIR`, `ARENA_MODELS`, `ARENA_HOST`, `ARENA_PORT`, `ARENA_OPERATOR_PASSWORD`
    and `ARENA_DEMO`.

    Raises:
        ConfigError: a variable that cannot be used.
    """
    folder = data_dir or Path(environment.get("ARENA_DATA_DIR") or "data")
    models = models_file or Path(environment.get("ARENA_MODELS") or folder / "models.toml")
    return Settings(
        data_dir=folder,
        database=database or folder / "arena.db",
        models_file=models,
        host=host or environment.get("ARENA_HOST") or "127.0.0.1",
        port=_port(environment.get("ARENA_PORT") or str(DEFAULT_PORT)) if port is None else port,
        operator_password=environment.get("ARENA_OPERATOR_PASSWORD") or None,
        demo=_switch("ARENA_DEMO", environment.get("ARENA_DEMO") or "1"),
    )


def _switch(name: str, text: str) -> bool:
    if text in ("0", "1"):
        return text == "1"
    raise ConfigError(f"{name} is {text!r}: it must be 1 (on) or 0 (off)")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 <= int(text) <= 65535:
        return int(text)
    raise ConfigError(f"ARENA_PORT is {text!r}: it must be a whole number from 0 to 65535")
