"""Advantages, merged replies, the loss."""

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from arena.board import Mark  # noqa: E402
from arena.game import Game  # noqa: E402
from models.training.network import Network  # noqa: E402
from models.training.reinforce import (  # noqa: E402
    Pair,
    advantages,
    cispo,
    merged,
)
from models.training.rollouts import Played  # noqa: E402
from models.training.sampling import sample  # noqa: E402
from models.training.starts import Start  # noqa: E402
from models.training.tokens import Sample  # noqa: E402

# A game in which nothing happened, for its samples alone.
GAME = Played(Start("random", Mark.X, Mark.X, 0), Game(), ())


def test_advantages_are_relative_to_the_group() -> None:
    assert advantages([1, 0, 0.5, 0.5, 3, 1], 2) == [0.5, -0.5, 0, 0, 1, -1]


@pytest.fixture
def samples(network: Network) -> list[Sample]:
    prompts = [(1, 2, 3)] * 20 + [(4, 5)] * 20
    return sample(network, prompts, torch.Generator().manual_seed(0), max_tokens=2)


def gradient(network: Network, loss: Any) -> Any:
    network.zero_grad()
    loss.backward()
    return torch.cat([weights.grad.flatten() for weights in network.parameters()])


def test_equal_replies_weigh_as_much_merged_as_apart(
    network: Network, samples: list[Sample]
) -> None:
    doubled = samples * 3
    weights = [math.sin(n) for n in range(len(doubled))]
    games = [GAME._replace(samples=(each,)) for each in doubled]
    together = merged(games, weights)
    assert len(together) < len(doubled)
    assert sum(pair.times for pair in together) == len(doubled)
    apart = [Pair(each, weight, 1) for each, weight in zip(doubled, weights, strict=True)]
    one, other = (
        gradient(network, cispo(network, pairs, 5, 1.0)[0]) for pairs in (together, apart)
    )
    assert one.abs().max() > 1e-4
    assert torch.allclose(one, other, atol=1e-6)


def test_on_policy_the_gradient_is_that_of_reinforce(
    network: Network, samples: list[Sample]
) -> None:
    pairs = [Pair(each, n / 10 - 1, 1) for n, each in enumerate(samples)]
    loss, clipped = cispo(network, pairs, 5, 1.0)
    found = gradient(network, loss)
    plain = torch.zeros(())
    for pair in pairs:
        ids = torch.tensor([pair.sample.prompt + pair.sample.completion])
        at = len(pair.sample.prompt)
        logprobs = torch.log_softmax(network.of_completions(ids, at)[0], -1)
        plain = plain - pair.advantage * logprobs.gather(-1, ids[0, at:, None]).sum()
    tokens = sum(len(each.completion) for each in samples)
    assert clipped == 0
    assert torch.allclose(found, gradient(network, plain / tokens), atol=1e-6)


def test_importance_weights_are_clipped_and_no_token_is_left_out(
    network: Network, samples: list[Sample]
) -> None:
    each = samples[0]
    seldom = each._replace(logprobs=tuple(value - math.log(7) for value in each.logprobs))
    often = each._replace(logprobs=tuple(value + math.log(4) for value in each.logprobs))
    plain = gradient(network, cispo(network, [Pair(each, 1, 1)], 5, 1.0)[0])
    loss, clipped = cispo(network, [Pair(seldom, 1, 1)], 5, 1.0)
    assert clipped == 1
    assert torch.allclose(gradient(network, loss), 5 * plain, rtol=1e-3, atol=1e-6)
    loss, clipped = cispo(network, [Pair(often, 1, 1)], 5, 1.0)
    assert clipped == 0
    assert torch.allclose(gradient(network, loss), plain / 4, rtol=1e-3, atol=1e-6)


def test_where_all_are_equal_nothing_is_learnt(network: Network, samples: list[Sample]) -> None:
    loss, _ = cispo(network, [Pair(each, 0.0, 1) for each in samples], 5, 1.0)
    assert gradient(network, loss).abs().max() == 0
