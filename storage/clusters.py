"""The games of an entry by seed, kept as sums while games land.

Games of one seed are not independent, so that an interval must know how the games and the losses
lie over the seeds (`arena.statistics.clustered`); and the memorisation gap picks on even seeds and
measures on odd ones. Both take sums of squares over seeds, which grow by what a seed's own numbers
grow by: what they were is asked of the games' index, where a seed's few games lie together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from arena.board import Mark, Outcome
from arena.memorisation import RELATIVES
from arena.players import Kind
from arena.statistics import Sums
from storage.derived import driver_of
from storage.players import StoredPlayer, always_alike

SUMS = ("seeds", "games", "kept", "games_squared", "kept_squared", "products")
"""The columns that both tables have."""


class Played(NamedTuple):
    """A rated game that counts."""

    x: StoredPlayer
    o: StoredPlayer
    opener: Mark
    seed: int
    outcome: Outcome


class _Key(NamedTuple):
    """The games of a player against one engine on one seed."""

    player: int
    opponent: str
    """The engine's spec."""
    opening: bool
    seed: int


class _Cluster(NamedTuple):
    """The games of a seed, and those of them that were not lost."""

    games: int = 0
    kept: int = 0

    def plus(self, other: _Cluster) -> _Cluster:
        return _Cluster(self.games + other.games, self.kept + other.kept)

    def less(self, other: _Cluster) -> _Cluster:
        return _Cluster(self.games - other.games, self.kept - other.kept)


_NONE = _Cluster()
_FAMILY = {spec: tuple(sorted((spec, *others))) for spec, others in RELATIVES.items()}
"""Of each symmetric opponent all eight that it is one of; the same tuple for each of them."""
_Deltas = defaultdict[tuple[Any, ...], list[int]]


def add(session: Session, games: Iterable[Played]) -> None:
    """Take games that were stored in this transaction into the sums of their entries."""
    added: dict[_Key, _Cluster] = {}
    ids: dict[str, int] = {}
    for x, o, opener, seed, outcome in games:
        for mark, player, opponent in ((Mark.X, x, o), (Mark.O, o, x)):
            if is_clustered(player, opponent):
                spec = opponent.identity.name
                ids[spec] = opponent.id
                key = _Key(player.id, spec, mark is opener, seed)
                kept = outcome != Outcome.win(mark.other)
                added[key] = added.get(key, _NONE).plus(_Cluster(1, kept))
    if not added:
        return
    # A game against a symmetric opponent belongs to the relatives of each of its seven relatives.
    families = {
        (key.player, key.seed, _FAMILY[key.opponent])
        for key in added
        if key.seed & 1 and not key.opening and key.opponent in _FAMILY
    }
    others = (_Key(who, spec, False, seed) for who, seed, specs in families for spec in specs)
    after = _state(session, dict.fromkeys((*added, *others)), ids)
    entries, relatives = _deltas(), _deltas()
    for key, new in added.items():
        entry = (key.player, ids[key.opponent], key.opening, key.seed & 1)
        _grow(entries[entry], after[key].less(new), after[key])
    for who, seed, specs in families:
        keys = {spec: _Key(who, spec, False, seed) for spec in specs}
        now = _total(after[key] for key in keys.values())
        new = _total(added.get(key, _NONE) for key in keys.values())
        for spec, key in keys.items():
            rest, rest_new = now.less(after[key]), new.less(added.get(key, _NONE))
            if rest_new.games:
                _grow(relatives[who, spec], rest.less(rest_new), rest)
    _execute(session, _ADD_CLUSTERS, entries)
    _execute(session, _ADD_RELATIVES, relatives)


def is_clustered(player: StoredPlayer, opponent: StoredPlayer) -> bool:
    """Whether the player's games against this opponent are kept by seed."""
    engine = opponent.identity.kind is Kind.ENGINE
    return engine and not (always_alike(player) and always_alike(opponent))


def sums_of_row(numbers: Sequence[int]) -> Sums:
    """The columns `SUMS` of either table. The spread within seeds is not kept: no number here."""
    seeds, games, kept, games_squared, kept_squared, products = numbers
    return Sums(seeds, games, kept, kept, games_squared, kept_squared, products, nan)


def _state(
    session: Session, keys: Iterable[_Key], ids: Mapping[str, int]
) -> defaultdict[_Key, _Cluster]:
    """The stored games of each key; the numbers of other opponents than these are looked up."""
    asked = [(*key, ids.get(key.opponent)) for key in keys]
    found = driver_of(session).execute(_STATE, (json.dumps(asked),))
    state: defaultdict[_Key, _Cluster] = defaultdict(_Cluster)
    state.update({_Key(*asked[n][:4]): _Cluster(games, kept) for n, games, kept in found})
    return state


def _total(clusters: Iterable[_Cluster]) -> _Cluster:
    return _Cluster(*map(sum, zip(*clusters, strict=True)))


def _deltas() -> _Deltas:
    return defaultdict(lambda: [0] * len(SUMS))


def _grow(delta: list[int], before: _Cluster, after: _Cluster) -> None:
    """Add to the sums what one seed adds by having grown."""
    for sign, (games, kept) in ((1, after), (-1, before)):
        if games:
            each = (1, games, kept, games * games, kept * kept, games * kept)
            for place, number in enumerate(each):
                delta[place] += sign * number


def _execute(session: Session, statement: str, deltas: _Deltas) -> None:
    rows = [(*key, *delta) for key, delta in deltas.items()]
    if rows:
        driver_of(session).executemany(statement, rows)


def _upsert(table: str, keys: Sequence[str]) -> str:
    columns = (*keys, *SUMS)
    added = ", ".join(f"{name} = {name} + excluded.{name}" for name in SUMS)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT DO UPDATE SET {added}"
    )


_ADD_CLUSTERS = _upsert("clusters", ("player_id", "opponent_id", "opening", "odd"))
_ADD_RELATIVES = _upsert("relatives", ("player_id", "opponent"))

_STATE = """
WITH asked AS MATERIALIZED (
    SELECT
        key AS n,
        json_extract(value, '$[0]') AS player,
        coalesce(
            json_extract(value, '$[4]'),
            (SELECT id FROM players WHERE name = json_extract(value, '$[1]') AND kind = 'engine')
        ) AS opponent,
        json_extract(value, '$[2]') AS opening,
        json_extract(value, '$[3]') AS seed
    FROM json_each(?)
)
SELECT n, count(*), sum(kept)
FROM (
    SELECT n, outcome <> 'o' AS kept
    FROM asked CROSS JOIN games INDEXED BY ux_games_cell
    ON x_id = player AND o_id = opponent AND opener = iif(opening, 'X', 'O')
    AND games.seed = asked.seed AND source <> 'play' AND outcome <> 'void'
    UNION ALL
    SELECT n, outcome <> 'x' AS kept
    FROM asked CROSS JOIN games INDEXED BY ux_games_cell
    ON o_id = player AND x_id = opponent AND opener = iif(opening, 'O', 'X')
    AND games.seed = asked.seed AND source <> 'play' AND outcome <> 'void'
)
GROUP BY n
"""
