"""The first rows of a dataset, for the command and for the page alike."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from storage.database import Database
from storage.datasets import Flavour, Row, filter_of, rows
from storage.filters import GameFilter
from storage.games import Games

PAIRED_GAMES = 2000
"""Pairs are found in all games at once: for a look, in so many of the first."""


class Preview(NamedTuple):
    """What a look at a dataset shows."""

    games: int
    """That the filters keep; of a model's flavour, those with a model in it."""
    rows: list[Row]
    """The first, as a trainer will see them."""


def preview(
    database: Database, games: Games, flavour: Flavour, kept: GameFilter, most: int
) -> Preview:
    """The first rows of a flavour, `most` of them.

    Raises:
        NotFoundError: the filter names an evaluation that there is not.
    """
    looked = PAIRED_GAMES if flavour is Flavour.PREFERENCE else None
    found = list(islice(rows(database, flavour, kept, most=looked), most))
    return Preview(games.count(filter_of(flavour, kept)), found)
