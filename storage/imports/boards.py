"""The game that can be followed in a chat: its questions draw boards, its replies name moves.

What a chat's rewards or its questions claim about the end is not believed: the boards are, where
each follows from the one before by moves that the rules allow, and the replies and the lists beside
them say nothing else. Which mark the model plays, who opened, and whether squares are counted from
0 or 1 is tried out: what the boards leave possible is true if nothing else is.

The last reply is a move where it is a legal one, though no board shows it: environments often end
there. What the opponent did after it, nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from arena.board import Mark
from storage.imports.drawings import Drawing, drawings
from storage.imports.named import listed_free, names_the_game, replies_of, told_mark, told_move
from storage.imports.walks import NO_WAY, Asked, Event, ImpossibleError, TooLateError, Walk

_MODEL = "assistant"
_RULES = ("system", "developer")
_MIDDLE = "it begins in the middle of a game"
_UNCLEAR = "it does not show which mark the model plays"


@dataclass(frozen=True)
class Followed:
    """A game as far as a chat shows it."""

    opener: Mark
    mark: Mark
    """The model's."""
    moves: tuple[int, ...]
    """The squares in order, 0 to 8, both sides'."""


@dataclass(frozen=True)
class Unfollowed:
    """Why there is none, though boards are drawn."""

    why: str
    contradicts: bool
    """Whether the chat contradicts itself, and does not merely say too little."""


def follow(messages: Sequence[Mapping[str, Any]]) -> Followed | Unfollowed | None:
    """Follow the board through a chat. Time is linear in its length.

    Args:
        messages: each with a `role` and its `content`, a text or a list of parts.

    Returns:
        None where no tic-tac-toe board is drawn in what the model was asked.
    """
    asked = [
        (number, _text(message))
        for number, message in enumerate(messages, 1)
        if message.get("role") not in (_MODEL, *_RULES)
    ]
    drawn = {number: drawings(text) for number, text in asked}
    told = [text for _, text in asked]
    told += [_text(each) for each in messages if each.get("role") in _RULES]
    named = names_the_game(told)
    boards = [board for found in drawn.values() for board in found]
    if named is None or not boards or not (named or any(each.is_marked for each in boards)):
        return None
    return _decide(list(_events(messages, dict(asked), drawn)), told)


def _text(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content"))


def text_of(content: object) -> str:
    """The text of a message's content; of a list of parts, those that have one."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _events(
    messages: Sequence[Mapping[str, Any]],
    asked: Mapping[int, str],
    drawn: Mapping[int, Sequence[Drawing]],
) -> Iterator[Event]:
    said = [each for each in messages if each.get("role") == _MODEL]
    replies = iter(replies_of([None if each.get("tool_calls") else _text(each) for each in said]))
    for number, message in enumerate(messages, 1):
        if message.get("role") == _MODEL:
            yield next(replies)
            continue
        found = drawn.get(number, ())
        if len(found) == 1:
            text = asked[number]
            yield Asked(number, found[0], listed_free(text), told_move(text))
        else:
            # What is said beside several boards may be said of any.
            yield from (Asked(number, each) for each in found)


def _decide(events: Sequence[Event], told: Sequence[str]) -> Followed | Unfollowed:
    """The one game that the events leave possible."""
    possible: list[Walk] = []
    faults: list[ImpossibleError] = []
    late = False
    for opener, mark, base in product(Mark, Mark, (0, 1)):
        walk = Walk(opener, mark, base)
        try:
            walk.through(events)
        except ImpossibleError as fault:
            faults.append(fault)
        except TooLateError:
            late = True
        else:
            possible.append(walk)
    if late:
        return Unfollowed(_MIDDLE, False)
    if not possible:
        # The supposition that went furthest is the best one; the plainest reason says least.
        worst = max(faults, key=lambda fault: (fault.message, str(fault) != NO_WAY))
        return Unfollowed(f"message {worst.message}: {worst}", True)
    turns = min(walk.out_of_turn for walk in possible)
    likely = [walk for walk in possible if walk.out_of_turn == turns]
    if said := told_mark(told):
        likely = [walk for walk in likely if walk.mark is said]
        if not likely:
            return Unfollowed(f"it calls the model {said}, and the boards show another", True)
    if len({walk.shown for walk in likely}) > 1:
        return Unfollowed(_UNCLEAR, False)
    lasts = {walk.last_move() for walk in likely}
    last = lasts.pop() if len(lasts) == 1 else None
    opener, mark, moves = likely[0].shown
    return Followed(opener, mark, moves if last is None else (*moves, last))
