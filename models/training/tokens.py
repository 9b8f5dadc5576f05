"""The tokenizer and the chat template of our own checkpoints.

A byte is a token, and so are the few words and tags that replies are made of. The template shows
the model the last board of the chat and no more, in ten tokens: nine squares, each with its number
and as its own, the other side's or free, and the sign that a reply follows. After a reply that was
no move it adds a `!` for each such reply since that board, so the board that is asked about is
never missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from arena.game import Message
from arena.reasons import Reason
from models.reply import END_THINK, THINK, AnswerForm

_FORM = AnswerForm()
END = "<|end|>"
REPLY = "<|reply|>"
_MINE, _THEIRS = "<+{}>", "<-{}>"
WORDS: tuple[str, ...] = (
    *(THINK, END_THINK, _FORM.opening, _FORM.closing),
    *(f"{reason} " for reason in Reason),
    *(sign.format(square) for sign in (_MINE, _THEIRS) for square in range(9)),
)
"""What is one token beside the bytes; it is found in text before anything is cut into bytes."""
TOKENS: tuple[str | int, ...] = (*range(256), END, REPLY, *WORDS)
"""Each token: a byte's value, or its text."""

_IDS = {token: number for number, token in enumerate(TOKENS)}
END_ID, REPLY_ID = _IDS[END], _IDS[REPLY]
_SPLIT = re.compile(
    "(" + "|".join(map(re.escape, sorted((END, REPLY, *WORDS), key=len)[::-1])) + ")"
)

_BETWEEN_ROWS = "\n---------\n"
_BETWEEN_CELLS = " | "
_SEAT = "You are "
_RETRY = "not a valid move"

TEMPLATE = (
    "{%- set seen = namespace(text='') -%}"
    "{%- for message in messages -%}{%- if message['role'] != 'assistant' -%}"
    "{%- set seen.text = seen.text ~ '\\n' ~ message['content'] -%}"
    "{%- endif -%}{%- endfor -%}"
    "{%- set rows = seen.text.split('\\n---------\\n') -%}"
    "{%- if rows | length > 2 -%}"
    "{%- set last = rows[-1] -%}"
    "{%- set mark = last.split('You are ')[-1][:1] -%}"
    "{%- set drawn = [rows[-3].split('\\n')[-1], rows[-2], last.split('\\n')[0]] -%}"
    "{%- for cell in (drawn | join(' | ')).split(' | ') -%}"
    "{%- if cell == 'X' or cell == 'O' -%}"
    "{{- ('<+' if cell == mark else '<-') ~ loop.index0 ~ '>' -}}"
    "{%- else -%}{{- loop.index0 -}}{%- endif -%}{%- endfor -%}"
    "{%- for retry in last.split('not a valid move')[1:] -%}{{- '!' -}}{%- endfor -%}"
    "{%- else -%}{{- seen.text -}}{%- endif -%}"
    "{{- '<|reply|>' -}}"
)
"""The same as `prompt_text`, in Jinja, for llama.cpp."""


Ids = tuple[int, ...]


class Sample(NamedTuple):
    """A completion that was drawn."""

    prompt: Ids
    completion: Ids
    """With the end token, where it came."""
    logprobs: tuple[float, ...]
    """Of each token of the completion, at the temperature of the draw."""

    @property
    def ended(self) -> bool:
        """Whether it ended by itself."""
        return self.completion[-1] == END_ID


def prompt_text(messages: Iterable[Message]) -> str:
    """What of a chat the model sees.

    Of all that is not an assistant's, wherever a server may have put the system message, the last
    board with the mark that is named after it. A chat without a board is shown whole.
    """
    text = "".join(f"\n{each.content}" for each in messages if each.role != "assistant")
    rows = text.split(_BETWEEN_ROWS)
    if len(rows) < 3:
        return text + REPLY
    last = rows[-1]
    mark = last.rpartition(_SEAT)[2][:1]
    drawn = (rows[-3].rpartition("\n")[2], rows[-2], last.partition("\n")[0])
    cells = _BETWEEN_CELLS.join(drawn).split(_BETWEEN_CELLS)
    board = "".join(_seen(cell, mark, square) for square, cell in enumerate(cells))
    return board + "!" * last.count(_RETRY) + REPLY


def _seen(cell: str, mark: str, square: int) -> str:
    if cell not in ("X", "O"):
        return str(square)
    return (_MINE if cell == mark else _THEIRS).format(square)


def encode(text: str) -> Ids:
    """A text as tokens; a lone surrogate becomes a question mark."""
    ids: list[int] = []
    for part in _SPLIT.split(text):
        known = _IDS.get(part)
        ids += part.encode("utf-8", "replace") if known is None else (known,)
    return tuple(ids)


def decode(ids: Iterable[int]) -> str:
    """The text of tokens. The two signs, which are no text, are left out."""
    parts = (TOKENS[number] for number in ids if number not in (END_ID, REPLY_ID))
    raw = b"".join(bytes((each,)) if isinstance(each, int) else each.encode() for each in parts)
    return raw.decode("utf-8", "replace")
