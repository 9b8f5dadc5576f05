"""The older result rows of verifiers: a prompt, a completion, a reward, a column for each function.

A row has no id. It is known by its example, prompt and completion and, where equal ones stand in
one file, by which of them it is: not by its rewards, so that a row that was scored again, or by one
function more, is no second one. Its run is known by the names of the file and of its folder and by
the file's first row, or else by the file's whole content, wherever that lies. What is no text, no
chat and no other known column is a reward function's where it is a number.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from typing import Any

from storage.columns import canonical_json
from storage.imports.episode import LARGEST
from storage.imports.metadata import Metadata
from storage.imports.rollouts import Rollout
from storage.imports.troubles import LineError, Trouble

NEEDED = frozenset({"prompt", "completion", "reward"})
_KNOWN = NEEDED | {
    *("example_id", "id", "task", "answer", "info", "error", "is_truncated", "is_completed"),
    *("stop_condition", "timing", "metrics", "generation_ms", "scoring_ms", "total_ms"),
    *("num_turns", "turn", "tools", "tool_defs", "token_usage", "model", "is_timeout"),
}
_KEPT = ("role", "content", "reasoning_content", "tool_calls", "tool_call_id", "name")


class RowReader:
    """Reads the lines of one file.

    Args:
        name: the file's, with its folder's.
        file_hash: SHA-256 of the file.
        told: what stands beside it; a row's own model goes before, and so does the environment
            before a row's task, which is one of its parts.
        run: what the run is known by that has come from a file of this content; None where none
            has.
    """

    def __init__(
        self, name: str, file_hash: str, told: Metadata | None = None, run: str | None = None
    ) -> None:
        self._name = name
        self._file_hash = file_hash
        self._told = told or Metadata()
        self._run = run
        self._seen: Counter[str] = Counter()

    def __call__(self, line: bytes) -> list[Rollout]:
        """The rollout in a line.

        Raises:
            LineError: there is none that may be believed.
        """
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LineError(Trouble.NOT_JSON, f"no JSON: {error}") from None
        if not isinstance(row, dict):
            raise LineError(Trouble.FOREIGN, "no JSON object")
        if missing := sorted(NEEDED - row.keys()):
            raise LineError(Trouble.FORM, f"the column {missing[0]} is missing")
        failed = row.get("error")
        timeout = row.get("is_timeout") is True or "timeout" in str(row.get("stop_condition"))
        why_void = "it failed" if failed else "it ran out of time" if timeout else None
        prompt = _chat(row, "prompt")
        # What failed may have said nothing, and was not scored.
        silent = bool(why_void) and not row["completion"]
        completion = [] if silent else _chat(row, "completion")
        reward = None if why_void else _number(row["reward"], "reward")
        example = _example(row, prompt)
        model = row["model"] if isinstance(row.get("model"), str) else self._told.model
        content = _hash([example, prompt, completion])
        if self._run is None:
            self._run = f"rows:{self._name}:{_hash([model, example, prompt, completion])}"
        self._seen[content] += 1
        task = row["task"] if isinstance(row.get("task"), str) else ""
        return [
            Rollout(
                run=self._run,
                run_name=self._name,
                file_hash=self._file_hash,
                environment=self._told.environment or task,
                key=f"{content}:{self._seen[content]}",
                example=example,
                model=model,
                reward=reward,
                parts=_parts(row, is_void=why_void is not None),
                why_void=why_void,
                timeout=timeout and not failed,
                messages=[*prompt, *completion],
                unknown=tuple(
                    key
                    for key, value in row.items()
                    if key not in _KNOWN and not _is_number(value) and value is not None
                ),
            )
        ]


def _chat(row: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = row[key]
    if isinstance(value, str):
        return [{"role": "user" if key == "prompt" else "assistant", "content": value}]
    if not isinstance(value, list) or not value:
        raise LineError(Trouble.FORM, f"{key}: neither a text nor a list of messages")
    chat = []
    for place, each in enumerate(value):
        if not isinstance(each, dict) or not isinstance(each.get("role"), str):
            raise LineError(Trouble.FORM, f"{key}.{place}: no message with a role")
        message = {name: each.get(name) for name in _KEPT if each.get(name) is not None}
        content = message.setdefault("content", "")
        if not isinstance(content, str | list):
            raise LineError(Trouble.FORM, f"{key}.{place}: its content is no text")
        chat.append(message)
    return chat


def _example(row: dict[str, Any], prompt: list[dict[str, Any]]) -> str:
    for key in ("example_id", "id"):
        if isinstance(row.get(key), int | str) and not isinstance(row[key], bool):
            return f"{row[key]}"
    return _hash([prompt, row.get("answer")])


def _hash(value: object) -> str:
    try:
        text = canonical_json(value)
    except RecursionError:
        raise LineError(Trouble.FORM, "its chat is nested too deeply") from None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _parts(row: dict[str, Any], *, is_void: bool) -> dict[str, Any]:
    """What each function gave. How it was weighed is not in the row. What counts for nobody keeps
    no score that is none.
    """
    metrics = row.get("metrics")
    inner = metrics if isinstance(metrics, dict) else {}
    columns = {key: value for key, value in row.items() if key not in _KNOWN}
    found = {key: value for key, value in {**inner, **columns}.items() if _is_number(value)}
    parts: dict[str, Any] = {}
    for key, value in found.items():
        try:
            parts[key] = [_number(value, key), None]
        except LineError:
            if not is_void:
                raise
            parts[key] = None
    return parts


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object, key: str) -> float:
    try:
        number = float(value) if _is_number(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise LineError(Trouble.FORM, f"{key}: {value!r:.40} is no finite number")
    if abs(number) > LARGEST:
        raise LineError(Trouble.FORM, f"{key}: {number:g} is more than a reward can come to")
    return number
