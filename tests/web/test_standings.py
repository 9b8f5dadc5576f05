"""From stored games to rates and intervals; the real database, games by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.board import Mark
from arena.game import Game, Termination
from arena.players import Identity, Kind
from arena.statistics import wilson
from storage import standings
from storage.database import Database
from storage.games import Games
from storage.tables import Source
from tests.storage.samples import (
    DRAW,
    FIRST,
    GREEDY,
    LAST,
    MODEL,
    OPENER_WINS,
    OPENER_WINS_TOO,
    PERSON,
    RANDOM,
    REPLIER_WINS,
    attempt,
    chat,
    game_of,
)
from web.standings import LeaderboardOut, RowOut, leaderboard_out


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path / "arena.db")
    yield opened
    opened.close()


@pytest.fixture
def games(database: Database) -> Games:
    return Games(database, lambda: datetime(2026, 1, 1, tzinfo=UTC))


def read(database: Database) -> LeaderboardOut:
    return leaderboard_out(
        standings.leaderboard(database),
        standings.matrix(database),
        standings.sums_by_seed(database),
    )


def row(database: Database, player: Identity) -> RowOut:
    found = read(database)
    [row] = [each for each in found.players + found.people if each.player.name == player.name]
    return row


def test_no_games(database: Database) -> None:
    assert read(database) == LeaderboardOut(players=[], people=[], matrix=[])


def test_opening_and_replying_stand_apart(database: Database, games: Games) -> None:
    for seed, moves in enumerate((OPENER_WINS, DRAW, REPLIER_WINS, DRAW)):
        games.record(game_of(moves, seed=seed), RANDOM, MODEL, Source.STORE)
    opening, replying = row(database, RANDOM).opening, row(database, MODEL).replying
    assert (opening.games, opening.wins, opening.draws, opening.losses) == (4, 1, 2, 1)
    assert (replying.games, replying.wins, replying.draws, replying.losses) == (4, 1, 2, 1)
    assert opening.not_lost == 0.75
    expected = wilson(3, 4)
    assert expected is not None
    assert opening.interval is not None
    assert (opening.interval.low, opening.interval.high) == expected
    assert (opening.distinct, opening.exact) == (3, False)
    assert row(database, RANDOM).replying.not_lost is None
    assert row(database, RANDOM).replying.interval is None
    [entry] = [each for each in read(database).matrix if each.opening.games]
    assert entry.opening == opening


def test_two_that_always_answer_alike_have_no_interval(database: Database, games: Games) -> None:
    for seed in range(3):
        games.record(game_of(DRAW, seed=seed), FIRST, LAST, Source.STORE)
    side = row(database, FIRST).opening
    assert (side.exact, side.interval, side.not_lost) == (True, None, 1.0)
    assert (side.games, side.repeats, side.distinct) == (1, 2, 1)


def test_a_greedy_model_that_does_not_answer_alike_is_a_sample(
    database: Database, games: Games
) -> None:
    for seed, moves in enumerate((DRAW, OPENER_WINS, OPENER_WINS_TOO, REPLIER_WINS)):
        games.record(game_of(moves, seed=seed), GREEDY, FIRST, Source.STORE)
    side = row(database, GREEDY).opening
    assert not side.exact
    assert side.interval is not None


def test_a_row_is_exact_only_where_all_its_entries_are(database: Database, games: Games) -> None:
    games.record(game_of(DRAW), FIRST, LAST, Source.STORE)
    games.record(game_of(OPENER_WINS), FIRST, RANDOM, Source.STORE)
    side = row(database, FIRST).opening
    assert not side.exact


def test_over_several_opponents_there_is_no_interval(database: Database, games: Games) -> None:
    """Games of one seed against several are alike to an unknown degree."""
    for opponent in (FIRST, RANDOM):
        games.record(game_of(DRAW), MODEL, opponent, Source.STORE)
    side = row(database, MODEL).opening
    assert (side.games, side.not_lost, side.interval, side.exact) == (2, 1.0, None, False)
    entries = [each.opening for each in read(database).matrix if each.opening.games]
    assert all(entry.interval is not None for entry in entries)


def test_rollouts_of_a_seed_are_one_piece_of_evidence(database: Database, games: Games) -> None:
    for seed, moves in enumerate((DRAW, REPLIER_WINS)):
        for rollout in range(5):
            games.record(game_of(moves, seed=seed, rollout=rollout), MODEL, RANDOM, Source.STORE)
    side = row(database, MODEL).opening
    assert (side.games, side.not_lost) == (10, 0.5)
    expected = wilson(1, 2)
    assert expected is not None
    assert side.interval is not None
    assert (side.interval.low, side.interval.high) == pytest.approx(tuple(expected))


def test_void_games_leave_the_denominator(database: Database, games: Games) -> None:
    for seed in range(2):
        game = Game(seed=seed)
        game.end(Termination.PROVIDER_ERROR)
        games.record(game, MODEL, RANDOM, Source.STORE)
    side = row(database, MODEL).opening
    assert (side.games, side.void, side.not_lost, side.interval) == (0, 2, None, None)
    assert (side.format_followed, side.tokens_per_reply, side.exact) == (None, None, False)


def test_a_forfeit_is_a_loss(database: Database, games: Games) -> None:
    game = Game()
    game.end(Termination.FORFEIT_INVALID, Mark.X, attempts=[attempt(chat("a", "b"), "no")])
    games.record(game, MODEL, RANDOM, Source.STORE)
    side = row(database, MODEL).opening
    assert (side.games, side.losses, side.forfeits, side.not_lost) == (1, 1, 1, 0.0)


def test_games_from_the_browser_move_no_rate(database: Database, games: Games) -> None:
    games.record(game_of(OPENER_WINS), PERSON, MODEL, Source.PLAY)
    found = read(database)
    assert found.matrix == []
    assert [each.player.name for each in found.people] == [PERSON.name]
    assert row(database, MODEL).people.losses == 1
    assert row(database, MODEL).replying.games == 0
    assert row(database, PERSON).people.not_lost == 1.0


def test_checkpoints_of_one_name_are_told_apart(database: Database, games: Games) -> None:
    for prompt, temperature in (("tags", 0.5), ("blind", 1)):
        settings = {"sampling": {"temperature": temperature}}
        who = Identity(Kind.MODEL, "m", prompt=prompt, prompt_hash=prompt, settings=settings)
        games.record(game_of(DRAW), who, RANDOM, Source.STORE)
    details = {each.player.detail for each in read(database).players if each.player.name == "m"}
    assert details == {"prompt tags, temperature 0.5", "prompt blind, temperature 1"}
