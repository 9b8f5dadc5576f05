"""The record of one game: requests lead to attempts, attempts to turns, turns to an outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from arena.board import SQUARES, Board, Mark, Outcome, start
from arena.errors import RulesError
from arena.opponents import salt_of


class Termination(StrEnum):
    """Why a game ended."""

    LINE = "line"
    FULL_BOARD = "full_board"
    FORFEIT_INVALID = "forfeit_invalid"
    FORFEIT_TRUNCATED = "forfeit_truncated"
    RESIGNED = "resigned"
    ABANDONED = "abandoned"
    CONTEXT_EXCEEDED = "context_exceeded"
    PROVIDER_ERROR = "provider_error"

    @property
    def is_forfeit(self) -> bool:
        """Whether a model lost by its own replies rather than on the board."""
        return self in (Termination.FORFEIT_INVALID, Termination.FORFEIT_TRUNCATED)

    @property
    def is_void(self) -> bool:
        """Whether the game counts for nobody."""
        return self in (
            Termination.ABANDONED,
            Termination.CONTEXT_EXCEEDED,
            Termination.PROVIDER_ERROR,
        )


class Verdict(StrEnum):
    """What a reply of a model was."""

    OK = "ok"
    OCCUPIED = "occupied"
    OUT_OF_RANGE = "out_of_range"
    MALFORMED = "malformed"
    NO_MOVE = "no_move"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSAL = "refusal"


NO_TEMPERATURE = "no_temperature"
"""The adaptation by which a reply was drawn at the server's default temperature: not greedy."""
NO_SEED = "no_seed"
"""The adaptation by which a reply was drawn without a seed."""


class Message(NamedTuple):
    """One message of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str
    reasoning: str | None = None
    """Thinking that an assistant's message carries in a field of its own."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP call to an endpoint."""

    status: int | None
    """The HTTP status; None where no answer came."""
    seconds: float
    """Until the last byte, or until it failed."""
    sent: Mapping[str, Any]
    """The body's parameters without the messages, which the attempt holds. Never a key."""
    error: str | None = None
    """What went wrong, in words; None for a usable answer."""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply of a model, with its verdict."""

    prompt: tuple[Message, ...]
    """The messages exactly as they were sent."""
    reply: str
    """The text as received, thinking tags included."""
    verdict: Verdict
    square: int | None
    """The square that was named, where one was; legal if and only if the verdict is `ok`."""
    contains: bool
    """Format: a closed thinking and after it a closed answer, anywhere."""
    exact: bool
    """Format: nothing else before, between or after, and finish_reason `stop`."""
    reasoning: str | None = None
    """Thinking that came in a field of its own."""
    reasoning_field: str | None = None
    finish_reason: str | None = None
    seed: int | None = None
    """The sampling seed that was sent; None where none was."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    """Wall time from the first request to the whole reply."""
    requests: tuple[Request, ...] = ()
    """The calls that led to it, failed ones first."""
    adaptations: tuple[str, ...] = ()
    """What the server made us change about the request, by the names in `models.adapt`."""


class Turn(NamedTuple):
    """One accepted move, with every attempt that led to it."""

    mark: Mark
    square: int
    attempts: tuple[Attempt, ...] = ()


# Made once: an engine's turn is nothing but its square.
_PLAIN = {mark: tuple(Turn(mark, square) for square in SQUARES) for mark in Mark}


def forfeit_of(attempts: Iterable[Attempt]) -> Termination:
    """How a game ends in which a model has no reply left: the last invalid one decides.

    Args:
        attempts: the model's, of the whole game, in order.
    """
    invalid = [attempt.verdict for attempt in attempts if attempt.verdict is not Verdict.OK]
    if invalid and invalid[-1] is Verdict.TRUNCATED:
        return Termination.FORFEIT_TRUNCATED
    return Termination.FORFEIT_INVALID


@dataclass(slots=True)
class Game:
    """A game under way or finished; only `add`, `move` and `end` change it."""

    opener: Mark = Mark.X
    seed: int = 0
    turns: list[Turn] = field(default_factory=list)
    rollout: int = 0
    """Which repetition of its cell this is: the engines' draws stay, a model's sampling changes."""
    board: Board = field(init=False)
    outcome: Outcome | None = field(default=None, init=False)
    termination: Termination | None = field(default=None, init=False)
    unanswered: tuple[Attempt, ...] = field(default=(), init=False)
    """Attempts that led to no turn, of the player whose turn it was when the game ended."""
    failed: tuple[Request, ...] = field(default=(), init=False)
    """Requests after the last attempt that led to no reply."""
    salt: int = field(init=False, repr=False)
    """The seed's part in the engines' draws."""

    def __post_init__(self) -> None:
        self.board = start(self.opener)
        self.salt = salt_of(self.seed)
        turns, self.turns = self.turns, []
        for turn in turns:
            self.add(turn)

    @property
    def to_move(self) -> Mark:
        """Whose turn it is."""
        return self.board.to_move

    @property
    def moves(self) -> tuple[int, ...]:
        """The squares in the order in which they were taken."""
        return tuple(turn.square for turn in self.turns)

    def attempts_of(self, mark: Mark) -> list[Attempt]:
        """Every attempt of a seat, in order, those that led to no turn too."""
        made = [attempt for turn in self.turns if turn.mark is mark for attempt in turn.attempts]
        return made + list(self.unanswered) if self.to_move is mark else made

    def add(self, turn: Turn) -> None:
        """Take a turn.

        Raises:
            RulesError: it is not that mark's turn, the square is not free, or the game is over.
        """
        mark, square, attempts = turn
        if mark is not self.board.to_move and self.outcome is None:
            raise RulesError(f"it is {self.board.to_move}'s turn, not {mark}'s")
        self.move(square, attempts)

    def move(self, square: int, attempts: tuple[Attempt, ...] = ()) -> Turn:
        """Take the turn of whoever is to move.

        Raises:
            RulesError: the square is not free, or the game is over.
        """
        if self.outcome is not None:
            raise RulesError("the game is over: no move is legal")
        before = self.board
        mark = before.to_move
        child = before.children[square] if 0 <= square < 9 else None
        self.board = board = child or before.after(square)
        turn = Turn(mark, square, attempts) if attempts else _PLAIN[mark][square]
        self.turns.append(turn)
        if board.outcome is not None:
            self.outcome = board.outcome
            self.termination = Termination.LINE if board.line else Termination.FULL_BOARD
        return turn

    def end(
        self,
        termination: Termination,
        loser: Mark | None = None,
        *,
        attempts: Iterable[Attempt] = (),
        requests: Iterable[Request] = (),
    ) -> None:
        """End the game otherwise than on the board: void, or lost by `loser`.

        Raises:
            RulesError: the game is over, or this termination does not end a game so.
        """
        if self.outcome is not None:
            raise RulesError("the game is over already")
        if termination.is_void:
            self.outcome = Outcome.VOID
        elif loser is not None and (termination.is_forfeit or termination is Termination.RESIGNED):
            self.outcome = Outcome.win(loser.other)
        else:
            raise RulesError(f"a game cannot end by {termination} with {loser} as loser")
        self.termination = termination
        self.unanswered = tuple(attempts)
        self.failed = tuple(requests)
