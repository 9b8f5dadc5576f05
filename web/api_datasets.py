"""The routes of datasets, and the end of the demonstration."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated

import anyio.to_thread
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse

from storage.cells import with_demonstration
from storage.database import Database
from storage.datasets import Flavour, Format, Row, jsonl, rows, write_rows
from storage.evaluations import Evaluations
from storage.games import Games
from storage.imports import count_demonstration, remove_demonstration
from web.access import Access
from web.api import safe_json
from web.preview import preview
from web.queries import FilterQuery
from web.queries import filter_of as asked_filter
from web.schemas import DemonstrationOut, PreviewOut, RemovedOut

_PREVIEW_ROWS = 5
_CHUNK = 1 << 18
_AT_ONCE = 2
"""Exports that work at the same time; others wait. More would take each other's time, and that of
whoever plays.
"""
_TAGS: list[str | Enum] = ["records"]


class ExportQuery(FilterQuery):
    """Which games leave, and as what."""

    format: Format = Format.JSONL


def add_datasets(api: FastAPI, database: Database, games: Games, access: Access) -> None:
    """Add the routes to those under /api/v1."""
    at_once = anyio.CapacityLimiter(_AT_ONCE)

    @api.get("/export/{flavour}", tags=_TAGS)
    async def export_a_dataset(
        flavour: Flavour, query: Annotated[ExportQuery, Query()]
    ) -> StreamingResponse:
        """The games that the filters keep, as JSONL or Parquet."""
        left = threading.Event()

        def look() -> None:
            if left.is_set():
                raise _LeftError

        chosen = asked_filter(query)
        found = await asyncio.to_thread(rows, database, flavour, chosen, on_game=look)
        parquet = query.format is Format.PARQUET
        name = f"arena-{flavour}.{query.format}"
        pieces = _parquet(found, flavour) if parquet else _lines(found)
        return StreamingResponse(
            _from_thread(pieces, left, at_once),
            media_type="application/vnd.apache.parquet" if parquet else "application/x-ndjson",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    @api.get("/export/{flavour}/preview", response_model=PreviewOut, tags=_TAGS)
    async def preview_a_dataset(
        flavour: Flavour, query: Annotated[FilterQuery, Query()]
    ) -> Response:
        """How many games the filters keep, and the first rows."""

        def first() -> PreviewOut:
            found = preview(database, games, flavour, asked_filter(query), _PREVIEW_ROWS)
            return PreviewOut(games=found.games, rows=found.rows)

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


class _LeftError(Exception):
    """Whoever asked for an export has gone: it ends where it is."""


async def _from_thread(
    pieces: Iterator[bytes], left: threading.Event, at_once: anyio.CapacityLimiter
) -> AsyncIterator[bytes]:
    """The pieces, each made in a worker thread; `left` is set when nobody waits for more."""
    try:
        while piece := await anyio.to_thread.run_sync(
            next, pieces, None, abandon_on_cancel=True, limiter=at_once
        ):
            yield piece
    finally:
        left.set()


def _lines(found: Iterator[Row]) -> Iterator[bytes]:
    """Lines of JSON, the first one at once, then many in a piece."""
    waiting: list[bytes] = []
    size, enough = 0, 1
    for line in jsonl(found):
        waiting.append(line)
        size += len(line)
        if size >= enough:
            yield b"".join(waiting)
            waiting, size, enough = [], 0, _CHUNK
    if waiting:
        yield b"".join(waiting)


def _parquet(found: Iterator[Row], flavour: Flavour) -> Iterator[bytes]:
    """A Parquet file, which is whole before its first byte leaves; on the disk meanwhile."""
    with tempfile.TemporaryFile() as file:
        write_rows(file, Format.PARQUET, flavour, found)
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk


def _now() -> datetime:
    return datetime.now(UTC)
