"""The referee: plays any two players against each other and yields turns as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator

from arena.board import Mark
from arena.game import Game, Turn
from arena.players import Player


async def play(game: Game, x: Player, o: Player) -> AsyncIterator[Turn]:
    """Play on from where `game` stands, until it is over or a person is to move.

    The game is the whole state: the caller may stop between two turns, store what was yielded,
    and call again, in another process too.

    Yields:
        Each turn, after the game has taken it.

    Raises:
        RulesError: a player named a square that is not free (players check their own moves, so
            this is a fault of the program or of a person's client; the game is unchanged).
    """
    seats = (x, o) if game.opener is Mark.X else (o, x)
    while game.outcome is None:
        board = game.board
        mark = board.to_move
        square, attempts, termination, requests = await seats[board.ply % 2].decide(game)
        if square is not None:
            turn = Turn(mark, square, attempts)
            game.add(turn)
            yield turn
        elif termination is not None:
            loser = None if termination.is_void else mark
            game.end(termination, loser, attempts=attempts, requests=requests)
        else:
            return


async def finish(game: Game, x: Player, o: Player) -> Game:
    """Play a game through and return it."""
    async for _ in play(game, x, o):
        pass
    return game
