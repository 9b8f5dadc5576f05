"""Games as data to train on and to keep.

    lossless <- facts <- record, chats <- replies <- pairs <- stream <- splits, shards <- folder
                                                              schema <- card

Games under way are left out, and void ones from all flavours but `games` unless the filter asks for
them. What has keys of its own for every player (settings, a request's parameters) is JSON in a
string, so that all rows of a flavour have one schema. Rows come in the order in which the games
arrived, and the same games give the same bytes.
"""

from storage.datasets.folder import Recipe, Written, write_folder
from storage.datasets.shards import Format, write_rows
from storage.datasets.splits import Split
from storage.datasets.stream import Flavour, Row, filter_of, jsonl, rows

__all__ = [
    "Flavour",
    "Format",
    "Recipe",
    "Row",
    "Split",
    "Written",
    "filter_of",
    "jsonl",
    "rows",
    "write_folder",
    "write_rows",
]
