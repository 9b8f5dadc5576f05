"""A checkpoint's page: its rates, and where it goes wrong. Pure: from storage to JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel, Field

from arena.board import Mark, board_of
from arena.mistakes import decisive_ply
from arena.traps import Status, Trap, atlas, place_of, status_of
from storage.checkpoints import Checkpoint
from storage.mistakes import LosingLine, Mistakes, TrapStanding
from web.number_views import checkpoint_out, moves_out, passed_out
from web.numbers import CheckpointOut, FindingOut, MovesOut, PassedOut
from web.views import game_url


@dataclass(frozen=True)
class Fared:
    """How a player fared in a fork trap, whichever mark it had: the side to move is X."""

    trap: Trap
    met: int = 0
    failed: int = 0
    example_failed: str | None = None
    """A game's id."""
    example_passed: str | None = None

    @property
    def status(self) -> Status:
        """What its games say of it."""
        return status_of(self.met, self.failed)

    def __add__(self, other: TrapStanding) -> Fared:
        return Fared(
            self.trap,
            self.met + other.met,
            self.failed + other.failed,
            self.example_failed or other.example_failed,
            self.example_passed or other.example_passed,
        )


def folded(traps: Iterable[TrapStanding]) -> list[Fared]:
    """The traps with X and with O to move as one atlas: what marks a player has is no skill.

    Args:
        traps: every class, of both marks.
    """
    found = {trap.key: Fared(trap) for trap in atlas() if trap.mark is Mark.X}
    for each in traps:
        key = _seen_as_x(each.trap).key
        found[key] += each
    return list(found.values())


@cache
def _seen_as_x(trap: Trap) -> Trap:
    if trap.mark is Mark.X:
        return trap
    swapped = [mark and mark.other for mark in trap.board.squares]
    place = place_of(board_of(swapped, trap.board.opener.other))
    assert place is not None
    return place.trap


class PlyOut(BaseModel):
    """The moves that a player made at one point of its games."""

    opening: bool
    ply: int = Field(description="how many moves came before")
    moves: MovesOut


class SeatMovesOut(BaseModel):
    """All of a seat's moves."""

    opening: bool
    moves: MovesOut
    traps: PassedOut


class TrapOut(BaseModel):
    """A fork trap up to symmetry, and how the player fared in it."""

    key: str
    squares: list[Mark | None]
    to_move: Mark
    opening: bool = Field(description="whether the player who is to move opened")
    losing: list[int] = Field(description="the squares that fall into it")
    positions: int = Field(description="how many positions it stands for")
    met: int
    failed: int
    status: Status
    example_failed: str | None = Field(description="the page of a game")
    example_passed: str | None


class LineOut(BaseModel):
    """A line that was lost on the board, up to symmetry."""

    moves: str = Field(description="the squares in order, one digit each")
    opening: bool
    count: int
    share: float = Field(description="of all its games in this seat that were lost on the board")
    decisive: int | None = Field(description="the ply of the move that lost it, from 0")
    url: str = Field(description="a game of it")


class PageOut(BaseModel):
    """Everything of one checkpoint."""

    finding: FindingOut
    checkpoint: CheckpointOut
    seats: list[SeatMovesOut]
    plies: list[PlyOut]
    traps: list[TrapOut]
    lines: list[LineOut]


def page_out(
    checkpoint: Checkpoint,
    made: Mapping[tuple[bool, int], Mistakes],
    traps: Sequence[Fared],
    lines: Sequence[LosingLine],
    finding: FindingOut,
) -> PageOut:
    """A checkpoint's page.

    Args:
        checkpoint: its rates.
        made: its moves by seat (opening or not) and ply.
        traps: of `folded`.
        lines: the most frequent first.
        finding: what it comes to, in words.
    """
    return PageOut(
        finding=finding,
        checkpoint=checkpoint_out(checkpoint),
        seats=[_seat(opening, made, traps) for opening in (True, False)],
        plies=[
            PlyOut(opening=opening, ply=ply, moves=moves_out(each))
            for (opening, ply), each in sorted(made.items(), key=lambda item: item[0][1])
        ],
        traps=[_trap(each) for each in traps],
        lines=[_line(each) for each in lines],
    )


def _seat(
    opening: bool,
    made: Mapping[tuple[bool, int], Mistakes],
    traps: Sequence[Fared],
) -> SeatMovesOut:
    total = sum((each for (seat, _), each in made.items() if seat is opening), Mistakes())
    own = [each for each in traps if each.trap.opening is opening]
    met, failed = sum(each.met for each in own), sum(each.failed for each in own)
    return SeatMovesOut(opening=opening, moves=moves_out(total), traps=passed_out(met, failed))


def _trap(found: Fared) -> TrapOut:
    trap = found.trap
    return TrapOut(
        key=trap.key,
        squares=list(trap.board.squares),
        to_move=trap.mark,
        opening=trap.opening,
        losing=list(trap.losing),
        positions=trap.positions,
        met=found.met,
        failed=found.failed,
        status=found.status,
        example_failed=found.example_failed and game_url(found.example_failed),
        example_passed=found.example_passed and game_url(found.example_passed),
    )


def _line(line: LosingLine) -> LineOut:
    return LineOut(
        moves="".join(map(str, line.moves)),
        opening=line.opening,
        count=line.count,
        share=line.share,
        decisive=decisive_ply(line.moves, Mark.X, Mark.X if line.opening else Mark.O),
        url=game_url(line.example),
    )
