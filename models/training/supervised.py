"""Supervised fine-tuning: the loss on completions only, their prompts are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from models.training.curves import Row
from models.training.lessons import Lesson, lessons
from models.training.network import Network, padded
from models.training.runs import OnStep, Run, run
from models.training.settings import Sft


def train(stage: Sft, folder: Path, on_step: OnStep | None = None) -> Run:
    """Train a stage on its lessons; `runs.run` says what is raised, and `lessons.lessons`."""
    found: list[Lesson] = []

    def take_step(current: Run) -> Row:
        if not found:
            found.extend(lessons(stage.data, stage.seed))
        drawn, _ = current.generators()
        total, right, count = loss_of(current.network, drawn.choices(found, k=stage.batch))
        length = current.update(total / count)
        return {
            "loss": float(total.detach()) / count,
            "accuracy": right / count,
            "gradient": length,
        }

    return run(stage, folder, take_step, on_step)


def loss_of(network: Network, batch: Sequence[Lesson]) -> tuple[torch.Tensor, int, int]:
    """The cross-entropy of completions.

    Returns:
        The sum over all tokens, how many of them were the likeliest, and their number.
    """
    total = torch.zeros(())
    right = count = 0
    for length in sorted({len(each.prompt) for each in batch}):
        group = [each for each in batch if len(each.prompt) == length]
        longest = max(len(each.completion) for each in group)
        ids = padded([each.prompt + each.completion for each in group], length + longest)
        lengths = torch.tensor([len(each.completion) for each in group])
        asked = torch.arange(longest) < lengths[:, None]
        logits = network.of_completions(ids, length)[asked]
        wanted = ids[:, length:][asked]
        total = total + F.cross_entropy(logits, wanted, reduction="sum")
        right += int((logits.argmax(-1) == wanted).sum())
        count += len(wanted)
    return total, right, count
