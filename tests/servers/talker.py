"""A model that one can talk to: it plays, counts, remembers a name, and talks at random."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from tests.servers.answers import Say
from tests.servers.policy import PolicyModel

_NAME = re.compile(r"name of the cat is (\w+)")


class Talker:
    """What a well-behaved server with a well-behaved model does, and what others do instead.

    Args:
        system: what becomes of a system message: `kept`; `dropped` without a word; `moved` into
            the first user message, as by a chat template.
        obedient: whether the model can repeat a word that it was told.
        seeded: whether the seed decides what is drawn.
        greedy: what it says to the same prompt at temperature 0, one after the other, the last
            for ever.
        usage: whether tokens are reported.
        context: tokens of a prompt; what is longer is cut without a word.
        plays: answers prompts of games.
    """

    def __init__(
        self,
        *,
        system: Literal["kept", "dropped", "moved"] = "kept",
        obedient: bool = True,
        seeded: bool = True,
        greedy: Iterable[str] = ("one two three",),
        usage: bool = True,
        context: int = 1 << 40,
        plays: PolicyModel | Say | None = None,
    ) -> None:
        self._system = system
        self._obedient = obedient
        self._seeded = seeded
        self._greedy = tuple(greedy)
        self._asked: Counter[str] = Counter()
        self._usage = usage
        self._context = context
        self._plays = plays or PolicyModel()
        self._chance = random.Random(0)

    def __call__(self, body: dict[str, Any]) -> Say:
        text = self._prompt(body["messages"])
        counted = min(len(text.encode()) // 4, self._context)
        said = self._said(body, text)
        return Say(
            said.text,
            said.finish_reason,
            said.reasoning,
            said.reasoning_field,
            usage=self._usage,
            prompt_tokens=counted,
        )

    def _prompt(self, chat: list[dict[str, str]]) -> str:
        """What the model sees."""
        first, *rest = chat
        if first["role"] == "system" and self._system == "dropped":
            chat = rest
        elif first["role"] == "system" and self._system == "moved":
            joined = {"role": "user", "content": f"{first['content']}\n\n{rest[0]['content']}"}
            chat = [joined, *rest[1:]]
        return "".join(f"<{message['role']}>{message['content']}" for message in chat)

    def _said(self, body: dict[str, Any], text: str) -> Say:
        if "tic-tac-toe" in text:
            answer = self._plays if isinstance(self._plays, Say) else self._plays(body)
            assert isinstance(answer, Say)
            return answer
        told = _NAME.search(text)
        if told and self._obedient:
            return Say(told[1].capitalize() + ".")
        if body.get("temperature") == 0:
            self._asked[text] += 1
            return Say(self._greedy[min(self._asked[text], len(self._greedy)) - 1])
        chance = random.Random(body.get("seed")) if self._seeded else self._chance
        return Say(f"{chance.random()}")
