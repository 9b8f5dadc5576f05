"""The leaderboard's rows from the games of one evaluation, counted as they are asked for."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import text

from arena.memorisation import RELATIVES, Gap, NoGap, Result, memorisation_gap
from storage.cells import ENTRIES, PLAYED, entries_of, parameters
from storage.checkpoints import Checkpoint
from storage.database import Database
from storage.entries import versus_of
from storage.evaluations import Evaluation, named
from storage.figures import Figures, figures
from storage.gaps import gap_of_rates
from storage.seats import Seat, seat_of
from storage.standings import Tally

_OF_FIGURES = (
    *("wins", "draws", "losses", "forfeits", "void", "context_exceeded", "repeats", "distinct"),
    *("attempts", "invalid_attempts", "contains", "exact", "default_temperature"),
)
_SPENT = ("prompt_tokens", "completion_tokens", "milliseconds")


def checkpoints(
    db: Database, name: str, specs: Sequence[str]
) -> tuple[list[Checkpoint], tuple[int, int] | None]:
    """The players of an evaluation against these opponents, in the evaluation's order.

    The time of the last game is not known here.

    Returns:
        The rows; and the cells played and planned, while some are to come.

    Raises:
        NotFoundError: there is no evaluation of this name.
    """
    evaluation = named(db, name)
    found = figures(db, evaluation)
    spent, seeds = _spent(db, evaluation), _by_seed(db, evaluation)
    seats = {
        (each.entry.player.id, each.entry.opponent.id, each.entry.opening): _seat(each, spent[n])
        for n, each in enumerate(found)
    }
    opponents = {each.identity.name: each for each in evaluation.opponents}
    rows = []
    for player in evaluation.players:
        replying = {
            spec: seats[player.id, opponents[spec].id, False]
            for spec in RELATIVES
            if spec in opponents
        }
        rows.append(
            Checkpoint(
                identity=player.identity,
                id=player.id,
                versus=versus_of(player.id, specs, opponents, seats),
                gap=_gap(replying, seeds[player.id]),
                last_at=None,
            )
        )
    played, planned = (sum(getattr(each, it) for each in found) for it in ("played", "planned"))
    return rows, (played, planned) if played < planned else None


def _seat(figures: Figures, spent: Mapping[str, int]) -> Seat:
    counts = {name: getattr(figures, name) for name in _OF_FIGURES}
    entry = figures.entry
    return seat_of(entry.player, entry.opponent, Tally(**counts, **spent), figures.not_lost)


def _gap(replying: Mapping[str, Seat], results: Sequence[Result]) -> Gap | NoGap:
    return gap_of_rates(replying) or memorisation_gap(results)


def _spent(db: Database, evaluation: Evaluation) -> defaultdict[int, dict[str, int]]:
    """What the replies of an entry's games cost that are not void, by its place."""
    found: defaultdict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_SPENT, 0))
    with db.read() as session:
        for n, *numbers in session.execute(_COST, parameters(evaluation)):
            found[n] = dict(zip(_SPENT, numbers, strict=True))
    return found


def _by_seed(db: Database, evaluation: Evaluation) -> defaultdict[int, list[Result]]:
    """For each player its games against symmetric opponents, replying."""
    told = parameters(evaluation)
    entries = {
        n: entry
        for n, entry in enumerate(entries_of(evaluation))
        if not entry.opening and entry.opponent.identity.name in RELATIVES
    }
    rows = json.loads(str(told["entries"]))
    told["entries"] = json.dumps([rows[n] for n in entries])
    places = list(entries.values())
    found: defaultdict[int, list[Result]] = defaultdict(list)
    with db.read() as session:
        for n, seed, games, kept in session.execute(_SEEDS, told):
            entry = places[n]
            result = Result(entry.opponent.identity.name, seed, games, kept)
            found[entry.player.id].append(result)
    return found


_COST = text(f"""
WITH {ENTRIES}
SELECT n, {", ".join(f"sum(seats.{name})" for name in _SPENT)}
FROM entry {PLAYED}
JOIN seats ON seats.game = games.serial AND seats.mark = entry.mark
GROUP BY n
""")

_SEEDS = text(f"""
WITH {ENTRIES}
SELECT n, seed, count(*), sum(games.outcome IN ('draw', win))
FROM entry {PLAYED}
GROUP BY n, seed
""")
