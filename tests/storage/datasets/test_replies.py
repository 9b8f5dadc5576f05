"""The flavours of single replies, by hand: whose, on which board, wanted or not, and paired."""

from __future__ import annotations

import pytest

from arena.board import Mark
from arena.game import Game, Termination, Turn, Verdict
from storage import Database, Flavour, GameFilter, Games, Result, Source, rows
from storage.datasets import filter_of
from tests.storage.samples import MODEL, RANDOM, attempt, chat

STORE = Source.STORE


def reply(square, *, asked="board", text=None, **more):
    """A reply that became a move."""
    facts = {"contains": True, **more}
    return attempt(chat("rules", asked), text or f"<move>{square}</move>", square=square, **facts)


def game_of(moves, *, seed=0, opener=Mark.X, model=Mark.X, attempts=None):
    """A game in which a model has a mark; its reply to ply n is asked by `board n`."""
    game = Game(opener, seed)
    for ply, square in enumerate(moves):
        made = ()
        if game.to_move is model:
            made = (attempts or {}).get(ply, (reply(square, asked=f"board {ply}"),))
        game.add(Turn(game.to_move, square, tuple(made)))
    return game


def record(games: Games, game: Game, model: Mark = Mark.X) -> str:
    seats = (MODEL, RANDOM) if model is Mark.X else (RANDOM, MODEL)
    id = games.record(game, *seats, STORE)
    assert id
    return id


CORNERS_LOSE = (0, 4, 8, 2, 6, 5, 7)
"""X opens in a corner, O takes the centre, then X the far corner, O a corner, X the last one: a
fork, and X wins."""


def test_a_row_for_each_move_of_the_model(games: Games, db: Database) -> None:
    id = record(games, game_of(CORNERS_LOSE))
    found = list(rows(db, "turns"))
    assert [row["square"] for row in found] == [0, 8, 6, 7]
    assert [row["board"] for row in found] == [
        *(".........", "X...O....", "X.O.O...X", "X.O.OOX.X"),
    ]
    first = found[0]
    assert first["game"] == id
    assert first["prompt"] == [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "board 0"},
    ]
    assert first["completion"] == [{"role": "assistant", "content": "<move>0</move>"}]
    assert (first["result"], first["loses_value"], first["number"]) == ("win", False, 1)


def test_a_turn_is_its_last_reply_and_kto_has_them_all(games: Games, db: Database) -> None:
    wrong = attempt(chat("rules", "board 0"), "nothing", Verdict.NO_MOVE, None)
    sloppy = reply(8, contains=False)
    tried = {0: (wrong, reply(0)), 2: (sloppy,)}
    record(games, game_of(CORNERS_LOSE, attempts=tried))
    assert [(row["ply"], row["number"]) for row in rows(db, "turns")] == [
        *((0, 2), (2, 1), (4, 1), (6, 1)),
    ]
    labels = [(row["ply"], row["number"], row["label"]) for row in rows(db, "kto")]
    assert labels == [
        *((0, 1, False), (0, 2, True), (2, 1, False), (4, 1, True), (6, 1, True)),
    ]
    first = next(rows(db, "kto"))
    assert (first["square"], first["loses_value"], first["verdict"]) == (None, None, "no_move")


def test_a_move_that_gives_up_value_is_not_wanted(games: Games, db: Database) -> None:
    """O answers a corner by an edge and has lost a draw."""
    record(games, game_of((0, 1, 3, 6, 4, 5, 8), model=Mark.O), Mark.O)
    found = list(rows(db, "kto"))
    assert [(row["square"], row["loses_value"], row["label"]) for row in found] == [
        *((1, True, False), (6, False, True), (5, False, True)),
    ]


def test_replies_after_which_the_game_was_forfeited(games: Games, db: Database) -> None:
    game = game_of((0, 4))
    wrong = attempt(chat("rules", "board 2"), "?", Verdict.NO_MOVE, None)
    game.end(Termination.FORFEIT_INVALID, Mark.X, attempts=[wrong, wrong])
    record(games, game)
    assert [row["ply"] for row in rows(db, "turns")] == [0]
    assert [(row["ply"], row["number"]) for row in rows(db, "kto")] == [(0, 1), (2, 1), (2, 2)]


def test_two_models_have_rows_of_their_own(games: Games, db: Database) -> None:
    game = Game(seed=1)
    for square in (0, 4, 8, 2, 6, 5, 7):
        game.add(Turn(game.to_move, square, (reply(square),)))
    games.record(game, MODEL, MODEL, STORE)
    assert [(row["mark"], row["square"]) for row in rows(db, "turns")] == [
        *(("X", 0), ("X", 8), ("X", 6), ("X", 7), ("O", 4), ("O", 2), ("O", 5)),
    ]


# -- pairs -----------------------------------------------------------------------------------------

LOST = (0, 1, 3, 6, 4, 5, 8)
"""O takes an edge and has lost."""
HELD = (0, 4, 8, 1, 7, 6, 2, 5, 3)
"""O takes the centre."""


def pair(games: Games, *moves: tuple[int, ...], **more) -> None:
    for seed, each in enumerate(moves):
        record(games, game_of(each, seed=seed, model=Mark.O, **more), Mark.O)


def test_a_pair_is_two_replies_to_the_same_question(games: Games, db: Database) -> None:
    pair(games, LOST, HELD)
    (row,) = rows(db, "preference")
    assert (row["square"], row["chosen_square"], row["board"]) == (1, 4, "X........")
    assert row["rejected"] == [{"role": "assistant", "content": "<move>1</move>"}]
    assert row["chosen"] == [{"role": "assistant", "content": "<move>4</move>"}]
    assert row["prompt"][-1]["content"] == "board 1"
    assert (row["same_prompt"], row["result"]) == (True, "loss")


def test_other_questions_make_no_pair(games: Games, db: Database) -> None:
    pair(games, LOST)
    assert list(rows(db, "preference")) == []
    otherwise = {1: (reply(4, asked="another question"),)}
    record(games, game_of(HELD, seed=7, model=Mark.O, attempts=otherwise), Mark.O)
    assert list(rows(db, "preference")) == []
    elsewhere = game_of((2, 4, 6, 1, 7, 8, 0, 3, 5), seed=8, model=Mark.O)
    record(games, elsewhere, Mark.O)
    assert list(rows(db, "preference")) == []


def test_a_reply_that_breaks_the_format_is_never_chosen(games: Games, db: Database) -> None:
    sloppy = {1: (reply(4, asked="board 1", contains=False),)}
    pair(games, LOST)
    record(games, game_of(HELD, seed=7, model=Mark.O, attempts=sloppy), Mark.O)
    assert list(rows(db, "preference")) == []


def test_a_longer_chat_is_told(games: Games, db: Database) -> None:
    longer = attempt(chat("rules", "before", "said", "board 1"), "<move>4</move>", square=4)
    pair(games, LOST)
    record(games, game_of(HELD, seed=7, model=Mark.O, attempts={1: (longer,)}), Mark.O)
    (row,) = rows(db, "preference")
    assert row["same_prompt"] is False
    assert len(row["prompt"]) == 2


def test_choices_take_turns(games: Games, db: Database) -> None:
    pair(games, LOST, LOST, LOST)
    for seed, text in enumerate(("one", "two", "two"), start=10):
        held = {1: (reply(4, asked="board 1", text=text),)}
        record(games, game_of(HELD, seed=seed, model=Mark.O, attempts=held), Mark.O)
    chosen = [row["chosen"][0]["content"] for row in rows(db, "preference")]
    assert chosen == ["one", "two", "one"]


# -- filters ---------------------------------------------------------------------------------------


def test_games_without_a_move_that_gives_up_value(games: Games, db: Database) -> None:
    pair(games, LOST, HELD)
    keeps = GameFilter(keeps_value=True)
    assert {row["result"] for row in rows(db, "messages", keeps)} == {"draw"}
    assert games.count(filter_of(Flavour.TURNS, keeps)) == 1
    assert games.count(filter_of(Flavour.TURNS, GameFilter())) == 2
    mine = GameFilter(keeps_value=True, player="random")
    # X let nothing go in either.
    assert games.count(filter_of(Flavour.GAMES, mine)) == 2


def test_void_games_teach_nothing(games: Games, db: Database) -> None:
    game = game_of((0, 4))
    game.end(Termination.PROVIDER_ERROR)
    record(games, game)
    for flavour in ("turns", "kto", "preference"):
        assert list(rows(db, flavour)) == []


def test_a_filter_takes_the_seat_that_it_means(games: Games, db: Database) -> None:
    pair(games, LOST, HELD)
    assert {row["mark"] for row in rows(db, "turns", GameFilter(player="tiny"))} == {"O"}
    assert list(rows(db, "turns", GameFilter(player="random"))) == []
    lost = rows(db, "turns", GameFilter(result=Result.LOSS))
    assert [row["square"] for row in lost] == [1, 6, 5]


@pytest.mark.parametrize("flavour", Flavour)
def test_looking_at_some_games_only(games: Games, db: Database, flavour: Flavour) -> None:
    pair(games, HELD, LOST, HELD)
    assert len({row["game"] for row in rows(db, flavour, most=2)}) <= 2
    assert len(list(rows(db, flavour, most=0))) == 0
    assert list(rows(db, flavour, most=99)) == list(rows(db, flavour))
