"""Who can take a seat: the one thing that the referee asks of a player, and the two simple kinds.

The third kind, a model behind an endpoint, lives in `models.player`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from arena.board import SQUARES
from arena.game import Attempt, Game, Request, Termination
from arena.opponents import Engine


class Kind(StrEnum):
    """The three kinds of players."""

    HUMAN = "human"
    ENGINE = "engine"
    MODEL = "model"


@dataclass(frozen=True)
class Identity:
    """Who a player is, as it is stored: two players with equal identities share a table row."""

    kind: Kind
    name: str
    """A person's or a model's name, an engine's spec."""
    family: str | None = None
    step: int | None = None
    """The training step of a checkpoint."""
    prompt: str | None = None
    """The name of a model's prompt format."""
    prompt_hash: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else changes a model's play: served model, history, sampling, cap on replies (JSON)."""
    deterministic: bool = False
    """Whether the same board always gets the same answer: no ties, no chance, temperature 0."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a player does when it is asked.

    With a square: the move. With a termination: it cannot move, and the game ends so. With
    neither: not yet (a person is thinking), and the referee stops until it is called again.
    """

    square: int | None
    attempts: tuple[Attempt, ...] = ()
    termination: Termination | None = None
    requests: tuple[Request, ...] = ()
    """Requests that led to no attempt, where the game ends by a fault."""


NOT_YET = Decision(None)
# Made once: an engine's decision is nothing but its square.
_MOVES = tuple(Decision(square) for square in SQUARES)


class Player(Protocol):
    """Whoever can take a seat. Players hold no state of a game: the game is all they see."""

    @property
    def identity(self) -> Identity:
        """Who this is."""
        ...

    def decide(self, game: Game) -> Decision | Awaitable[Decision]:
        """Answer the game's open board, on which it is this player's turn: at once, or in time.

        Never raises for what a server, a network or a model does.
        """
        ...


class EnginePlayer:
    """An engine in a seat."""

    def __init__(self, engine: Engine) -> None:
        self._choose = engine.choose
        self.identity = Identity(Kind.ENGINE, str(engine), deterministic=engine.deterministic)

    def decide(self, game: Game) -> Decision:
        """A draw from the engine's policy by (game seed, opener, board)."""
        return _MOVES[self._choose(game.board, game.salt)]


class Person:
    """A person in a seat, with the moves that were made and not yet taken: usually one or none."""

    def __init__(self, name: str = "", moves: Iterable[int] = ()) -> None:
        self.identity = Identity(Kind.HUMAN, name)
        self._moves = list(moves)

    async def decide(self, game: Game) -> Decision:  # noqa: ARG002 - a person looks elsewhere
        """The next move made, or not yet."""
        return Decision(self._moves.pop(0)) if self._moves else NOT_YET
