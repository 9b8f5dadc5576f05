"""`arena models`, `arena doctor` and `arena prompt`: the models, and what they are asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from arena.board import Mark
from arena.errors import NotFoundError, RulesError
from arena.game import Attempt, Game, Turn, Verdict
from cli.context import LINES, Json, fail, now, output, plain, say, visible, words
from cli.play import model_named
from models.config import nearest
from models.discover import discover as discover_models
from models.doctor import Card, examine
from models.local import LocalServer, StartError
from models.prompt import History, messages
from storage import cards
from web.listen import listen

_LOOK_S = 0.5
"""How often it is seen whether a server still runs."""

models_app = typer.Typer()
prompts = typer.Typer(help="Look at prompt formats.", no_args_is_help=True)


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
        where = visible(str(settings.models_file))
        print(f"No models yet. Describe them in {where}: see models.example.toml.")
    else:
        table = Table(box=None, pad_edge=False)
        for column in ("Name", "Model", "Address", "Prompt", "Public", "Key"):
            table.add_column(column, overflow="fold")
        for row in found:
            cells = (row[key] for key in ("name", "model", "address", "prompt", "public", "key"))
            shown = ({True: "yes", False: "no"}.get(cell, cell) for cell in cells)
            table.add_row(*(plain(str(cell)) for cell in shown))
        output().print(table)


@models_app.command()
def serve(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="The model's name, or a .gguf file.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any.")] = 8080,
) -> None:
    """Serve a model's GGUF file to other tools on this machine, until Ctrl-C."""
    registry = context.obj.registry()
    entry = registry.get(model_named(model, registry))
    if entry.gguf is None:
        raise NotFoundError(f"{entry.name} has no GGUF file: it is served at {entry.base_url}")
    listen("127.0.0.1", port).close()
    server = LocalServer(
        Path(entry.gguf),
        entry.threads,
        entry.context,
        name=entry.name,
        port=port,
        keyless=True,
    )
    try:
        asyncio.run(_serve(server, entry.name))
    except StartError as error:
        fail(f"{entry.gguf}: {error}")
    finally:
        server.close()


async def _serve(server: LocalServer, name: str) -> None:
    """Start the server, say where it listens, and wait for the end."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    address = await server.running()
    print(
        f"{visible(name)} answers on {address.base_url} without a key. Ctrl-C ends it.", flush=True
    )
    while not ended.is_set():
        if server.pid is None:
            fail("llama.cpp has ended")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _LOOK_S)


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
        say(note)
    print(visible(found.toml, LINES), end="")


def doctor(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="The model's name, or a .gguf file.")],
    as_json: Json = False,
) -> None:
    """Examine a model's endpoint, and say in plain words what to change."""
    registry = context.obj.registry()
    name = model_named(model, registry)

    async def examination() -> Card:
        try:
            with words.status("Examining …") as status:
                return await examine(registry, name, lambda step: status.update(plain(step)))
        finally:
            await registry.close()

    card = asyncio.run(examination())
    with context.obj.database() as database:
        cards.save(database, name, card.to_json(), now)
    if as_json:
        print(json.dumps(card.to_json()))
    else:
        print(visible("\n".join(card.lines()), LINES))
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
        print(visible(message.content, LINES))


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
