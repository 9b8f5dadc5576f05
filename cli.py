"""The `arena` command. Each command is a thin function over the packages below it.

Exit codes: 0 done, 1 failed, 2 wrong use. `--json` prints one JSON object and nothing else on
standard output; progress and words for people go to standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, track
from rich.table import Table

from arena.board import Mark, Outcome
from arena.errors import ArenaError, NotFoundError, RulesError, SpecError, StorageError
from arena.game import Attempt, Game, Turn, Verdict
from arena.opponents import parse
from arena.players import EnginePlayer, Player
from arena.series import VOID_IN_A_ROW, Tally, play_series
from models.completion import Fault
from models.config import nearest
from models.discover import discover as discover_models
from models.doctor import Card, examine
from models.prompt import History, messages
from models.registry import Registry
from storage import cards, standings
from storage.database import Database
from storage.datasets import Flavour, jsonl, rows
from storage.files import write_whole
from storage.filters import GameFilter, Result
from storage.games import Games
from storage.keeper import Keeper
from storage.tables import Source
from web.listen import listen
from web.settings import Settings, load
from web.standings import leaderboard_out

GGUF = ".gguf"
_TABLE_WIDTH = 110
ENGINE_NAMES = ("random", "minimax")

app = typer.Typer(
    name="arena",
    help="Play language-model checkpoints at tic-tac-toe, and measure them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_words = Console(stderr=True)

prompts = typer.Typer(help="Look at prompt formats.", no_args_is_help=True)
app.add_typer(prompts, name="prompt")
models_app = typer.Typer()
app.add_typer(models_app, name="models")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


class Opener(StrEnum):
    """Which mark opens the games of a series."""

    X = "X"
    O = "O"  # noqa: E741 - the game's own name for it
    ALTERNATE = "alternate"


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
        """The models of `models.toml`, with the operator's own prompt formats."""
        return Registry.load(self.settings.models_file)


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
def play(
    context: typer.Context,
    x: Annotated[str, typer.Argument(help="Who plays X: engine spec, model or .gguf file.")],
    o: Annotated[str, typer.Argument(help="Who plays O.")],
    games: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many.")] = 100,
    seed: Annotated[
        int, typer.Option(min=0, max=1 << 62, help="Of the first game; each next one has the next.")
    ] = 0,
    opener: Annotated[Opener, typer.Option(help="The mark that moves first.")] = Opener.X,
    store: Annotated[bool, typer.Option("--store", help="Keep the games, as rated ones.")] = False,
    as_json: Json = False,
) -> None:
    """Play a series of games between two players."""
    registry = context.obj.registry()
    faults: list[Fault] = []
    x_player, o_player = (_player(name, registry, faults.append) for name in (x, o))
    openers = tuple(Mark) if opener is Opener.ALTERNATE else (Mark(opener.value),)
    tally = Tally()
    begun = time.perf_counter()

    async def series(keeper: Keeper | None) -> None:
        seeds = range(seed, seed + games)
        played = play_series(x_player, o_player, seeds=seeds, openers=openers)
        try:
            with _progress("Games", games) as advance:
                async for game in played:
                    tally.add(game)
                    advance()
                    if keeper:
                        await keeper.add(game)
                    if tally.void_in_a_row == VOID_IN_A_ROW or any(f.fatal for f in faults):
                        raise _StoppedError(faults[-1].message if faults else "void games")
        finally:
            if keeper:
                keeper.flush()
            await registry.close()

    problem = None
    kept: dict[str, int] = {}
    try:
        if store:
            with context.obj.database() as database:
                keeper = Keeper(Games(database, _now), x_player, o_player)
                try:
                    asyncio.run(series(keeper))
                finally:
                    kept = {"stored": keeper.stored, "stored_before": keeper.known}
        else:
            asyncio.run(series(None))
    except (KeyboardInterrupt, _StoppedError) as stopped:
        problem = str(stopped) or "interrupted"
    figures = {
        "x_wins": tally.outcomes[Outcome.X],
        "draws": tally.outcomes[Outcome.DRAW],
        "o_wins": tally.outcomes[Outcome.O],
        "forfeits": tally.forfeits,
        "void": tally.outcomes[Outcome.VOID],
        "distinct": tally.distinct,
        "games_per_s": round(tally.games / (time.perf_counter() - begun), 1),
    } | kept
    if as_json:
        print(json.dumps(figures))
    else:
        table = Table(title=escape(f"{x} v {o}"), show_header=False, box=None)
        for name, figure in figures.items():
            table.add_row(name.replace("_", " "), f"{figure:,}")
        Console().print(table)
    if problem:
        _fail(f"stopped after {tally.games} of {games} games: {problem}")


@app.command()
def leaderboard(context: typer.Context, as_json: Json = False) -> None:
    """Print every player's results, opening and replying apart."""
    with context.obj.database(to_read=True) as database:
        found = leaderboard_out(standings.leaderboard(database), standings.matrix(database))
    if as_json:
        print(json.dumps(found.model_dump(mode="json")))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("Player", "Seat"):
        table.add_column(column, no_wrap=True)
    for column in ("Not lost %", "95 %", "Games", "W", "D", "L", "Forfeits"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in found.players:
        for seat, side in (("opening", row.opening), ("replying", row.replying)):
            if side.not_lost is not None:
                between = "exact" if side.interval is None else side.interval.percent()
                counts = (side.games, side.wins, side.draws, side.losses, side.forfeits)
                rate = f"{100 * side.not_lost:.1f}"
                table.add_row(escape(row.player.name), seat, rate, between, *map(str, counts))
    _output().print(table if table.row_count else "No rated games are stored yet.")


@app.command()
def export(
    context: typer.Context,
    flavour: Annotated[Flavour, typer.Argument(help="What a row is.")],
    out: Annotated[Path, typer.Option(help="The file to write; - is standard output.")],
    player: Annotated[str | None, typer.Option(help="Only games of this player.")] = None,
    opponent: Annotated[str | None, typer.Option(help="Only games against this one.")] = None,
    result: Annotated[Result | None, typer.Option(help="What they were for the player.")] = None,
    source: Annotated[Source | None, typer.Option(help="Where they were played.")] = None,
    formatted: Annotated[
        bool, typer.Option("--formatted", help="Every reply followed the format.")
    ] = False,
    no_invalid: Annotated[bool, typer.Option("--no-invalid", help="No reply was invalid.")] = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Each sequence of moves once.")
    ] = False,
) -> None:
    """Write stored games as a dataset, a JSON object a line."""
    chosen = GameFilter(
        player=player,
        opponent=opponent,
        result=result,
        source=source,
        formatted=formatted,
        no_invalid=no_invalid,
        distinct_only=distinct,
    )
    with context.obj.database(to_read=True) as database:
        lines = jsonl(rows(database, flavour, chosen))
        if str(out) == "-":
            sys.stdout.buffer.writelines(lines)
            return
        written = write_whole(out, track(lines, "Rows", console=_words, transient=True))
    _words.print(f"{written} rows in {escape(str(out))}", highlight=False)


@models_app.callback(invoke_without_command=True)
def models(context: typer.Context, as_json: Json = False) -> None:
    """List the models of models.toml."""
    if context.invoked_subcommand is not None:
        return
    settings, registry = context.obj.settings, context.obj.registry()
    found = [
        {
            "name": entry.name,
            "family": entry.family,
            "step": entry.step,
            "model": entry.model,
            "address": entry.address,
            "prompt": entry.prompt,
            "public": entry.public,
            "key": _key_state(entry.api_key_env),
        }
        for entry in registry.entries
    ]
    if as_json:
        print(json.dumps({"file": str(settings.models_file), "models": found}))
    elif not found:
        print(f"No models yet. Describe them in {settings.models_file}: see models.example.toml.")
    else:
        table = Table(box=None, pad_edge=False)
        for column in ("Name", "Model", "Address", "Prompt", "Public", "Key"):
            table.add_column(column, overflow="fold")
        for row in found:
            cells = (row[key] for key in ("name", "model", "address", "prompt", "public", "key"))
            shown = ({True: "yes", False: "no"}.get(cell, cell) for cell in cells)
            table.add_row(*(escape(str(cell)) for cell in shown))
        _output().print(table)


@models_app.command()
def discover(
    base_url: Annotated[str, typer.Argument(help="The server's address, as in models.toml.")],
    api_key_env: Annotated[
        str | None, typer.Option(help="The environment variable that holds the key.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Propose entries for models.toml from what a server lists."""
    found = asyncio.run(discover_models(base_url, api_key_env))
    if as_json:
        print(json.dumps(found.to_json()))
        return
    for note in found.notes:
        _say(note)
    print(found.toml, end="")


@app.command()
def doctor(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="The model's name, or a .gguf file.")],
    as_json: Json = False,
) -> None:
    """Examine a model's endpoint, and say in plain words what to change."""
    registry = context.obj.registry()
    name = _model(model, registry)

    async def examination() -> Card:
        try:
            with _words.status("Examining …") as status:
                return await examine(registry, name, status.update)
        finally:
            await registry.close()

    card = asyncio.run(examination())
    with context.obj.database() as database:
        cards.save(database, name, card.to_json(), _now)
    if as_json:
        print(json.dumps(card.to_json()))
    else:
        print("\n".join(card.lines()))
    if not card.ok:
        raise typer.Exit(1)


@prompts.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="FORMAT", help="The prompt format.")],
    moves: Annotated[str, typer.Option(help="The squares taken so far, from 0: 4,0,8")] = "",
    opener: Annotated[Mark, typer.Option(help="The mark that moved first.")] = Mark.X,
    history: Annotated[History, typer.Option(help="The chat so far, or a fresh prompt.")] = (
        History.FULL
    ),
    as_json: Json = False,
) -> None:
    """Print what a model that is to move would be sent, message by message.

    Its own earlier replies are stand-ins in the form that the format asks for.
    """
    formats = context.obj.registry().formats
    if name not in formats:
        raise NotFoundError(f"no prompt format is called {name!r}: {nearest(name, formats)}")
    form = formats[name]
    game = Game(opener=opener)
    for square in _squares(moves):
        said = Attempt((), form.example(square), Verdict.OK, square, contains=True, exact=True)
        game.add(Turn(game.to_move, square, (said,)))
    if game.outcome is not None:
        raise RulesError("the game is over after these moves: nobody is asked for another")
    chat = messages(game, game.to_move, (), form, history)
    if as_json:
        sent = [{"role": message.role, "content": message.content} for message in chat]
        print(json.dumps({"format": name, "hash": form.hash, "messages": sent}))
        return
    for message in chat:
        print(f"--- {message.role}")
        print(message.content)


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
    try:
        app(args=arguments)
    except SystemExit as left:
        return int(left.code or 0)
    except (SpecError, RulesError, NotFoundError) as wrong:
        _say(str(wrong))
        return 2
    except ArenaError as failed:
        _say(str(failed))
        return 1
    return 0


class _StoppedError(Exception):
    """A series that cannot go on; the message says why."""


def _now() -> datetime:
    return datetime.now(UTC)


def _output() -> Console:
    """Standard output, wide enough for a table whose names can be copied from it."""
    console = Console()
    console.width = max(console.width, _TABLE_WIDTH)
    return console


def _say(sentence: str) -> None:
    _words.print(f"arena: {escape(sentence)}", highlight=False, soft_wrap=True)


def _fail(sentence: str) -> NoReturn:
    _say(sentence)
    raise typer.Exit(1)


def _player(name: str, registry: Registry, on_fault: Callable[[Fault], None]) -> Player:
    """The player that an argument names.

    Raises:
        SpecError: it begins like an engine's spec, and is none.
        NotFoundError: it is neither an engine nor a registered model nor a GGUF file.
    """
    if name.partition(":")[0].strip() in ENGINE_NAMES:
        return EnginePlayer(parse(name))
    if name not in registry and not name.endswith(GGUF):
        engines = ", ".join(ENGINE_NAMES)
        known = ", ".join(entry.name for entry in registry.entries) or "none is registered"
        raise NotFoundError(f"no player is called {name!r}: engines are {engines}; models: {known}")
    return registry.player(_model(name, registry), on_fault=on_fault)


def _model(name: str, registry: Registry) -> str:
    """The name of the entry that an argument means: a file gets one now.

    Raises:
        NotFoundError: there is no such model or file.
    """
    if name not in registry and name.endswith(GGUF):
        return registry.add_file(Path(name)).name
    return registry.get(name).name


@contextmanager
def _progress(what: str, total: int) -> Iterator[Any]:
    """A progress bar on standard error, where that is a terminal."""
    with Progress(console=_words, transient=True, disable=not _words.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def _squares(text: str) -> list[int]:
    """Squares as they are typed: digits, with commas or blanks between them or not.

    Raises:
        RulesError: something else stands there.
    """
    digits = text.replace(",", "").replace(" ", "")
    if digits.strip("012345678"):
        raise RulesError(f"--moves takes squares from 0 to 8, such as 4,0,8, not {text!r}")
    return [int(digit) for digit in digits]


def _key_state(variable: str | None) -> str:
    if variable is None:
        return "none needed"
    return f"{variable} is {'set' if os.environ.get(variable) else 'not set'}"


if __name__ == "__main__":
    sys.exit(main())
