"""The routes that set two checkpoints side by side. Anyone may look."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Annotated

from fastapi import FastAPI, Query, Response

from storage.comparisons import compare_two
from storage.database import Database
from storage.pairs import differing_cells
from web.api import safe_json
from web.comparing import DifferingOut, DuelOut, differing_out, duel_out

_TAGS: list[str | Enum] = ["numbers"]
Id = Annotated[int, Query(ge=0, lt=1 << 63)]


def add_comparison(api: FastAPI, database: Database) -> None:
    """Add the routes to those under /api/v1."""

    @api.get("/comparison", response_model=DuelOut, tags=_TAGS)
    async def compare_two_checkpoints(first: Id, second: Id) -> Response:
        """Two checkpoints, against every opponent that both met: the difference of their rates,
        its interval, and the exact McNemar test where both played the same cells.
        """
        found = await asyncio.to_thread(compare_two, database, first, second)
        return safe_json(duel_out(found))

    @api.get("/comparison/cells", response_model=DifferingOut, tags=_TAGS)
    async def list_differing_cells(
        first: Id,
        second: Id,
        opponent: Annotated[str | None, Query(max_length=200)] = None,
        opening: bool | None = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 20,
        offset: Annotated[int, Query(ge=0, lt=1 << 31)] = 0,
    ) -> Response:
        """The cells in which one of the two lost and the other did not, with both games."""

        def look() -> DifferingOut:
            page = differing_cells(
                database,
                first,
                second,
                opponent=opponent,
                opening=opening,
                limit=limit + 1,
                offset=offset,
            )
            return differing_out(page[:limit], more=len(page) > limit)

        return safe_json(await asyncio.to_thread(look))
