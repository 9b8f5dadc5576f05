"""Games that may be believed: engines play as they do, and models' moves are what they replied."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import text

from arena.board import Mark
from arena.game import Attempt, Game, Termination, Turn, Verdict, forfeit_of
from arena.opponents import parse
from arena.players import EnginePlayer, Kind
from storage import Database, Games, Recording, Source, jsonl, rows
from tests.storage.samples import GREEDY, MODEL, PERSON, attempt, attempts, chat, some_requests

ENGINES = {spec: EnginePlayer(parse(spec)).identity for spec in ("random", "minimax:tie=first")}
RANDOM, FIRST = ENGINES.values()
LAST = EnginePlayer(parse("minimax:tie=last")).identity
RATED = (RANDOM, FIRST, LAST, MODEL, GREEDY)


def square_of(game: Game, player: Any) -> int:
    """What a player takes: an engine its draw, everybody else the last free square."""
    if player.kind is Kind.ENGINE:
        return parse(player.name).choose(game.board, game.salt)
    return game.board.free[-1]


def game_between(x, o, seed: int = 0, opener: Mark = Mark.X, rollout: int = 0, until: int = 9):
    """A game as these two play it, with a chat for each model; up to `until` turns."""
    game = Game(opener, seed, rollout=rollout)
    seats = {Mark.X: x, Mark.O: o}
    while game.outcome is None and len(game.turns) < until:
        who = seats[game.to_move]
        square = square_of(game, who)
        made: tuple[Attempt, ...] = ()
        if who.kind is Kind.MODEL:
            wrong = attempt(chat("s", "u"), "9", Verdict.MALFORMED, None, seconds=0.5)
            right = attempt(chat("s", "u", "9", "again"), str(square), square=square)
            made = (wrong, right) if seed % 2 else (right,)
        game.add(Turn(game.to_move, square, made))
    return game


def recordings(number: int = 12):
    """Games of every pair of rated players, both openers."""
    pairs = [(x, o) for x in RATED for o in RATED if x != o]
    return [
        Recording(game_between(x, o, seed, Mark(("X", "O")[seed % 2])), x, o)
        for seed in range(number)
        for x, o in pairs
    ]


def fill(games: Games, number: int = 3) -> None:
    """Rated games, games that ended otherwise than on the board, and one in the browser."""
    games.record_many(recordings(number), Source.EVALUATION)
    for seed, termination in enumerate(Termination, start=100):
        if termination in (Termination.LINE, Termination.FULL_BOARD, Termination.ABANDONED):
            continue
        resigned = termination is Termination.RESIGNED
        x, source = (PERSON, Source.PLAY) if resigned else (MODEL, Source.STORE)
        game = game_between(x, RANDOM, seed, until=2)
        cut = termination is Termination.FORFEIT_TRUNCATED
        verdict = Verdict.TRUNCATED if cut else Verdict.EMPTY
        last = [] if resigned else [attempt(chat("s", "u"), "", verdict, None)]
        game.end(termination, None if termination.is_void else Mark.X, attempts=last)
        games.record(game, x, RANDOM, source)
    id = games.create(PERSON, RANDOM, Mark.X, 7, {Mark.X: "secret"})
    game = game_between(PERSON, RANDOM, 7)
    for plies in range(1, len(game.turns) + 1):
        part = Game(Mark.X, 7, game.turns[:plies])
        games.append(id, part)


def exported(db: Database, path: Path | None = None) -> bytes:
    """Everything, as the flavour `games`."""
    content = b"".join(jsonl(rows(db, "games")))
    if path:
        path.write_bytes(content)
    return content


def dump(db: Database) -> dict[str, list[Any]]:
    """The whole content of a database."""
    names = text("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    with db.read() as session:
        return {
            name: sorted(map(repr, session.execute(text(f"SELECT * FROM {name}"))))
            for (name,) in session.execute(names).all()
        }


@st.composite
def believable(draw):
    """A finished game of any two players with any replies, and how it was stored."""
    x, o = draw(st.sampled_from(RATED)), draw(st.sampled_from((*RATED, PERSON)))
    seats = {Mark.X: x, Mark.O: o}
    game = Game(draw(st.sampled_from(Mark)), draw(st.integers(0, (1 << 63) - 1)))
    before = dict.fromkeys(Mark)

    def replies(*squares):
        made = []
        if seats[game.to_move].kind is Kind.MODEL:
            for square in squares:
                verdict = None if square is None else Verdict.OK
                reply = draw(attempts(before[game.to_move], verdict))
                reply = reply if square is None else replace(reply, square=square)
                before[game.to_move] = reply
                made.append(reply)
        return tuple(made)

    def ways():
        kind = seats[game.to_move].kind
        found = [Termination.RESIGNED] if PERSON in (x, o) else []
        if kind is Kind.MODEL:
            found += [t for t in Termination if t.is_void and t is not Termination.ABANDONED]
            found.append(Termination.FORFEIT_INVALID)
        if kind is Kind.HUMAN:
            found.append(Termination.ABANDONED)
        return found

    plies = draw(st.integers(0, 9))
    while game.outcome is None and (len(game.turns) < plies or not ways()):
        who = seats[game.to_move]
        square = square_of(game, who)
        if who.kind is not Kind.ENGINE:
            square = draw(st.sampled_from(game.board.free))
        wrong = [None] * draw(st.integers(0, 2))
        game.add(Turn(game.to_move, square, replies(*wrong, square)))
    if game.outcome is None:
        is_model = seats[game.to_move].kind is Kind.MODEL
        end, last, loser = draw(st.sampled_from(ways())), replies(None), game.to_move
        if end.is_forfeit:
            end = forfeit_of([*game.attempts_of(game.to_move), *last])
        if end is Termination.RESIGNED:
            loser = next(mark for mark in Mark if seats[mark] == PERSON)
        game.end(
            end,
            None if end.is_void else loser,
            attempts=last,
            requests=draw(some_requests) if is_model else (),
        )
    source = Source.PLAY if PERSON in (x, o) else draw(st.sampled_from(Source))
    return game, x, o, source


LATER = timedelta(days=400)
EARLY = datetime(2020, 1, 1, tzinfo=UTC)
