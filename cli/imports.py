"""`arena import` and `arena demo`: games from files come in, the demonstration goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from cli.context import Json, counted, fail, now, say, words
from models.rereading import rereader
from storage.cells import with_demonstration
from storage.evaluations import Evaluations
from storage.imports import (
    OnProgress,
    Report,
    count_demonstration,
    files_of,
    import_demonstration,
    import_files,
    remove_demonstration,
)

demo = typer.Typer(help="The demonstration games that come with the arena.", no_args_is_help=True)


def import_games(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Files of `arena export games`, traces.jsonl and result rows of verifiers, "
            "CSV with the columns moves, x, o, opener, seed, outcome, id (moves alone will do); "
            "or folders.",
        ),
    ],
    as_demo: Annotated[
        bool, typer.Option("--demo", help="Mark the games as a demonstration.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Import games, and rollouts of other environments. What is stored already is left as it is.

    Each game is replayed through the rules. What cannot be believed is reported by its line and
    left out; then the exit code is 1, and all else is imported.
    """
    for path in paths:
        files_of(path)  # No database is made where there is nothing to import.
    with context.obj.database() as database, _bar("Importing") as on_progress:
        if as_demo:
            report = Report()
            for path in paths:
                report += import_demonstration(database, path, now, on_progress=on_progress)
        else:
            reread = rereader(context.obj.registry().formats)
            report = import_files(database, paths, on_progress=on_progress, reread=reread)
    _tell(report)
    if as_json:
        print(json.dumps(_as_json(report)))
    else:
        words.print(_sentence(report), highlight=False)
    if report.refused:
        fail(f"refused: {report.refused:,} of {counted(report.lines, 'line')}")


@demo.command("remove")
def remove(context: typer.Context, as_json: Json = False) -> None:
    """Remove the demonstration games, and what they add to every figure. They do not come back."""
    with context.obj.database(to_read=True) as database:
        total = max(1, count_demonstration(database))
        for name, games in with_demonstration(Evaluations(database, now)).items():
            lost = counted(games, "game")
            say(f"the evaluation {name} loses {lost}: the same command plays what is missing")
        with Progress(console=words, transient=True, disable=not words.is_terminal) as bar:
            task = bar.add_task("Removing", total=total)
            removed = remove_demonstration(database, now, lambda games: bar.advance(task, games))
    if as_json:
        print(json.dumps({"removed": removed}))
    else:
        words.print(f"{counted(removed, 'demonstration game')} removed", highlight=False)


@contextmanager
def _bar(what: str) -> Iterator[OnProgress]:
    """A bar on standard error, where that is a terminal."""
    with Progress(console=words, transient=True, disable=not words.is_terminal) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _tell(report: Report) -> None:
    for problem in report.problems:
        say(str(problem))
    for trouble, number in report.troubles.items():
        told = sum(problem.trouble is trouble for problem in report.problems)
        if number > told:
            say(f"and {number - told:,} more lines like the last of these: {trouble}")


def _sentence(report: Report) -> str:
    parts = [f"{counted(report.imported, 'game')} imported", f"{report.known:,} here already"]
    if report.rollouts:
        parts.append(f"{counted(report.rollouts, 'rollout')} of other environments imported")
    if report.same_cell:
        parts.append(f"{report.same_cell:,} left out: their cell was played already")
    return ", ".join(parts)


def _as_json(report: Report) -> dict[str, object]:
    return {
        "lines": report.lines,
        "imported": report.imported,
        "known": report.known,
        "rollouts": report.rollouts,
        "refused": report.refused,
        "troubles": dict(report.troubles),
        "problems": [
            {
                "file": problem.file,
                "line": problem.line,
                "trouble": problem.trouble,
                "message": problem.message,
            }
            for problem in report.problems
        ],
    }
