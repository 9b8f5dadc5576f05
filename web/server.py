"""The web app: routes of our own first, then Gradio's pages, behind one guard."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import urlencode

import gradio as gr
import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles

from arena.errors import StorageError
from models.registry import Registry
from storage.database import Database
from storage.games import Games
from storage.imports import show_something
from web.access import Access
from web.api import create_api, warm_up
from web.api_comparison import add_comparison
from web.api_datasets import add_datasets
from web.api_evaluations import add_evaluations
from web.api_numbers import add_numbers
from web.api_rewards import add_rewards
from web.desk import Desk
from web.guard import Guard
from web.live import Live
from web.pages import PAGES
from web.pages.charts import charts_library
from web.pages.frame import STATIC, STATIC_URL, build, mount_options
from web.settings import Settings

log = logging.getLogger(__name__)


def create_app(
    settings: Settings,
    database: Database,
    registry: Registry,
    ready: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The whole app, ready to be served by one worker; `ready` is called when it begins to.

    Games that wait for a model go on when it starts; models' games are stored as they are when it
    stops.
    """
    games = Games(database, _now)
    live = Live(games, registry)
    access = Access(settings)
    desk = Desk(settings, database, registry, os.environ, _now)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001 - the signature asked for
        # The first game would wait for the solver's table and the engines' checks.
        warm = asyncio.create_task(asyncio.to_thread(warm_up, registry))
        sweep = asyncio.create_task(live.sweep())
        stopping = threading.Event()
        demonstration = asyncio.create_task(_show_something(settings, database, stopping))
        await live.resume()
        ready()
        yield
        stopping.set()
        await demonstration
        await warm
        sweep.cancel()
        desk.say_farewell()
        await live.tasks.close()
        await registry.close()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_middleware(Guard)

    @app.get("/healthz")
    async def healthz() -> JSONResponse:
        """Whether the server and its database answer."""
        await asyncio.to_thread(games.find, limit=1)
        return JSONResponse({"status": "ok"})

    @app.get("/game/{game_id}")
    async def permalink(game_id: str) -> RedirectResponse:
        """The short address of a game."""
        return RedirectResponse(f"/game?{urlencode({'id': game_id})}")

    api = create_api(database, games, registry, live, access)
    add_evaluations(api, desk, access)
    add_datasets(api, database, games, access)
    add_rewards(api, database, access)
    add_numbers(api, database, games, settings.models_file)
    add_comparison(api, database)
    app.mount("/api/v1", api)
    app.mount(f"{STATIC_URL}/plotly", StaticFiles(directory=charts_library()))
    app.mount(STATIC_URL, StaticFiles(directory=STATIC))
    return _with_pages(app)


def _now() -> datetime:
    return datetime.now(UTC)


async def _show_something(settings: Settings, database: Database, stop: threading.Event) -> None:
    """Fill a new database with the demonstration, where there is one and it is wanted."""
    if not settings.demo:
        return
    try:
        await asyncio.to_thread(show_something, database, _now, is_stopped=stop.is_set)
    except StorageError:
        # The arena is none the worse for it.
        log.exception("the demonstration could not be imported")


def _with_pages(app: FastAPI) -> FastAPI:
    """Add Gradio's pages at the root."""
    pages = build(PAGES)
    with warnings.catch_warnings():
        # Said of every app with several pages, also where server-side rendering is off.
        warnings.filterwarnings("ignore", message=".*SSR.*")
        gr.mount_gradio_app(app, pages, path="/", **mount_options())
    # Gradio checks file paths only in an app that was launched, which a mounted one never is.
    pages.has_launched = True
    return app


def serve(settings: Settings, registry: Registry, listening: socket.socket) -> None:
    """Open the database and serve until interrupted.

    Args:
        settings: the operator's.
        registry: the models that may be played.
        listening: the socket of `web.listen`.

    Raises:
        StorageError: the database cannot be used.
    """
    database = Database.open(settings.database)
    shown = "localhost" if settings.loopback_only else settings.host
    address = f"http://{shown}:{listening.getsockname()[1]}"

    def ready() -> None:
        print(f"Tic-Tac-Toe Arena: {address}", flush=True)

    try:
        app = create_app(settings, database, registry, ready)
        # Streams that people follow would keep a stopping server for ever.
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        database.close()
