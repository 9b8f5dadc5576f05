"""Where evaluations are started, steered and looked at.

Looking is shared: however many people follow an evaluation, it is read about once a second, and
its figures, which cost more the more games there are, never take more than a fifth of the time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode
from weakref import WeakValueDictionary

from arena.control import State
from arena.errors import BusyError, ConfigError, ConflictError, RulesError
from arena.plan import Plan
from models.registry import Registry
from storage.database import Database
from storage.evaluations import Evaluation, Evaluations, Wanted
from storage.figures import Figures, figures
from storage.setups import Setup, check
from web.children import Children
from web.costs import bills
from web.evaluation_views import evaluation_out, panel_out, row_out, standing_of
from web.evaluations import Action, EvaluationsOut, NewEvaluation, PanelsOut, Standing
from web.settings import Settings
from web.setups import arguments_of, identities, members, panel_of, panels_beside, title_of

_FRESH_S = 0.9
"""So long is an answer given again: a little less than the second between two looks."""
_ENDED_S = 30.0
"""The same for the figures of an evaluation that nobody plays, in a list."""
_PAUSES = 4
"""How many times as long as the figures took they are given again."""
_KEPT = 200
_TRIES, _LETS_GO_S = 20, 2.0
_WISHES = {Action.PAUSE: Wanted.PAUSE, Action.RESUME: Wanted.RUN, Action.STOP: Wanted.STOP}


class Rendered(NamedTuple):
    """An answer, ready to be sent."""

    body: bytes
    """JSON, in ASCII."""
    etag: str


class _Read(NamedTuple):
    figures: list[Figures]
    until: float
    """When they are to be read again while it is played."""
    at: float
    as_of: tuple[object, ...]
    """What the evaluation said when they were read."""


class Desk:
    """See the module. Its coroutines are for one event loop; the database is read in threads."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        registry: Registry,
        environment: Mapping[str, str],
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._database = database
        self._registry = registry
        self._evaluations = Evaluations(database, now)
        self._children = Children(settings, environment, now)
        self._now = now
        self._clock = clock
        self._starting = threading.Lock()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._read: OrderedDict[int, _Read] = OrderedDict()
        self._shown: OrderedDict[tuple[str, bool], tuple[float, Rendered]] = OrderedDict()

    # -- looking ------------------------------------------------------------------------------

    async def look(self, name: str, *, operator: bool) -> Rendered:
        """An evaluation with its figures.

        Raises:
            NotFoundError: there is none of this name.
        """
        key = name, operator
        lock = self._locks.setdefault(f"look {operator} {name}", asyncio.Lock())
        async with lock:
            at, shown = self._shown.get(key, (0.0, None))
            if shown is None or self._clock() - at >= _FRESH_S:
                shown = await self._render(name, operator=operator)
                _keep(self._shown, key, (self._clock(), shown))
            return shown

    async def list_page(self, limit: int, before: int | None) -> EvaluationsOut:
        """A page of the evaluations, newest first, of those older than number `before`."""
        everything = await asyncio.to_thread(self._evaluations.all)
        older = [each for each in everything if before is None or each.id < before]
        rows = []
        for listed in older[:limit]:
            each, standing = await asyncio.to_thread(self._standing, listed)
            found = await self._figures(each, patient=not standing.is_live)
            rows.append(row_out(each, standing, found, url_of(each.name)))
        next_page = older[limit - 1].id if len(older) > limit else None
        return EvaluationsOut(total=len(everything), evaluations=rows, older=next_page)

    async def panels(self) -> PanelsOut:
        """The panels that there are.

        Raises:
            ConfigError: the user's own cannot be read.
        """
        found = await asyncio.to_thread(panels_beside, self._settings.models_file)
        return PanelsOut(panels=[panel_out(panel) for panel in found.values()])

    # -- starting and steering ----------------------------------------------------------------

    async def start(self, asked: NewEvaluation) -> str:
        """Start an evaluation, or go on with the one of its name.

        Returns:
            Its name.

        Raises:
            SpecError, RulesError, NotFoundError, ConfigError: it cannot be played so.
            ConflictError: one of this name was set up otherwise; the message says in what.
            BusyError: it is being played.
        """
        return await asyncio.to_thread(self._start_asked, asked)

    async def act(self, name: str, action: Action) -> None:
        """Do something with an evaluation.

        Raises:
            NotFoundError: there is none of this name.
            ConflictError: it is not being played; or it cannot go on as it was set up.
            BusyError: it is to go on, and is being played.
        """
        await asyncio.to_thread(self._act, name, action)
        for operator in (False, True):
            self._shown.pop((name, operator), None)

    def say_farewell(self) -> None:
        """Tell the log which evaluations go on without the server."""
        self._children.say_farewell()

    def _start_asked(self, asked: NewEvaluation) -> str:
        models_file = self._settings.models_file
        panel = panel_of(models_file, asked.panel, asked.opponents)
        given = [each.strip() for each in asked.checkpoints]
        names = [name for each in given for name in members(each, self._registry)]
        title = asked.name or title_of(given, panel.name, asked.seed)
        plan = Plan(panel.opponents, asked.games, asked.seed, asked.rollouts, panel.mark)
        setup = Setup(identities(names, self._registry), plan, panel.name, asked.concurrency)
        self._begin(title, setup)
        return title

    def _act(self, name: str, action: Action) -> None:
        evaluation = self._evaluations.get(name)
        if action is Action.GO_ON:
            names = [player.identity.name for player in evaluation.players]
            players = identities(names, self._registry)
            plan, panel = evaluation.plan, evaluation.panel
            self._begin(name, Setup(players, plan, panel, evaluation.concurrency))
            return
        _, standing = self._standing(evaluation)
        if standing is Standing.STARTING:
            raise ConflictError(f"the evaluation {name!r} is starting: try again in a moment")
        if not standing.is_live:
            raise ConflictError(f"the evaluation {name!r} is not being played")
        self._evaluations.want(name, _WISHES[action])

    def _begin(self, name: str, setup: Setup) -> None:
        """Start the process of an evaluation, once it is known that it can be played."""
        try:
            check(name, setup)
        except ConfigError as error:
            raise RulesError(str(error)) from None
        with self._starting:
            evaluation = self._evaluations.open(name, setup)
            if self._is_busy(evaluation):
                child = self._children.of(evaluation)
                who = evaluation.holder or (child and child.pid)
                raise BusyError(
                    f"the evaluation {name!r} is being played already"
                    + (f", by process {who}" if who else "")
                    + ": follow it, or stop it first"
                )
            arguments = arguments_of(evaluation, self._settings.models_file)
            self._children.start(evaluation, arguments)

    def _is_busy(self, evaluation: Evaluation) -> bool:
        """Whether a process plays an evaluation, or has been started and is about to."""
        child = self._children.of(evaluation)
        if child and child.runs and not child.has_begun(evaluation):
            return True
        # One that says it has ended lets go in the next moment.
        tries = 1 if evaluation.state in (State.RUNNING, State.PAUSED) else _TRIES
        for _ in range(tries):
            if not self._evaluations.is_held(evaluation):
                return False
            time.sleep(_LETS_GO_S / tries)
        return True

    # -- reading ------------------------------------------------------------------------------

    async def _render(self, name: str, *, operator: bool) -> Rendered:
        evaluation = await asyncio.to_thread(self._evaluations.get, name)
        evaluation, standing = await asyncio.to_thread(self._standing, evaluation)
        found = await self._figures(evaluation)
        shown = evaluation_out(
            evaluation,
            standing,
            found,
            bills(found, self._registry),
            operator=operator,
            problem=self._problem(evaluation),
        )
        body = json.dumps(shown.model_dump(mode="json")).encode("ascii")
        return Rendered(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')

    async def _figures(self, evaluation: Evaluation, *, patient: bool = False) -> list[Figures]:
        """The figures, read anew where they are old; `patient` is content with older ones."""
        # The end is said after the last game is stored: what is read from then on is all.
        as_of = (evaluation.state, evaluation.finished_at, evaluation.plan)
        lock = self._locks.setdefault(f"figures {evaluation.id}", asyncio.Lock())
        async with lock:
            read, now = self._read.get(evaluation.id), self._clock()
            waits = _ENDED_S if patient else 0.0
            if read and read.as_of == as_of and now < max(read.until, read.at + waits):
                return read.figures
            found = await asyncio.to_thread(figures, self._database, evaluation)
            after = self._clock()
            until = after + max(_FRESH_S, _PAUSES * (after - now))
            _keep(self._read, evaluation.id, _Read(found, until, after, as_of))
            return found

    def _standing(self, evaluation: Evaluation) -> tuple[Evaluation, Standing]:
        """How an evaluation stands, and what it said at that time."""
        child = self._children.of(evaluation)
        standing = standing_of(evaluation, child, self._now())
        if standing is not Standing.DEAD:
            return evaluation, standing
        # Its process may have ended well since it was read, and have said so before.
        again = self._evaluations.get(evaluation.name)
        return again, standing_of(again, child, self._now())

    def _problem(self, evaluation: Evaluation) -> str | None:
        """Why the process that this server started is gone, where the evaluation cannot say."""
        child = self._children.of(evaluation)
        if child is None or not child.failed:
            return None
        untold = not child.has_begun(evaluation) or child.pid == evaluation.holder
        return child.last_words() if untold else None


def url_of(name: str) -> str:
    """The page of an evaluation."""
    return f"/evaluation?{urlencode({'name': name})}"


def _keep(cache: OrderedDict[Any, Any], key: object, value: object) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > _KEPT:
        cache.popitem(last=False)
