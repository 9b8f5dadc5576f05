"""What may be wrong with a line of a file, or with the file."""

from __future__ import annotations

from enum import StrEnum


class Trouble(StrEnum):
    """What was wrong with a line."""

    TORN = "torn"
    """The last line, which ends in its middle."""
    NOT_JSON = "not_json"
    FOREIGN = "foreign"
    """Another program's."""
    FLAVOUR = "flavour"
    """A file of ours for trainers, which holds less than whole games."""
    FORM = "form"
    """A value that has not the form of its key, or none at all."""
    ILLEGAL = "illegal"
    """A move that the rules do not allow."""
    CONTRADICTION = "contradiction"
    """Two things that cannot both be true."""
    OTHER_GAME = "other_game"
    """Another game of the same id is stored, or the same with other replies, players or dates."""
    UNREADABLE = "unreadable"
    """A file, or the rest of one."""
    EMPTY = "empty"
    """A file without lines; nothing is wrong with that."""
    UNKNOWN_KEY = "unknown_key"
    """Left out; the game is taken."""
    SAME_CELL = "same_cell"
    """Another game of the same cell is stored, and counts."""
    TIMEOUT = "timeout"
    """A rollout that ran out of time and is called a success; taken in as void."""
    BOARD = "board"
    """A chat whose boards contradict each other or its replies; taken in, its game not believed."""


class LineError(Exception):
    """A line that holds no game to be believed."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
