"""What checkpoints cost, by the prices of `models.toml`."""

from models.entries import Entry, Prices
from models.registry import Registry
from storage.costs import Costs
from tests.cli.test_evaluation_table import CKPT, entry
from web.costs import Bill, bills

SPENT = Costs(games=2, requests=9, attempts=8, prompt_tokens=4000, completion_tokens=500)


def registry(**more) -> Registry:
    name = CKPT.identity.name
    return Registry((Entry(name=name, base_url="http://localhost:1/v1", model="m", **more),))


def test_a_bill_adds_up_a_checkpoint_s_entries():
    prices = Prices(input=2.5, output=20)
    found = [entry(costs=SPENT), entry(opening=False, costs=SPENT)]
    (bill,) = bills(found, registry(prices=prices))
    assert bill == Bill(CKPT.identity.name, SPENT + SPENT, prices)
    assert bill.money == 0.04
    assert not bill.is_lower_bound


def test_no_prices_no_money():
    (unpriced,) = bills([entry(costs=SPENT)], registry())
    (unknown,) = bills([entry(costs=SPENT)], Registry())
    assert unpriced.money is unknown.money is None


def test_what_was_not_counted_costs_nobody_knows_what():
    prices = Prices(input=1, output=1)
    assert Bill("a", Costs(attempts=3, uncounted=3), prices).money is None
    some = Bill("a", Costs(attempts=3, uncounted=1, prompt_tokens=1_000_000), prices)
    assert (some.money, some.is_lower_bound) == (1.0, True)
    assert Bill("a", Costs(), prices).money is None
