"""Takes files of games in: each line checked, some hundreds a transaction, everything reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sqlalchemy.orm import Session

from arena.board import Board, Mark, start
from arena.errors import StorageError
from arena.game import Attempt
from arena.players import Identity
from storage.database import Database
from storage.imports import repetitions
from storage.imports.check import Incoming
from storage.imports.files import Line, files_of, lines_of, open_file
from storage.imports.readers import Found, Reader, read_game, reader_of
from storage.imports.rollouts import Rollout, run_of_file, write_rollouts
from storage.imports.troubles import LineError, Trouble
from storage.imports.write import Fate, write

BATCH = 200
"""Games a transaction, and in memory at once."""
_BATCH_BYTES = 64 << 20
"""Of their lines, from which on there are fewer of them."""
_SHOWN = 20
"""Troubles of a kind that are told line by line, besides each file's first; all are counted."""
_TAKEN = (Trouble.EMPTY, Trouble.UNKNOWN_KEY, Trouble.SAME_CELL, Trouble.TIMEOUT, Trouble.BOARD)
"""What is no reason to call an import failed."""

OnProgress = Callable[[float], None]
Reread = Callable[[Identity, Board, Attempt], str | None]
"""Given a model, the board that it was to answer and its reply: what is wrong with the verdict."""
Wanted = Callable[[Session], bool]
"""Asked in each transaction before anything is stored: whether the games still are wanted."""


@dataclass(frozen=True)
class Problem:
    """What was wrong with one line."""

    file: str
    line: int
    """From 1; 0 where it is the whole file."""
    trouble: Trouble
    message: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: {self.message}"


@dataclass
class Report:
    """What became of the lines of one import."""

    lines: int = 0
    """A file of which nothing could be read is one."""
    imported: int = 0
    known: int = 0
    """Games and rollouts that were stored already."""
    rollouts: int = 0
    """Of other environments, imported."""
    troubles: Counter[Trouble] = field(default_factory=Counter)
    """Lines by what was wrong with them."""
    problems: list[Problem] = field(default_factory=list)
    """The first of each kind, and of each file the first of each kind."""
    complete: bool = True
    """Whether it went on to the end."""

    @property
    def refused(self) -> int:
        """Lines that held no game to be believed. Files for trainers are none of them where the
        games came in beside them.
        """
        taken = {*_TAKEN, Trouble.FLAVOUR} if self.imported or self.known else _TAKEN
        return sum(n for trouble, n in self.troubles.items() if trouble not in taken)

    @property
    def same_cell(self) -> int:
        """Games left out because another one of their cell counts."""
        return self.troubles[Trouble.SAME_CELL]

    def __add__(self, other: Report) -> Report:
        return Report(
            self.lines + other.lines,
            self.imported + other.imported,
            self.known + other.known,
            self.rollouts + other.rollouts,
            self.troubles + other.troubles,
            self.problems + other.problems,
            self.complete and other.complete,
        )

    def of_file(self, file: Path, error: LineError) -> None:
        """Count a trouble of a whole file."""
        self.add(f"{file}", 0, error.trouble, str(error))

    def add(self, file: str, line: int, trouble: Trouble, message: str) -> None:
        """Count a trouble, and keep it if it is one of the first."""
        self.troubles[trouble] += 1
        last = next((each.file for each in reversed(self.problems) if each.trouble is trouble), "")
        if self.troubles[trouble] <= _SHOWN or file != last:
            self.problems.append(Problem(file, line, trouble, message))


def import_files(
    db: Database,
    paths: Iterable[Path],
    *,
    demonstration: bool = False,
    on_progress: OnProgress | None = None,
    wanted: Wanted | None = None,
    reread: Reread | None = None,
) -> Report:
    """Import files: of the flavour `games`, of verifiers, or lists of moves.

    A game that is stored already is known by its id and left as it is, so that the same import
    again changes nothing, and one that was broken off is completed.

    Args:
        db: where they go.
        paths: JSONL, plain or gzip'd, Parquet, or CSV; or folders of such files.
        demonstration: mark the games as such.
        on_progress: is told the share that was read, 0 to 1, after each transaction.
        wanted: ends the import where it says no.
        reread: reads replies again; a game whose verdicts are not what its replies say is refused.

    Raises:
        NotFoundError: a path is of no file, or of a folder that has none.
        StorageError: a file, and not one of a folder, cannot be opened, or the database not be
            written. Whole batches of what came before are stored.
    """
    files = []
    for path in paths:
        found = files_of(path)
        if found == [path]:
            _check(path)
        files += found
    report = Report()
    for number, path in enumerate(files):
        batch: list[tuple[int, Found]] = []
        size = 0
        reader: Reader | None = None
        for line in lines_of(path):
            report.lines += 1
            try:
                reader = reader or reader_of(
                    path, line.content, partial(_run_of_file, db), report.of_file
                )
            except LineError as error:
                report.of_file(path, error)
                break
            read = _read(reader or read_game, line, f"{path}", report, reread)
            batch += [(line.number, found) for found in read]
            size += 0 if isinstance(line.content, LineError) else len(line.content)
            if len(batch) >= BATCH or size >= _BATCH_BYTES:
                if not _store(db, batch, f"{path}", report, demonstration, wanted):
                    return replace(report, complete=False)
                batch, size = [], 0
                if on_progress:
                    on_progress((number + line.done) / len(files))
        if batch and not _store(db, batch, f"{path}", report, demonstration, wanted):
            return replace(report, complete=False)
        if on_progress:
            on_progress((number + 1) / len(files))
    return report


def _check(path: Path) -> None:
    """Find before anything is stored what cannot be opened."""
    try:
        open_file(path).close()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from None


def _run_of_file(db: Database, file_hash: str) -> str | None:
    with db.read() as session:
        return run_of_file(session, file_hash)


def _read(
    reader: Reader, line: Line, name: str, report: Report, reread: Reread | None
) -> Sequence[Found]:
    try:
        if isinstance(line.content, LineError):
            raise line.content
        read = reader(line.content)
        for found in read:
            if reread and isinstance(found, Incoming):
                _check_replies(found, reread)
        return read
    except LineError as error:
        torn = error.trouble is Trouble.NOT_JSON and not line.whole
        message = "the file ends in the middle of this line" if torn else str(error)
        report.add(name, line.number, Trouble.TORN if torn else error.trouble, message)
        return ()


def _check_replies(found: Incoming, reread: Reread) -> None:
    board = start(found.game.opener)
    players = {Mark.X: found.x, Mark.O: found.o}
    for ply, turn in enumerate(found.game.turns):
        for attempt in turn.attempts:
            if wrong := reread(players[turn.mark], board, attempt):
                raise LineError(Trouble.CONTRADICTION, f"turn {ply}: {wrong}")
        board = board.after(turn.square)
    for attempt in found.game.unanswered:
        if wrong := reread(players[board.to_move], board, attempt):
            raise LineError(Trouble.CONTRADICTION, f"turn {len(found.game.turns)}: {wrong}")


def _store(
    db: Database,
    batch: Sequence[tuple[int, Found]],
    name: str,
    report: Report,
    demonstration: bool,
    wanted: Wanted | None,
) -> bool:
    """Store what is new and report the rest; whether games are still wanted."""
    with db.write() as session:
        if wanted and not wanted(session):
            return False
        games = [found for _, found in batch if isinstance(found, Incoming)]
        rollouts = [found for _, found in batch if isinstance(found, Rollout)]
        repetitions.number(session, games)
        fates = iter(write(session, games, demonstration=demonstration))
        stored = iter(write_rollouts(session, rollouts))
    for line, game in batch:
        if game.unknown:
            keys = ", ".join(dict.fromkeys(game.unknown))
            report.add(name, line, Trouble.UNKNOWN_KEY, f"unknown and left out: {keys:.200}")
        if isinstance(game, Rollout):
            fate = next(stored)
            if fate is Fate.OTHER_GAME:
                message = "it is stored with another reward, other parts of it or another chat"
                report.add(name, line, Trouble.OTHER_GAME, f"{message}: nothing was changed")
                continue
            if game.timeout:
                message = "it ran out of time and is called a success: taken in as void"
                report.add(name, line, Trouble.TIMEOUT, message)
            if game.contradiction:
                message = f"{game.contradiction}: taken in, and its game is not believed"
                report.add(name, line, Trouble.BOARD, message)
            report.rollouts += fate is Fate.IMPORTED
            report.known += fate is Fate.KNOWN
            continue
        fate = next(fates)
        if fate is Fate.IMPORTED:
            report.imported += 1
        elif fate is Fate.KNOWN:
            report.known += 1
        elif fate is Fate.SAME_CELL:
            message = "another game of these players, opener, seed and rollout is stored"
            report.add(name, line, Trouble.SAME_CELL, f"{message}: left out")
        else:
            message = (
                f"another game is stored, or under way, by the id {game.id}, or this one with "
                "other replies, players or dates"
            )
            report.add(name, line, Trouble.OTHER_GAME, message)
    return True
