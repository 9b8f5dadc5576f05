"""A database with something to say about every number: two checkpoints of a family that meet the
opponents of a panel on the same cells, and players for each edge.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from arena.board import Board, Mark, start
from arena.game import Attempt, Game, Message, Termination, Verdict
from arena.opponents import parse, salt_of
from arena.plan import Plan
from arena.players import Identity, Kind
from storage.database import Database
from storage.evaluations import Evaluations
from storage.games import Games
from storage.setups import Setup
from storage.tables import Source
from tests.storage.samples import game_of

PANEL = ("minimax", "minimax:tie=first", "random")
SEEDS = 12
UNFINISHED = "half-way"


def model(name: str, family: str | None = None, step: int | None = None) -> Identity:
    """A checkpoint as it is asked with the default prompt format at temperature 1."""
    return Identity(
        Kind.MODEL, name, family, step, "tags", "a1b2", {"sampling": {"temperature": 1.0}}
    )


NOVICE, EXPERT = model("novice", "ladder", 100), model("expert", "ladder", 200)
VOID, SINGLE, DRAWN, UNBEATEN, UNMET = map(model, ("void", "single", "drawn", "unbeaten", "unmet"))
MARKUP = model("<img src=x onerror=fire()>", "ladder", 300)
SKILL = (
    (NOVICE, "minimax:epsilon=0.6"),
    (EXPERT, "minimax:epsilon=0.1"),
    (UNBEATEN, "minimax"),
    (MARKUP, "minimax:tie=first"),
)
"""Who meets the whole panel, and the engine that it moves like."""


def fill(folder: Path) -> None:
    """Make the database of a data folder that is new."""
    with_database = Database.open(folder / "arena.db")
    try:
        _fill(with_database)
    finally:
        with_database.close()


def _fill(database: Database) -> None:
    def now() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    games = Games(database, now)
    for player, skill in SKILL:
        for opponent, seed, mark in product(PANEL, range(SEEDS), Mark):
            record(games, player, opponent, mark, played(skill, opponent, mark, seed))
    for seed in range(3):
        nothing = Game(seed=seed)
        nothing.end(Termination.PROVIDER_ERROR)
        record(games, VOID, "minimax", Mark.X, nothing)
    record(games, SINGLE, "minimax", Mark.O, played("random", "minimax", Mark.O, 1))
    for seed in range(5):
        for mark in Mark:
            record(games, DRAWN, "minimax", mark, played("minimax", "minimax", mark, seed))
    record(games, UNMET, "random", Mark.X, played("minimax", "random", Mark.X, 1))
    plan = Plan(PANEL, games=2 * SEEDS)
    Evaluations(database, now).open(UNFINISHED, Setup((NOVICE,), plan, None, 4))


def engine(spec: str) -> Identity:
    """Who an engine is."""
    return Identity(Kind.ENGINE, spec, deterministic=parse(spec).deterministic)


def record(games: Games, player: Identity, opponent: str, mark: Mark, game: Game) -> str | None:
    """Store a rated game of a checkpoint that has this mark."""
    sides = (player, engine(opponent))
    x, o = sides if mark is Mark.X else sides[::-1]
    return games.record(game, x, o, Source.STORE)


def played(skill: str, opponent: str, mark: Mark, seed: int) -> Game:
    """A game that X opened, in which the checkpoint moves as an engine would, and says so."""
    players = {
        mark: (parse(skill), salt_of(seed + 1000)),
        mark.other: (parse(opponent), salt_of(seed)),
    }
    board, moves, attempts = start(Mark.X), [], {}
    while board.outcome is None:
        who, salt = players[board.to_move]
        square = who.choose(board, salt)
        if board.to_move is mark:
            attempts[board.ply] = (said(board, square),)
        moves.append(square)
        board = board.after(square)
    return game_of(moves, seed=seed, attempts=attempts)


def said(board: Board, square: int) -> Attempt:
    """A reply that takes a square and gives a reason."""
    prompt = (Message("system", "Play."), Message("user", f"Move {board.ply + 1}."))
    text = f"<think>I take {square}.</think><move>{square}</move>"
    return Attempt(
        prompt,
        text,
        Verdict.OK,
        square,
        contains=True,
        exact=True,
        completion_tokens=12,
        seconds=0.5,
    )
