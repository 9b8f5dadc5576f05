"""The leaderboard of a panel, and the checkpoints of a family by training step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena.errors import NotFoundError
from arena.panels import Panel
from arena.players import Kind
from storage import evaluated, mistakes, players
from storage.checkpoints import Checkpoint, checkpoints_of, temperature_of
from storage.database import Database
from storage.mistakes import Mistakes, TrapCounts
from storage.players import StoredPlayer


@dataclass(frozen=True)
class Shown:
    """Which rows are asked for; what is left out is not asked."""

    evaluation: str | None = None
    """The games of one evaluation alone."""
    prompt: str | None = None
    """The name of a prompt format."""
    temperature: float | None = None
    least_games: int = 1
    """Of a row, over all opponents of the panel."""
    family: str | None = None
    name: str | None = None
    """A player's whole name."""

    def lets(self, player: StoredPlayer) -> bool:
        """Whether a player may be in it, whatever its games."""
        who = player.identity
        return (
            self.prompt in (None, who.prompt)
            and self.temperature in (None, temperature_of(who))
            and self.family in (None, who.family)
            and self.name in (None, who.name)
        )


@dataclass(frozen=True)
class Leaderboard:
    """Who was played against a panel, and what may be asked for."""

    checkpoints: tuple[Checkpoint, ...]
    """Models by name and step, then the engines that an evaluation named as checkpoints."""
    prompts: tuple[str, ...]
    """Of all models that played a rated game."""
    temperatures: tuple[float, ...]
    families: tuple[str, ...]
    provisional: tuple[int, int] | None
    """Of the evaluation that was asked for, the cells played and planned while some are to come."""


@dataclass(frozen=True)
class Step:
    """A checkpoint in the course of its family's training."""

    checkpoint: Checkpoint
    mistakes: Mistakes
    """Over all plies, both seats and all opponents."""
    traps: TrapCounts

    @property
    def step(self) -> int | None:
        """The training step."""
        return self.checkpoint.identity.step


def leaderboard_of(db: Database, panel: Panel, shown: Shown | None = None) -> Leaderboard:
    """The rows of a panel.

    Raises:
        NotFoundError: there is no evaluation of the name asked for.
    """
    shown = shown or Shown()
    with db.read() as session:
        everybody = _candidates(session)
        chosen = [player for player in everybody if shown.lets(player)]
        if shown.evaluation is None:
            by_id = {player.id: player for player in chosen}
            rows = checkpoints_of(session, by_id, panel.opponents)
            provisional = None
    if shown.evaluation is not None:
        rows, provisional = evaluated.checkpoints(db, shown.evaluation, panel.opponents)
        rows = [row for row in rows if shown.lets(StoredPlayer(row.id or 0, row.identity))]
    models = [player.identity for player in everybody if player.identity.kind is Kind.MODEL]
    return Leaderboard(
        checkpoints=tuple(row for row in rows if row.games >= shown.least_games),
        prompts=tuple(sorted({who.prompt for who in models if who.prompt})),
        temperatures=tuple(sorted({t for who in models if (t := temperature_of(who)) is not None})),
        families=tuple(sorted({who.family for who in models if who.family})),
        provisional=provisional,
    )


def families(db: Database) -> list[str]:
    """The families of all models that played a rated game."""
    with db.read() as session:
        found = {each.identity.family for each in _candidates(session)}
        return sorted(family for family in found if family)


def family(db: Database, name: str, panel: Panel) -> list[Step]:
    """The checkpoints of a family that played a rated game, by step; those without one last.

    Raises:
        NotFoundError: there is none.
    """
    with db.read() as session:
        members = [each for each in _candidates(session) if each.identity.family == name]
        if not members:
            raise NotFoundError(f"no checkpoint of a family {name!r} has played a rated game")
        members.sort(
            key=lambda each: (each.identity.step is None, each.identity.step or 0, each.id)
        )
        rows = checkpoints_of(session, {each.id: each for each in members}, panel.opponents)
        ids = [each.id for each in members]
        made, met = mistakes.totals(session, ids), mistakes.trap_totals(session, ids)
    return [Step(row, made[id], met[id]) for id, row in zip(ids, rows, strict=True)]


def _candidates(session: Session) -> list[StoredPlayer]:
    """Models that played a rated game, and the engines that evaluations name as checkpoints."""
    ids: Iterable[int] = session.connection().exec_driver_sql(_CANDIDATES).scalars().all()
    return sorted(players.by_id(session, ids).values(), key=_order)


def _order(player: StoredPlayer) -> tuple[bool, str, bool, int, int]:
    who = player.identity
    return who.kind is not Kind.MODEL, who.name, who.step is None, who.step or 0, player.id


def _order_in_training(player: StoredPlayer) -> tuple[bool, int, int]:
    step = player.identity.step
    return step is None, step or 0, player.id


# Settings with characters that are no UTF-8 are stored as blobs; engines have none such.
_CANDIDATES = """
SELECT id FROM players
WHERE kind = 'model'
AND EXISTS (SELECT 1 FROM entries WHERE player_id = players.id AND rated)
UNION
SELECT players.id
FROM evaluations, json_each(
    iif(typeof(evaluations.settings) = 'text', evaluations.settings, '{}'), '$.players'
) AS named
JOIN players ON fingerprint = json_extract(named.value, '$.fingerprint')
WHERE kind = 'engine'
"""
