r"""Reinforcement learning from games: advantages relative to a group, and CISPO.

Games of a group share opponent, seed, opener and forced moves; they differ in the policy's draws
alone. A game's advantage is its reward minus the group's mean, the same for each token of each of
its replies:

    A_i = R_i - mean(R of the group)

It is not divided by the group's deviation, which would make a group that differs in a rare detail
weigh as much as one that differs in winning.

The loss is CISPO's: the importance weight of each token is clipped, and no token is left out.

    J = 1 / (sum_i |o_i|) * sum_i sum_t sg(min(r_it, clip)) * A_i * log pi(o_it | before)
    r_it = pi(o_it | before) / pi_old(o_it | before)

`sg` stops the gradient. As in the source, there is no lower bound on the weight. Both policies are
taken at the temperature of the rollouts.

Source: "MiniMax-M1: Scaling Test-Time Compute Efficiently with Lightning Attention", 2025,
arXiv 2506.13585, section 3.1; group-relative advantages from DeepSeekMath, arXiv 2402.03300, and
the mean alone from "Understanding R1-Zero-Like Training", arXiv 2503.20783.

Replies that are equal, prompt and completion, have equal weights and gradients: they go through the
network once, with the sum of their advantages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from models.training.curves import Row
from models.training.network import Network, padded
from models.training.rollouts import Played, play
from models.training.runs import OnStep, Run, run
from models.training.sampling import sample
from models.training.scoring import figures, score
from models.training.settings import Rl
from models.training.starts import of_groups, starts
from models.training.tokens import Sample


def train(stage: Rl, folder: Path, on_step: OnStep | None = None) -> Run:
    """Train a stage by playing; `runs.run` says what is raised."""

    def take_step(current: Run) -> Row:
        drawn, generator = current.generators()
        told = stage.rollout
        begin = of_groups(starts(told, told.groups, drawn), told.group_size)
        draw = partial(
            sample,
            current.network,
            generator=generator,
            temperature=told.temperature,
            max_tokens=told.max_tokens,
        )
        games = play(draw, begin, max_replies=told.max_replies, prompt=told.prompt)
        scored = [score(game, stage.reward) for game in games]
        weighed = advantages([each.total for each in scored], told.group_size)
        pairs = merged(games, weighed)
        drawn.shuffle(pairs)
        size = -(-len(pairs) // stage.cispo.minibatches) or 1
        length = clipped = 0.0
        for at in range(0, len(pairs), size):
            loss, share = cispo(
                current.network, pairs[at : at + size], stage.cispo.clip, told.temperature
            )
            length = max(length, current.update(loss))
            clipped = max(clipped, share)
        row = figures(games, scored)
        return {**row, "distinct": len(pairs) + 0.0, "clipped": clipped, "gradient": length}

    return run(stage, folder, take_step, on_step)


def advantages(rewards: Sequence[float], size: int) -> list[float]:
    """Each reward minus the mean of its group; groups stand one after the other."""
    found: list[float] = []
    for at in range(0, len(rewards), size):
        group = rewards[at : at + size]
        mean = sum(group) / len(group)
        found += [each - mean for each in group]
    return found


class Pair(NamedTuple):
    """Equal replies, once."""

    sample: Sample
    advantage: float
    """The sum over all of them."""
    times: int


def merged(games: Sequence[Played], weights: Sequence[float]) -> list[Pair]:
    """The replies of games with their games' advantages, equal ones merged."""
    sums: dict[tuple[tuple[int, ...], tuple[int, ...]], list[float]] = defaultdict(lambda: [0.0, 0])
    samples: dict[tuple[tuple[int, ...], tuple[int, ...]], Sample] = {}
    for game, weight in zip(games, weights, strict=True):
        for each in game.samples:
            key = each.prompt, each.completion
            samples.setdefault(key, each)
            sums[key][0] += weight
            sums[key][1] += 1
    return [Pair(each, sums[key][0], int(sums[key][1])) for key, each in samples.items()]


def cispo(
    network: Network, pairs: Sequence[Pair], clip: float, temperature: float
) -> tuple[torch.Tensor, float]:
    """The loss of merged replies, to be made small.

    Args:
        network: the policy.
        pairs: the replies.
        clip: the largest importance weight.
        temperature: at which they were drawn.

    Returns:
        The loss, and the share of tokens whose importance weight was clipped.
    """
    tokens = sum(pair.times * len(pair.sample.completion) for pair in pairs)
    total = torch.zeros(())
    clipped = 0
    moving = [pair for pair in pairs if pair.advantage]
    for length in sorted({len(pair.sample.prompt) for pair in moving}):
        group = [pair for pair in moving if len(pair.sample.prompt) == length]
        longest = max(len(pair.sample.completion) for pair in group)
        rows = [pair.sample.prompt + pair.sample.completion for pair in group]
        ids = padded(rows, length + longest)
        sizes = torch.tensor([len(pair.sample.completion) for pair in group])
        asked = torch.arange(longest) < sizes[:, None]
        logits = network.of_completions(ids, length)
        logprobs = torch.log_softmax(logits / temperature, -1)
        said = logprobs.gather(-1, ids[:, length:, None]).squeeze(-1)
        before = torch.tensor(
            [[*p.sample.logprobs, *[0.0] * (longest - len(p.sample.logprobs))] for p in group]
        )
        ratio = (said.detach() - before).exp()
        advantage = torch.tensor([pair.advantage for pair in group])[:, None]
        counts = torch.tensor([pair.times for pair in group])[:, None]
        total = total - (ratio.clamp(max=clip) * advantage * said * asked).sum()
        clipped += int(((ratio > clip) * counts * asked).sum())
    if not moving:
        # Nothing to learn: a gradient of zeros, so that every step is one of the optimiser.
        total = total + 0.0 * sum(weights.sum() for weights in network.parameters())
    return total / max(1, tokens), clipped / max(1, tokens)
