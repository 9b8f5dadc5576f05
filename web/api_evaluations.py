"""The routes of evaluations: anyone may look, the operator starts and steers them."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from fastapi import FastAPI, Query, Request, Response

from web.access import Access
from web.api import safe_json
from web.desk import Desk, url_of
from web.evaluations import (
    Action,
    EvaluationName,
    EvaluationOut,
    EvaluationsOut,
    EvaluationStarted,
    NewEvaluation,
    PanelsOut,
)

_TAGS: list[str | Enum] = ["evaluations"]


def add_evaluations(api: FastAPI, desk: Desk, access: Access) -> None:
    """Add the routes to those under /api/v1."""

    @api.get("/panels", response_model=PanelsOut, tags=_TAGS)
    async def list_panels(request: Request) -> Response:
        """The panels of opponents, built in and your own. The operator's."""
        access.require_operator(request)
        return safe_json(await desk.panels())

    @api.get("/evaluations", response_model=EvaluationsOut, tags=_TAGS)
    async def list_evaluations(
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        before: Annotated[
            int | None, Query(ge=0, lt=1 << 63, description="`older` of the page before")
        ] = None,
    ) -> Response:
        """Evaluations, newest first."""
        return safe_json(await desk.list_page(limit, before))

    @api.post("/evaluations", status_code=202, response_model=EvaluationStarted, tags=_TAGS)
    async def start_an_evaluation(asked: NewEvaluation, request: Request) -> Response:
        """Start an evaluation as a process of its own, or go on with the one of this name: it
        plays what is missing. Only `games` may grow. The operator's.
        """
        access.require_operator(request)
        name = await desk.start(asked)
        return safe_json(EvaluationStarted(name=name, url=url_of(name)), 202)

    @api.get("/evaluation", response_model=EvaluationOut, tags=_TAGS)
    async def follow_an_evaluation(name: str, request: Request) -> Response:
        """An evaluation by its name: figures, state, games in play. To be asked once a second at
        most; the ETag tells whether anything has changed.
        """
        body, etag = await desk.look(name, operator=access.is_operator(request))
        headers = {"etag": etag, "cache-control": "private, no-cache"}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    @api.post("/evaluation/{action}", status_code=204, tags=_TAGS)
    async def steer_an_evaluation(
        action: Action, which: EvaluationName, request: Request
    ) -> Response:
        """Pause it, resume it, or stop it after the games in flight: its process looks every
        second. `go-on` starts one again that is not being played. The operator's.
        """
        access.require_operator(request)
        await desk.act(which.name, action)
        return Response(status_code=204)
