"""The routes of the numbers: leaderboard, checkpoints, grades. Anyone may look."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from arena.errors import ConfigError, NotFoundError
from arena.panels import PANELS, Panel
from models.config import nearest
from storage.checkpoints import checkpoint
from storage.database import Database
from storage.games import Games
from storage.mistakes import by_ply, losing_lines, traps
from storage.ranking import Shown, family, leaderboard_of
from storage.references import ceilings, references
from web.api import safe_json
from web.findings import finding, finding_of_checkpoint, finding_of_family
from web.grading import GradesOut, grades_out
from web.mistakes import PageOut, folded, page_out
from web.number_views import checkpoint_out, family_out, members_out, progress_out
from web.numbers import CeilingsOut, FamiliesOut, FamilyOut, StandingsOut
from web.published import PublishedOut, published
from web.setups import panels_beside

_TAGS: list[str | Enum] = ["numbers"]
_STANDARD = "standard"
_LINES = 12
PanelName = Annotated[str, Query(max_length=200, description="a panel's name")]


class StandingsQuery(BaseModel):
    """Which rows are asked for; what is left out is not asked."""

    model_config = ConfigDict(extra="forbid")

    panel: str = Field(_STANDARD, max_length=200)
    evaluation: str | None = Field(None, max_length=200, description="its games alone")
    prompt: str | None = Field(None, max_length=200, description="a prompt format's name")
    temperature: float | None = Field(None, ge=0)
    least_games: int = Field(1, ge=0, description="of a row, over all opponents")
    family: str | None = Field(None, max_length=200)


def add_numbers(api: FastAPI, database: Database, games: Games, models_file: Path) -> None:
    """Add the routes to those under /api/v1.

    Args:
        api: the app of the routes.
        database: where the games are.
        games: the same, game by game.
        models_file: the user's own panels lie beside it.
    """

    @api.get("/standings", response_model=StandingsOut, tags=_TAGS)
    async def read_the_standings(query: Annotated[StandingsQuery, Query()]) -> Response:
        """Every checkpoint against the opponents of a panel: rates with their intervals, the
        worst opponent, the memorisation gap. Opening and replying stand apart.
        """

        def look() -> StandingsOut:
            panels = _panels(models_file)
            panel = _panel(panels, query.panel)
            asked = query.model_dump(exclude={"panel"})
            found = leaderboard_of(database, panel, Shown(**asked))
            return StandingsOut(
                finding=finding(found.checkpoints, panel.name),
                panel=panel.name,
                opponents=list(panel.opponents),
                panels=list(panels),
                prompts=list(found.prompts),
                temperatures=list(found.temperatures),
                families=list(found.families),
                evaluation=query.evaluation,
                provisional=progress_out(found),
                checkpoints=[checkpoint_out(each) for each in found.checkpoints],
                references=[checkpoint_out(each) for each in references(panel)],
                ceilings=CeilingsOut(**ceilings()._asdict()),
            )

        return safe_json(await asyncio.to_thread(look))

    @api.get("/families", response_model=FamiliesOut, tags=_TAGS)
    async def list_families() -> Response:
        """The checkpoints that played a rated game, by family and step."""

        def look() -> FamiliesOut:
            return members_out(leaderboard_of(database, PANELS[_STANDARD], Shown(least_games=0)))

        return safe_json(await asyncio.to_thread(look))

    @api.get("/family", response_model=FamilyOut, tags=_TAGS)
    async def look_at_a_family(name: str, panel: PanelName = _STANDARD) -> Response:
        """A family's checkpoints in the order of their steps: what training did."""

        def look() -> FamilyOut:
            panels = _panels(models_file)
            steps = family(database, name, _panel(panels, panel))
            return family_out(name, panel, list(panels), steps, finding_of_family(name, steps))

        return safe_json(await asyncio.to_thread(look))

    @api.get("/published", response_model=PublishedOut, tags=_TAGS)
    async def write_the_published_table(family: str | None = None) -> Response:
        """Results in the form in which they are published elsewhere, as a Markdown table."""
        return safe_json(await asyncio.to_thread(published, database, games, family))

    @api.get("/checkpoints/{player_id}", response_model=PageOut, tags=_TAGS)
    async def look_at_a_checkpoint(
        player_id: Annotated[int, Field(ge=0, lt=1 << 63)],
    ) -> Response:
        """One checkpoint: its rates, and where it goes wrong: errors by seat and ply, fork traps
        up to symmetry, and the lines that it loses by most often.
        """

        def look() -> PageOut:
            row, made = checkpoint(database, player_id), by_ply(database, player_id)
            met = folded(traps(database, player_id))
            numbers = [(each.met, each.failed) for each in met]
            shown = finding_of_checkpoint(row, list(made.values()), numbers)
            return page_out(row, made, met, losing_lines(database, player_id, _LINES), shown)

        return safe_json(await asyncio.to_thread(look))

    @api.get("/games/{game_id}/grades", response_model=GradesOut, tags=_TAGS)
    async def grade_a_game(game_id: str) -> Response:
        """Every move of a game graded against perfect play, and the value of every free square."""
        stored = await asyncio.to_thread(games.load, game_id)
        return safe_json(grades_out(stored.game))


def _panels(models_file: Path) -> Mapping[str, Panel]:
    """The built-in panels, and the user's own where their file can be used."""
    try:
        return panels_beside(models_file)
    except ConfigError:
        # Who starts an evaluation is told; who looks at numbers can do nothing about it.
        return PANELS


def _panel(panels: Mapping[str, Panel], name: str) -> Panel:
    if name not in panels:
        raise NotFoundError(f"no panel is called {name!r}: {nearest(name, panels)}")
    return panels[name]
