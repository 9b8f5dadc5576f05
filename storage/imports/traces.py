"""A line of verifiers' `traces.jsonl`: of our environment a whole game, of any other its rollouts.

A game's facts stand in the trace's info, its prompts and replies in the trace's tree. Put together
they are a row of the flavour `games`, which is checked as any other: replayed through the rules,
the engine's moves drawn anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from arena.board import Mark
from storage.datasets.facts import time
from storage.datasets.lossless import take_out, text_of
from storage.datasets.record import SCHEMA as GAMES
from storage.imports.check import Incoming, LineError, Trouble, read_line
from storage.imports.episode import VERSION, CallForm, EpisodeForm, TraceForm, unknown_keys
from storage.imports.rollouts import Rollout
from storage.tables import Source

SCHEMA = "tictactoe-arena/trace/1"
"""What our environment's facts call themselves."""

_KNOWN_FACTS = frozenset(
    {
        *("schema", "opener", "seed", "rollout", "mark", "opponent", "players", "prompt"),
        *("squares", "attempts", "outcome", "termination", "why_void"),
    }
)
_ALIKE = ("opener", "seed", "squares", "players", "outcome", "termination")
"""What the seats of one game agree on."""
_NO_MESSAGE = "the model's server failed"


@dataclass(frozen=True)
class Traced(Incoming):
    """A game of which only a trace tells: which repetition of its cell it is, is ours to say."""


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
    ours = [trace for trace in episode.traces if "game" in trace.info]
    if not ours:
        return list(_rollouts(episode))
    if len(ours) != len(episode.traces):
        _refuse("one seat has the facts of a game, and another has not")
    return [_game(episode)]


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
            at=_moment(trace.timing.agent.end or trace.timing.start),
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
    return [_message(trace, number) | _calls(trace, number) for number in path]


def _calls(trace: TraceForm, node: int) -> dict[str, Any]:
    calls = trace.nodes[node].message.tool_calls
    return {"tool_calls": calls} if calls else {}


def _game(episode: EpisodeForm) -> Incoming:
    facts = [trace.info["game"] for trace in episode.traces]
    if not all(isinstance(each, dict) for each in facts):
        raise LineError(Trouble.FORM, "info.game: the facts of a game are an object")
    for each in facts:
        if each.get("schema") != SCHEMA:
            said = each.get("schema")
            why = f"info.game: its schema is {said!r:.80}, and only {SCHEMA!r} is known"
            raise LineError(Trouble.FOREIGN, why)
        if any(each.get(key) != facts[0].get(key) for key in _ALIKE):
            _refuse("the seats' traces tell of different games")
    failed = next((each.why_void for each in episode.traces if each.why_void), None)
    if failed and facts[0].get("outcome") != "void":
        _refuse(f"the rollout failed, {failed}, and the game claims to count")
    if not failed and facts[0].get("outcome") == "void":
        _refuse("the game is void, and its rollout claims to have succeeded")
    try:
        row = _row(episode, facts)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise LineError(Trouble.FORM, f"info.game: no facts of a game ({error!r})") from None
    except ValueError as error:
        raise LineError(Trouble.FORM, f"info.game: {error}") from None
    row, kept = take_out(row)
    game = read_line(json.dumps(row | {"replaced": text_of(kept)}).encode())
    unknown = [f"info.game.{key}" for each in facts for key in each.keys() - _KNOWN_FACTS]
    known = {each.name: getattr(game, each.name) for each in fields(game)}
    return Traced(**known | {"unknown": (*unknown_keys(episode), *unknown)})


def _row(episode: EpisodeForm, facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The game as a row of the flavour `games`."""
    first = facts[0]
    opener = Mark(first["opener"])
    attempts: dict[tuple[str, int], list[dict[str, Any]]] = {}
    failed: list[dict[str, Any]] = []
    for trace, each in zip(episode.traces, facts, strict=True):
        mark = Mark(each["mark"])
        if any((mark, ply) in attempts for ply in range(10)):
            raise ValueError(f"two traces are of the seat {mark}")
        own, left = _attempts(trace, each["attempts"], void=first["outcome"] == "void")
        failed += left
        for told, attempt in zip(each["attempts"], own, strict=True):
            attempts.setdefault((mark, told["ply"]), []).append(attempt)
    turns = []
    for ply, square in enumerate(first["squares"]):
        mark = opener if ply % 2 == 0 else opener.other
        own = attempts.pop((mark, ply), [])
        turns.append({"mark": mark, "square": square, "at": None, "attempts": own})
    mark = opener if len(turns) % 2 == 0 else opener.other
    unanswered = attempts.pop((mark, len(turns)), [])
    if attempts:
        raise ValueError("there are replies that belong to no turn")
    spans = [trace.timing.agent for trace in episode.traces]
    begun = time(_moment(min(span.start for span in spans)))
    ended = time(_moment(max(span.end for span in spans)))
    # Failed requests after the last reply are why a void game is void, and no matter elsewhere.
    void = first["outcome"] == "void"
    return {
        "schema": GAMES,
        "game": _id(episode),
        **{seat.lower(): _player(first["players"][seat]) for seat in ("X", "O")},
        "opener": opener,
        "outcome": first["outcome"],
        "termination": first["termination"],
        "moves": first["squares"],
        "seed": first["seed"],
        "rollout": 0,
        "source": Source.STORE,
        "demonstration": False,
        "created_at": begun,
        "updated_at": ended,
        "finished_at": ended,
        "turns": turns,
        "unanswered": unanswered,
        "failed": failed if void else [],
    }


def _attempts(
    trace: TraceForm, told: Sequence[dict[str, Any]], *, void: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A seat's attempts, each verdict with its reply, and the requests that led to none."""
    calls = iter(trace.calls)
    replies = [number for number, node in enumerate(trace.nodes) if node.sampled]
    # A reply may have come while the rollout ran out of time.
    if len(replies) != len(told) and not (void and len(replies) > len(told)):
        raise ValueError(f"{len(told)} verdicts on {len(replies)} replies")
    found = []
    for node, verdict in zip(replies, told, strict=False):
        requests = []
        for call in calls:
            requests.append(_request(call))
            if call.node is not None:
                if call.node != node:
                    raise ValueError("the calls and the replies are not in one order")
                break
        found.append(_attempt(trace, node, verdict, requests))
    return found, [_request(call) for call in calls if call.node is None]


def _attempt(
    trace: TraceForm, node: int, told: dict[str, Any], requests: list[dict[str, Any]]
) -> dict[str, Any]:
    message = trace.nodes[node].message
    last = requests[-1] if requests else {}
    return {
        "prompt": [_message(trace, number) for number in trace.path(node)],
        "reply": message.text,
        "reasoning": message.reasoning_content,
        "reasoning_field": "reasoning_content" if message.reasoning_content else None,
        **{key: told[key] for key in ("verdict", "square", "contains", "exact", "seed")},
        "finish_reason": told["finish_reason"],
        "prompt_tokens": last.get("prompt_tokens"),
        "completion_tokens": last.get("completion_tokens"),
        "seconds": sum(request["seconds"] for request in requests),
        "adaptations": list(told["adaptations"]),
        "requests": requests,
    }


def _request(call: CallForm) -> dict[str, Any]:
    usage, error = call.usage, call.error
    return {
        "status": error.status_code if error else 200,
        "seconds": call.time.seconds,
        "sent": json.dumps(call.sampling or {}),
        "error": _NO_MESSAGE if error else None,
        "finish_reason": call.finish_reason,
        "prompt_tokens": usage and usage.prompt_tokens,
        "completion_tokens": usage and usage.completion_tokens,
    }


def _message(trace: TraceForm, node: int) -> dict[str, Any]:
    message = trace.nodes[node].message
    return {
        "role": message.role,
        "content": message.text,
        "reasoning_content": message.reasoning_content,
    }


def _player(facts: dict[str, Any]) -> dict[str, Any]:
    kept = ("kind", "name", "family", "step", "prompt_hash", "deterministic")
    return {
        **{key: facts[key] for key in kept},
        "prompt_format": facts["prompt"],
        "settings": json.dumps(facts["settings"]),
    }


def _id(episode: EpisodeForm) -> str:
    """The same for the same traces, in whichever file they stand: rescored ones too."""
    ids = json.dumps(sorted(trace.id for trace in episode.traces))
    return "vf-" + hashlib.sha256(ids.encode()).hexdigest()[:32]


def _moment(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise LineError(Trouble.FORM, f"timing: {seconds} is no time") from None


def _refuse(why: str) -> None:
    raise LineError(Trouble.CONTRADICTION, why)
