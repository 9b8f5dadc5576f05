"""Games to export: engines' by the million, and a model's with its chats.

Both go into a database as an evaluation's do, through `Games.record_many`. The model is the real
player with the real endpoint; only what its server says is made up in this process: mostly a free
square with some words of thinking, now and then no move.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, count, islice, product
from pathlib import Path
from typing import Any

from arena.batch import play_batches
from arena.board import Mark
from arena.game import Game
from arena.match import finish
from arena.opponents import parse
from arena.panels import PANELS
from arena.players import EnginePlayer
from models.completion import OnDelta
from models.endpoint import Endpoint
from models.entries import Entry
from models.library import TAGS
from models.player import ModelPlayer
from models.transport import Answer, Transport
from storage.database import Database
from storage.games import Games, Recording
from storage.tables import Source

OPPONENTS = PANELS["standard"].opponents
_ERRING = ("minimax:epsilon=0.1", "minimax:epsilon=0.75")
"""Engines that are not among them."""
_CHUNK = 500
"""Games between two signs of progress."""
_FREE = "Free squares: "
_THOUGHTS = (
    "I look at the rows first, then at the columns and the two diagonals.",
    "My opponent does not have two marks in a line with the third square free.",
    "If I do not block now, the next move completes a line against me.",
    "The centre is part of four lines, a corner of three, an edge of two.",
    "Two open lines at once cannot both be blocked: that would be a fork.",
    "Nothing wins at once, so I keep what I have and wait for a mistake.",
)
_WRONG = 0.06
"""The share of replies that are no move."""


def fill(
    path: Path, recordings: Iterator[Recording], number: int, advance: Callable[[int], None]
) -> None:
    """Record so many games in a new database.

    Args:
        path: where it is to be, once it is whole.
        recordings: the games; as many as are needed, or more.
        number: how many.
        advance: is told how many more are in it, from time to time.
    """
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        beside = Path(folder) / path.name
        db = Database.open(beside)
        games = Games(db, lambda: datetime.now(UTC))
        rest = islice(recordings, number)
        while chunk := list(islice(rest, _CHUNK)):
            games.record_many(chunk, Source.EVALUATION)
            advance(len(chunk))
        db.close()
        beside.rename(path)


def engine_games() -> Iterator[Recording]:
    """Endless games of two engines that err against the standard panel, whoever opens."""
    players = {spec: EnginePlayer(parse(spec)) for spec in (*_ERRING, *OPPONENTS)}
    for begin in count(step=_CHUNK):
        seeds = range(begin, begin + _CHUNK)
        for ours, theirs, ours_is_x in product(_ERRING, OPPONENTS, (True, False)):
            x, o = (ours, theirs) if ours_is_x else (theirs, ours)
            for batch in play_batches(parse(x), parse(o), seeds):
                for number, seed in enumerate(batch.seeds):
                    game = Game(batch.opener, seed)
                    for square in batch.line(number):
                        game.move(square)
                    yield Recording(game, players[x].identity, players[o].identity)


def model_games() -> Iterator[Recording]:
    """Endless games of a model against the standard panel, opening and replying in turn."""
    entry = Entry(name="scripted", base_url="http://127.0.0.1/v1", model="scripted", family="s")
    endpoint = Endpoint("http://127.0.0.1/v1", "scripted", connect=lambda _: _Scripted())
    model = ModelPlayer(entry, TAGS, endpoint)
    opponents = [EnginePlayer(parse(spec)) for spec in OPPONENTS]

    async def play(seeds: range) -> list[Recording]:
        found = []
        for seed, opponent, mark in product(seeds, opponents, Mark):
            x, o = (model, opponent) if mark is Mark.X else (opponent, model)
            game = await finish(Game(seed=seed), x, o)
            found.append(Recording(game, x.identity, o.identity))
        return found

    return chain.from_iterable(asyncio.run(play(range(n, n + 10))) for n in count(step=10))


class _Scripted(Transport):
    """A server that is none."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1/v1", 1.0)

    async def post(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],  # noqa: ARG002
        on_delta: OnDelta | None = None,  # noqa: ARG002
    ) -> Answer:
        """A reply that is drawn by the request's seed."""
        drawn = random.Random(body["seed"])
        asked = body["messages"][-1]["content"]
        free = asked[asked.rindex(_FREE) + len(_FREE) :].splitlines()[0].split(", ")
        thinking = "<think>" + " ".join(drawn.sample(_THOUGHTS, drawn.randint(1, 4)))
        said = f"{thinking}</think><move>{drawn.choice(free)}</move>"
        finish_reason = "stop"
        if drawn.random() < _WRONG:
            taken = [square for square in "012345678" if square not in free]
            said = drawn.choice((thinking, f"{thinking}</think><move>{(taken or ['9'])[0]}</move>"))
            finish_reason = "stop" if said.endswith("</move>") else "length"
        characters = sum(len(each["content"]) for each in body["messages"])
        usage = {"prompt_tokens": characters // 4, "completion_tokens": len(said) // 4}
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": finish_reason}
        return Answer(200, {"choices": [choice], "usage": usage})
