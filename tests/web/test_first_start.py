"""A new arena, without a key: checkpoints to play and games to look at."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from storage.imports import SHIPPED
from tests.web.process import Arena, Table, checkpoint, engine, human, until

pytest.importorskip("xllamacpp")


def test_the_first_start_has_checkpoints_and_games(tmp_path: Path):
    with gzip.open(SHIPPED, "rt", encoding="utf-8") as lines:
        shipped = sum(1 for _ in lines)
    arena = Arena(tmp_path / "data", {"ARENA_DEMO": "1"})
    arena.start()
    try:
        with arena.client() as visitor:
            playable = {m["name"] for m in visitor.get("players").json()["models"] if m["playable"]}
            assert {"tiny-base", "tiny-rl3", "tiny-memoriser"} <= playable
            # It plays while the games are still coming in.
            game = Table(visitor, human("Ann"), checkpoint("tiny-rl3"))
            game.move(0)
            assert game.my_turn()["ply"] == 2
            whole = Table(visitor, engine(), checkpoint("tiny-rl3"))
            assert whole.wait(lambda state: state["outcome"])["outcome"] in ("draw", "x", "o")
            came_along = {"rated": True, "limit": 0}
            until(
                lambda: visitor.get("games", params=came_along).json()["total"],
                lambda total: total == shipped,
            )
    finally:
        arena.stop()
