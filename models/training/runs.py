"""A stage's run: its folder, its checkpoint, its curve. A run that was killed goes on from there.

    FOLDER/NAME-sSEED/state.pt    weights, optimiser, step, rows of the curve, settings
                     /curve.csv   a row a step
                     /curve.svg   the same as a picture

Draws of a step depend on (seed, step) alone, so weights, optimiser and step are all the state there
is: a run that goes on ends with the same weights as one that never stopped.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from arena.board import mix
from arena.errors import ConfigError, NotFoundError
from models.training.curves import Row, write_csv, write_svg
from models.training.network import Network
from models.training.settings import Optimiser, Rl, Sft, Shape

STATE = "state.pt"
_FORMAT = 1

OnStep = Callable[[Row, int], None]
"""Told the row of each step, and how many steps there are."""


@dataclass
class Run:
    """A stage under way."""

    stage: Sft | Rl
    folder: Path
    network: Network
    optimiser: torch.optim.AdamW
    step: int = 0
    """Steps that are done."""
    rows: list[Row] = field(default_factory=list)
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.step >= self.stage.steps

    def generators(self) -> tuple[random.Random, torch.Generator]:
        """What makes the draws of the coming step."""
        seed = mix(mix(self.stage.seed + 1) + self.step) >> 1
        return random.Random(seed), torch.Generator().manual_seed(seed)

    def update(self, loss: torch.Tensor) -> float:
        """One step of the optimiser; the gradient's length before it was cut."""
        settings = self.stage.optimiser
        for group in self.optimiser.param_groups:
            group["lr"] = rate(settings, self.step, self.stage.steps)
        self.optimiser.zero_grad()
        loss.backward()
        length = torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.clip_norm)
        self.optimiser.step()
        return float(length)

    def save(self) -> None:
        """Write the folder's files; each is whole at any time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = {
            "format": _FORMAT,
            "stage": self.stage.model_dump(mode="json"),
            "shape": self.network.shape.model_dump(),
            "weights": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "rows": self.rows,
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
        }
        partial = self.folder / f"{STATE}.part"
        torch.save(state, partial)
        partial.replace(self.folder / STATE)
        write_csv(self.rows, self.folder / "curve.csv")
        write_svg(
            self.rows, self.folder / "curve.svg", f"{self.stage.name}, seed {self.stage.seed}"
        )


def run(
    stage: Sft | Rl, folder: Path, take_step: Callable[[Run], Row], on_step: OnStep | None = None
) -> Run:
    """Train a stage from its start, or from where it was interrupted, to its end.

    Args:
        stage: what is trained.
        folder: where runs lie, that of `stage.start` too.
        take_step: trains one step, and gives the curve's row for it.
        on_step: told each row.

    Raises:
        NotFoundError: there is no run to start from.
        ConfigError: a run of that name and seed has other settings, or the one to start from is
            not finished.
    """
    # Of matrices this small, more threads make slower ones, and add up in another order.
    torch.set_num_threads(1)
    current = open_run(stage, folder)
    while not current.finished:
        wall, cpu = time.perf_counter(), time.process_time()
        row = {"step": current.step + 1.0, **take_step(current)}
        current.step += 1
        current.rows.append(row)
        current.wall_s += time.perf_counter() - wall
        current.cpu_s += time.process_time() - cpu
        if on_step is not None:
            on_step(row, stage.steps)
        if current.step == stage.steps or current.step % stage.save_every == 0:
            current.save()
    return current


def open_run(stage: Sft | Rl, folder: Path) -> Run:
    """The run of a stage, as it stands; see `run` for what it raises."""
    own = run_folder(folder, stage.name, stage.seed)
    if (own / STATE).exists():
        state = load_state(own)
        said = stage.model_dump(mode="json")
        changed = [key for key, value in said.items() if state["stage"].get(key) != value]
        if changed:
            raise ConfigError(
                f"{own} was begun with another {changed[0]!r}: "
                "remove that folder, or give the stage another name"
            )
        network = network_of(state)
        optimiser = _optimiser(network, stage.optimiser)
        optimiser.load_state_dict(state["optimiser"])
        return Run(
            stage,
            own,
            network,
            optimiser,
            state["step"],
            state["rows"],
            state["wall_s"],
            state["cpu_s"],
        )
    if stage.start is None:
        network = Network(stage.network, stage.seed)
    else:
        before = load_state(run_folder(folder, stage.start, stage.seed))
        if before["step"] < before["stage"]["steps"]:
            raise ConfigError(
                f"the run {stage.start!r} that {stage.name!r} starts from is not done"
            )
        network = network_of(before)
    return Run(stage, own, network, _optimiser(network, stage.optimiser))


def run_folder(folder: Path, name: str, seed: int) -> Path:
    """Where a run lies."""
    return folder / f"{name}-s{seed}"


def load_state(folder: Path) -> dict[str, Any]:
    """The checkpoint in a run's folder.

    Raises:
        NotFoundError: there is none.
        ConfigError: it cannot be used.
    """
    path = folder / STATE
    if not path.exists():
        raise NotFoundError(f"there is no trained run in {str(folder)!r}: train that stage first")
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
    except Exception as error:
        raise ConfigError(f"{path}: no checkpoint of ours: {error}") from None
    if state.get("format") != _FORMAT:
        raise ConfigError(f"{path}: a checkpoint of another version")
    return state


def network_of(state: dict[str, Any]) -> Network:
    """The network of a checkpoint."""
    network = Network(Shape.model_validate(state["shape"]))
    network.load_state_dict(state["weights"])
    return network


def rate(settings: Optimiser, step: int, steps: int) -> float:
    """The learning rate of a step from 0: a linear warm-up, then a cosine to the final share."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / (settings.warmup + 1)
    way = (step - settings.warmup) / max(1, steps - settings.warmup)
    share = settings.final + (1 - settings.final) * (1 + math.cos(math.pi * way)) / 2
    return settings.learning_rate * share


def _optimiser(network: Network, settings: Optimiser) -> torch.optim.AdamW:
    return torch.optim.AdamW(
        network.parameters(),
        lr=settings.learning_rate,
        betas=(0.9, 0.95),
        weight_decay=settings.weight_decay,
    )
