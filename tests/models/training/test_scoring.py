"""What games were worth, and a step's figures of them. No network is needed."""

import pytest

from arena.board import Mark
from arena.game import Attempt, Game, Turn, Verdict
from models.training.rollouts import Played
from models.training.scoring import figures, score
from models.training.settings import Worth
from models.training.starts import Start

WORTH = Worth(win=1, draw=0.5, loss=0, format=0.2, invalid=0.3, reason=0.1)
WON = "<think>win 2</think><move>2</move>"


def attempt(text: str, square: int, *, exact: bool = True, valid: bool = True) -> Attempt:
    verdict = Verdict.OK if valid else Verdict.OCCUPIED
    return Attempt((), text, verdict, square, True, exact, finish_reason="stop")


def game(*, last: str = WON, exact: bool = True, invalid: bool = False) -> Played:
    """X opens and wins: corner, threat, win."""
    wrong = (attempt("<move>0</move>", 0, valid=False),) if invalid else ()
    turns = [
        Turn(Mark.X, 0, (attempt("<think>corner 0</think><move>0</move>", 0),)),
        Turn(Mark.O, 3),
        Turn(Mark.X, 1, (attempt("<think>threat 1</think><move>1</move>", 1),)),
        Turn(Mark.O, 4),
        Turn(Mark.X, 2, (*wrong, attempt(last, 2, exact=exact))),
    ]
    return Played(Start("random", Mark.X, Mark.X, 0), Game(turns=turns), ())


@pytest.mark.parametrize(
    ("played", "parts"),
    [
        (game(), (1, 0.2, 0, 0.1)),
        (game(exact=False), (1, 0.2 * 2 / 3, 0, 0.1)),
        (game(last="<think>block 2</think><move>2</move>"), (1, 0.2, 0, 0.1 * 2 / 3)),
        (game(last="<think>win 5</think><move>2</move>"), (1, 0.2, 0, 0.1 * 2 / 3)),
        (game(last="<move>2</move>"), (1, 0.2, 0, 0.1 * 2 / 3)),
        (game(invalid=True), (1, 0.2, -0.3, 0.1 * 3 / 4)),
    ],
)
def test_the_reward_has_the_arenas_parts_and_true_reasons(
    played: Played, parts: tuple[float, ...]
) -> None:
    found = score(played, WORTH)
    assert found == pytest.approx(parts)
    assert found.total == pytest.approx(sum(parts))


def test_figures_count_games_and_replies() -> None:
    games = [game(), game(invalid=True)]
    row = figures(games, [score(each, WORTH) for each in games])
    assert row["won"] == row["not_lost"] == 1
    assert row["valid"] == pytest.approx(6 / 7)
    assert row["true_reasons"] == pytest.approx(6 / 7)
