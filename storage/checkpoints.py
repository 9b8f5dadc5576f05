"""Checkpoints against a panel: the leaderboard's rows, and one checkpoint by itself.

Read from what is kept as games land, so that the time depends on how many entries there are and not
on how many games; an evaluation's own figures are counted from its games (`storage.evaluated`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sqlalchemy.orm import Session

from arena.errors import NotFoundError
from arena.memorisation import RELATIVES, Gap, NoGap
from arena.panels import Panel
from arena.players import Identity
from arena.rates import Measured, Worst, worst
from storage import players
from storage.database import Database
from storage.entries import engines, met_by, seats_of, versus_of
from storage.gaps import gaps_of
from storage.players import StoredPlayer
from storage.seats import Versus
from storage.standings import Tally

_SEATS = ("opening", "replying")


@dataclass(frozen=True)
class Checkpoint:
    """A player against the opponents of a panel, in rated games."""

    identity: Identity
    id: int | None
    """None for a reference that is computed, not played."""
    versus: tuple[Versus, ...]
    """In the panel's order, those too that it never met."""
    gap: Gap | NoGap
    """From all of its games, whichever panel is shown."""
    last_at: datetime | None
    """When the last of the games ended that these numbers speak of."""

    @cached_property
    def opening(self) -> Tally:
        """Over all opponents."""
        return sum((each.opening.tally for each in self.versus), Tally())

    @cached_property
    def replying(self) -> Tally:
        """Over all opponents."""
        return sum((each.replying.tally for each in self.versus), Tally())

    @cached_property
    def total(self) -> Tally:
        """Over both seats: for what is no rate, as replies, tokens and forfeits."""
        return self.opening + self.replying

    @property
    def games(self) -> int:
        """Those that count."""
        return self.total.games

    @cached_property
    def worst_opening(self) -> Worst | None:
        """The lowest rate against the panel's perfect opponents; against all, if it has none."""
        return worst(self._compared("opening"))

    @cached_property
    def worst_replying(self) -> Worst | None:
        """The lowest rate against the panel's perfect opponents; against all, if it has none."""
        return worst(self._compared("replying"))

    @cached_property
    def worst(self) -> Worst | None:
        """The lowest of both seats' rates; its names say the seat too, as in `minimax opening`."""
        return worst(
            {
                f"{spec} {seat}": measured
                for seat in _SEATS
                for spec, measured in self._compared(seat).items()
            }
        )

    @property
    def tokens_per_move(self) -> float | None:
        """Tokens of a reply; None where there is none."""
        return _share(self.total.completion_tokens, self.total.attempts)

    @property
    def seconds_per_move(self) -> float | None:
        """From a request to its reply."""
        return _share(self.total.milliseconds / 1000, self.total.attempts)

    @property
    def format_followed(self) -> float | None:
        """The share of replies that follow the format, by the check `contains`."""
        return _share(self.total.contains, self.total.attempts)

    @property
    def invalid_share(self) -> float | None:
        """The share of replies that named no free square."""
        return _share(self.total.invalid_attempts, self.total.attempts)

    @property
    def temperature(self) -> float | None:
        """What its replies are drawn at; None where nothing says it."""
        return temperature_of(self.identity)

    @property
    def prompt(self) -> str | None:
        """The name of its prompt format."""
        return self.identity.prompt

    def _compared(self, seat: str) -> dict[str, Measured]:
        perfect = [each for each in self.versus if each.perfect] or self.versus
        return {each.opponent: getattr(each, seat).measured for each in perfect}


def checkpoint(db: Database, player_id: int, panel: Panel | None = None) -> Checkpoint:
    """One player's numbers.

    Args:
        db: where its games are.
        player_id: who.
        panel: against whom; by default every engine that it met, the perfect ones first.

    Raises:
        NotFoundError: there is no such player.
    """
    with db.read() as session:
        player = known_player(session, player_id)
        specs = panel.opponents if panel else met_by(session, player_id)
        return checkpoints_of(session, {player_id: player}, specs)[0]


def known_player(session: Session, player_id: int) -> StoredPlayer:
    """The player of a number.

    Raises:
        NotFoundError: there is none.
    """
    found = players.by_id(session, [player_id])
    if player_id not in found:
        raise NotFoundError(f"there is no player {player_id}")
    return found[player_id]


def checkpoints_of(
    session: Session, chosen: Mapping[int, StoredPlayer], specs: Sequence[str]
) -> list[Checkpoint]:
    """Each player's numbers against these opponents, in the order given."""
    opponents = engines(session, {*specs, *RELATIVES})
    against = {each.id: each for spec, each in opponents.items() if spec in set(specs)}
    seats, last = seats_of(session, chosen, against)
    gaps = gaps_of(session, chosen, opponents)
    return [
        Checkpoint(
            identity=player.identity,
            id=id,
            versus=versus_of(id, specs, opponents, seats),
            gap=gaps[id],
            last_at=last.get(id),
        )
        for id, player in chosen.items()
    ]


def temperature_of(identity: Identity) -> float | None:
    """The temperature in a player's settings."""
    sampling = identity.settings.get("sampling")
    found = sampling.get("temperature") if isinstance(sampling, Mapping) else None
    return float(found) if isinstance(found, int | float) else None


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
