"""The flavour `preference`: two replies to the same request, one of which gave up value.

What was asked is the same where the prompt format, the board and the last message of the prompt
are. With a fresh prompt each turn the whole prompts are then the same; in a longer chat what was
said before may differ, and the row has the prompt that the rejected reply answered. Chosen are
replies that keep value and follow the format, of whichever player the games are.

The games are gone through twice: once to gather what can be chosen, of each question the first few,
and once for the rows. So memory grows with the number of questions, and not with that of games.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from arena.board import Mark
from arena.game import Message
from storage.columns import canonical_json
from storage.datasets.chats import reply_of
from storage.datasets.facts import message_list, provenance
from storage.datasets.replies import Reply, replies, reply_facts
from storage.records import StoredGame

_KEPT = 4
"""Replies that can be chosen, for one question."""
_QUESTIONS = 100_000
"""Of how many questions; what is asked after them has no pair."""

Games = Callable[[], Iterable[tuple[StoredGame, Sequence[Mark]]]]
Question = tuple[str | None, str, str]
"""The format's hash, the last message, the board."""


class _Choice(NamedTuple):
    message: Message
    square: int
    player: str
    game: str
    prompt: bytes
    """Its digest: whole prompts would take most of the memory."""


def pair_rows(games: Games) -> Iterator[dict[str, Any]]:
    """Each reply that gave up value beside one that did not; `games` is called twice."""
    choices = _gather(games())
    used: Counter[Question] = Counter()
    for stored, seats in games():
        for mark in seats:
            for reply in replies(stored, mark):
                if not reply.loses_value:
                    continue
                question = _question(stored, mark, reply)
                known = choices.get(question)
                if not known:
                    continue
                choice = known[used[question] % len(known)]
                used[question] += 1
                yield {
                    **provenance(stored, mark),
                    **reply_facts(reply),
                    "chosen_player": choice.player,
                    "chosen_game": choice.game,
                    "chosen_square": choice.square,
                    "same_prompt": choice.prompt == _digest(reply.attempt.prompt),
                    "prompt": message_list(reply.attempt.prompt),
                    "chosen": message_list([choice.message]),
                    "rejected": message_list([reply_of(reply.attempt)]),
                }


def _gather(
    games: Iterable[tuple[StoredGame, Sequence[Mark]]],
) -> dict[Question, list[_Choice]]:
    """The first replies to each question that keep value, no two alike."""
    found: defaultdict[Question, list[_Choice]] = defaultdict(list)
    for stored, seats in games:
        for mark in seats:
            for reply in replies(stored, mark):
                attempt, square = reply.attempt, reply.square
                if square is None or reply.loses_value or not attempt.contains:
                    continue
                question = _question(stored, mark, reply)
                if question not in found and len(found) == _QUESTIONS:
                    continue
                known, message = found[question], reply_of(attempt)
                if len(known) < _KEPT and all(each.message != message for each in known):
                    name = stored.player(mark).identity.name
                    known.append(_Choice(message, square, name, stored.id, _digest(attempt.prompt)))
    return found


def _digest(prompt: tuple[Message, ...]) -> bytes:
    return hashlib.sha256(canonical_json(prompt).encode("utf-8", "surrogatepass")).digest()


def _question(stored: StoredGame, mark: Mark, reply: Reply) -> Question:
    prompt = reply.attempt.prompt
    asked = prompt[-1].content if prompt else ""
    squares = "".join(each or "." for each in reply.board.squares)
    return stored.player(mark).identity.prompt_hash, asked, f"{mark}{squares}"
