"""Games of tic-tac-toe that can be followed in the chats of an imported run, and how they ended.

They are no games of the arena's: against whom they were played is not known exactly, so they move
no rate. What is counted is what the chats show, and many end before the game does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sqlalchemy import func, select

from arena.board import Board, Mark, Outcome, play_out, start
from storage.database import Database
from storage.reward_tables import ROLLOUTS
from storage.rewards import row_of


class Ending(StrEnum):
    """What became of a game, for the model, as far as its chat shows it."""

    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"
    UNSEEN = "unseen"
    """The chat ends with a move of the model's: whether and how the opponent answered, it does not
    show. It may have won by it.
    """
    OPEN = "open"
    """The chat ends where the model was to move."""


@dataclass(frozen=True)
class ShownGame:
    """A game as far as a chat shows it."""

    opener: Mark
    mark: Mark
    """The model's."""
    moves: tuple[int, ...]
    """The squares in order, both sides'."""

    @property
    def board(self) -> Board:
        """The last one."""
        return _last_board(self.opener, self.moves)

    @property
    def opening(self) -> bool:
        """Whether the model opened."""
        return self.opener is self.mark

    @property
    def ending(self) -> Ending:
        """What became of it: by the rules, whatever a reward says."""
        board = self.board
        if board.outcome is Outcome.DRAW:
            return Ending.DRAWN
        if board.outcome is not None:
            return Ending.WON if board.outcome is Outcome.win(self.mark) else Ending.LOST
        return Ending.OPEN if board.to_move is self.mark else Ending.UNSEEN


@dataclass(frozen=True)
class Endings:
    """How the games of one seat ended."""

    games: int
    distinct: int
    """Different sequences of moves among them."""
    won: int
    drawn: int
    lost: int
    unseen: int
    open: int


@dataclass(frozen=True)
class ShownGames:
    """The games of a run: of its rollouts that count, each in its own chat."""

    opening: Endings
    replying: Endings
    unfollowed: tuple[tuple[str, int], ...]
    """Why none can be followed where boards are drawn, and how often; the most frequent first."""

    @property
    def games(self) -> int:
        """That can be followed."""
        return self.opening.games + self.replying.games


def shown_games(db: Database, id: int) -> ShownGames:
    """The games that can be followed in a run's chats; void rollouts left out.

    Raises:
        NotFoundError: there is no such run.
    """
    table = ROLLOUTS.c
    own = (table.run_id == id, table.reward.is_not(None))
    line = (table.opener, table.mark, table.moves)
    lines = select(*line, func.count()).where(*own, table.moves.is_not(None)).group_by(*line)
    why = table.unfollowed
    reasons = select(why, func.count()).where(*own, why.is_not(None)).group_by(why)
    with db.read() as session:
        row_of(session, id)
        found = [
            (ShownGame(Mark(opener), Mark(mark), tuple(map(int, moves))), count)
            for opener, mark, moves, count in session.execute(lines)
        ]
        unfollowed: Counter[str] = Counter()
        for reason, count in session.execute(reasons):
            # Which message it is differs from chat to chat.
            unfollowed[_general(reason)] += count
    return ShownGames(
        opening=_endings([each for each in found if each[0].opening]),
        replying=_endings([each for each in found if not each[0].opening]),
        unfollowed=tuple(sorted(unfollowed.items(), key=lambda each: (-each[1], each[0]))),
    )


def _endings(found: list[tuple[ShownGame, int]]) -> Endings:
    counts: Counter[Ending] = Counter()
    for game, count in found:
        counts[game.ending] += count
    lines = {(game.opener, game.moves) for game, _ in found}
    each = {str(ending): counts[ending] for ending in Ending}
    return Endings(games=counts.total(), distinct=len(lines), **each)


def _general(reason: str) -> str:
    head, colon, rest = reason.partition(": ")
    return rest if colon and head.startswith("message ") else reason


@lru_cache(maxsize=1 << 12)
def _last_board(opener: Mark, moves: tuple[int, ...]) -> Board:
    return [start(opener), *play_out(moves, opener)][-1]
