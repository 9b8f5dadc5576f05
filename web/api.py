"""The JSON routes under /api/v1: the board uses them, and so may agents and scripts.

The docs of these routes are at /api/v1/docs. A route checks who may call it; no route takes a path
or an address.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from arena.errors import (
    AccessError,
    ArenaError,
    BusyError,
    ConflictError,
    NotFoundError,
    RulesError,
    SpecError,
)
from arena.opponents import parse
from arena.players import EnginePlayer
from models.registry import Registry
from storage import cards
from storage.database import Database
from storage.games import Games
from storage.records import StoredGame
from storage.standings import leaderboard, matrix, sums_by_seed
from web.access import COOKIE, SESSION_SECONDS, Access
from web.channel import Delta, Ping
from web.live import Live
from web.queries import FilterQuery, filter_of
from web.schemas import (
    EngineOption,
    ErrorOut,
    GameOut,
    GamesOut,
    ModelOption,
    Move,
    NewGame,
    NewGameOut,
    PlayersOut,
    SeatToken,
    SignIn,
)
from web.standings import LeaderboardOut, leaderboard_out
from web.views import card_out, game_out, game_row

ENGINES: tuple[tuple[str, str], ...] = (
    ("minimax", "Perfect, ties at random"),
    ("minimax:tie=first", "Perfect, first square of equals"),
    ("minimax:tie=last", "Perfect, last square of equals"),
    ("minimax:tie=center", "Perfect, prefers the centre"),
    ("minimax:tie=corner", "Perfect, prefers corners"),
    ("minimax:tie=edge", "Perfect, prefers edges"),
    ("minimax:tie=trap", "Perfect, sets traps"),
    ("minimax:epsilon=0.25", "A quarter random"),
    ("minimax:epsilon=0.5", "Half random"),
    ("random", "Random"),
)
"""The engines offered by name, strongest first. Any other spec can be typed."""

_STATUS: tuple[tuple[type[ArenaError], int], ...] = (
    (NotFoundError, 404),
    (AccessError, 403),
    (ConflictError, 409),
    (BusyError, 429),
    (SpecError, 422),
    (RulesError, 422),
)
_DESCRIPTION = """Play, look at games, read the leaderboard, export datasets.

A game is begun by `POST /games`. For each person it gives a secret token, which every move of that
seat must carry. An engine answers within the request; while a model thinks,
`GET /games/{id}/events` streams what it says. Every error has the form
`{"error": {"type": …, "message": …}}`."""


class ListQuery(FilterQuery):
    """A page of a list of games."""

    limit: int = Field(50, ge=0, le=200)
    before: int | None = Field(None, ge=0, lt=1 << 63, description="`older` of the page before")


def create_api(
    database: Database, games: Games, registry: Registry, live: Live, access: Access
) -> FastAPI:
    """The routes, as an app to be mounted at /api/v1."""
    api = FastAPIOffline(
        title="Tic-Tac-Toe Arena",
        version="1",
        description=_DESCRIPTION,
        redoc_url=None,
        responses={"4XX": {"model": ErrorOut}},
    )
    _answer_errors(api)
    _add_games(api, games, live, access)
    _add_tables(api, database, registry, access)
    _add_operator(api, access)
    return api


def warm_up(registry: Registry) -> None:
    """Solve the game, build the engines that are offered, and read the files of models."""
    for spec, _ in ENGINES:
        EnginePlayer(parse(spec))
    for entry in registry.entries:
        registry.player(entry.name)


def safe_json(content: BaseModel | dict[str, Any], status: int = 200) -> Response:
    """A JSON answer in ASCII: text of models may hold what UTF-8 cannot (lone surrogates)."""
    data = content.model_dump(mode="json") if isinstance(content, BaseModel) else content
    return Response(json.dumps(data), status, media_type="application/json")


def _add_games(api: FastAPI, games: Games, live: Live, access: Access) -> None:
    def state(stored: StoredGame) -> GameOut:
        return game_out(stored, live.tasks.thought(stored.id), stopped=live.is_stopped(stored.id))

    @api.post("/games", status_code=201, response_model=NewGameOut, tags=["play"])
    async def begin_a_game(new: NewGame, request: Request) -> Response:
        """Begin a game. Models that are not public can be played by the operator alone."""
        stored, tokens = await live.create(new, operator=access.is_operator(request))
        return safe_json(NewGameOut(game=state(stored), tokens=tokens), 201)

    @api.get("/games/{game_id}", response_model=GameOut, tags=["play"])
    async def look_at_a_game(game_id: str) -> Response:
        """The state of a game, with every turn and every reply."""
        return safe_json(state(await live.look(game_id)))

    @api.post("/games/{game_id}/moves", response_model=GameOut, tags=["play"])
    async def make_a_move(game_id: str, move: Move) -> Response:
        """Make a person's move. The same move again is answered alike and played once."""
        return safe_json(state(await live.move(game_id, move)))

    @api.post("/games/{game_id}/resign", response_model=GameOut, tags=["play"])
    async def resign(game_id: str, seat: SeatToken) -> Response:
        """Give up."""
        return safe_json(state(await live.resign(game_id, seat.token)))

    @api.post("/games/{game_id}/stop", response_model=GameOut, tags=["play"])
    async def stop_the_model(game_id: str, seat: SeatToken) -> Response:
        """Break off the reply of the model that is to move. What it said is dropped."""
        return safe_json(state(await live.stop(game_id, seat.token)))

    @api.post("/games/{game_id}/go-on", response_model=GameOut, tags=["play"])
    async def ask_the_model_again(game_id: str, seat: SeatToken) -> Response:
        """Ask the model anew whose reply was broken off."""
        return safe_json(state(await live.go_on(game_id, seat.token)))

    @api.get("/games/{game_id}/events", tags=["play"])
    async def follow_a_game(game_id: str) -> StreamingResponse:
        """Server-sent events until the game is over: `state` (as `GET /games/{id}`) after each
        turn, `said` (attempt, reasoning, text: what came since the last one) while a model
        thinks.
        """
        await live.look(game_id)

        async def stream() -> AsyncIterator[str]:
            async for event in live.tasks.events(game_id):
                if isinstance(event, Ping):
                    yield ": still here\n\n"
                elif isinstance(event, Delta):
                    yield f"event: said\ndata: {json.dumps(event.__dict__)}\n\n"
                else:
                    text = json.dumps(state(event).model_dump(mode="json"))
                    yield f"event: state\ndata: {text}\n\n"

        return StreamingResponse(
            stream(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    @api.get("/games", response_model=GamesOut, tags=["records"])
    async def list_games(query: Annotated[ListQuery, Query()]) -> Response:
        """Games, newest first."""
        kept, limit = filter_of(query), query.limit
        total = await asyncio.to_thread(games.count, kept)
        page = await asyncio.to_thread(games.find, kept, limit + 1, query.before)
        older = page[limit - 1].serial if len(page) > limit > 0 else None
        rows = [game_row(game) for game in page[:limit]]
        return safe_json(GamesOut(total=total, games=rows, older=older))


def _add_tables(api: FastAPI, database: Database, registry: Registry, access: Access) -> None:
    @api.get("/players", response_model=PlayersOut, tags=["play"])
    async def list_players(request: Request) -> Response:
        """Who can take a seat, and what you may play."""
        operator = access.is_operator(request)
        examined = await asyncio.to_thread(cards.find_all, database)
        shown = {
            name: card_out(card, operator=operator)
            for name, card in examined.items()
            if name in registry and (operator or registry.get(name).public)
        }
        return safe_json(
            PlayersOut(
                engines=[EngineOption(spec=spec, label=label) for spec, label in ENGINES],
                models=[
                    ModelOption(
                        name=entry.name,
                        family=entry.family,
                        step=entry.step,
                        playable=operator or entry.public,
                        card=shown.get(entry.name),
                    )
                    for entry in registry.entries
                ],
                operator=operator,
                password_set=access.password_set,
            )
        )

    @api.get("/leaderboard", response_model=LeaderboardOut, tags=["records"])
    async def read_the_leaderboard() -> Response:
        """Every player's results, opening and replying apart, and player against opponent."""
        standings = await asyncio.to_thread(leaderboard, database)
        entries = await asyncio.to_thread(matrix, database)
        by_seed = await asyncio.to_thread(sums_by_seed, database)
        return safe_json(leaderboard_out(standings, entries, by_seed))


def _add_operator(api: FastAPI, access: Access) -> None:
    @api.post("/operator/sign-in", status_code=204, tags=["operator"])
    async def sign_in(form: SignIn, request: Request) -> Response:
        """Sign in as the operator; the session is a cookie."""
        session = access.sign_in(form.password, request.client.host if request.client else "")
        response = Response(status_code=204)
        response.set_cookie(
            COOKIE,
            session,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    @api.post("/operator/sign-out", status_code=204, tags=["operator"])
    async def sign_out() -> Response:
        """Forget the session in this browser."""
        response = Response(status_code=204)
        response.delete_cookie(COOKIE)
        return response


def _answer_errors(api: FastAPI) -> None:
    @api.exception_handler(ArenaError)
    async def arena_error(request: Request, error: ArenaError) -> Response:  # noqa: ARG001
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        return _error(status, type(error).__name__, str(error))

    @api.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:  # noqa: ARG001
        problems = (
            f"{'.'.join(str(part) for part in problem['loc'][1:]) or 'body'}: {problem['msg']}"
            for problem in error.errors()
        )
        return _error(422, "ValidationError", "; ".join(problems))

    @api.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:  # noqa: ARG001 - logged by the server
        return _error(500, "ServerError", "the server made a mistake: its log says more")

    @api.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:  # noqa: ARG001
        return _error(error.status_code, "HTTPException", str(error.detail))


def _error(status: int, kind: str, message: str) -> Response:
    return safe_json({"error": {"type": kind, "message": message}}, status)
