"""`arena rewards`: imported runs of other environments, how they were rewarded, what was said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cli.context import LINES, MOST, Json, counted, output, plain, words
from storage import rewards as stored
from storage.database import Database
from storage.rewards import Bin, Function, RewardRun
from storage.shown_games import Endings, ShownGame, ShownGames, shown_games
from storage.transcripts import Kept, Order, Transcript, transcripts

_WIDEST_BAR = 40


def rewards(
    context: typer.Context,
    run: Annotated[
        int | None,
        typer.Argument(min=0, max=MOST, help="The number of a run; none lists all."),
    ] = None,
    show: Annotated[
        int,
        typer.Option(
            "--show", min=0, max=1000, help="So many of the run's transcripts, by example."
        ),
    ] = 0,
    skip: Annotated[
        int, typer.Option("--skip", min=0, max=MOST, help="Leave out so many before.")
    ] = 0,
    order: Annotated[
        Order, typer.Option("--order", help="Of the examples, and of each one's rollouts.")
    ] = Order.GIVEN,
    example: Annotated[
        str | None, typer.Option("--example", help="Only transcripts of this example.")
    ] = None,
    void: Annotated[
        bool | None,
        typer.Option("--void/--no-void", help="Only transcripts that are void, or none of them."),
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the run; an import brings it back.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show imported runs of other environments: their rewards and transcripts."""
    if remove and run is None:
        raise typer.BadParameter("say which run, by its number", param_hint="--remove")
    with context.obj.database(to_read=True) as database:
        if run is None:
            _list(stored.runs(database), as_json)
        elif remove:
            _remove(database, run, as_json)
        else:
            kept = Kept(example=example, void=void)
            said = transcripts(database, run, kept, order=order, skip=skip, limit=show)
            _show(database, run, said, as_json)


def _remove(database: Database, run: int, as_json: bool) -> None:
    removed = stored.remove(database, run)
    if as_json:
        print(json.dumps({"removed": removed}))
    else:
        words.print(f"run {run} removed, with {counted(removed, 'rollout')}", highlight=False)


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
            plain(each.name),
            plain(each.environment),
            plain(", ".join(each.models)),
            f"{each.examples:,}",
            f"{each.rollouts:,}",
            f"{each.void:,}",
            _mean(each),
        )
    output().print(table if runs else "No runs of other environments are imported yet.")


def _show(database: Database, id: int, said: Sequence[Transcript], as_json: bool) -> None:
    run, spread = stored.run(database, id), stored.distribution(database, id)
    functions, games = stored.functions(database, id), shown_games(database, id)
    if as_json:
        whole = {
            **asdict(run),
            "distribution": [asdict(each) for each in spread],
            "functions": [asdict(each) for each in functions],
            "games": asdict(games),
            "transcripts": [_transcript(each) for each in said],
        }
        print(json.dumps(whole))
        return
    screen = output()
    for line in (*_sentences(run), *_bars(spread), *_functions(functions), *_games(games)):
        screen.print(plain(line), highlight=False)
    for each in said:
        _print(screen, each)


def _sentences(run: RewardRun) -> list[str]:
    void = f", {run.void:,} more void" if run.void else ""
    head = (
        f"{run.name}: {counted(run.examples, 'example')}, "
        f"{counted(run.rollouts, 'rollout')}{void}; mean reward {_mean(run)}"
    )
    return [head, *(f"void: {why} ({count:,})" for why, count in run.reasons)]


def _mean(run: RewardRun | Function) -> str:
    """The mean with its standard error over examples; a dash where nothing was measured."""
    if run.mean is None:
        return "–"
    if run.standard_error is None:
        return f"{run.mean:.3f}"
    return f"{run.mean:.3f} ± {run.standard_error:.3f}"


def _bars(spread: Sequence[Bin]) -> list[str]:
    most = max((each.rollouts for each in spread), default=1)
    lines = []
    for each in spread:
        single = each.low == each.high
        what = f"{each.low:.4g}" if single else f"{each.low:.4g} to {each.high:.4g}"
        bar = "█" * (max(1, round(each.rollouts / most * _WIDEST_BAR)) if each.rollouts else 0)
        lines.append(f"{what:>{10 if single else 20}}  {each.rollouts:>7,}  {bar}")
    return lines


def _functions(functions: Sequence[Function]) -> list[str]:
    lines = [
        f"{each.name}: {_mean(each)}"
        f"{'' if each.weight is None else f', weight {each.weight:g}'} ({each.rollouts:,} scored)"
        for each in functions
    ]
    if any(each.weight is None for each in functions):
        lines.append(
            "Of what has no weight the file does not tell whether it is a reward function or "
            "another number."
        )
    return lines


def _games(games: ShownGames) -> list[str]:
    lines = []
    if games.games:
        lines.append(
            "Games of tic-tac-toe as the chats show them; they move no rate, since the opponent "
            "is not known exactly:"
        )
        for seat, ends in (("opening", games.opening), ("replying", games.replying)):
            lines += [_endings(seat, ends)] if ends.games else []
    return lines + [f"not followed: {why} ({count:,})" for why, count in games.unfollowed]


def _endings(seat: str, ends: Endings) -> str:
    return (
        f"{seat:>10}  {ends.games:,} (distinct: {ends.distinct:,}): {ends.won:,} won, "
        f"{ends.drawn:,} drawn, {ends.lost:,} lost; unfinished: {ends.unseen:,} with the "
        f"opponent's answer unseen, {ends.open:,} at the model's turn"
    )


def _transcript(each: Transcript) -> dict[str, Any]:
    game = each.game
    # Not `asdict`, which copies messages as deep as they are nested.
    return vars(each) | {"game": game and asdict(game) | {"ending": game.ending}}


def _print(screen: Console, each: Transcript) -> None:
    worth = f"void: {each.why_void}" if each.reward is None else f"reward {each.reward:.4g}"
    facts = [f"{each.id} · example {each.example[:12]} · {worth}"]
    if each.game:
        facts.append(f"{each.game.ending}, {_seat(each.game)}")
    elif each.unfollowed:
        facts.append(f"not followed: {each.unfollowed}")
    screen.print()
    screen.print(plain(" · ".join(facts)), highlight=False)
    for message in each.messages:
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content)
        screen.print(plain(f"[{message.get('role')}] {text}", LINES), highlight=False)


def _seat(game: ShownGame) -> str:
    moves = " ".join(map(str, game.moves))
    return f"{'opening' if game.opening else 'replying'} as {game.mark}, moves {moves}"
