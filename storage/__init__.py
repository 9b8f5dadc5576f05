"""What is kept: the database, its games, and what is read out of them.

    columns <- tables <- players, prompts <- records, aggregates, filters <- listing <- games
    upgrade <- database                              standings, datasets <- imports
    setups <- evaluations <- cells <- figures, conduct
    derived <- clusters, lessons <- recount <- upgrade, aggregates
    standings, clusters <- seats <- entries <- gaps <- checkpoints <- ranking, comparisons
    reward_tables <- rewards <- shown_games <- transcripts

A `Database` is opened once a process; everything else is given one.
"""

from storage.database import Database
from storage.datasets import Flavour, filter_of, jsonl, rows
from storage.filters import GameFilter, Result
from storage.games import Games, Recording
from storage.listing import GameSummary
from storage.players import StoredPlayer
from storage.records import StoredGame
from storage.standings import Entry, Standing, Tally, leaderboard, matrix, recompute
from storage.tables import Source

__all__ = [
    "Database",
    "Entry",
    "Flavour",
    "GameFilter",
    "GameSummary",
    "Games",
    "Recording",
    "Result",
    "Source",
    "Standing",
    "StoredGame",
    "StoredPlayer",
    "Tally",
    "filter_of",
    "jsonl",
    "leaderboard",
    "matrix",
    "recompute",
    "rows",
]
