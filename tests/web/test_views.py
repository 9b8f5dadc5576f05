"""From what is stored to what the routes give."""

from __future__ import annotations

from datetime import UTC, datetime

from arena.board import Mark, Outcome
from arena.game import Game, Request, Termination, Verdict
from arena.players import Identity, Kind
from storage.players import StoredPlayer
from storage.records import StoredGame
from storage.tables import Source
from tests.storage.samples import MODEL, OPENER_WINS, PERSON, attempt, chat, game_of
from web.channel import Thought
from web.views import game_out

AT = datetime(2026, 1, 1, tzinfo=UTC)


def stored(game: Game, x: Identity = PERSON, o: Identity = MODEL) -> StoredGame:
    times = (AT,) * len(game.turns)
    seats = StoredPlayer(1, x), StoredPlayer(2, o)
    return StoredGame("abc", 1, game, *seats, Source.PLAY, times, AT, AT, None, False)


def test_a_game_under_way() -> None:
    out = game_out(stored(game_of((4,))))
    assert (out.id, out.url, out.ply, out.squares[4]) == ("abc", "/game/abc", 1, Mark.X)
    assert (out.to_move, out.waiting_for, out.outcome) == (Mark.O, Kind.MODEL, None)
    assert (out.x.name, out.o.family, out.o.step, out.o.prompt) == ("Ann", "family", 100, "tags")


def test_what_a_model_is_saying() -> None:
    thought = Thought(0.0, 2, "let me", "<mo", "the connection broke")
    thinking = game_out(stored(game_of((4,))), (thought, 1.5)).thinking
    assert thinking is not None
    assert thinking.model_dump() == {
        "seconds": 1.5,
        "attempt": 2,
        "reasoning": "let me",
        "text": "<mo",
        "trouble": "the connection broke",
    }


def test_a_finished_game_waits_for_nobody() -> None:
    out = game_out(stored(game_of(OPENER_WINS)), (Thought(0.0), 1.0))
    assert (out.to_move, out.waiting_for, out.thinking) == (None, None, None)
    assert (out.outcome, out.termination, out.line) == (Outcome.X, Termination.LINE, (0, 1, 2))


def test_replies_with_and_without_a_turn() -> None:
    bad = attempt(chat("s", "u"), "?", Verdict.NO_MOVE, None)
    good = attempt(chat("s", "u", "?", "again"), "4", square=4, requests=(Request(200, 0.5, {}),))
    game = game_of((4,), attempts={0: (bad, good)})
    game.end(Termination.FORFEIT_INVALID, Mark.O, attempts=[bad])
    out = game_out(stored(game, MODEL, MODEL))
    assert [each.number for each in out.turns[0].attempts] == [1, 2]
    assert [each.requests for each in out.turns[0].attempts] == [0, 1]
    assert [message.content for message in out.turns[0].attempts[1].prompt] == [
        "s",
        "u",
        "?",
        "again",
    ]
    assert [each.verdict for each in out.unanswered] == [Verdict.NO_MOVE]


def test_why_a_game_is_void() -> None:
    game = game_of((4,))
    game.end(
        Termination.PROVIDER_ERROR,
        requests=[Request(500, 0.1, {}, "first"), Request(None, 0.1, {}, "last")],
    )
    assert game_out(stored(game)).fault == "last"
    assert game_out(stored(game_of((4,)))).fault is None
