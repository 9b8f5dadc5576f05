"""What a terminal shows of an evaluation: as tables, as a line, and as much as fits."""

from __future__ import annotations

import dataclasses
import io
from datetime import UTC, datetime

import pytest
from rich.console import Console, RenderableType

from arena.board import Mark
from arena.control import State
from arena.opponents import parse, symmetric_opponents
from arena.plan import Plan
from arena.players import EnginePlayer, Identity, Kind
from arena.reward import Reward
from arena.statistics import Sums
from cli.evaluation_table import as_json, report
from cli.evaluation_view import live_view, paused_lines, progress_line
from models.entries import Prices
from storage.cells import Entry
from storage.costs import Costs
from storage.evaluations import Evaluation, Wanted
from storage.figures import Figures
from storage.players import StoredPlayer
from web.costs import Bill

CKPT = StoredPlayer(1, Identity(Kind.MODEL, "ckpt [red]"))
PANEL = (*symmetric_opponents(), "minimax")
LIVE = {
    "requests_per_s": 1234.5,
    "tokens_per_s": 67890.0,
    "games_per_s": 321.0,
    "seconds_left": 83,
    "down": {},
    "in_flight": 0,
    "boards": [],
}


def evaluation(opponents=PANEL, rollouts=1, **more) -> Evaluation:
    stored = tuple(StoredPlayer(9, EnginePlayer(parse(spec)).identity) for spec in opponents)
    known = Evaluation(
        id=1,
        name="run",
        players=(CKPT,),
        opponents=stored,
        plan=Plan(tuple(opponents), games=50, rollouts=rollouts),
        panel="memorisation",
        concurrency=8,
        state=State.RUNNING,
        message="",
        wanted=Wanted.RUN,
        live=LIVE,
        holder=None,
        seconds=3725.4,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        beat_at=None,
        finished_at=None,
    )
    return dataclasses.replace(known, **more)


def entry(spec="minimax", opening=True, *, draws=50, losses=0, planned=50, void=0, **more):
    n, mark = draws + losses, Mark.X if opening else Mark.O
    opponent = StoredPlayer(9, EnginePlayer(parse(spec)).identity)
    kept = Sums(n, n, draws, draws, n, draws, draws, draws)
    known = Figures(
        entry=Entry(CKPT, opponent, opening, mark, Mark.X),
        planned=planned,
        wins=0,
        draws=draws,
        losses=losses,
        forfeits=losses,
        repeats=0,
        void=void,
        context_exceeded=0,
        distinct=n,
        attempts=4 * n,
        invalid_attempts=0,
        contains=4 * n,
        exact=0,
        default_temperature=0,
        not_lost=kept,
        reward=kept,
        parts=Reward(0.5 * draws / n, 0.2, 0.0) if n else None,
        costs=Costs(games=n, requests=4 * n, attempts=4 * n),
    )
    return dataclasses.replace(known, **more)


def panel(**more):
    return [entry(spec, opening, **more) for spec in PANEL for opening in (True, False)]


def lines(shown: RenderableType, width=110, height=25) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(shown, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_a_whole_panel_fits_into_110_columns_with_its_names():
    seen = lines(report(evaluation(), panel(planned=10_000, draws=9000, losses=999), [], []))
    assert max(map(len, seen)) <= 110
    assert not any("…" in line for line in seen)
    for spec in PANEL:
        rows = [line.split() for line in seen if line.startswith(spec + " ")]
        assert [row[1] for row in rows] == ["opening", "replying"] * 2, spec
    rate = "9999/10000 90.0 89.4–90.6 0 9000 999 999 0"
    assert sum(" ".join(line.split()).endswith(rate) for line in seen) == 66
    reward = "9999/9999 0.900 ± 0.300 0.450 0.200 0.000"
    assert sum(" ".join(line.split()).endswith(reward) for line in seen) == 66


def test_what_is_not_measured_is_a_dash_and_what_is_not_over_provisional():
    found = [entry(draws=0), entry(opening=False)]
    seen = lines(report(evaluation(("minimax",)), found, [], []))
    opening = next(line for line in seen if line.startswith("minimax "))
    assert opening.split() == ["minimax", "opening", "0/50", "–", "–", *"00000"]
    assert sum("provisional: 50 games to come" in line for line in seen) == 2
    over = lines(report(evaluation(("minimax",)), [found[1]], [], []))
    assert "provisional" not in " ".join(over)


def test_games_that_outgrew_the_context_make_bounds():
    found = [entry(draws=8, planned=10, context_exceeded=2)]
    (row,) = (line for line in lines(report(evaluation(), found, [], [])) if "10/10" in line)
    assert row.split()[3:5] == ["80.0–100.0", "49.0–100.0"]
    assert row.split()[-1] == "2"


def test_rollouts_show_their_spread():
    assert "rollouts" not in " ".join(lines(report(evaluation(), [entry()], [], [])))
    kept = Sums(2, 4, 2, 2, 8, 4, 4, 2)
    found = [entry(not_lost=kept, planned=4, draws=2, losses=2)]
    seen = lines(report(evaluation(rollouts=2), found, [], []))
    at = next(n for n, line in enumerate(seen) if "a seed's rollouts" in line)
    within, between = (f"{value:.3f}" for value in (kept.within, kept.between))
    assert seen[at + 2].split()[2:4] == [within, between]


@pytest.mark.parametrize(
    ("costs", "prices", "says"),
    [
        (Costs(games=3), None, "3 games, no request"),
        (Costs(2, 9, 8, 0, 4000, 500), None, "4,000 (2,000 a game) tokens in, 500 (250 a game)"),
        (Costs(2, 9, 8, 0, 4000, 500), None, "out; money –"),
        (Costs(2, 9, 8, 0, 4000, 500), Prices(input=2.5, output=20), "; 0.0200 USD (0.01 a game)"),
        (Costs(2, 9, 8, 8), Prices(input=2.5, output=20), "tokens –; money –; 8 of 8 replies"),
        (
            Costs(2, 9, 8, 3, 4000, 500),
            Prices(input=2.5, output=20, currency="EUR"),
            "at least 0.0200 EUR (0.01 a game); 3 of 8 replies came without their tokens",
        ),
    ],
)
def test_costs(costs: Costs, prices: Prices | None, says: str):
    bill = Bill("ckpt [red]", costs, prices)
    seen = " ".join(" ".join(lines(report(evaluation(), [entry()], [bill], []))).split())
    seen = seen[seen.index(f"ckpt [red]: {costs.games} games") :]
    assert says in seen
    assert ("at least" in seen) is (0 < costs.uncounted < costs.attempts)
    (told,) = as_json(evaluation(), [entry()], [bill], [])["costs"]
    assert told["money"] == bill.money
    assert told["is_lower_bound"] is (costs.uncounted > 0)
    assert (told["prompt_tokens"] is None) is (costs.attempts == costs.uncounted)


def test_the_reasons_of_void_games_are_text():
    reasons = [("busy [bold]x[/bold]", 7), ("gone", 1)]
    seen = lines(report(evaluation(), [entry(void=8, planned=58)], [], reasons))
    assert "7 void games: busy [bold]x[/bold]" in seen
    assert "1 void game: gone" in seen


def test_the_line_of_an_evaluation_under_way():
    line = progress_line(evaluation(), [entry(draws=20), entry(opening=False)])
    assert line == (
        "run: 70 of 100 games, 1,234.5 requests/s, 67,890 tokens/s, 321.0 games/s, 0:01:23 left"
    )
    stuck = LIVE | {"seconds_left": None, "down": {"ckpt": "ckpt: 5 games in a row were void"}}
    paused = evaluation(state=State.PAUSED, live=stuck)
    assert progress_line(paused, [entry()]).endswith("321.0 games/s, paused")
    assert paused_lines(paused) == ["paused: ckpt: 5 games in a row were void"]
    assert progress_line(evaluation(live={}), [entry()]) == "run: 50 of 50 games"


@pytest.mark.parametrize("width", [40, 110])
@pytest.mark.parametrize("height", [8, 16, 24, 70, 80])
def test_the_live_view_fits_any_terminal(height: int, width: int):
    found = panel(draws=40, losses=0)
    weak = 2 * PANEL.index("minimax:value=plain,tie=s4") + 1
    found[weak] = entry("minimax:value=plain,tie=s4", False, draws=10, losses=30)
    down = LIVE | {"down": {"ckpt": "why [red] " * 30}}
    view = live_view(evaluation(live=down), found, [("busy " * 60, 3)], height)
    seen = lines(view, width, height)
    assert len(seen) < height
    assert seen[0].startswith("Provisional. run: 2,640 of 3,300")
    assert any(line.startswith("paused: why [red]") for line in seen)
    rows = [line for line in seen if "40/50" in line or "openin" in line or "replyi" in line]
    if width == 110:
        assert sum("25.0" in row for row in rows) == 1
        assert len(rows) == (66 if height > 71 else len(seen) - 6)
        more = [line for line in seen if line.startswith("and ")]
        told = f"and {66 - len(rows)} more entries: {40 * (66 - len(rows)):,} of "
        assert [line.startswith(told) for line in more] == [True] * (height <= 71)
