"""A game of our environment in its traces.

The facts stand in a trace's info, the prompts and replies in its tree. Put together they are a row
of the flavour `games`, which is checked as any other: replayed through the rules, the engine's
moves drawn anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from arena.board import Mark, Outcome
from arena.game import Attempt, Game, Message, Termination
from storage.datasets.facts import time
from storage.datasets.lossless import take_out, text_of
from storage.datasets.record import SCHEMA as GAMES
from storage.imports.check import Incoming, read_line
from storage.imports.episode import CallForm, EpisodeForm, TraceForm, unknown_keys
from storage.imports.troubles import LineError, Trouble
from storage.tables import Source

_OURS = "tictactoe-arena/trace/"
SCHEMA = f"{_OURS}1"
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
_MOST_REPLIES = 1000
"""Of a seat: what `max_replies` may be set to."""
_LONGEST_CHAT = 2 * _MOST_REPLIES + 1
"""Messages before a reply: the rules, and for each reply before it the question and itself."""


@dataclass(frozen=True)
class Traced(Incoming):
    """A game of which only a trace tells: which repetition of its cell it is, is ours to say."""


def is_ours(facts: Any) -> bool:
    """Whether they are a game's of our environment: others may well keep a `game` too."""
    return isinstance(facts, dict) and str(facts.get("schema")).startswith(_OURS)


def traced_game(episode: EpisodeForm) -> Traced:
    """The game that an episode's traces tell of, each of them by facts of ours.

    Raises:
        LineError: there is none that may be believed.
    """
    facts = [trace.info["game"] for trace in episode.traces]
    for each in facts:
        if each.get("schema") != SCHEMA:
            said = each.get("schema")
            why = f"info.game: its schema is {said!r:.80}, and only {SCHEMA!r} is known"
            raise LineError(Trouble.FOREIGN, why)
        if any(each.get(key) != facts[0].get(key) for key in _ALIKE):
            raise LineError(Trouble.CONTRADICTION, "the seats' traces tell of different games")
    failed = next((each.why_void for each in episode.traces if each.why_void), None)
    if failed and facts[0].get("outcome") is None and facts[0].get("termination") is None:
        # It was broken off between two replies, and nobody was left to say how it ended.
        broken = {"outcome": Outcome.VOID, "termination": Termination.PROVIDER_ERROR}
        facts = [each | broken for each in facts]
    if failed and facts[0].get("outcome") != Outcome.VOID:
        why = f"the rollout failed, {failed}, and the game claims to count"
        raise LineError(Trouble.CONTRADICTION, why)
    if not failed and facts[0].get("outcome") == Outcome.VOID:
        why = "the game is void, and its rollout claims to have succeeded"
        raise LineError(Trouble.CONTRADICTION, why)
    prompts: dict[str, tuple[Message, ...]] = {}
    try:
        row = _row(episode, facts, prompts)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise LineError(Trouble.FORM, f"info.game: no facts of a game ({error!r})") from None
    except ValueError as error:
        raise LineError(Trouble.FORM, f"info.game: {error}") from None
    row, kept = take_out(row)
    game = read_line(json.dumps(row | {"replaced": text_of(kept)}).encode())
    unknown = [f"info.game.{key}" for each in facts for key in each.keys() - _KNOWN_FACTS]
    known = {each.name: getattr(game, each.name) for each in fields(game)}
    _put_prompts(game.game, prompts)
    return Traced(**known | {"unknown": (*unknown_keys(episode), *unknown)})


def _put_prompts(game: Game, prompts: Mapping[str, tuple[Message, ...]]) -> None:
    """Give each attempt the prompt that it names."""

    def put(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
        return tuple(replace(each, prompt=prompts[each.prompt[0].content]) for each in attempts)

    game.turns[:] = [turn._replace(attempts=put(turn.attempts)) for turn in game.turns]
    game.unanswered = put(game.unanswered)


def _row(
    episode: EpisodeForm,
    facts: Sequence[dict[str, Any]],
    prompts: dict[str, tuple[Message, ...]],
) -> dict[str, Any]:
    """The game as a row of the flavour `games`. In place of each prompt stands its name: written
    out, they would grow with the square of the replies.

    Args:
        episode: the line.
        facts: of each seat.
        prompts: takes the prompts, by name; the messages that they share are the same objects.
    """
    first = facts[0]
    opener = Mark(first["opener"])
    attempts: dict[tuple[str, int], list[dict[str, Any]]] = {}
    failed: list[dict[str, Any]] = []
    for trace, each in zip(episode.traces, facts, strict=True):
        mark = Mark(each["mark"])
        if any((mark, ply) in attempts for ply in range(10)):
            raise ValueError(f"two traces are of the seat {mark}")
        own, left = _attempts(trace, each["attempts"], void=first["outcome"] == Outcome.VOID)
        failed += left
        _name_prompts(trace, mark, own, prompts)
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
    begun = time(moment(min(span.start for span in spans)))
    ended = time(moment(max(span.end for span in spans)))
    # Failed requests after the last reply are why a void game is void, and no matter elsewhere.
    void = first["outcome"] == Outcome.VOID
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
    if len(replies) > _MOST_REPLIES:
        raise ValueError(f"{len(replies)} replies, and a seat has {_MOST_REPLIES} at most")
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
        "prompt": trace.path(node, _LONGEST_CHAT),
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


def _name_prompts(
    trace: TraceForm,
    mark: Mark,
    attempts: Sequence[dict[str, Any]],
    prompts: dict[str, tuple[Message, ...]],
) -> None:
    """Put a name in place of the nodes that each attempt's prompt is made of."""
    used = {number for attempt in attempts for number in attempt["prompt"]}
    messages = {number: _message(trace, number) for number in used}
    for number, attempt in enumerate(attempts):
        name = f"{mark} {number}"
        prompts[name] = tuple(messages[each] for each in attempt["prompt"])
        attempt["prompt"] = [{"role": "name", "content": name}]


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


def _message(trace: TraceForm, node: int) -> Message:
    message = trace.nodes[node].message
    return Message(message.role, message.text, message.reasoning_content)


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


def moment(seconds: float) -> datetime:
    """The time that is so many seconds after 1970.

    Raises:
        LineError: there is none.
    """
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise LineError(Trouble.FORM, f"timing: {seconds} is no time") from None
