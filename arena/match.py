"""The referee: plays any two players against each other and yields turns as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator

from arena.board import Mark
from arena.game import Game, Turn
from arena.players import Decision, Player


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
    decide, other = (x.decide, o.decide) if game.to_move is Mark.X else (o.decide, x.decide)
    while game.outcome is None:
        decision = decide(game)
        if not isinstance(decision, Decision):
            decision = await decision
        if (square := decision.square) is not None:
            yield game.move(square, decision.attempts)
            decide, other = other, decide
        elif not _end(game, decision):
            return


async def finish(game: Game, x: Player, o: Player) -> Game:
    """The same for whoever needs no turn as it happens, at half the price; returns the game."""
    decide, other = (x.decide, o.decide) if game.to_move is Mark.X else (o.decide, x.decide)
    while game.outcome is None:
        decision = decide(game)
        if not isinstance(decision, Decision):
            decision = await decision
        if (square := decision.square) is not None:
            game.move(square, decision.attempts)
            decide, other = other, decide
        elif not _end(game, decision):
            break
    return game


def _end(game: Game, decision: Decision) -> bool:
    """End a game as a player decided who cannot move; whether it did."""
    termination = decision.termination
    if termination is None:
        return False
    loser = None if termination.is_void else game.to_move
    game.end(termination, loser, attempts=decision.attempts, requests=decision.requests)
    return True
