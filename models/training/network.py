"""A Llama, small enough to be trained on a CPU core.

Root-mean-square norms, rotary positions, gated feed-forward layers, and embeddings that serve as
the output layer too: the architecture that llama.cpp calls `llama`, with positions rotated in
neighbouring pairs as it does, so that weights are exported as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from models.training.settings import Shape
from models.training.tokens import TOKENS

NORM_EPSILON = 1e-5
ROPE_BASE = 10_000.0
_INITIAL_DEVIATION = 0.05

Cache = list[tuple[Tensor, Tensor]]
"""Per layer keys and values: [sequences, heads, positions, width of a head] each."""


class Network(nn.Module):
    """Token numbers in, logits out.

    Args:
        shape: how large it is.
        seed: of the first weights.
    """

    def __init__(self, shape: Shape, seed: int = 0) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(len(TOKENS), shape.width)
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, NORM_EPSILON)
        half = shape.width // shape.heads // 2
        speeds = ROPE_BASE ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.arange(shape.context, dtype=torch.float64)[:, None] * speeds
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)
        generator = torch.Generator().manual_seed(seed)
        for weights in self.parameters():
            if weights.dim() > 1:
                nn.init.normal_(weights, std=_INITIAL_DEVIATION, generator=generator)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(weights.numel() for weights in self.parameters())

    def forward(self, ids: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Read on.

        Args:
            ids: [sequences, positions]; after a cache, one position.
            cache: of the positions before.

        Returns:
            Logits [sequences, positions, tokens], and the cache with these positions.
        """
        begin = cache[0][0].shape[2] if cache else 0
        end = begin + ids.shape[1]
        turn = self.cos[begin:end], self.sin[begin:end]
        hidden = self.embedding(ids)
        grown: Cache = []
        for number, layer in enumerate(self.layers):
            hidden, kept = layer(hidden, turn, cache[number] if cache else None)
            grown.append(kept)
        return self.norm(hidden) @ self.embedding.weight.T, grown

    def of_completions(self, ids: Tensor, prompt_length: int) -> Tensor:
        """The logits that speak of what follows prompts of one length: [sequences, rest, tokens].

        Args:
            ids: [sequences, positions], prompt and completion, padded at the end.
            prompt_length: tokens of each prompt.
        """
        logits: Tensor = self(ids[:, :-1])[0]
        return logits[:, prompt_length - 1 :]


class _Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, hidden = shape.width, shape.hidden
        self.heads = shape.heads
        self.attention_norm = nn.RMSNorm(width, NORM_EPSILON)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.feed_norm = nn.RMSNorm(width, NORM_EPSILON)
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(
        self, hidden: Tensor, turn: tuple[Tensor, Tensor], before: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        normed = self.attention_norm(hidden)
        q, k, v = (self._split(each(normed)) for each in (self.q, self.k, self.v))
        q, k = _turned(q, *turn), _turned(k, *turn)
        if before is not None:
            k, v = torch.cat((before[0], k), 2), torch.cat((before[1], v), 2)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=before is None)
        hidden = hidden + self.out(seen.transpose(1, 2).flatten(2))
        normed = self.feed_norm(hidden)
        return hidden + self.down(F.silu(self.gate(normed)) * self.up(normed)), (k, v)

    def _split(self, values: Tensor) -> Tensor:
        return values.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _turned(values: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions: each pair of neighbours turned by its angle."""
    even, odd = values[..., ::2], values[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


def chosen(cache: Cache, rows: Tensor) -> Cache:
    """The cache of some sequences, in this order."""
    return [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in cache]


def padded(sequences: Sequence[Sequence[int]], length: int) -> Any:
    """Sequences as one tensor [sequences, length], zeros behind the shorter ones."""
    return torch.tensor([[*each, *[0] * (length - len(each))] for each in sequences])
