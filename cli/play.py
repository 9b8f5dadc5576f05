"""`arena play`: a series of games between two players."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from arena.board import Mark, Outcome
from arena.errors import NotFoundError
from arena.opponents import parse
from arena.plan import MOST_GAMES
from arena.players import EnginePlayer, Kind, Player
from arena.series import VOID_IN_A_ROW, Tally, play_series
from cli.context import Json, fail, now, plain, progress, say
from models.completion import Fault
from models.registry import Registry
from storage.games import Games
from storage.keeper import Keeper
from web.setups import ENGINE_NAMES

GGUF = ".gguf"
_MANY = 50_000
"""So many games of engines are played in batches: fewer take longer to prepare than to play."""


class Opener(StrEnum):
    """Which mark opens the games of a series."""

    X = "X"
    O = "O"  # noqa: E741 - the game's own name for it
    ALTERNATE = "alternate"


def play(
    context: typer.Context,
    x: Annotated[str, typer.Argument(help="Who plays X: engine spec, model or .gguf file.")],
    o: Annotated[str, typer.Argument(help="Who plays O.")],
    games: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="How many.")] = 100,
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
    x_player, o_player = (player_named(name, registry, faults.append) for name in (x, o))
    openers = tuple(Mark) if opener is Opener.ALTERNATE else (Mark(opener.value),)
    engines = all(p.identity.kind is Kind.ENGINE for p in (x_player, o_player))
    tally = Tally()
    begun = time.perf_counter()

    async def series(keeper: Keeper | None) -> None:
        seeds = range(seed, seed + games)
        played = play_series(x_player, o_player, seeds=seeds, openers=openers)
        try:
            with progress("Games", games) as advance:
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
                keeper = Keeper(Games(database, now), x_player, o_player)
                try:
                    asyncio.run(series(keeper))
                finally:
                    kept = {"stored": keeper.stored, "stored_before": keeper.known}
        elif engines and games >= _MANY:
            _play_batches(x, o, range(seed, seed + games), openers, tally)
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
        table = Table(title=plain(f"{x} v {o}"), show_header=False, box=None)
        for name, figure in figures.items():
            table.add_row(name.replace("_", " "), f"{figure:,}")
        Console().print(table)
    for player in (x_player, o_player):
        if player.identity.kind is Kind.MODEL:
            for change in registry.endpoint(player.identity.name).adaptations:
                say(f"{player.identity.name}: {change.description}")
    void = tally.outcomes[Outcome.VOID]
    if faults and not problem:
        told = f"{void} of {tally.games} games are void: {faults[-1].message}"
        if void == tally.games:
            fail(told)
        say(told)
    if problem:
        fail(f"stopped after {tally.games} of {games} games: {problem}")


def _play_batches(x: str, o: str, seeds: range, openers: Sequence[Mark], tally: Tally) -> None:
    """The same games of two engines, of which nothing is kept but what they come to."""
    # Imports numpy, which few commands need.
    from arena.batch import play_batches

    with progress("Games", len(seeds)) as advance:
        for batch in play_batches(parse(x), parse(o), seeds, openers):
            tally.add_many(batch.opener, batch.outcomes, batch.lines())
            advance(len(batch))


class _StoppedError(Exception):
    """A series that cannot go on; the message says why."""


def player_named(name: str, registry: Registry, on_fault: Callable[[Fault], None]) -> Player:
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
    return registry.player(model_named(name, registry), on_fault=on_fault)


def model_named(name: str, registry: Registry) -> str:
    """The name of the entry that an argument means: a file gets one now.

    Raises:
        NotFoundError: there is no such model or file.
    """
    if name not in registry and name.endswith(GGUF):
        return registry.add_file(Path(name)).name
    return registry.get(name).name
