"""Games under way within one process: caps, resigning, leaving, and going on after a restart."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from arena.board import Mark, Outcome
from arena.errors import AccessError, BusyError, ConflictError, NotFoundError, SpecError
from arena.game import Termination, Turn
from models.registry import Registry
from storage.database import Database
from storage.games import Games
from storage.records import StoredGame
from tests.servers import ModelServer, Say
from tests.web.process import checkpoint, engine, human, says
from web.live import ABANDONED_AFTER, Live
from web.schemas import Move, NewGame

MODEL = """
[[model]]
name = "tagger"
base_url = "{base_url}"
model = "tagger"
public = true
max_games = 1
max_tries = 1

[[model]]
name = "hidden"
base_url = "{base_url}"
model = "hidden"
"""

Restart = Callable[..., Live]


class Now:
    """The time by the calendar, put on by hand."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def games(tmp_path: Path, now: Now) -> Iterator[Games]:
    database = Database.open(tmp_path / "arena.db")
    yield Games(database, now)
    database.close()


@pytest.fixture
async def restart(tmp_path: Path, games: Games, model: ModelServer) -> AsyncIterator[Restart]:
    """A new process on the same database, as far as `Live` can tell."""
    started: list[tuple[Live, Registry]] = []

    def start(models: str = MODEL, clock: Callable[[], float] = lambda: 0.0) -> Live:
        file = tmp_path / "models.toml"
        file.write_text(models.format(base_url=model.base_url))
        registry = Registry.load(file)
        started.append((Live(games, registry, clock), registry))
        return started[-1][0]

    yield start
    for live, registry in started:
        await live.tasks.close()
        await registry.close()


@pytest.fixture
def live(restart: Restart) -> Live:
    return restart()


async def begin(
    live: Live, x: Any, o: Any, *, operator: bool = False, **more: Any
) -> tuple[StoredGame, dict[Mark, str]]:
    new = NewGame.model_validate({"x": x, "o": o, **more})
    return await live.create(new, operator=operator)


def by(tokens: dict[Mark, str], mark: Mark, square: int, ply: int) -> Move:
    return Move(square=square, ply=ply, token=tokens[mark])


async def until(games: Games, game_id: str, fits: Callable[[StoredGame], Any]) -> StoredGame:
    """What is stored, once it fits."""
    async with asyncio.timeout(30):
        while True:
            stored = await asyncio.to_thread(games.load, game_id)
            if fits(stored):
                return stored
            await asyncio.sleep(0.01)


# -- a new game ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opponent", "error"),
    [
        (engine("minimax:tie=none"), SpecError),
        (checkpoint("nobody"), NotFoundError),
        (checkpoint("hidden"), AccessError),
    ],
)
async def test_what_is_refused_leaves_nothing(
    live: Live, games: Games, opponent: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await begin(live, human(), opponent)
    assert games.count() == 0


async def test_a_person_gets_a_secret_of_each_seat(live: Live) -> None:
    _, tokens = await begin(live, human(), human())
    assert set(tokens) == {Mark.X, Mark.O}
    assert tokens[Mark.X] != tokens[Mark.O]
    _, tokens = await begin(live, engine(), engine())
    assert tokens == {}


# -- the cap on visitors' games --------------------------------------------------------------------


async def test_a_cap_holds_for_games_begun_at_once(live: Live) -> None:
    begun = await asyncio.gather(
        *(begin(live, human(), checkpoint()) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(each, BusyError) for each in begun) == 4


async def test_a_cap_counts_what_is_not_over_and_not_left(restart: Restart) -> None:
    time = [0.0]
    live = restart(clock=lambda: time[0])
    stored, tokens = await begin(live, human(), checkpoint())
    with pytest.raises(BusyError, match="tagger"):
        await begin(live, human(), checkpoint())
    await live.resign(stored.id, tokens[Mark.X])
    await begin(live, human(), checkpoint())
    with pytest.raises(BusyError):
        await begin(live, human(), checkpoint())
    time[0] += 3600
    await begin(live, human(), checkpoint())


async def test_an_operators_games_are_not_the_visitors(live: Live) -> None:
    """Games of the operator's take no visitor's place."""
    await begin(live, human(), checkpoint(), operator=True)
    await begin(live, human(), checkpoint())


# -- resigning -------------------------------------------------------------------------------------


async def test_a_reply_that_comes_after_the_end_changes_nothing(
    live: Live, games: Games, model: ModelServer
) -> None:
    model.answer = Say("<move>4</move>", delay_s=0.2)
    stored, tokens = await begin(live, checkpoint(), human())
    over = await live.resign(stored.id, tokens[Mark.O])
    assert (over.game.outcome, over.game.termination) == (Outcome.X, Termination.RESIGNED)
    await asyncio.sleep(0.3)
    assert games.load(stored.id).game.moves == ()


async def test_who_resigns_and_goes_has_resigned(
    live: Live, games: Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, tokens = await begin(live, human(), checkpoint("tagger"))
    begun, finish = threading.Event(), games.finish

    def told(*given: Any) -> None:
        begun.set()
        finish(*given)

    monkeypatch.setattr(games, "finish", told)
    other = Database.open(tmp_path / "arena.db")
    with other.write() as session:
        # A session begins with its first statement.
        session.execute(text("SELECT 1"))
        resigning = asyncio.create_task(live.resign(game.id, tokens[Mark.X]))
        assert await asyncio.to_thread(begun.wait, 30)
        resigning.cancel()
        for _ in range(100):
            await asyncio.sleep(0)
        # It holds the game until what it writes is written.
        assert not resigning.done()
    with pytest.raises(asyncio.CancelledError):
        await resigning
    other.close()
    assert (await live.look(game.id)).game.termination is Termination.RESIGNED
    # And its place at the model is free.
    await begin(live, human(), checkpoint("tagger"))


async def test_resign_and_move_at_once(live: Live) -> None:
    for _ in range(5):
        stored, tokens = await begin(live, human(), engine())
        moved, resigned = await asyncio.gather(
            live.move(stored.id, by(tokens, Mark.X, 4, 0)),
            live.resign(stored.id, tokens[Mark.X]),
            return_exceptions=True,
        )
        assert isinstance(moved, StoredGame | ConflictError)
        assert isinstance(resigned, StoredGame)
        assert resigned.game.outcome is Outcome.O


# -- people who leave ------------------------------------------------------------------------------


async def test_a_game_that_a_person_left_is_closed(live: Live, games: Games, now: Now) -> None:
    stored, tokens = await begin(live, human(), engine())
    now.time += ABANDONED_AFTER + timedelta(seconds=1)
    other, _ = await begin(live, human(), engine())
    sweep = asyncio.create_task(live.sweep())
    over = await until(games, stored.id, lambda each: each.game.outcome)
    sweep.cancel()
    assert over.game.termination is Termination.ABANDONED
    assert games.load(other.id).game.outcome is None
    with pytest.raises(ConflictError):
        await live.move(stored.id, by(tokens, Mark.X, 4, 0))


async def test_a_game_that_waits_for_its_model_is_not_closed(
    live: Live, games: Games, now: Now, model: ModelServer
) -> None:
    model.answer = Say("<move>4</move>", delay_s=30)
    stored, _ = await begin(live, checkpoint(), human())
    now.time += 2 * ABANDONED_AFTER
    assert games.abandon(ABANDONED_AFTER) == 0
    assert games.load(stored.id).game.outcome is None


# -- after a restart -------------------------------------------------------------------------------


async def test_a_models_turn_goes_on(restart: Restart, games: Games, model: ModelServer) -> None:
    model.answer = Say("<move>4</move>", delay_s=30)
    before = restart()
    stored, tokens = await begin(before, checkpoint(), human())
    await before.tasks.close()
    model.answer = says(4)
    after = restart()
    await after.resume()
    await until(games, stored.id, lambda each: each.game.moves == (4,))
    moved = await after.move(stored.id, by(tokens, Mark.O, 0, 1))
    assert moved.game.moves == (4, 0)


async def test_an_engines_answer_that_was_not_stored_is_made_good(
    restart: Restart, games: Games
) -> None:
    """Killed between the person's move and the engine's."""
    live = restart()
    stored, _ = await begin(live, human(), engine("minimax:tie=first"), seed=1)
    stored.game.add(Turn(Mark.X, 4))
    games.append(stored.id, stored.game)
    await restart().resume()
    await until(games, stored.id, lambda each: each.game.moves == (4, 0))


async def test_a_model_that_is_gone_makes_the_game_void(restart: Restart, games: Games) -> None:
    stored, tokens = await begin(restart(), human(), checkpoint())
    after = restart(models="")
    await after.resume()
    assert games.load(stored.id).game.outcome is None
    await after.move(stored.id, by(tokens, Mark.X, 4, 0))
    over = await until(games, stored.id, lambda each: each.game.outcome)
    assert (over.game.moves, over.game.termination) == ((4,), Termination.PROVIDER_ERROR)
    assert "tagger is not registered" in str(over.game.failed[-1].error)


# -- watching --------------------------------------------------------------------------------------


async def test_nothing_is_kept_of_a_game_that_nobody_watches(
    live: Live, games: Games, model: ModelServer
) -> None:
    model.answer = says(0)
    stored, tokens = await begin(live, human(), checkpoint())
    await live.move(stored.id, by(tokens, Mark.X, 4, 0))
    async for event in live.tasks.events(stored.id):
        game = event.game if isinstance(event, StoredGame) else None
        if game and len(game.moves) == 2 and game.outcome is None:
            await live.resign(stored.id, tokens[Mark.X])
    await asyncio.sleep(0)
    assert not live.tasks._channels
    assert not live.tasks._tasks
    assert not live._locks
