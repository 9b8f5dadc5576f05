"""The `arena` command. Each command is a thin function over the packages below it.

Exit codes: 0 done, 1 failed, 2 wrong use. `--json` prints one JSON object and nothing else on
standard output; progress and words for people go to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from arena.errors import ArenaError, NotFoundError, RulesError, SpecError
from cli.context import Context, say
from cli.evaluate import evaluate
from cli.export import export
from cli.generate import generate
from cli.imports import demo, import_games
from cli.models import doctor, models_app, prompts
from cli.play import play
from cli.push import push
from cli.records import leaderboard
from cli.rewards import rewards
from cli.train import train
from web.listen import listen
from web.settings import Settings, load

app = typer.Typer(
    name="arena",
    help="Play language-model checkpoints at tic-tac-toe, and measure them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (play, evaluate, leaderboard, export, rewards, doctor):
    app.command()(command)
app.command("import")(import_games)
app.command()(generate)
app.command()(push)
app.add_typer(demo, name="demo")
app.add_typer(models_app, name="models")
app.add_typer(prompts, name="prompt")
app.add_typer(train, name="train")


@app.callback()
def configure(
    context: typer.Context,
    database: Annotated[
        Path | None,
        typer.Option(help="The database file; else arena.db in the data folder."),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="The data folder; else $ARENA_DATA_DIR or ./data.")
    ] = None,
) -> None:
    """Read the options that every command has."""
    context.obj = Context(load(os.environ, data_dir=data_dir, database=database))


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="The port.")] = None,
) -> None:
    """Serve the web app."""
    given: Settings = context.obj.settings
    folders = {"data_dir": given.data_dir, "database": given.database}
    settings = load(os.environ, **folders, host=host, port=port)
    registry = context.obj.registry()
    with listen(settings.host, settings.port) as listening:
        # Gradio takes seconds to import: only this command pays for it.
        from web.server import serve as run

        run(settings, registry, listening)


def main(arguments: list[str] | None = None) -> int:
    """Run a command line.

    Args:
        arguments: without the program's name; those of the process by default.

    Returns:
        The exit code.
    """
    if sys.stdout is None:
        # Closed by whoever began this: what is written to it fails, as with other programs.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    try:
        with _ended_in_order():
            code = _run(arguments)
            # Here, and not at the interpreter's end, where nobody would hear of it.
            sys.stdout.flush()
            return code
    except OSError as failed:
        # What could not be printed would be tried once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(failed, BrokenPipeError):
            where = f" ({failed.filename})" if failed.filename else ""
            say(f"the system refuses: {failed.strerror or failed}{where}")
        return 1


def _run(arguments: list[str] | None) -> int:
    try:
        app(args=arguments)
    except SystemExit as left:
        return int(left.code or 0)
    except (SpecError, RulesError, NotFoundError) as wrong:
        say(str(wrong))
        return 2
    except ArenaError as failed:
        say(str(failed))
        return 1
    return 0


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM end a command as an exception does, so that nothing half written stays, and only
    then the process: whoever sent it sees that it was the signal.
    """
    came: list[int] = []

    def leave(number: int, _frame: object) -> NoReturn:
        came.append(number)
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if came:
            signal.raise_signal(came[0])
