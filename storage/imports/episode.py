"""The form of a line of verifiers' `traces.jsonl`: what is read of it, what is known besides."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from storage.imports.boards import text_of

VERSION = 1
"""Of the traces that verifiers 0.4 writes."""

Number = Annotated[float, Field(allow_inf_nan=False)]
LARGEST = 1e50
"""Of what a reward may come to: sums of squares of more could not be told from infinity."""
Score = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Id = Annotated[str, Field(min_length=1, max_length=200)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ErrorForm(_Form):
    """Something that went wrong. Its message is not read: servers quote keys in theirs."""

    type: str
    status_code: int | None = None


class MessageForm(_Form):
    """A message of a chat; empty content and none look the same in the file."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    reasoning_content: str | None = None
    tool_calls: list[Any] | None = None

    @property
    def text(self) -> str:
        """Its text; of a list of parts, those that have one."""
        return text_of(self.content)


class NodeForm(_Form):
    """A message in the tree of all that was sent and sampled."""

    parent: int | None = None
    message: MessageForm
    sampled: bool = False


class UsageForm(_Form):
    """Tokens of one call."""

    prompt_tokens: Annotated[int, Field(ge=0)] | None = None
    completion_tokens: Annotated[int, Field(ge=0)] | None = None


class SpanForm(_Form):
    """Seconds since 1970; zero where it never began."""

    start: Number = 0.0
    end: Number = 0.0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max(0.0, self.end - self.start)


class CallForm(_Form):
    """One request for a reply."""

    node: int | None = None
    finish_reason: str | None = None
    usage: UsageForm | None = None
    time: SpanForm = SpanForm()
    sampling: dict[str, Any] | None = None
    error: ErrorForm | None = None


class RewardForm(_Form):
    """What one reward function gave."""

    score: Score
    weight: Score = 1.0


class TimingForm(_Form):
    """When the seat played."""

    start: Number = 0.0
    agent: SpanForm = SpanForm()


class ConfigForm(_Form):
    """How the seat was set up."""

    model: str | None = None


class AgentForm(_Form):
    """Who played."""

    name: str | None = None
    config: ConfigForm = ConfigForm()


class TaskForm(_Form):
    """What was played: equal keys are the same example."""

    key: str
    data: dict[str, Any]


class TraceForm(_Form):
    """One seat's rollout."""

    model_config = ConfigDict(extra="allow")

    version: int
    id: Id
    task: TaskForm
    agent: AgentForm
    nodes: list[NodeForm] = []
    calls: list[CallForm] = []
    rewards: dict[str, RewardForm | None] = {}
    metrics: dict[str, Number | None] = {}
    info: dict[str, Any] = {}
    stop_condition: str | None = None
    ok: bool
    is_timeout: bool = False
    errors: list[ErrorForm] = []
    timing: TimingForm = TimingForm()

    @property
    def why_void(self) -> str | None:
        """Why it counts for nobody; None where it counts."""
        if self.is_timeout:
            return f"it ran out of time ({self.stop_condition})"
        if not self.ok:
            return self.errors[-1].type if self.errors else f"it failed ({self.stop_condition})"
        return None

    @property
    def total(self) -> float | None:
        """The sum of score times weight, which the file does not hold; None where none is
        scored.
        """
        scored = [each for each in self.rewards.values() if each is not None]
        total = math.fsum(each.score * each.weight for each in scored)
        return total if scored and math.isfinite(total) else None

    def path(self, node: int, most: int | None = None) -> list[int]:
        """The nodes that lead to one, from the root, without itself.

        Args:
            node: its place.
            most: so many at most; None for any number.

        Raises:
            ValueError: they lead nowhere, or are more.
        """
        found: list[int] = []
        at = self.nodes[node].parent
        while at is not None:
            if not 0 <= at < len(self.nodes) or len(found) > len(self.nodes):
                raise ValueError(f"node {node} has no way to the first message")
            if len(found) == most:
                raise ValueError(f"more than {most} messages lead to node {node}")
            found.append(at)
            at = self.nodes[at].parent
        return found[::-1]


class EnvForm(_Form):
    """Which environment."""

    id: str = ""


class RunForm(_Form):
    """Which run of its."""

    id: str
    name: str | None = None


class EpisodeForm(_Form):
    """One line: one example, played once."""

    model_config = ConfigDict(extra="allow")

    id: Id
    env: EnvForm = EnvForm()
    task: TaskForm
    run: RunForm | None = None
    ok: bool
    is_timeout: bool = False
    errors: list[ErrorForm] = []
    traces: list[TraceForm]


_BESIDES = frozenset({"group", "num_input_tokens", "num_output_tokens", "num_total_tokens"})
_BESIDES_OF_A_TRACE = _BESIDES | {
    *("verifiers", "tools", "mm_token_type_id_map", "request_rewrites", "response_rewrites"),
    *("extra_usage", "is_completed", "root_reply"),
}


def unknown_keys(episode: EpisodeForm) -> list[str]:
    """The keys of a line that verifiers 0.4 does not write."""
    found = sorted((episode.model_extra or {}).keys() - _BESIDES)
    for trace in episode.traces:
        extra = (trace.model_extra or {}).keys() - _BESIDES_OF_A_TRACE
        found += [f"traces.{key}" for key in sorted(extra)]
    return found
