"""`arena rewards`: imported runs of other environments, how they were rewarded, what was said."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cli.context import Json, output
from storage import rewards as stored
from storage.rewards import RewardRun, Transcript

_WIDEST_BAR = 40


def rewards(
    context: typer.Context,
    run: Annotated[int | None, typer.Argument(help="The number of a run; none lists all.")] = None,
    show: Annotated[
        int, typer.Option("--show", min=0, help="So many of the run's transcripts.")
    ] = 0,
    after: Annotated[
        int, typer.Option("--after", min=0, help="Only transcripts of greater numbers.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Show imported runs of other environments: their rewards and transcripts."""
    with context.obj.database(to_read=True) as database:
        if run is None:
            _list(stored.runs(database), as_json)
            return
        figures = stored.run(database, run)
        spread = stored.distribution(database, run)
        said = stored.transcripts(database, run, after=after, limit=show) if show else []
    if as_json:
        whole = {
            **asdict(figures),
            "distribution": spread,
            "transcripts": [asdict(each) for each in said],
        }
        print(json.dumps(whole))
        return
    screen = output()
    screen.print(_sentence(figures), highlight=False)
    most = max((count for _, count in spread), default=1)
    for value, count in spread:
        bar = "█" * max(1, round(count / most * _WIDEST_BAR))
        screen.print(f"{value:>10.4g}  {count:>7,}  {bar}", highlight=False)
    for each in said:
        _show(screen, each)


def _list(runs: list[RewardRun], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"runs": [asdict(each) for each in runs]}))
        return
    table = Table(box=None, pad_edge=False)
    for name in ("run", "name", "environment", "model", "examples", "rollouts", "void", "mean"):
        table.add_column(name)
    for each in runs:
        table.add_row(
            str(each.id),
            escape(each.name),
            escape(each.environment),
            escape(", ".join(each.models)),
            f"{each.examples:,}",
            f"{each.rollouts:,}",
            f"{each.void:,}",
            _mean(each),
        )
    output().print(table)


def _sentence(run: RewardRun) -> str:
    void = f", {run.void:,} void" if run.void else ""
    return escape(
        f"{run.name}: {run.examples:,} examples, {run.rollouts:,} rollouts{void}; "
        f"mean reward {_mean(run)}"
    )


def _mean(run: RewardRun) -> str:
    """The mean with its standard error over examples; a dash where nothing was measured."""
    if run.mean is None:
        return "–"
    if run.standard_error is None:
        return f"{run.mean:.3f}"
    return f"{run.mean:.3f} ± {run.standard_error:.3f}"


def _show(screen: Console, each: Transcript) -> None:
    worth = f"void: {each.why_void}" if each.reward is None else f"reward {each.reward:.4g}"
    screen.print(escape(f"\n{each.id} · example {each.example[:12]} · {worth}"), highlight=False)
    for message in each.messages:
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content)
        screen.print(escape(f"[{message.get('role')}] {text}"), highlight=False)
