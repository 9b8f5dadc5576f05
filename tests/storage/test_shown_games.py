"""Games of other environments' chats: how they ended is read off the rules, and counted."""

from dataclasses import replace

import pytest

from arena.board import Mark
from arena.errors import NotFoundError
from storage import rewards
from storage.shown_games import Ending, ShownGame, shown_games
from storage.transcripts import transcripts
from tests.storage.imports.chats import PLAIN
from tests.storage.rollouts import rollout, write

X, O = Mark  # noqa: E741 - the game's own names
COLUMN = (4, 0, 1, 2, 7)
"""X has it."""
FULL = (4, 0, 8, 2, 1, 7, 5, 3, 6)


@pytest.mark.parametrize(
    ("opener", "mark", "moves", "ending"),
    [
        (X, X, COLUMN, Ending.WON),
        (X, O, COLUMN, Ending.LOST),
        (O, X, COLUMN, Ending.LOST),
        (O, O, COLUMN, Ending.WON),
        (X, O, FULL, Ending.DRAWN),
        (X, X, FULL[:3], Ending.UNSEEN),
        (X, O, FULL[:3], Ending.OPEN),
        (X, X, (), Ending.OPEN),
        (O, X, (), Ending.UNSEEN),
    ],
)
def test_endings(opener, mark, moves, ending):
    game = ShownGame(opener, mark, moves)
    assert game.ending == ending
    assert game.opening is (opener is mark)
    assert game.board.ply == len(moves)


def test_games_are_counted_by_seat(db):
    reply = replace(PLAIN, mark=O)
    torn = PLAIN.tell(FULL[:5]).messages
    torn[3]["content"] = torn[3]["content"].replace("O", "X")
    chats = [
        *[PLAIN.tell(COLUMN).messages] * 3,
        PLAIN.tell(FULL).messages,
        PLAIN.tell(FULL[:3]).messages,
        PLAIN.tell(FULL[:2]).messages,
        reply.tell(COLUMN).messages,
        replace(reply, ends=False).tell(FULL).messages,
        torn,
        torn[:2] + torn[4:],
        PLAIN.tell(FULL).messages[4:],
        [{"role": "user", "content": "What is 2 + 2?"}],
    ]
    write(db, [rollout(n, 0.0, messages=chat) for n, chat in enumerate(chats)])
    # A void rollout counts for nobody, and neither does its game.
    write(db, [rollout(90, None, messages=chats[0])])
    run = rewards.runs(db)[0].id
    found = shown_games(db, run)
    opening, replying = found.opening, found.replying
    assert (opening.games, opening.distinct) == (6, 4)
    assert (opening.won, opening.drawn, opening.lost) == (3, 1, 0)
    assert (opening.unseen, opening.open) == (1, 1)
    assert (replying.games, replying.lost, replying.unseen) == (2, 1, 1)
    assert found.games == 8
    assert dict(found.unfollowed) == {
        "the board cannot follow from the one before": 2,
        "it begins in the middle of a game": 1,
    }
    games = [each.game for each in transcripts(db, run)]
    assert games[0] == games[-1] == ShownGame(X, X, COLUMN)
    assert games[9:12] == [None] * 3


def test_a_run_without_any(db):
    write(db, [rollout(0, 1.0)])
    found = shown_games(db, rewards.runs(db)[0].id)
    assert (found.games, found.opening.distinct, found.unfollowed) == (0, 0, ())
    with pytest.raises(NotFoundError, match="no imported run 7"):
        shown_games(db, 7)
