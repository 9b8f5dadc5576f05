"""The moves of a game, graded against perfect play, as the routes give them. Pure."""

from __future__ import annotations

from pydantic import BaseModel, Field

from arena.analysis import Graded, Kind, grades
from arena.board import Board, Mark, play_out, start
from arena.game import Game
from arena.solver import move_value

WORDS: dict[Kind, str] = {
    Kind.FORK_TRAP: "fork trap entered",
    Kind.MISSED_BLOCK: "missed block",
    Kind.MISSED_WIN: "missed win",
    Kind.LET_OFF: "opponent's error let off",
    Kind.LOSES_VALUE: "loses value",
    Kind.KEEPS_VALUE: "keeps value",
}
_VALUES = {1: "win", 0: "draw", -1: "loss"}


class GradeOut(BaseModel):
    """What a move was worth to the player that made it, against perfect play from there on."""

    ply: int
    mark: Mark
    square: int
    kinds: list[Kind] = Field(description="all that it was, most telling first")
    words: str = Field(description="the same as a phrase")
    before: int = Field(description="the value that was held: 1 win, 0 draw, -1 loss")
    after: int = Field(description="the value that is left")
    loses_value: bool
    trap: bool = Field(description="the position was a fork trap, whatever the move did")


class ValuesOut(BaseModel):
    """A board: what a move on each of its squares is worth to the side to move."""

    to_move: Mark | None = Field(description="null where the board is finished")
    values: list[int | None] = Field(description="nine; null where the square is taken")


class GradesOut(BaseModel):
    """A game's moves, and the boards before each of them and after the last."""

    moves: list[GradeOut]
    boards: list[ValuesOut]


def grades_out(game: Game) -> GradesOut:
    """A game, under way or over."""
    moves = [turn.square for turn in game.turns]
    boards = [start(game.opener), *play_out(moves, game.opener)]
    return GradesOut(
        moves=[_grade(each) for each in grades(moves, game.opener)],
        boards=[_values(board) for board in boards],
    )


def _grade(graded: Graded) -> GradeOut:
    made = graded.grade
    return GradeOut(
        ply=graded.ply,
        mark=graded.mark,
        square=graded.square,
        kinds=list(made.kinds),
        words=_words(graded),
        before=made.before,
        after=made.after,
        loses_value=made.loses_value,
        trap=made.in_trap,
    )


def _words(graded: Graded) -> str:
    """As in `fork trap entered: a draw became a loss`."""
    made = graded.grade
    first = WORDS[made.kind]
    if made.loses_value:
        first = f"{first}: a {_VALUES[made.before]} became a {_VALUES[made.after]}"
    elif made.kind is not Kind.KEEPS_VALUE:
        first = f"{first}, the {_VALUES[made.after]} stays"
    elif made.in_trap:
        first = "fork trap passed"
    return first


def _values(board: Board) -> ValuesOut:
    if board.outcome is not None:
        return ValuesOut(to_move=None, values=[None] * 9)
    values = [move_value(board, s) if s in board.free else None for s in range(9)]
    return ValuesOut(to_move=board.to_move, values=values)
