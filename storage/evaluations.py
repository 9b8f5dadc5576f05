"""Evaluations: what is planned, who plays it, and how it stands.

A cell of an evaluation is a rated game with these players, opener, seed and rollout, of which the
database holds one at most that is not void. So an evaluation's games are the stored games of its
plan, whoever played them: an evaluation by another name, or a command that stored a series. What
is stored is not played again, and nothing is counted twice.

An evaluation is played by one process at a time, which holds a lock file beside the database. The
system lets go of it when the process dies, in whatever way. That process says every second that it
lives and what it does, and reads what is wanted of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Row, insert, select, update
from sqlalchemy.orm import Session

from arena.control import State
from arena.errors import BusyError, NotFoundError
from arena.plan import Plan
from storage import players
from storage.database import Database
from storage.players import StoredPlayer
from storage.setups import Setup, check, compare, engine, plan_of, settings_of
from storage.tables import EvaluationRow, table_of

_EVALUATIONS = table_of(EvaluationRow)
_LIFE = timedelta(seconds=15)
"""A process that has given no sign of life for so long is taken for dead."""


class Wanted(StrEnum):
    """What the process that plays an evaluation is to do."""

    RUN = "run"
    PAUSE = "pause"
    STOP = "stop"


@dataclass(frozen=True)
class Evaluation:
    """An evaluation as it is stored."""

    id: int
    name: str
    players: tuple[StoredPlayer, ...]
    opponents: tuple[StoredPlayer, ...]
    """In the plan's order."""
    plan: Plan
    panel: str | None
    concurrency: int
    state: State
    """What the process that played it last said; see `is_alive`."""
    message: str
    wanted: Wanted
    live: Mapping[str, Any]
    holder: int | None
    """The number of that process."""
    seconds: float
    """How long it has been played, over all processes."""
    created_at: datetime
    beat_at: datetime | None
    finished_at: datetime | None

    def is_alive(self, now: datetime) -> bool:
        """Whether a process plays it: it says so, and has given a sign of life of late."""
        plays = self.state in (State.RUNNING, State.PAUSED)
        return plays and self.beat_at is not None and now - self.beat_at < _LIFE


class Evaluations:
    """The evaluations of a database. Every method may be called from a thread."""

    def __init__(self, db: Database, now: Callable[[], datetime]) -> None:
        """Args:
        db: where they are stored.
        now: the clock; its times carry a zone.
        """
        self.db = db
        self._now = now

    def open(self, name: str, setup: Setup) -> Evaluation:
        """A new evaluation, or the one of this name to go on with.

        Its settings must be the same, except that `games` may grow and that `panel` and
        `concurrency` are taken as they are now; the change is stored once it is held.

        Raises:
            ConfigError: no evaluation can be called or set up so.
            ConflictError: it was set up otherwise; the message says in what.
        """
        check(name, setup)
        with self.db.write() as session:
            mine = settings_of(session, setup)
            row = _find(session, name)
            if row is None:
                session.execute(
                    insert(_EVALUATIONS).values(
                        name=name,
                        settings=mine,
                        state=State.STOPPED,
                        message="",
                        wanted=Wanted.RUN,
                        live={},
                        milliseconds=0,
                        created_at=self._now(),
                    )
                )
                row = _find(session, name)
            assert row is not None
            compare(session, name, row.settings, setup)
            return _evaluations(session, [row], mine)[0]

    def get(self, name: str) -> Evaluation:
        """The evaluation of a name.

        Raises:
            NotFoundError: there is none.
        """
        return named(self.db, name)

    def all(self) -> list[Evaluation]:
        """Every evaluation, the newest first."""
        newest = select(_EVALUATIONS).order_by(_EVALUATIONS.c.id.desc())
        with self.db.read() as session:
            return _evaluations(session, session.execute(newest).all())

    def want(self, name: str, wanted: Wanted) -> None:
        """Tell the process that plays an evaluation what to do; it looks every second.

        Raises:
            NotFoundError: there is none.
        """
        with self.db.write() as session:
            this = update(_EVALUATIONS).where(_EVALUATIONS.c.name == name)
            if not session.execute(this.values(wanted=wanted)).rowcount:  # type: ignore[attr-defined]
                raise NotFoundError(f"there is no evaluation {name!r}")

    @contextmanager
    def hold(self, evaluation: Evaluation) -> Iterator[None]:
        """Be the one process that plays an evaluation, and store how its settings have changed.

        Raises:
            BusyError: another process plays it.
            ConflictError: its settings were changed since it was opened.
        """
        lock = self._lock(evaluation)
        try:
            lock.acquire()
        except Timeout:
            holder = self.get(evaluation.name).holder
            raise BusyError(
                f"the evaluation {evaluation.name!r} is being played by another process"
                + (f" (number {holder})" if holder else "")
                + ": wait for it, or stop it first"
            ) from None
        try:
            self._take_over(evaluation)
            yield
        finally:
            lock.release()

    def is_held(self, evaluation: Evaluation) -> bool:
        """Whether a process plays an evaluation: sooner known than from its signs of life.

        To be asked before one is started, and not in passing: a process that wants to hold it in
        the same moment may be refused.
        """
        try:
            with self._lock(evaluation):
                return False
        except Timeout:
            return True

    def beat(
        self,
        evaluation: Evaluation,
        state: State,
        message: str,
        live: Mapping[str, Any],
        seconds: float,
    ) -> Wanted:
        """Say that its process lives and what it does, and hear what is wanted.

        Args:
            evaluation: that this process holds.
            state: running or paused.
            message: why it is paused, if it is.
            live: what goes on, as plain JSON.
            seconds: since the last beat.
        """
        values = self._played(seconds) | {"state": state, "message": message, "live": dict(live)}
        this = update(_EVALUATIONS).where(_EVALUATIONS.c.id == evaluation.id)
        with self.db.write() as session:
            wanted = session.execute(this.values(values).returning(_EVALUATIONS.c.wanted))
            return Wanted(wanted.scalar_one())

    def end(self, evaluation: Evaluation, state: State, message: str, seconds: float) -> None:
        """Say that its process ends, after every game is stored.

        Args:
            evaluation: that this process holds.
            state: stopped, finished or failed.
            message: why.
            seconds: since the last beat.
        """
        values = self._played(seconds) | {"state": state, "message": message, "live": {}}
        values |= {"holder": None, "wanted": Wanted.RUN}
        if state is State.FINISHED:
            values["finished_at"] = self._now()
        this = update(_EVALUATIONS).where(_EVALUATIONS.c.id == evaluation.id)
        with self.db.write() as session:
            session.execute(this.values(values))

    def _lock(self, evaluation: Evaluation) -> FileLock:
        name = f"{self.db.path}.evaluation-{evaluation.id}.lock"
        return FileLock(name, timeout=0, thread_local=False)

    def _played(self, seconds: float) -> dict[str, Any]:
        passed = _EVALUATIONS.c.milliseconds + round(seconds * 1000)
        return {"beat_at": self._now(), "milliseconds": passed}

    def _take_over(self, evaluation: Evaluation) -> None:
        identities = tuple(player.identity for player in evaluation.players)
        setup = Setup(identities, evaluation.plan, evaluation.panel, evaluation.concurrency)
        with self.db.write() as session:
            row = _find(session, evaluation.name)
            if row is None:
                raise NotFoundError(f"there is no evaluation {evaluation.name!r}")
            compare(session, evaluation.name, row.settings, setup)
            session.execute(
                update(_EVALUATIONS)
                .where(_EVALUATIONS.c.id == evaluation.id)
                .values(
                    settings=settings_of(session, setup),
                    state=State.RUNNING,
                    message="",
                    wanted=Wanted.RUN,
                    live={},
                    holder=os.getpid(),
                    beat_at=self._now(),
                    finished_at=None,
                )
            )


def named(db: Database, name: str) -> Evaluation:
    """The evaluation of a name.

    Raises:
        NotFoundError: there is none.
    """
    with db.read() as session:
        return named_in(session, name)


def named_in(session: Session, name: str) -> Evaluation:
    """The evaluation of a name, read in this transaction.

    Raises:
        NotFoundError: there is none.
    """
    row = _find(session, name)
    if row is None:
        raise NotFoundError(f"there is no evaluation {name!r}")
    return _evaluations(session, [row])[0]


def _find(session: Session, name: str) -> Row[Any] | None:
    return session.execute(select(_EVALUATIONS).where(_EVALUATIONS.c.name == name)).one_or_none()


def _evaluations(
    session: Session, rows: Sequence[Row[Any]], settings: Mapping[str, Any] | None = None
) -> list[Evaluation]:
    """Stored evaluations; with these settings instead of their own, where they are given."""
    specs = {spec for row in rows for spec in row.settings["opponents"]}
    engines = {spec: players.fingerprint(engine(spec)) for spec in specs}
    prints = {each["fingerprint"] for row in rows for each in row.settings["players"]}
    known = players.by_fingerprint(session, {*engines.values(), *prints})
    return [_evaluation(row, settings or row.settings, known, engines) for row in rows]


def _evaluation(
    row: Row[Any],
    said: Mapping[str, Any],
    known: Mapping[str, StoredPlayer],
    engines: Mapping[str, str],
) -> Evaluation:
    return Evaluation(
        id=row.id,
        name=row.name,
        players=tuple(known[each["fingerprint"]] for each in said["players"]),
        opponents=tuple(known[engines[spec]] for spec in said["opponents"]),
        plan=plan_of(said),
        panel=said["panel"],
        concurrency=said["concurrency"],
        state=State(row.state),
        message=row.message,
        wanted=Wanted(row.wanted),
        live=row.live,
        holder=row.holder,
        seconds=row.milliseconds / 1000,
        created_at=row.created_at,
        beat_at=row.beat_at,
        finished_at=row.finished_at,
    )
