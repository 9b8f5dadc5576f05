"""Completions drawn for many prompts at once.

Equal prompts with equal beginnings of their completions have equal distributions: each such
beginning is computed once, however many games have it. The draws are independent all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from models.training.network import Network, chosen, padded
from models.training.tokens import END_ID, Ids, Sample

_COLDEST = 1e-6


def sample(
    network: Network,
    prompts: Sequence[Ids],
    generator: torch.Generator,
    *,
    temperature: float = 1.0,
    max_tokens: int,
) -> list[Sample]:
    """One completion for each prompt, in the order of the prompts.

    Args:
        network: the policy.
        prompts: tokens, one or more each.
        generator: makes the draws.
        temperature: 0 takes the likeliest token.
        max_tokens: at most so many each.
    """
    found: dict[int, Sample] = {}
    lengths: dict[int, list[int]] = {}
    for place, prompt in enumerate(prompts):
        lengths.setdefault(len(prompt), []).append(place)
    with torch.inference_mode():
        for length, places in sorted(lengths.items()):
            most = min(max_tokens, network.shape.context - length)
            asked = [prompts[place] for place in places]
            for place, drawn in zip(
                places, _of_one_length(network, asked, generator, temperature, most), strict=True
            ):
                found[place] = drawn
    return [found[place] for place in range(len(prompts))]


def _of_one_length(
    network: Network,
    prompts: Sequence[Ids],
    generator: torch.Generator,
    temperature: float,
    max_tokens: int,
) -> list[Sample]:
    distinct = {prompt: row for row, prompt in enumerate(dict.fromkeys(prompts))}
    logits, cache = network(padded(list(distinct), len(prompts[0])))
    logits = logits[:, -1]
    row = torch.tensor([distinct[prompt] for prompt in prompts])
    """Of each completion that goes on, its row among the distinct ones."""
    going = torch.arange(len(prompts))
    tokens: list[list[int]] = [[] for _ in prompts]
    logprobs: list[list[float]] = [[] for _ in prompts]
    for _ in range(max_tokens):
        of_row = torch.log_softmax(logits / max(temperature, _COLDEST), -1)
        if temperature:
            ends = of_row.exp().cumsum(-1)[row]
            draws = torch.rand(len(row), 1, generator=generator) * ends[:, -1:]
            token = torch.searchsorted(ends, draws, right=True).squeeze(1)
            token = token.clamp(max=logits.shape[-1] - 1)
        else:
            token = logits.argmax(-1)[row]
        said = of_row[row, token]
        for place, number, logprob in zip(
            going.tolist(), token.tolist(), said.tolist(), strict=True
        ):
            tokens[place].append(number)
            logprobs[place].append(logprob)
        on = token != END_ID
        if not on.any():
            break
        going = going[on]
        distinct_next, row = torch.unique(
            row[on] * logits.shape[-1] + token[on], return_inverse=True
        )
        cache = chosen(cache, distinct_next // logits.shape[-1])
        logits, cache = network((distinct_next % logits.shape[-1])[:, None], cache)
        logits = logits[:, -1]
    return [
        Sample(prompt, tuple(ids), tuple(logs))
        for prompt, ids, logs in zip(prompts, tokens, logprobs, strict=True)
    ]
