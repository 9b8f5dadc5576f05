"""What an evaluation has cost: its figures with the prices of `models.toml`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.entries import Prices
from models.registry import Registry
from storage.costs import Costs
from storage.figures import Figures


@dataclass(frozen=True)
class Bill:
    """What one checkpoint's games cost, void ones and repeats too."""

    checkpoint: str
    costs: Costs
    prices: Prices | None
    """None where its entry names none, or there is no such entry any more."""

    @property
    def money(self) -> float | None:
        """In the prices' currency; None where there are no prices, or no tokens were counted."""
        if self.prices is None or not self.costs.has_tokens:
            return None
        return self.costs.money(self.prices.input, self.prices.output)

    @property
    def is_lower_bound(self) -> bool:
        """Whether tokens and money are the least it can have been: some were not counted."""
        return self.costs.uncounted > 0


def bills(found: Sequence[Figures], registry: Registry) -> list[Bill]:
    """A bill for each checkpoint, in the order of the figures."""
    spent: dict[str, Costs] = {}
    for each in found:
        name = each.entry.player.identity.name
        spent[name] = spent.get(name, Costs()) + each.costs
    return [
        Bill(name, costs, registry.get(name).prices if name in registry else None)
        for name, costs in spent.items()
    ]
