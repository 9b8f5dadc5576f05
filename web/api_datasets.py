"""The routes of datasets, and the end of the demonstration."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse

from storage.cells import with_demonstration
from storage.database import Database
from storage.datasets import Flavour, Format, Row, filter_of, jsonl, rows, write_rows
from storage.evaluations import Evaluations
from storage.games import Games
from storage.imports import count_demonstration, remove_demonstration
from web.access import Access
from web.api import safe_json
from web.queries import FilterQuery
from web.queries import filter_of as asked_filter
from web.schemas import DemonstrationOut, PreviewOut, RemovedOut

_PREVIEW_ROWS = 5
_PREVIEW_GAMES = 2000
_CHUNK = 1 << 18
_TAGS: list[str | Enum] = ["records"]


class ExportQuery(FilterQuery):
    """Which games leave, and as what."""

    format: Format = Format.JSONL


def add_datasets(api: FastAPI, database: Database, games: Games, access: Access) -> None:
    """Add the routes to those under /api/v1."""

    @api.get("/export/{flavour}", tags=_TAGS)
    async def export_a_dataset(
        flavour: Flavour, query: Annotated[ExportQuery, Query()]
    ) -> StreamingResponse:
        """The games that the filters keep, as JSONL or Parquet."""
        found = await asyncio.to_thread(rows, database, flavour, asked_filter(query))
        parquet = query.format is Format.PARQUET
        name = f"arena-{flavour}.{query.format}"
        return StreamingResponse(
            _parquet(found, flavour) if parquet else jsonl(found),
            media_type="application/vnd.apache.parquet" if parquet else "application/x-ndjson",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    @api.get("/export/{flavour}/preview", response_model=PreviewOut, tags=_TAGS)
    async def preview_a_dataset(
        flavour: Flavour, query: Annotated[FilterQuery, Query()]
    ) -> Response:
        """How many games the filters keep, and the first rows."""

        def first() -> PreviewOut:
            kept = asked_filter(query)
            # Pairs are found in all games at once: for a look, in the first.
            most = _PREVIEW_GAMES if flavour is Flavour.PREFERENCE else None
            found = rows(database, flavour, kept, most=most)
            preview = [row for row, _ in zip(found, range(_PREVIEW_ROWS), strict=False)]
            return PreviewOut(games=games.count(filter_of(flavour, kept)), rows=preview)

        return safe_json(await asyncio.to_thread(first))

    @api.get("/demonstration", response_model=DemonstrationOut, tags=_TAGS)
    async def count_the_demonstration(request: Request) -> Response:
        """How many games came with the arena, and whether you may remove them."""

        def count() -> DemonstrationOut:
            games = count_demonstration(database)
            return DemonstrationOut(
                games=games,
                removable=access.is_operator(request),
                evaluations=with_demonstration(Evaluations(database, _now)) if games else {},
            )

        return safe_json(await asyncio.to_thread(count))

    @api.delete("/demonstration", response_model=RemovedOut, tags=["operator"])
    async def remove_the_demonstration(request: Request) -> Response:
        """Remove the games that came with the arena, and what they add to every figure."""
        access.require_operator(request)
        removed = await asyncio.to_thread(remove_demonstration, database, _now)
        return safe_json(RemovedOut(removed=removed))


def _parquet(found: Iterator[Row], flavour: Flavour) -> Iterator[bytes]:
    """A Parquet file, which is whole before its first byte leaves; on the disk meanwhile."""
    with tempfile.TemporaryFile() as file:
        write_rows(file, Format.PARQUET, flavour, found)
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk


def _now() -> datetime:
    return datetime.now(UTC)
