"""What a run may choose: `--env.taskset.KEY`, and for the reward `--env.taskset.task.KEY`."""
# mypy: disable-error-code="import-untyped, misc, no-any-unimported"
# The library carries no types.

from __future__ import annotations

from pathlib import Path
from typing import Literal

import verifiers.v1 as vf
from pydantic import Field, model_validator

from arena.board import Mark
from arena.errors import ArenaError, ConfigError
from arena.reward import Check, Weights
from models.config import nearest
from models.environment.examples import Mix
from models.formats import PromptFormat
from models.library import DEFAULT, SHIPPED, load_formats
from models.prompt import History, ReasoningHistory

Either = Literal["X", "O", "either"]


class RewardConfig(vf.TaskConfig):
    """What a game is worth: win, draw or loss, plus the format's part, minus the penalty."""

    check: Check = Check.CONTAINS
    """Which check of the format earns its part: `contains` or `exact`. With `contains` as a reward
    models learn never to stop."""
    win: float = Weights.win
    draw: float = Weights.draw
    loss: float = Weights.loss
    """Of an unfinished game too."""
    format: float = Weights.format
    """Times the share of replies that follow the format."""
    invalid: float = Weights.invalid
    """The penalty, taken off once if any reply was no legal move."""

    @property
    def weights(self) -> Weights:
        """The same as the reward takes them."""
        return Weights(self.win, self.draw, self.loss, self.format, self.invalid)


class GamesConfig(vf.TasksetConfig):
    """Which games, against whom, asked how."""

    task: RewardConfig = RewardConfig()
    seed: int = 0
    """That of the first game; each next one is one more."""
    mark: Either | None = None
    """The model's: X, O, or either by a coin from the seed. Unset: as the prompt format fixes it,
    else either."""
    opener: Either | None = None
    """Who moves first. Unset: X, or either where the mark is fixed."""
    opponents: list[str] = Field(default_factory=list)
    """Specs, each as likely. Unset: perfect players by `ties`."""
    ties: list[str] = Field(default_factory=lambda: ["uniform"])
    """How a perfect player picks among equal moves, each as likely."""
    epsilon_low: float = 0.0
    epsilon_high: float = 0.0
    """The range from which each minimax opponent's chance of a random move is drawn."""
    num_groups: int = Field(default=1, ge=1)
    """Examples in a batch, over which seats, opponents and chances are spread evenly: the trainer's
    batch_size // group_size."""
    prompt: str = DEFAULT
    """The prompt format's name."""
    prompt_file: Path | None = None
    """A TOML file with formats of your own."""
    history: History = History.FULL
    reasoning_history: ReasoningHistory = ReasoningHistory.DROP
    max_replies: int = Field(default=8, ge=1, le=1000)
    """Replies in a game, legal ones included; when one more is needed it is forfeited."""
    sampling_seeds: bool = False
    """Send a sampling seed with each request, as the arena's own evaluations do. Only with one
    rollout an example: several would all be the same game."""

    @model_validator(mode="after")
    def _can_be_played(self) -> GamesConfig:
        if self.system_prompt is not None:
            raise ValueError(
                "system_prompt is the prompt format's part: write a format of your own, and name "
                "it with prompt and prompt_file"
            )
        try:
            self.mix()
        except ArenaError as error:
            raise ValueError(str(error)) from None
        return self

    def form(self) -> PromptFormat:
        """The prompt format.

        Raises:
            ConfigError: its file cannot be used, or there is no format of that name.
        """
        formats = SHIPPED
        if self.prompt_file is not None:
            if not self.prompt_file.exists():
                raise ConfigError(f"{self.prompt_file}: there is no such file")
            formats = load_formats(self.prompt_file)
        if self.prompt not in formats:
            raise ConfigError(
                f"there is no prompt format {self.prompt!r}: {nearest(self.prompt, formats)}"
            )
        return formats[self.prompt]

    def mix(self) -> Mix:
        """What the examples are drawn from.

        Raises:
            ArenaError: that is nothing.
        """
        mark = self.mark or self.form().mark or "either"
        opener = self.opener or ("X" if mark == "either" else "either")
        return Mix(
            seed=self.seed,
            mark=None if mark == "either" else Mark(mark),
            opener=None if opener == "either" else Mark(opener),
            opponents=tuple(self.opponents),
            ties=tuple(self.ties),
            epsilon_low=self.epsilon_low,
            epsilon_high=self.epsilon_high,
            strata=self.num_groups,
        )
