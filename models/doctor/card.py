"""What an examination has found, as values, as JSON and in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from models.adapt import Adaptation


class Outcome(StrEnum):
    """What a probe came to."""

    OK = "ok"
    NOTE = "note"
    """Games can be played so, but whoever reads their numbers should know."""
    PROBLEM = "problem"
    """Something to change."""
    UNKNOWN = "unknown"
    """It was not tried, or could not be told."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was looked at."""

    name: str
    outcome: Outcome
    seen: str
    """What was seen, in a sentence. It may quote the server's errors, never a model's reply."""
    change: str | None = None
    """What to change, where something can be."""
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    """What was measured; seconds where a name ends in `_s`."""

    def to_json(self) -> dict[str, Any]:
        """The probe as plain JSON values."""
        return {
            "name": self.name,
            "outcome": self.outcome.value,
            "seen": self.seen,
            "change": self.change,
            "figures": dict(self.figures),
        }


@dataclass(frozen=True, slots=True)
class Card:
    """What an examination has found. It holds no key, no header and no address of the server's,
    except where a better one is proposed.
    """

    model: str
    """The entry's name."""
    prompt: str
    """The prompt format's name."""
    probes: tuple[Probe, ...]
    """In the order in which they were made."""
    adaptations: tuple[Adaptation, ...]
    """What the server forces us to change about the requests of games."""
    requests: int
    """How many were sent."""
    stopped: str | None
    """Why it cannot play, where it cannot; a sentence."""

    @property
    def ok(self) -> bool:
        """Whether it can play, however badly."""
        return self.stopped is None

    @property
    def summary(self) -> str:
        """The card in one sentence."""
        if self.stopped is not None:
            return f"cannot play: {self.stopped}"
        if wrong := self._named(Outcome.PROBLEM):
            return f"ready, but see {wrong}"
        if noted := self._named(Outcome.NOTE):
            return f"ready to play; worth knowing: {noted}"
        return "ready to play"

    def lines(self) -> list[str]:
        """The card in plain words, a line each; without colours."""
        wide = max((len(probe.name) for probe in self.probes), default=0)
        indent = " " * (len(Outcome.PROBLEM) + wide + 4)
        lines = [f"{self.model}: {self.summary}", ""]
        for probe in self.probes:
            outcome = probe.outcome.value.ljust(len(Outcome.PROBLEM))
            lines.append(f"{outcome}  {probe.name.ljust(wide)}  {probe.seen}")
            if probe.change is not None:
                lines.append(f"{indent}To change: {probe.change}")
        if self.adaptations:
            lines += ["", "What the server forces on every game:"]
            lines += [f"  {each.description}" for each in self.adaptations]
        return lines

    def to_json(self) -> dict[str, Any]:
        """The card as plain JSON values."""
        return {
            "model": self.model,
            "prompt": self.prompt,
            "ok": self.ok,
            "summary": self.summary,
            "stopped": self.stopped,
            "probes": [probe.to_json() for probe in self.probes],
            "adaptations": [
                {"name": each.value, "description": each.description} for each in self.adaptations
            ],
            "requests": self.requests,
        }

    def _named(self, outcome: Outcome) -> str:
        return ", ".join(probe.name for probe in self.probes if probe.outcome is outcome)
