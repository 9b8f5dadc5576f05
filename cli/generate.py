"""`arena generate`: a teacher's games as a dataset, in one command."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.board import Mark
from arena.control import Control, Event, State, Stored
from arena.errors import NotFoundError
from arena.opponents import parse
from arena.panels import canonical_specs
from arena.plan import MOST_GAMES, Plan
from arena.players import Player
from cli.context import Context, Json, fail, finite, now, progress, split
from cli.export import rows_bar, tell
from cli.play import player_named
from models.config import nearest
from models.prompt import History
from models.registry import Registry
from models.teacher import Teacher
from storage.conduct import conduct
from storage.database import Database
from storage.datasets import Flavour, Format, Recipe, write_folder
from storage.evaluations import Evaluation, Evaluations
from storage.filters import GameFilter, Result
from storage.games import Games
from storage.setups import Setup
from web.setups import ENGINE_NAMES

_OPPONENTS = ["random", "minimax:epsilon=0.5", "minimax:epsilon=0.25", "minimax"]
_KEPT = ["won", "drawn", "formatted"]


class Keep(StrEnum):
    """Which of the teacher's games are kept."""

    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"
    FORMATTED = "formatted"
    VALID = "valid"
    PERFECT = "perfect"
    DISTINCT = "distinct"


_RESULTS = {Keep.WON: Result.WIN, Keep.DRAWN: Result.DRAW, Keep.LOST: Result.LOSS}


def generate(
    context: typer.Context,
    teacher: Annotated[
        str, typer.Option(metavar="MODEL_OR_ENGINE", help="Whose play is to be learnt.")
    ],
    out: Annotated[Path, typer.Option(help="The folder of the dataset.")],
    games: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="How many, at least.")] = 200,
    opponents: Annotated[
        list[str],
        typer.Option(
            metavar="SPEC;SPEC…", help="Against whom, separated by semicolons; may be repeated."
        ),
    ] = _OPPONENTS,
    keep: Annotated[
        list[str],
        typer.Option(
            help="Which games, separated by commas; may be repeated: won, drawn, lost, formatted "
            "(each reply followed the format), valid (none was invalid), perfect (nothing was "
            "given up), "
            "distinct (each sequence of moves of two players once)."
        ),
    ] = _KEPT,
    prompt: Annotated[str, typer.Option(help="An engine's prompt format.")] = "tags",
    history: Annotated[
        History, typer.Option(help="What an engine is sent each turn.")
    ] = History.FULL,
    seed: Annotated[int, typer.Option(min=0, max=1 << 62, help="The first seed.")] = 0,
    flavours: Annotated[
        list[Flavour], typer.Option("--flavour", help="What a row is; may be repeated.")
    ] = [Flavour.MESSAGES, Flavour.TURNS],  # noqa: B006 - never changed
    format: Annotated[Format, typer.Option(help="Of the files.")] = Format.PARQUET,
    validation: Annotated[
        float,
        typer.Option(min=0, max=1, callback=finite, help="The share that is for validation."),
    ] = 0.1,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Of a model's games.")] = 16,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of an earlier export.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Have a teacher play, and keep what is worth learning.

    An engine costs nothing: it says its moves in the prompt format, with a short reason that is
    true. Its games are in the dataset alone. A model's games are stored, as an evaluation, which
    the same command goes on with.
    """
    registry: Registry = context.obj.registry()
    kept = _kept(keep)
    specs = canonical_specs(split(opponents, ";"))
    control = Control()

    def on_fault(fault: Any) -> None:
        if fault.fatal:
            control.fail(fault.message)

    is_engine = teacher.partition(":")[0].strip() in ENGINE_NAMES
    player: Player
    if is_engine:
        if prompt not in registry.formats:
            raise NotFoundError(
                f"no prompt format is called {prompt!r}: {nearest(prompt, registry.formats)}"
            )
        form = registry.formats[prompt]
        player, mark = Teacher(parse(teacher), form, history), form.mark
    else:
        player = player_named(teacher, registry, on_fault)
        mark = registry.formats[str(player.identity.prompt)].mark
    seeds = -(-games // (2 * len(specs)))
    plan = Plan(specs, seeds, seed, mark=Mark(mark) if mark else None)
    name = f"generate {player.identity.name} {seed}"
    with _database(context.obj, is_engine=is_engine) as database:
        evaluations = Evaluations(database, now)
        setup = Setup((player.identity,), plan, None, 1 if is_engine else concurrency)
        evaluation = evaluations.open(name, setup)
        asyncio.run(_play(database, evaluations, evaluation, player, registry, control))
        ended = evaluations.get(name)
        if ended.state is not State.FINISHED:
            fail(f"{name!r} is {ended.state}" + (f": {ended.message}" if ended.message else ""))
        chosen = GameFilter(player=player.identity.name, evaluation=name, **kept)
        recipe = Recipe(list(dict.fromkeys(flavours)), chosen, format, validation)
        with rows_bar() as on_row:
            written = write_folder(database, out, recipe, replace=replace, on_row=on_row)
    tell(out, written, as_json=as_json)


async def _play(
    database: Database,
    evaluations: Evaluations,
    evaluation: Evaluation,
    player: Player,
    registry: Registry,
    control: Control,
) -> None:
    """Play what is missing."""
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if control.stopping:
            control.stop_now()
        control.stop()

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        with progress("Games", len(evaluation.plan)) as advance:

            def on_event(event: Event) -> None:
                if isinstance(event, Stored):
                    advance()

            games = Games(database, now)
            await conduct(
                evaluations, games, evaluation, [player], control=control, on_event=on_event
            )
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        await registry.close()


@contextmanager
def _database(context: Context, *, is_engine: bool) -> Iterator[Database]:
    """The arena's, for games that cost something; else one of its own, gone afterwards."""
    if not is_engine:
        with context.database() as database:
            yield database
        return
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        database = Database.open(Path(folder) / "arena.db")
        try:
            yield database
        finally:
            database.close()


def _kept(given: list[str]) -> dict[str, Any]:
    """The conditions of `--keep`, as a filter has them.

    Raises:
        NotFoundError: one of them does not exist.
    """
    asked = split(given, ",")
    valid = [each.value for each in Keep]
    for each in asked:
        if each not in valid:
            raise NotFoundError(f"--keep {each!r}: valid are {', '.join(valid)}")
    results = tuple(_RESULTS[Keep(each)] for each in asked if Keep(each) in _RESULTS)
    return {
        "result": results or None,
        "formatted": Keep.FORMATTED in asked,
        "no_invalid": Keep.VALID in asked,
        "keeps_value": Keep.PERFECT in asked,
        "distinct_only": Keep.DISTINCT in asked,
    }
