"""Games from files: our own exports, what verifiers wrote, lists of moves; the demonstration.

    troubles, form <- check <- write <- load <- demonstration
    troubles <- parquet <- files <- metadata <- rows
    check <- traced <- traces, rows, movelists, files <- readers, repetitions <- load
    drawings, named <- walks <- boards <- episode <- traced
                                boards, write <- rollouts <- traces, rows

A file is data, not a witness: each game is replayed through the rules, an engine's moves are drawn
anew, and what contradicts itself is refused and reported by its line.
"""

from storage.imports.demonstration import (
    SHIPPED,
    count_demonstration,
    import_demonstration,
    remove_demonstration,
    show_something,
)
from storage.imports.files import files_of
from storage.imports.load import OnProgress, Problem, Report, import_files
from storage.imports.troubles import Trouble

__all__ = [
    "SHIPPED",
    "OnProgress",
    "Problem",
    "Report",
    "Trouble",
    "count_demonstration",
    "files_of",
    "import_demonstration",
    "import_files",
    "remove_demonstration",
    "show_something",
]
