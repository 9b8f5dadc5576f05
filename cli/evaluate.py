"""`arena evaluate`: checkpoints against a panel, resumable, in view."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.live import Live

from arena.control import Control, State
from arena.evaluation import Ended
from arena.plan import MOST_GAMES, Plan
from arena.players import Player
from cli.context import Json, counted, fail, now, output, say, split, words
from cli.evaluation_table import Reasons, any_void, report
from cli.evaluation_table import as_json as as_json_of
from cli.evaluation_view import live_view, paused_lines, progress_line
from cli.play import player_named
from models.registry import Registry
from storage.cells import void_reasons
from storage.conduct import conduct
from storage.database import Database
from storage.evaluations import Evaluation, Evaluations
from storage.figures import Figures, figures
from storage.games import Games
from storage.setups import Setup
from web.costs import bills
from web.setups import members, panel_of, title_of

_LIVE_EVERY_S = 1.0
_PLAIN_EVERY_S = 10.0
_PATIENCE = 9
"""So many times longer than a look takes is the pause before the next one."""


def evaluate(
    context: typer.Context,
    checkpoints: Annotated[
        list[str], typer.Argument(metavar="MODEL_OR_FAMILY...", help="Who is evaluated.")
    ],
    panel: Annotated[str, typer.Option(help="The panel of opponents.")] = "standard",
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC;SPEC…",
            help="Opponents instead of a panel, separated by semicolons; may be repeated.",
        ),
    ] = None,
    games: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="Seeds: each is two games an opponent.")
    ] = 50,
    seed: Annotated[int, typer.Option(min=0, max=1 << 62, help="The first seed.")] = 0,
    rollouts: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="Repetitions of each game.")
    ] = 1,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Games at once.")] = 16,
    name: Annotated[
        str | None, typer.Option(help="Go on with this evaluation, or begin it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play checkpoints against a panel. The same name with the same settings goes on where it was.

    Ctrl-C stops after the games in flight, twice at once.
    """
    registry: Registry = context.obj.registry()
    chosen = panel_of(context.obj.settings.models_file, panel, split(opponents or (), ";"))
    control = Control()

    def on_fault(fault: Any) -> None:
        if fault.fatal:
            control.fail(fault.message)

    players = [
        player_named(each, registry, on_fault)
        for given in checkpoints
        for each in members(given, registry)
    ]
    plan = Plan(chosen.opponents, games, seed, rollouts, chosen.mark)
    setup = Setup(tuple(p.identity for p in players), plan, chosen.name, concurrency)
    title = name or title_of(checkpoints, chosen.name, seed)
    with context.obj.database() as database:
        evaluations = Evaluations(database, now)
        evaluation = evaluations.open(title, setup)
        asyncio.run(_play(database, evaluations, evaluation, players, registry, control))
        ended = evaluations.get(title)
        found = figures(database, ended)
        reasons = void_reasons(database, ended) if any_void(found) else []
    costs = bills(found, registry)
    if as_json:
        print(json.dumps(as_json_of(ended, found, costs, reasons)))
    else:
        output().print(report(ended, found, costs, reasons), highlight=False)
    if ended.state is not State.FINISHED:
        fail(f"{title} is {ended.state}" + (f": {ended.message}" if ended.message else ""))
    if left := sum(each.planned - each.played for each in found):
        void = counted(left, "game")
        fail(f"{void} of {title} stayed void: the same command plays what is missing")


async def _play(
    database: Database,
    evaluations: Evaluations,
    evaluation: Evaluation,
    players: Sequence[Player],
    registry: Registry,
    control: Control,
) -> None:
    """Conduct the evaluation, in view."""
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if control.stopping:
            control.stop_now()
        else:
            control.stop()
            say("stopping after the games in flight; once more stops at once")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    games = Games(database, now)
    task = asyncio.create_task(conduct(evaluations, games, evaluation, players, control=control))
    try:
        await _show(task, lambda: _look(database, evaluations, evaluation.name))
        await task
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        await registry.close()


class _Seen(NamedTuple):
    """What the database says of an evaluation under way."""

    evaluation: Evaluation
    found: Sequence[Figures]
    reasons: Reasons


def _look(database: Database, evaluations: Evaluations, name: str) -> _Seen:
    evaluation = evaluations.get(name)
    found = figures(database, evaluation)
    reasons = void_reasons(database, evaluation) if any_void(found) else []
    return _Seen(evaluation, found, reasons)


async def _show(task: asyncio.Task[Ended], look: Callable[[], _Seen]) -> None:
    """Show how far it is until it ends: a live table, or a plain line now and then."""
    every_s = _LIVE_EVERY_S if words.is_terminal else _PLAIN_EVERY_S
    with Live(console=words, auto_refresh=False, transient=True, vertical_overflow="crop") as live:
        pause_s = every_s
        while True:
            await asyncio.wait({task}, timeout=pause_s)
            if task.done():
                return
            begun = time.monotonic()
            evaluation, found, reasons = await asyncio.to_thread(look)
            # A look at very many games takes its time, which belongs to the games.
            pause_s = max(every_s, _PATIENCE * (time.monotonic() - begun))
            if words.is_terminal:
                live.update(live_view(evaluation, found, reasons, words.height), refresh=True)
            else:
                lines = progress_line(evaluation, found), *paused_lines(evaluation)
                say("; ".join(lines))
