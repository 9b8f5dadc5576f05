"""What games cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Costs:
    """What games cost, void ones and repeats too."""

    games: int = 0
    """Games that were stored, each time that a cell was played."""
    requests: int = 0
    """Failed ones too."""
    attempts: int = 0
    """Replies, whatever they were."""
    uncounted: int = 0
    """Attempts of which the server did not say how many tokens they took: where there are some,
    the tokens below are the least that it can have been."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """Between requests and replies, added up over games that were under way at once."""

    def __add__(self, other: Costs) -> Costs:
        return Costs(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def has_tokens(self) -> bool:
        """Whether any tokens were counted."""
        return self.attempts > self.uncounted

    def money(self, per_million_in: float, per_million_out: float) -> float:
        """The price, in the currency in which a million tokens in and out are given."""
        tokens = self.prompt_tokens * per_million_in + self.completion_tokens * per_million_out
        return tokens / 1_000_000
