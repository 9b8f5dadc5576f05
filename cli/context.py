"""What all commands share: the global options, and how they speak."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from arena.errors import StorageError
from models.registry import LADDER, Registry
from storage.database import Database
from web.settings import Settings

MOST = (1 << 63) - 1
"""The largest number that the database takes: of ids, and of rows to leave out."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
words = Console(stderr=True)
"""Where progress goes, and all that is said to people beside the result."""
_TABLE_WIDTH = 110
LINES = "\n\t"
"""What a text of several lines keeps."""
_STEERING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, what turns the direction of writing, and what cannot be written at all."""


@dataclass
class Context:
    """What the global options say; the database is opened by the commands that need it."""

    settings: Settings

    @contextmanager
    def database(self, *, to_read: bool = False) -> Iterator[Database]:
        """The database, open and migrated.

        Raises:
            StorageError: it cannot be opened; or it is only `to_read`, and there is none.
        """
        path = self.settings.database
        if to_read and not path.exists():
            raise StorageError(f"there is no database {path} yet: store games, or serve the arena")
        database = Database.open(self.settings.database)
        try:
            yield database
        finally:
            database.close()

    def registry(self) -> Registry:
        """The models of `models.toml`, and those that come with the arena if they are wanted."""
        shipped = LADDER if self.settings.demo else None
        return Registry.load(self.settings.models_file, shipped=shipped)


def visible(text: str, keep: str = "") -> str:
    """Text from people, models and files as a terminal may have it: what would steer it is spelt
    out, as in Python. `keep` says which of these characters stay.
    """
    return _STEERING.sub(lambda each: each[0] if each[0] in keep else ascii(each[0])[1:-1], text)


def plain(text: str, keep: str = "") -> str:
    """The same where rich prints it: never markup."""
    return escape(visible(text, keep))


def counted(number: int, what: str) -> str:
    """So many of them: `1 game`, `2,000 games`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def split(given: Iterable[str], separator: str) -> list[str]:
    """What an option names that may be repeated, or name several at once."""
    return [part.strip() for each in given for part in each.split(separator) if part.strip()]


def finite(value: float) -> float:
    """A number option that is one: `nan` passes between any bounds."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no number")
    return value


def now() -> datetime:
    """The clock of what is stored."""
    return datetime.now(UTC)


def say(sentence: str) -> None:
    """Tell the user something that is no result."""
    words.print(f"arena: {plain(sentence)}", highlight=False, soft_wrap=True)


def fail(sentence: str) -> NoReturn:
    """End the command with exit code 1, and say why."""
    say(sentence)
    raise typer.Exit(1)


def output() -> Console:
    """Standard output, wide enough for a table whose names can be copied from it."""
    console = Console()
    console.width = max(console.width, _TABLE_WIDTH)
    return console


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[..., None]]:
    """A progress bar on standard error, where that is a terminal; what it gives is one step, or as
    many as it is told.
    """
    with Progress(console=words, transient=True, disable=not words.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps=1: bar.advance(task, steps)
