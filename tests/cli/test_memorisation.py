"""What the arena exists for: a player and a book, both behind real servers, on `memorisation`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from arena.panels import PANELS
from tests.arena.samples import BOOK, TAUGHT_BY
from tests.cli.test_commands import arena
from tests.servers import BookModel, ModelServer, PolicyModel

SEEDS = 4
OPPONENTS = len(PANELS["memorisation"].opponents)
Entries = dict[tuple[str, bool], dict[str, Any]]


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Entries]:
    """By checkpoint: the entry of each opponent, opening or replying."""
    folder = tmp_path_factory.mktemp("memorisation")
    with ModelServer(PolicyModel("minimax")) as player, ModelServer(BookModel(BOOK)) as book:
        servers = {"player": player, "book": book}
        tables = (
            f'[[model]]\nname = "{name}"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
            for name, server in servers.items()
        )
        (folder / "models.toml").write_text("".join(tables))
        panel = ("--panel", "memorisation", "--games", str(SEEDS), "--json")
        done = arena(folder, "evaluate", *servers, *panel)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["state"] == "finished"
    found: dict[str, Entries] = {name: {} for name in servers}
    for entry in told["entries"]:
        found[entry["checkpoint"]][entry["opponent"], entry["opening"]] = entry
    return found


def test_the_player_loses_nothing(entries: dict[str, Entries]):
    player = entries["player"].values()
    assert len(player) == 2 * OPPONENTS
    assert all((e["losses"], e["void"], e["played"]) == (0, 0, SEEDS) for e in player)


def test_the_book_draws_with_the_opponent_that_it_knows(entries: dict[str, Entries]):
    for opening in (True, False):
        known = entries["book"][TAUGHT_BY, opening]
        assert (known["draws"], known["distinct"]) == (SEEDS, 1)


def test_the_book_fails_against_the_others(entries: dict[str, Entries]):
    """At most 6 % are drawn against the others with the same opening, by exact evaluation."""
    others = [
        entry
        for (opponent, opening), entry in entries["book"].items()
        if not opening and opponent != TAUGHT_BY
    ]
    games, lost = (sum(entry[what] for entry in others) for what in ("played", "losses"))
    assert games == SEEDS * (OPPONENTS - 1)
    assert lost > 0.75 * games


def test_opening_the_book_cannot_be_told_from_the_player(entries: dict[str, Entries]):
    assert all(e["losses"] == 0 for (_, opening), e in entries["book"].items() if opening)
