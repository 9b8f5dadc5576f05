"""How long a chat may be: as the server says, or as a long one shows."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from arena.game import Termination
from models.completion import Fault
from models.doctor.card import Outcome, Probe
from models.doctor.subject import Reply, Subject, chat
from models.listing import size_of
from models.prompt import History

CONTEXT = "context"

_A_TURN = 150
"""Tokens of a later prompt, generously."""
_LETTERS_A_TOKEN = 3
_LONGEST_TRIED = 32_000
_SOME = 16
_NUMBERS = ("seven", "eight", "three", "forty", "fifty", "sixty")
_SIZE = re.compile(
    r"context[ _](?:length|size|window)\D{0,40}?(\d{2,9})|(\d{2,9})[ -]tokens? context",
    re.IGNORECASE,
)


async def context(subject: Subject) -> AsyncGenerator[Probe, None]:
    """How many tokens the context has, and whether the longest game fits into it."""
    entry = subject.entry
    listed = (subject.listed or {}).get(entry.model)
    size = listed.context if listed else None
    if size is None and entry.base_url is not None:
        # llama.cpp's own; its list names the context of the training only.
        data = (await subject.fetch("/props", root=True)).data
        settings = data.get("default_generation_settings") if isinstance(data, dict) else None
        size = size_of(settings, "n_ctx")
    if size is not None:
        yield _of_size(subject, size)
        return
    wanted = min(_needed(subject), _LONGEST_TRIED)
    if entry.gguf is not None:
        # Refused unread, for certain, with its size.
        wanted = entry.context + entry.context // 8
    words = " ".join(_NUMBERS[number % len(_NUMBERS)] for number in range(wanted))
    reply = await subject.ask(*chat(f"Read this, then say done: {words}"), tokens=_SOME, tries=1)
    yield _of_long(subject, reply, wanted)


def _of_long(subject: Subject, reply: Reply | Fault, words: int) -> Probe:
    if isinstance(reply, Fault):
        reason = reply.message
        if reply.kind is not Termination.CONTEXT_EXCEEDED:
            seen = f"It cannot be told, for a long prompt got no reply: {reason}"
            return Probe(CONTEXT, Outcome.UNKNOWN, seen)
        if found := _SIZE.search(reason):
            return _of_size(subject, int(found[1] or found[2]))
        seen = f"A prompt of {words} words or more does not fit: {reason}"
        return Probe(CONTEXT, Outcome.NOTE, seen, figures={"less_than": words * 2})
    counted = reply.completion.prompt_tokens
    if counted is not None and 0 < counted < words * 0.9:
        seen = (
            f"The server counted {counted} tokens in a prompt of {words} words: it seems to cut "
            "long chats, and says nothing of it."
        )
        change = "the context that the server gives the model (Ollama: num_ctx)"
        return Probe(CONTEXT, Outcome.PROBLEM, seen, change, {"tokens": counted})
    least = counted or words
    unit = "tokens" if counted else "words"
    seen = f"The server does not say; a prompt of {least} {unit} fits"
    if words < _needed(subject):
        return Probe(CONTEXT, Outcome.UNKNOWN, f"{seen}, longer ones were not tried.")
    figures = {"at_least": least}
    return Probe(CONTEXT, Outcome.OK, f"{seen}, and so does the longest game.", figures=figures)


def _of_size(subject: Subject, size: int) -> Probe:
    figures = {"tokens": size}
    first = _prompt_tokens(subject) + subject.most_tokens
    if size < first:
        seen = f"{size} tokens, which the first prompt and its longest reply exceed."
        change = "sampling.max_tokens, or the context that the server gives the model"
        return Probe(CONTEXT, Outcome.PROBLEM, seen, change, figures)
    needed = _needed(subject)
    if size < needed:
        seen = (
            f"{size} tokens: with replies as long as they may be, the longest game (some {needed} "
            "tokens) would not fit, and would not count."
        )
        change = 'sampling.max_tokens, or history = "board", unless replies are short anyway'
        return Probe(CONTEXT, Outcome.NOTE, seen, change, figures)
    return Probe(CONTEXT, Outcome.OK, f"{size} tokens: the longest game fits.", figures=figures)


def _needed(subject: Subject) -> int:
    """Tokens of the longest game, about."""
    turns = subject.entry.max_replies if subject.entry.history is History.FULL else 1
    return (
        _prompt_tokens(subject)
        + subject.most_tokens
        + (turns - 1) * (subject.most_tokens + _A_TURN)
    )


def _prompt_tokens(subject: Subject) -> int:
    return sum(len(message.content) for message in subject.first_prompt()) // _LETTERS_A_TOKEN
