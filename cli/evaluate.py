"""`arena evaluate`: checkpoints against a panel, resumable, in view."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from arena.control import Control, State
from arena.errors import ConfigError, NotFoundError
from arena.panels import Panel, canonical_specs, panels_from
from arena.plan import Plan
from arena.players import Player
from arena.statistics import clustered
from cli.context import Json, fail, now, output, say, words
from cli.play import player_named
from models.config import nearest, read_toml, tables_of
from models.registry import Registry
from storage.conduct import conduct
from storage.database import Database
from storage.evaluations import Evaluation, Evaluations
from storage.figures import Figures, figures
from storage.games import Games
from storage.setups import Setup

PANELS_FILE = "panels.toml"
_PLAIN_EVERY_S = 10


def evaluate(
    context: typer.Context,
    checkpoints: Annotated[
        list[str], typer.Argument(metavar="MODEL_OR_FAMILY...", help="Who is evaluated.")
    ],
    panel: Annotated[str, typer.Option(help="The panel of opponents.")] = "standard",
    opponents: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEC", help="An opponent, instead of a panel; may be repeated."),
    ] = None,
    games: Annotated[int, typer.Option(min=1, help="Seeds: each is two games an opponent.")] = 50,
    seed: Annotated[int, typer.Option(min=0, max=1 << 62, help="The first seed.")] = 0,
    rollouts: Annotated[int, typer.Option(min=1, help="Repetitions of each game.")] = 1,
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
    chosen = _panel(context.obj.settings.models_file.with_name(PANELS_FILE), panel, opponents)
    control = Control()

    def on_fault(fault: Any) -> None:
        if fault.fatal:
            control.fail(fault.message)

    players = [
        player_named(each, registry, on_fault)
        for given in checkpoints
        for each in _members(given, registry)
    ]
    plan = Plan(chosen.opponents, games, seed, rollouts, chosen.mark)
    setup = Setup(tuple(p.identity for p in players), plan, chosen.name, concurrency)
    title = name or f"{'+'.join(checkpoints)}-{chosen.name}-{seed}"
    with context.obj.database() as database:
        evaluations = Evaluations(database, now)
        evaluation = evaluations.open(title, setup)
        asyncio.run(_play(database, evaluations, evaluation, players, registry, control))
        ended = evaluations.get(title)
        found = figures(database, ended)
    if as_json:
        print(json.dumps(_as_json(ended, found)))
    else:
        output().print(_table(ended, found))
    if ended.state is not State.FINISHED:
        fail(f"{title} is {ended.state}" + (f": {ended.message}" if ended.message else ""))


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

    loop.add_signal_handler(signal.SIGINT, interrupted)
    games = Games(database, now)
    task = asyncio.create_task(conduct(evaluations, games, evaluation, players, control=control))
    seconds = 0
    try:
        with Live(console=words, auto_refresh=False, transient=True) as live:
            while not task.done():
                await asyncio.wait({task}, timeout=1)
                seconds += 1
                if words.is_terminal or seconds % _PLAIN_EVERY_S == 0:
                    found = await asyncio.to_thread(figures, database, evaluation)
                    if words.is_terminal:
                        live.update(_table(evaluation, found, control), refresh=True)
                    else:
                        played = sum(each.played for each in found)
                        say(f"{played} of {sum(each.planned for each in found)} games")
        await task
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        await registry.close()


def _members(given: str, registry: Registry) -> list[str]:
    """The checkpoints of a family, or the one that is named."""
    family = [entry.name for entry in registry.entries if entry.family == given]
    return [given] if given in registry or not family else family


def _panel(path: Path, name: str, opponents: list[str] | None) -> Panel:
    """The opponents that are asked for.

    Raises:
        SpecError: one of them does not exist, or is named twice.
        NotFoundError: there is no such panel.
        ConfigError: the file of the user's own panels cannot be used.
    """
    if opponents:
        return Panel("opponents", canonical_specs(opponents))
    tables = tables_of(path, read_toml(path), "panel") or []
    if not isinstance(tables, list):
        raise ConfigError(f"{path}: a panel is a table with two brackets: [[panel]]")
    try:
        panels = panels_from(tables)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if name not in panels:
        raise NotFoundError(f"no panel is called {name!r}: {nearest(name, panels)}")
    return panels[name]


def _table(
    evaluation: Evaluation, found: Sequence[Figures], control: Control | None = None
) -> Table:
    """A line for each entry. While games are played the figures are provisional."""
    left = sum(each.planned - each.played for each in found)
    title = escape(evaluation.name) + (f" (provisional: {left} games to come)" if left else "")
    table = Table(title=title, box=None, pad_edge=False, title_justify="left")
    for column in ("Checkpoint", "Opponent", "Seat"):
        table.add_column(column, no_wrap=True)
    for column in ("Done", "Not lost %", "95 %", "W", "D", "L", "Forfeits", "Void", "Distinct"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in found:
        table.add_row(
            escape(each.entry.player.identity.name),
            each.entry.opponent.identity.name,
            "opening" if each.entry.opening else "replying",
            f"{each.played}/{each.planned}",
            *_rate(each),
            *map(str, (each.wins, each.draws, each.losses, each.forfeits)),
            str(each.void + each.context_exceeded),
            str(each.distinct),
        )
    for reason in (control.down if control else {}).values():
        table.add_row(f"paused: {escape(reason)}")
    return table


def _rate(each: Figures) -> tuple[str, str]:
    """The share not lost and its interval; a dash where nothing was measured."""
    if each.not_lost.mean is None:
        return "–", "–"
    share = f"{100 * each.not_lost.mean:.1f}"
    interval = None if each.is_exact else clustered(each.not_lost)
    if each.context_exceeded:
        # What did not fit may have been lost or not: the rate lies between both.
        kept, unknown = each.wins + each.draws, each.context_exceeded
        total = each.games + unknown
        return f"{100 * kept / total:.1f} to {100 * (kept + unknown) / total:.1f}", "bounds"
    if interval is None:
        return share, "exact"
    return share, f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def _as_json(evaluation: Evaluation, found: Sequence[Figures]) -> dict[str, Any]:
    return {
        "name": evaluation.name,
        "state": evaluation.state,
        "message": evaluation.message,
        "seconds": round(evaluation.seconds, 3),
        "entries": [_entry(each) for each in found],
    }


def _entry(each: Figures) -> dict[str, Any]:
    interval = None if each.is_exact else clustered(each.not_lost)
    return {
        "checkpoint": each.entry.player.identity.name,
        "opponent": each.entry.opponent.identity.name,
        "opening": each.entry.opening,
        "planned": each.planned,
        "played": each.played,
        "wins": each.wins,
        "draws": each.draws,
        "losses": each.losses,
        "forfeits": each.forfeits,
        "void": each.void,
        "context_exceeded": each.context_exceeded,
        "distinct": each.distinct,
        "exact": each.is_exact,
        "not_lost": each.not_lost.mean,
        "interval": interval and list(interval),
        "spread_within_seeds": each.not_lost.within,
        "spread_between_seeds": each.not_lost.between,
        "reward": each.reward.mean,
        "reward_deviation": each.reward.deviation,
        "reward_parts": each.parts and each.parts._asdict(),
        "requests": each.costs.requests,
        "prompt_tokens": each.costs.prompt_tokens,
        "completion_tokens": each.costs.completion_tokens,
    }
