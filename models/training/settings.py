"""What a training stage's TOML file may say. Every mistake is named, with the file and the key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from arena.errors import ConfigError, SpecError
from arena.opponents import Minimax, parse
from arena.reward import Weights
from models.config import nearest, problems, read_toml
from models.library import DEFAULT, SHIPPED

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
_Share = Annotated[float, Field(ge=0, le=1)]
_Positive = Annotated[float, Field(gt=0)]
_Count = Annotated[int, Field(ge=1)]
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,59}$")]
_MOST_FORCED = 8


class Shape(BaseModel):
    """How large a network is."""

    model_config = _STRICT

    width: _Count = 96
    layers: _Count = 3
    heads: _Count = 4
    hidden: _Count = 256
    """The width inside a feed-forward layer."""
    context: int = Field(default=256, ge=32)
    """Tokens of prompt and reply together."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.width % (2 * self.heads):
            raise ValueError("'width' has to be a multiple of twice 'heads'")
        return self


class Optimiser(BaseModel):
    """AdamW, its warm-up, and a cosine down to a share of the learning rate."""

    model_config = _STRICT

    learning_rate: _Positive
    warmup: int = Field(default=10, ge=0)
    """Steps until the learning rate is reached."""
    final: _Share = 1.0
    """The share of the learning rate that is left at the last step."""
    weight_decay: float = Field(default=0.0, ge=0)
    clip_norm: _Positive = 1.0
    """The longest gradient; a longer one is scaled down."""


class Mixed(BaseModel):
    """Opponents with weights, and how random they are."""

    model_config = _STRICT

    opponents: dict[str, _Positive] = Field(min_length=1)
    """Specs, each with its weight in the mix."""
    epsilon: list[_Share] = Field(default=[0.0, 0.0], min_length=2, max_length=2)
    """From and to: the chance of a random move of opponents whose spec gives none."""
    opener_o: _Share = 0.0
    """The share of games that O opens."""
    forced: _Share = 0.0
    """The share of games whose first moves, of both sides, are drawn at random: the first of all
    goes to each square equally often, so that every opening is met."""
    forced_moves: list[Annotated[int, Field(ge=1, le=_MOST_FORCED)]] = Field(
        default=[1, 1], min_length=2, max_length=2
    )
    """How many moves are forced, from and to."""
    prompt: str = DEFAULT
    """A shipped prompt format with thinking and numbered boards."""

    @field_validator("opponents")
    @classmethod
    def _are_engines(cls, value: dict[str, float]) -> dict[str, float]:
        for spec in value:
            try:
                parse(spec)
            except SpecError as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator("epsilon", "forced_moves")
    @classmethod
    def _runs_upwards(cls, value: list[float]) -> list[float]:
        if value[0] > value[1]:
            raise ValueError("has to be a lower and a higher number")
        return value

    @field_validator("prompt")
    @classmethod
    def _is_shipped(cls, value: str) -> str:
        if value not in SHIPPED:
            raise ValueError(f"names no shipped prompt format: {nearest(value, SHIPPED)}")
        return value

    def spec(self, opponent: str, epsilon: float) -> str:
        """An opponent of the mix, with this chance of a random move if its own spec gives none."""
        engine = parse(opponent)
        if not isinstance(engine, Minimax) or engine.epsilon:
            return str(engine)
        joined = f"{engine},epsilon={epsilon:.2f}"
        return str(parse(joined if ":" in str(engine) else f"{engine}:epsilon={epsilon:.2f}"))


class Loose(BaseModel):
    """Random squares on random boards, said in loose formats: what a base model may have read."""

    model_config = _STRICT

    kind: Literal["loose"]
    boards: _Count


class Teacher(Mixed):
    """Games of a teacher that is right with some probability."""

    kind: Literal["teacher"]
    games: _Count
    """How many are played; those that the teacher lost are left out."""
    optimal: _Share
    """The chance of an optimal move, each turn; else any free square."""
    retries: _Share = 0.0
    """The share of turns in which an occupied square is named first. What follows is learnt."""


class Export(BaseModel):
    """A file of ours: `arena export messages`."""

    model_config = _STRICT

    kind: Literal["export"]
    path: str
    """The JSONL file. A relative path starts where the TOML file lies."""
    results: list[Literal["win", "draw", "loss"]] = ["win", "draw"]
    """Which games are learnt from, as the model's seat saw them."""
    max_tokens: _Count = 64
    """Longer replies are left out."""


class Stage(BaseModel):
    """What all stages say."""

    model_config = _STRICT

    name: _Name
    seed: int = Field(default=0, ge=0, lt=1 << 31)
    start: _Name | None = None
    """The stage whose weights are taken up; without it they are drawn, in the network's shape."""
    network: Shape = Shape()
    steps: _Count
    save_every: _Count = 20
    """Steps between two checkpoints from which training can go on."""
    optimiser: Optimiser


class Sft(Stage):
    """Learning completions by heart: `base` and `sft`."""

    kind: Literal["sft"]
    batch: _Count
    """Completions a step."""
    data: Annotated[Loose | Teacher | Export, Field(discriminator="kind")]


class Rollout(Mixed):
    """The games of a step."""

    groups: _Count = 32
    group_size: int = Field(default=8, ge=2)
    """Games that share opponent, seed, opener and forced moves."""
    temperature: _Positive = 1.0
    max_tokens: _Count = 24
    """Of a reply; a longer one is cut."""
    max_replies: _Count = 8


class Worth(BaseModel):
    """The weights of `arena.reward`, and of reasons that are true of the board."""

    model_config = _STRICT

    win: float = 1.0
    draw: float = 0.5
    loss: float = 0.0
    format: float = 0.2
    """Times the share of replies that follow the format by the `exact` check."""
    invalid: float = Field(default=0.3, ge=0)
    """Taken off once if any reply was invalid."""
    reason: float = Field(default=0.0, ge=0)
    """Times the share of replies whose reason is true of the board and of their move."""

    @property
    def weights(self) -> Weights:
        """What the arena's own reward takes."""
        return Weights(self.win, self.draw, self.loss, self.format, self.invalid)


class Cispo(BaseModel):
    """How rewards become a gradient; see `models.training.reinforce`."""

    model_config = _STRICT

    minibatches: _Count = 2
    """Updates a step."""
    clip: float = Field(default=5.0, ge=1)
    """The largest importance weight."""


class Rl(Stage):
    """Learning from games: `rl1` and on."""

    kind: Literal["rl"]
    start: _Name
    rollout: Rollout
    reward: Worth = Worth()
    cispo: Cispo = Cispo()


def load_stage(path: Path, *, seed: int | None = None) -> Sft | Rl:
    """Read a stage's file.

    Args:
        path: the TOML file.
        seed: another seed than the file's.

    Raises:
        ConfigError: there is no such file, or it cannot be used; the message names file and key.
    """
    if not path.exists():
        raise ConfigError(f"there is no file {str(path)!r}")
    data: dict[str, Any] = read_toml(path)
    kinds: dict[str, type[Sft] | type[Rl]] = {"sft": Sft, "rl": Rl}
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{path}: 'kind' has to be 'sft' or 'rl'")
    if seed is not None:
        data["seed"] = seed
    try:
        stage = kinds[kind].model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{path}: {problems(error, kinds[kind])}") from None
    if isinstance(stage, Sft) and isinstance(stage.data, Export):
        found = path.absolute().parent / Path(stage.data.path).expanduser()
        inner = stage.data.model_copy(update={"path": str(found)})
        return stage.model_copy(update={"data": inner})
    return stage
