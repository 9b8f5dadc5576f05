"""A line of verifiers' `traces.jsonl`: of our environment a game, of any other its rollouts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from storage.imports.check import Incoming
from storage.imports.episode import VERSION, EpisodeForm, TraceForm, unknown_keys
from storage.imports.rollouts import Rollout
from storage.imports.traced import is_ours, moment, traced_game
from storage.imports.troubles import LineError, Trouble


def read_episode(line: bytes) -> list[Incoming | Rollout]:
    """What a line holds: one game, or one rollout a trace.

    Raises:
        LineError: nothing that may be believed.
    """
    episode = _parsed(line)
    for trace in episode.traces:
        if trace.version != VERSION:
            why = f"a trace of version {trace.version}, and only {VERSION} is known"
            raise LineError(Trouble.FOREIGN, why)
    ours = [trace for trace in episode.traces if is_ours(trace.info.get("game"))]
    if not ours:
        return list(_rollouts(episode))
    if len(ours) != len(episode.traces):
        why = "one seat has the facts of a game, and another has not"
        raise LineError(Trouble.CONTRADICTION, why)
    return [traced_game(episode)]


def _parsed(line: bytes) -> EpisodeForm:
    try:
        return EpisodeForm.model_validate(json.loads(line))
    except (ValueError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            raise LineError(Trouble.NOT_JSON, f"no JSON: {error}") from None
        wrong = error.errors(include_url=False, include_context=False)
        where = ".".join(map(str, wrong[0]["loc"])) or "the line"
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise LineError(Trouble.FORM, f"{where}: {wrong[0]['msg']}{more}") from None


def _rollouts(episode: EpisodeForm) -> Iterator[Rollout]:
    run = episode.run
    common: dict[str, Any] = {
        "run": f"verifiers:{run.id}" if run else f"verifiers:{episode.env.id}",
        "run_name": (run.name if run else None) or episode.env.id or "verifiers",
        "environment": episode.env.id,
        "unknown": tuple(unknown_keys(episode)),
    }
    if not episode.traces:
        why = episode.errors[-1].type if episode.errors else "no trace"
        yield Rollout(**common, key=episode.id, example=episode.task.key, why_void=why)
    for trace in episode.traces:
        why_void = trace.why_void
        if why_void is None and trace.total is None:
            why_void = "no reward was given"
        yield Rollout(
            **common,
            key=f"{episode.id}:{trace.id}",
            example=trace.task.key,
            model=trace.agent.config.model or "",
            seat=trace.agent.name or "",
            reward=None if why_void else trace.total,
            parts={
                name: None if each is None else [each.score, each.weight]
                for name, each in trace.rewards.items()
            },
            why_void=why_void,
            timeout=trace.is_timeout and trace.ok,
            messages=_transcript(trace),
            at=moment(trace.timing.agent.end or trace.timing.start),
        )


def _transcript(trace: TraceForm) -> list[dict[str, Any]]:
    """The chat that ended with the last reply."""
    sampled = [number for number, node in enumerate(trace.nodes) if node.sampled]
    if not sampled:
        return []
    try:
        path = [*trace.path(sampled[-1]), sampled[-1]]
    except ValueError as error:
        raise LineError(Trouble.CONTRADICTION, str(error)) from None
    return [_message(trace, number) for number in path]


def _message(trace: TraceForm, node: int) -> dict[str, Any]:
    message = trace.nodes[node].message
    calls = {"tool_calls": message.tool_calls} if message.tool_calls else {}
    return {
        "role": message.role,
        "content": message.text,
        "reasoning_content": message.reasoning_content,
        **calls,
    }
