"""A chat's prompts, stored by what each adds.

In a chat the next prompt of a seat mostly is the one before it, the reply to it and one message
more; stored whole, a game's prompts would grow with its square. A packed prompt says how many
messages of the seat's attempt before it begins with, whether that attempt's reply follows as it
was received, and which messages come then. Any prompt can be packed after any attempt: what does
not match is stored as it is.
"""

from __future__ import annotations

import json
from itertools import takewhile

from arena.game import Attempt, Message
from storage.columns import canonical_json

_NO_REPLY, _REPLY, _REPLY_AND_REASONING = range(3)


def pack(prompt: tuple[Message, ...], before: Attempt | None) -> str:
    """A prompt as JSON: `[messages kept, reply, [[role, content], ...]]`.

    Args:
        prompt: the messages that were sent.
        before: the same seat's attempt before this one, if there was one.
    """
    kept, reply = 0, _NO_REPLY
    if before is not None:
        pairs = zip(prompt, before.prompt, strict=False)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if kept == len(before.prompt) < len(prompt):
            # Where there was no reasoning the two are the same message, and the first is meant.
            forms = (_reply(before, _REPLY), _reply(before, _REPLY_AND_REASONING))
            if prompt[kept] in forms:
                reply = _REPLY + forms.index(prompt[kept])
    added = prompt[kept + (reply != _NO_REPLY) :]
    return canonical_json(
        [
            kept,
            reply,
            [message if message.reasoning is not None else message[:2] for message in added],
        ]
    )


def unpack(packed: str, before: Attempt | None) -> tuple[Message, ...]:
    """The prompt that `pack` was given, from what it gave back."""
    kept, reply, added = json.loads(packed)
    start: tuple[Message, ...] = ()
    if before is not None:
        start = before.prompt[:kept]
        if reply != _NO_REPLY:
            start += (_reply(before, reply),)
    return start + tuple(Message(*message) for message in added)


def _reply(attempt: Attempt, form: int) -> Message:
    reasoning = attempt.reasoning if form == _REPLY_AND_REASONING else None
    return Message("assistant", attempt.reply, reasoning)
