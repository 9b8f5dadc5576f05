"""The routes of imported runs of other environments. Anyone may look; the operator removes."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Annotated

from fastapi import FastAPI, Query, Request, Response
from pydantic import Field

from storage import rewards
from storage.database import Database
from storage.rewards import Bin, Function, RewardRun
from storage.shown_games import ShownGames, shown_games
from storage.transcripts import Kept, count_transcripts, transcripts
from web.access import Access
from web.api import safe_json
from web.crowd import Crowd
from web.rewards import (
    RemovedRunOut,
    RolloutsOut,
    RolloutsQuery,
    RunOut,
    RunsOut,
    rollout_out,
    run_out,
    run_row,
)

_TAGS: list[str | Enum] = ["runs of other environments"]
RunId = Annotated[int, Field(ge=0, lt=1 << 63)]


def add_rewards(api: FastAPI, database: Database, access: Access) -> None:
    """Add the routes to those under /api/v1."""
    # Figures are counted over all of a run's rollouts.
    crowd = Crowd()

    @api.get("/runs", response_model=RunsOut, tags=_TAGS)
    async def list_runs() -> Response:
        """Imported runs of other environments: examples, rollouts and mean reward."""
        found = await crowd.look("runs", lambda: rewards.runs(database))
        return safe_json(RunsOut(runs=[run_row(each) for each in found]))

    @api.get("/runs/{run_id}", response_model=RunOut, tags=_TAGS)
    async def look_at_a_run(run_id: RunId, request: Request) -> Response:
        """A run: its rewards' distribution, each reward function, and the games of tic-tac-toe
        that can be followed in its chats.
        """

        def look() -> tuple[RewardRun, list[Bin], list[Function], ShownGames]:
            return (
                rewards.run(database, run_id),
                rewards.distribution(database, run_id),
                rewards.functions(database, run_id),
                shown_games(database, run_id),
            )

        found = await crowd.look(run_id, look)
        return safe_json(run_out(*found, removable=access.is_operator(request)))

    @api.get("/runs/{run_id}/rollouts", response_model=RolloutsOut, tags=_TAGS)
    async def read_the_rollouts(
        run_id: RunId, query: Annotated[RolloutsQuery, Query()]
    ) -> Response:
        """A run's rollouts with their chats, by example."""

        def look() -> RolloutsOut:
            kept = Kept(query.example, query.like, query.void)
            total = count_transcripts(database, run_id, kept)
            found = transcripts(
                database, run_id, kept, order=query.order, skip=query.skip, limit=query.limit
            )
            return RolloutsOut(total=total, rollouts=[rollout_out(each) for each in found])

        return safe_json(await asyncio.to_thread(look))

    @api.delete("/runs/{run_id}", response_model=RemovedRunOut, tags=["operator"])
    async def remove_a_run(run_id: RunId, request: Request) -> Response:
        """Remove a run with its rollouts. An import brings it back."""
        access.require_operator(request)
        removed = await asyncio.to_thread(rewards.remove, database, run_id)
        return safe_json(RemovedRunOut(removed=removed))
