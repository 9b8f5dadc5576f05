"""Imported runs of other environments, as the routes give them. Pure: from storage to JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from arena.board import Mark
from storage.rewards import Bin, Function, RewardRun
from storage.shown_games import Ending, Endings, ShownGame, ShownGames
from storage.transcripts import Order, Transcript


class ReasonOut(BaseModel):
    """Why something is so, and of how many rollouts."""

    why: str
    rollouts: int


class RunRowOut(BaseModel):
    """An imported run of another environment."""

    id: int
    url: str = Field(description="its page")
    name: str
    environment: str
    models: list[str]
    examples: int = Field(description="of which at least one rollout counts")
    rollouts: int = Field(description="that count")
    void: int = Field(description="that count for nobody, and are in no other figure")
    fewest: int = Field(description="rollouts of one example, void ones too: the least number")
    most: int
    reasons: list[ReasonOut] = Field(description="why rollouts are void")
    mean: float | None = Field(description="the mean of the examples' mean rewards")
    standard_error: float | None = Field(description="of that mean, over examples")


class RunsOut(BaseModel):
    """All imported runs, the newest first."""

    runs: list[RunRowOut]


class BinOut(BaseModel):
    """How often rewards from `low` to below `high` were given; of one reward both are the same."""

    low: float
    high: float
    rollouts: int


class FunctionOut(BaseModel):
    """A reward function: the mean of its scores over examples, as of the reward."""

    name: str
    weight: float | None = Field(description="null where the file does not say one")
    rollouts: int = Field(description="that it scored")
    mean: float | None
    standard_error: float | None


class EndingsOut(BaseModel):
    """How games of tic-tac-toe ended for the model, as far as their chats show it."""

    games: int
    distinct: int = Field(description="different sequences of moves")
    won: int
    drawn: int
    lost: int
    unseen: int = Field(description="unfinished: the opponent's answer is not in the chat")
    open: int = Field(description="unfinished: the model was to move")


class ShownGamesOut(BaseModel):
    """Games that can be followed in the chats; they move no rate."""

    opening: EndingsOut
    replying: EndingsOut
    unfollowed: list[ReasonOut] = Field(description="why boards that are drawn are no game")


class RunOut(RunRowOut):
    """A run in figures."""

    distribution: list[BinOut]
    functions: list[FunctionOut]
    games: ShownGamesOut | None = Field(description="null where no chat draws a board")
    removable: bool = Field(description="whether you are the operator")


class PartOut(BaseModel):
    """What a reward function gave."""

    name: str
    score: float | None
    weight: float | None


class FollowedGameOut(BaseModel):
    """A game of tic-tac-toe as far as a chat shows it."""

    opener: Mark
    mark: Mark = Field(description="the model's")
    moves: str = Field(description="the squares in order, one digit each, both sides'")
    squares: list[Mark | None] = Field(description="the last board")
    ending: Ending


class SaidOut(BaseModel):
    """A message of a chat."""

    role: str
    text: str
    reasoning: str | None
    calls: list[str] = Field(description="what it asked tools to do")


class RolloutOut(BaseModel):
    """One rollout and its chat."""

    id: int
    example: str
    model: str
    seat: str = Field(description="where several play; else empty")
    reward: float | None = Field(description="null where it counts for nobody")
    parts: list[PartOut]
    why_void: str | None
    game: FollowedGameOut | None
    unfollowed: str | None = Field(description="why boards that are drawn are no game")
    messages: list[SaidOut]


class RolloutsOut(BaseModel):
    """A page of rollouts; those of one example stand together."""

    total: int
    rollouts: list[RolloutOut]


class RemovedRunOut(BaseModel):
    """What was removed."""

    removed: int = Field(description="rollouts")


class RolloutsQuery(BaseModel):
    """Which rollouts are asked for."""

    model_config = ConfigDict(extra="forbid")

    example: str | None = Field(None, max_length=1000, description="those of one example")
    like: int | None = Field(
        None, ge=0, lt=1 << 63, description="those of the same example as this rollout"
    )
    void: bool | None = Field(None, description="those that count for nobody, or all others")
    order: Order = Field(Order.GIVEN, description="of the examples, and of each one's rollouts")
    skip: int = Field(0, ge=0, lt=1 << 63)
    limit: int = Field(10, ge=1, le=100)


def run_row(run: RewardRun) -> RunRowOut:
    """A run in a list."""
    return RunRowOut(**_facts(run))


def run_out(
    run: RewardRun,
    spread: Iterable[Bin],
    functions: Iterable[Function],
    games: ShownGames,
    *,
    removable: bool,
) -> RunOut:
    """A run in figures."""
    return RunOut(
        **_facts(run),
        distribution=[BinOut(**vars(each)) for each in spread],
        functions=[FunctionOut(**vars(each)) for each in functions],
        games=_games(games) if games.games or games.unfollowed else None,
        removable=removable,
    )


def rollout_out(each: Transcript) -> RolloutOut:
    """A rollout and its chat."""
    return RolloutOut(
        id=each.id,
        example=each.example,
        model=each.model,
        seat=each.seat,
        reward=each.reward,
        parts=[
            PartOut(name=name, score=part and part[0], weight=part and part[1])
            for name, part in sorted(each.parts.items())
        ],
        why_void=each.why_void,
        game=_game(each.game) if each.game else None,
        unfollowed=each.unfollowed,
        messages=[_said(message) for message in each.messages],
    )


def _facts(run: RewardRun) -> dict[str, Any]:
    reasons = [ReasonOut(why=why, rollouts=count) for why, count in run.reasons]
    return vars(run) | {"url": f"/run?id={run.id}", "reasons": reasons}


def _games(games: ShownGames) -> ShownGamesOut:
    return ShownGamesOut(
        opening=_endings(games.opening),
        replying=_endings(games.replying),
        unfollowed=[ReasonOut(why=why, rollouts=count) for why, count in games.unfollowed],
    )


def _endings(endings: Endings) -> EndingsOut:
    return EndingsOut(**vars(endings))


def _game(game: ShownGame) -> FollowedGameOut:
    return FollowedGameOut(
        opener=game.opener,
        mark=game.mark,
        moves="".join(map(str, game.moves)),
        squares=list(game.board.squares),
        ending=game.ending,
    )


def _said(message: Mapping[str, Any]) -> SaidOut:
    reasoning, calls = message.get("reasoning_content"), message.get("tool_calls")
    return SaidOut(
        role=str(message.get("role")),
        text=_text(message.get("content")),
        reasoning=None if reasoning is None else _text(reasoning),
        calls=[_call(each) for each in calls] if isinstance(calls, list) else [],
    )


def _text(content: Any) -> str:
    """A message's content as text: of a list of parts, what is no text as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content)
    texts = (part.get("text") if isinstance(part, dict) else None for part in content)
    return "\n".join(
        text if isinstance(text, str) else json.dumps(part)
        for text, part in zip(texts, content, strict=True)
    )


def _call(call: Any) -> str:
    """A tool's name with its arguments, in either of the forms that files have; else JSON."""
    inner = call.get("function", call) if isinstance(call, dict) else call
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        return call if isinstance(call, str) else json.dumps(call)
    arguments = inner.get("arguments", "")
    told = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"{inner['name']}({told})"
