"""Many games between two players, one seed after the other, and what they came to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.board import Mark, Outcome
from arena.game import Game
from arena.match import finish
from arena.players import Player

VOID_IN_A_ROW = 5
"""So many void games in a row say that the endpoint is down, and stop a series."""
_BREATH = 256


async def play_series(
    x: Player, o: Player, *, seeds: range, openers: Sequence[Mark] = (Mark.X,)
) -> AsyncIterator[Game]:
    """Play one game for each seed.

    Args:
        x: who plays X, in every game.
        o: who plays O.
        seeds: the games' seeds, in the order of play.
        openers: who opens: one after the other, then from the start.

    Yields:
        Each finished game. Between two games the series can be cancelled.
    """
    for number, seed in enumerate(seeds):
        if number % _BREATH == _BREATH - 1:
            # Engines never wait for anything: without this nobody else would get a turn.
            await asyncio.sleep(0)
        yield await finish(Game(opener=openers[number % len(openers)], seed=seed), x, o)


@dataclass
class Tally:
    """What the games of a series came to."""

    outcomes: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))
    forfeits: int = 0
    """Games that a model lost by its own replies; part of the wins of the other."""
    void_in_a_row: int = 0
    _lines: set[tuple[Mark, tuple[int, ...]]] = field(default_factory=set, repr=False)

    def add(self, game: Game) -> None:
        """Count a finished game."""
        if game.outcome is None or game.termination is None:
            raise ValueError("only a finished game counts")
        self.outcomes[game.outcome] += 1
        self.forfeits += game.termination.is_forfeit
        if game.outcome is Outcome.VOID:
            self.void_in_a_row += 1
        else:
            self.void_in_a_row = 0
            self._lines.add((game.opener, game.moves))

    def add_many(
        self, opener: Mark, outcomes: Mapping[Outcome, int], lines: Iterable[tuple[int, ...]]
    ) -> None:
        """Count games that ended on the board.

        Args:
            opener: who opened them.
            outcomes: how many ended how; none is void.
            lines: their different sequences of squares.
        """
        for outcome, times in outcomes.items():
            self.outcomes[outcome] += times
        self._lines.update((opener, line) for line in lines)

    @property
    def games(self) -> int:
        """All games counted, void ones too."""
        return sum(self.outcomes.values())

    @property
    def distinct(self) -> int:
        """Different (opener, moves) among the games that are not void."""
        return len(self._lines)
