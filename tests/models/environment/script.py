"""A model whose reply depends on the chat alone: the same in every loop that plays a game with it.

It plays badly, makes every mistake that there is a verdict for, and forfeits now and then.
"""

from __future__ import annotations

import hashlib
import random
import re
from typing import Any

from arena.game import Message
from models.training.tokens import decode, encode, prompt_text
from tests.servers import Answer, Json, Reset, Say, board_in

_INVALID = (
    Say("I would rather talk about chess."),
    Say(""),
    Say("<think>Hm.</think><move>9</move>"),
    Say("<think>Hm.</think><move>centre</move>"),
    Say("<think>It is a long story, and", finish_reason="length"),
    Say("<think>No.</think>", finish_reason="content_filter"),
)


def scripted(body: dict[str, Any]) -> Say:
    """The reply to a request."""
    chat = "\x00".join(message["content"] for message in body["messages"])
    draw = int.from_bytes(hashlib.sha256(chat.encode()).digest()[:8], "big")
    kind, draw = draw % 10, draw // 10
    board = board_in(body)
    if kind == 0:
        return _INVALID[draw % len(_INVALID)]
    if kind == 1 and board.ply:
        taken = next(square for square, mark in enumerate(board.squares) if mark)
        return Say(f"<think>This one.</think><move>{taken}</move>")
    square = board.free[draw % len(board.free)]
    if kind == 2:
        return Say(f"<move>{square}</move> is what I take.")
    if kind == 3:
        return Say(f"<move>{square}</move>", reasoning="In a field of its own.")
    return Say(f"<think>Why not {square}?</think><move>{square}</move>")


def scripted_by_board(body: dict[str, Any]) -> Say:
    """The reply to a request, by no more of it than our own checkpoints are shown."""
    chat = (Message(each["role"], each["content"]) for each in body["messages"])
    return said_of(decode(encode(prompt_text(chat))))


def said_of(prompt: str) -> Say:
    """The reply to a board as `models.training.tokens` draws it; nothing that tokens cannot say."""
    draw = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:8], "big")
    kind, draw = draw % 10, draw // 10
    free, taken = (re.findall(sign, prompt) for sign in (r"(?<![-+])\d", r"(?<=[-+])\d"))
    if kind == 0:
        return _INVALID[draw % 5]
    if kind == 1 and taken:
        return Say(f"<think>This one.</think><move>{taken[0]}</move>")
    square = free[draw % len(free)]
    if kind == 2:
        return Say(f"<move>{square}</move> is what I take.")
    return Say(f"<think>Why not {square}?</think><move>{square}</move>")


class BadNetwork:
    """The same over a network that fails four times in ten."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)

    def __call__(self, body: dict[str, Any]) -> Answer:
        """What comes of a request."""
        draw = self._chance.random()
        if draw < 0.2:
            error = {"error": {"message": "Rate limit reached"}}
            return Json(429, error, headers={"retry-after-ms": "10"})
        if draw < 0.3:
            return Json(503, {"error": {"message": "overloaded"}})
        if draw < 0.4:
            return Reset(in_body=draw < 0.35)
        return scripted(body)
