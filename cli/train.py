"""`arena train`: checkpoints of our own, from one TOML file a stage."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from arena.errors import ConfigError, NotFoundError
from arena.panels import PANELS, canonical_specs
from arena.plan import MOST_GAMES
from cli.context import Json, fail, finite, output, plain, say, split, words
from models.config import nearest
from models.training.settings import Rl, Sft, load_stage

train = typer.Typer(help="Train a tiny checkpoint of your own on the CPU.", no_args_is_help=True)

_NEEDED = ("torch", "gguf")
_PLAIN_EVERY = 10
_SHOWN = ("loss", "accuracy", "reward", "not_lost", "exact", "true_reasons", "entropy")

File = Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="The stage's TOML file.")]
Runs = Annotated[
    Path | None,
    typer.Option("--runs", help="Where runs lie; else the folder training in the data folder."),
]
Seed = Annotated[
    int | None, typer.Option(min=0, max=(1 << 31) - 1, help="Another seed than the file's.")
]


def _add(kind: str, wanted: type[Sft] | type[Rl], what: str) -> None:
    """Add the command that trains stages of a kind."""

    @train.command(kind, help=f"{what}\n\nA run that was interrupted goes on from its last save.")
    def learn(
        context: typer.Context,
        config: File,
        runs: Runs = None,
        seed: Seed = None,
        as_json: Json = False,
    ) -> None:
        _train(context, _stage(config, seed, wanted), runs, as_json)


_add("sft", Sft, "Learn completions by heart: a teacher's games, or an export of yours.")
_add("rl", Rl, "Learn from games against engines.")


@train.command()
def export(
    context: typer.Context,
    config: File,
    to: Annotated[Path | None, typer.Option(help="The file; else NAME.gguf in the run.")] = None,
    runs: Runs = None,
    seed: Seed = None,
) -> None:
    """Write a run's checkpoint as a GGUF file, which the arena can play."""
    stage = load_stage(config, seed=seed)
    _check_installed()
    from models.training import gguf_file
    from models.training import runs as saved

    folder = saved.run_folder(_folder(context, runs), stage.name, stage.seed)
    network = saved.network_of(saved.load_state(folder))
    path = gguf_file.export(network, to or folder / f"{stage.name}.gguf", stage.name)
    say(f"{network.size:,} parameters, {path.stat().st_size:,} bytes")
    print(path)


@train.command()
def evaluate(
    context: typer.Context,
    config: File,
    panel: Annotated[str, typer.Option(help="One of the built-in panels.")] = "standard",
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
    temperature: Annotated[
        float, typer.Option(min=0, callback=finite, help="Of the replies.")
    ] = 1.0,
    csv: Annotated[Path | None, typer.Option(help="A CSV file to add the figures to.")] = None,
    runs: Runs = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Play a run's checkpoint against a panel, many games at once, without a server.

    For a look while training: nothing is stored.
    """
    stage = load_stage(config, seed=seed)
    named = split(opponents or (), ";")
    if not named and panel not in PANELS:
        raise NotFoundError(f"no panel is called {panel!r}: {nearest(panel, PANELS)}")
    specs = canonical_specs(named) if named else PANELS[panel].opponents
    _check_installed()
    from models.training import measure
    from models.training import runs as saved

    folder = saved.run_folder(_folder(context, runs), stage.name, stage.seed)
    network = saved.network_of(saved.load_state(folder))
    found = measure.measure(network, specs, games, temperature=temperature)
    lines = [
        measure.line(stage.name, stage.seed, "opponents" if named else panel, entry)
        for entry in found
    ]
    if csv is not None:
        measure.append_csv(csv, lines)
    rows = [dict(zip(measure.COLUMNS, line, strict=True)) for line in lines]
    if as_json:
        print(json.dumps({"entries": rows}))
    else:
        output().print(_entries(f"{stage.name}, seed {stage.seed}", rows))


def _stage(config: Path, seed: int | None, wanted: type[Sft] | type[Rl]) -> Sft | Rl:
    stage = load_stage(config, seed=seed)
    if not isinstance(stage, wanted):
        raise ConfigError(
            f"{config}: its kind is {stage.kind!r}: train it with `arena train {stage.kind}`"
        )
    return stage


def _train(context: typer.Context, stage: Sft | Rl, runs: Path | None, as_json: bool) -> None:
    _check_installed()
    from models.training import reinforce, supervised

    folder = _folder(context, runs)
    with _shown(stage) as on_step:
        if isinstance(stage, Sft):
            done = supervised.train(stage, folder, on_step)
        else:
            done = reinforce.train(stage, folder, on_step)
    figures = {
        "run": str(done.folder),
        "steps": done.step,
        "parameters": done.network.size,
        "wall_s": round(done.wall_s, 1),
        "cpu_s": round(done.cpu_s, 1),
    }
    if as_json:
        print(json.dumps(figures))
    else:
        say(
            f"{stage.name}, seed {stage.seed}: {done.step} steps, {done.wall_s:.0f} s "
            f"({done.cpu_s:.0f} s of the processor), {done.network.size:,} parameters"
        )
        print(done.folder)


@contextmanager
def _shown(stage: Sft | Rl) -> Iterator[Callable[[Mapping[str, float], int], None]]:
    """Progress on standard error: a bar in a terminal, else a line now and then."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    with Progress(*columns, console=words, disable=not words.is_terminal) as bar:
        task = bar.add_task(plain(stage.name), total=stage.steps, figures="")

        def on_step(row: Mapping[str, float], steps: int) -> None:
            step = int(row["step"])
            figures = "  ".join(f"{name} {row[name]:.3f}" for name in _SHOWN if name in row)
            bar.update(task, completed=step, figures=figures)
            if not words.is_terminal and (step % _PLAIN_EVERY == 0 or step == steps):
                say(f"{stage.name} {step}/{steps}  {figures}")

        yield on_step


def _folder(context: typer.Context, runs: Path | None) -> Path:
    data_dir: Path = context.obj.settings.data_dir
    return runs or data_dir / "training"


def _check_installed() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        fail(
            f"training needs {' and '.join(missing)}: make train-install, or "
            "pip install 'tictactoe-arena[train]'"
        )


def _entries(title: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=plain(title), box=None, pad_edge=False, title_justify="left")
    for column in ("Opponent", "Seat"):
        table.add_column(column, no_wrap=True)
    for column in ("Games", "Not lost %", "95 %", "W", "D", "L", "Forfeits", "Distinct"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            plain(row["opponent"]),
            row["seat"],
            str(row["games"]),
            f"{100 * float(row['not_lost']):.1f}",
            f"{100 * float(row['low']):.1f} to {100 * float(row['high']):.1f}",
            *(str(row[name]) for name in ("wins", "draws", "losses", "forfeits", "distinct")),
        )
    return table
