"""A checkpoint against a panel, in batches: figures as an evaluation counts them."""

import csv
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from arena.board import Mark  # noqa: E402
from arena.game import Attempt, Game, Turn, Verdict  # noqa: E402
from arena.statistics import wilson  # noqa: E402
from models.training.measure import COLUMNS, Entry, append_csv, line, measure  # noqa: E402
from models.training.network import Network  # noqa: E402
from models.training.rollouts import Played  # noqa: E402
from models.training.starts import Start  # noqa: E402


def played(moves: str, mark: Mark, **more: bool) -> Played:
    game = Game()
    for square in map(int, moves):
        reply = f"<think>corner {square}</think><move>{square}</move>"
        made = Attempt(
            (), reply, Verdict.OK, square, True, more.get("exact", True), finish_reason="stop"
        )
        game.add(Turn(game.to_move, square, (made,) if game.to_move is mark else ()))
    return Played(Start("random", mark, Mark.X, 0), game, ())


def test_an_entry_counts_games_and_replies() -> None:
    entry = Entry("random", opening=True)
    for moves in ("03142", "03142", "048176253", "140256"):
        entry.add(played(moves, Mark.X))
    entry.add(played("03142", Mark.X, exact=False))
    assert (entry.wins, entry.draws, entry.losses, entry.forfeits) == (3, 1, 1, 0)
    assert (entry.games, entry.distinct) == (5, 3)
    assert entry.not_lost == 4 / 5
    assert entry.interval == wilson(4, 5)
    assert (entry.replies, entry.stopped, entry.valid) == (17, 17, 17)
    assert entry.exact == 14
    # A corner is what each reply says it takes.
    assert entry.true_reasons == 10


def test_each_opponent_is_met_once_a_seed_and_seat(network: Network) -> None:
    found = measure(network, ["random", "minimax:tie=s0"], 3)
    assert [(each.opponent, each.opening) for each in found] == [
        ("random", True),
        ("random", False),
        ("minimax:tie=first", True),
        ("minimax:tie=first", False),
    ]
    # Random weights name no square: every game is forfeited.
    for each in found:
        assert each.games == each.losses == each.forfeits == 3
        assert each.replies == 3 * 8
        assert each.exact == each.valid == each.true_reasons == 0


def test_figures_go_to_a_csv(tmp_path: Path) -> None:
    entry = Entry("random", opening=False, wins=3, losses=1)
    path = tmp_path / "results.csv"
    for _ in range(2):
        append_csv(path, [line("rl3", 0, "standard", entry)])
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["seat"] == "replying"
    assert rows[0]["not_lost"] == "0.7500"
    assert float(rows[0]["low"]) < 0.75 < float(rows[0]["high"])
    assert line("rl3", 0, "standard", Entry("random", opening=True))[10:13] == ["", "", ""]
