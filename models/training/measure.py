"""A checkpoint against a panel, its games played in batches: the cells of an evaluation's plan."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch

from arena.board import Mark, Outcome
from arena.game import Verdict
from arena.opponents import parse
from arena.plan import Plan
from arena.statistics import Interval, wilson
from models.training.network import Network
from models.training.rollouts import Played, play
from models.training.sampling import sample
from models.training.scoring import judged_reasons
from models.training.starts import Start

_MAX_TOKENS = 24
"""Of a reply; an exact one has eight."""
_AT_ONCE = 512
"""Games under way together."""


@dataclass
class Entry:
    """What came of the games against one opponent, opening or replying."""

    opponent: str
    opening: bool
    wins: int = 0
    draws: int = 0
    losses: int = 0
    """Forfeits too."""
    forfeits: int = 0
    replies: int = 0
    stopped: int = 0
    """Replies that ended by themselves."""
    exact: int = 0
    """Replies that followed the format by the `exact` check."""
    valid: int = 0
    true_reasons: int = 0
    """Replies whose reason is true of the board and of their move."""
    _lines: set[tuple[Mark, tuple[int, ...]]] = field(default_factory=set, repr=False)

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def distinct(self) -> int:
        """Different sequences of moves."""
        return len(self._lines)

    @property
    def not_lost(self) -> float | None:
        """The share of games that were won or drawn."""
        return (self.wins + self.draws) / self.games if self.games else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of that share: each game has a seed of its own."""
        return wilson(self.wins + self.draws, self.games)

    def add(self, played: Played) -> None:
        """Count a finished game."""
        game, mark = played.game, played.start.mark
        self.wins += game.outcome is Outcome.win(mark)
        self.draws += game.outcome is Outcome.DRAW
        self.losses += game.outcome is Outcome.win(mark.other)
        self.forfeits += game.termination is not None and game.termination.is_forfeit
        self._lines.add((game.opener, game.moves))
        for attempt, true in judged_reasons(played):
            self.replies += 1
            self.stopped += attempt.finish_reason == "stop"
            self.exact += attempt.exact
            self.valid += attempt.verdict is Verdict.OK
            self.true_reasons += true


def measure(
    network: Network,
    opponents: Sequence[str],
    seeds: int,
    *,
    first_seed: int = 0,
    temperature: float = 1.0,
    draws: int = 0,
) -> list[Entry]:
    """Play each opponent once a seed and seat: X opens, the checkpoint plays X and O.

    Args:
        network: the checkpoint.
        opponents: canonical specs.
        seeds: how many.
        first_seed: of the games; each next one is one more.
        temperature: of the checkpoint's replies.
        draws: seeds the checkpoint's own draws.

    Returns:
        Entries, opening before replying, opponents in their order.
    """
    plan = Plan(tuple(str(parse(spec)) for spec in opponents), seeds, first_seed)
    entries = {
        (spec, opening): Entry(spec, opening)
        for spec in plan.opponents
        for opening in (True, False)
    }
    begin = [Start(cell.opponent, cell.mark, cell.opener, cell.seed) for cell in plan]
    generator = torch.Generator().manual_seed(draws)
    draw = partial(
        sample, network, generator=generator, temperature=temperature, max_tokens=_MAX_TOKENS
    )
    for at in range(0, len(begin), _AT_ONCE):
        batch = begin[at : at + _AT_ONCE]
        for played in play(draw, batch):
            opening = played.start.mark is played.start.opener
            entries[played.start.opponent, opening].add(played)
    return list(entries.values())


COLUMNS = (
    *("checkpoint", "seed", "panel", "opponent", "seat", "games", "wins", "draws", "losses"),
    *("forfeits", "not_lost", "low", "high", "distinct", "replies", "stopped", "exact", "valid"),
    *("true_reasons",),
)
"""Of the CSV: counts, but for `not_lost`, a share, with its Wilson 95 % interval."""


def line(checkpoint: str, seed: int, panel: str, entry: Entry) -> list[object]:
    """A line of the CSV."""
    interval = entry.interval
    return [
        checkpoint,
        seed,
        panel,
        entry.opponent,
        "opening" if entry.opening else "replying",
        *(entry.games, entry.wins, entry.draws, entry.losses, entry.forfeits),
        "" if entry.not_lost is None else f"{entry.not_lost:.4f}",
        *(("", "") if interval is None else (f"{interval.low:.4f}", f"{interval.high:.4f}")),
        *(entry.distinct, entry.replies, entry.stopped, entry.exact, entry.valid),
        entry.true_reasons,
    ]


def append_csv(path: Path, lines: Iterable[Sequence[object]]) -> None:
    """Add lines to a CSV file, which gets its header with the first."""
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows(lines)
