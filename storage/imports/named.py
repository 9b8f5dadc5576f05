"""Which squares a chat's texts name: its replies as their moves, its questions as facts.

How an environment reads replies is not in its chats. So a reply names, loosely, every number that
stands where this chat's replies put their moves, thinking included; and, strictly, the last one
that is complete and stands behind the thinking. Numbers are as they stand, from 0 or from 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.board import SQUARES, Mark

_TAG = re.compile(r"<([A-Za-z_]{1,20})>\s{0,20}(-?\d{1,9})\s{0,20}(</\1>|\Z)")
_ALONE = re.compile(r"\W{0,9}(\d)\W{0,9}")
_UNTAGGED = (
    re.compile(r"\\boxed\{\s{0,9}(\d{1,9})\s{0,9}\}"),
    re.compile(r"\[\s{0,9}(\d)\s{0,9}\]"),
)
_THINK, _END_THINK = "<think>", "</think>"

_LISTED = re.compile(
    r"\W{0,9}(?:free|available|empty|open|remaining|(legal|valid|possible))\b[^:]{0,40}:",
    re.IGNORECASE,
)
_LISTING = re.compile(r"[\s\d,;'\"\[\]().]{1,200}")
_TOOK = re.compile(
    r"\bopponent\b[^.\n]{0,40}?\b(?:square|position|cell|spot|field)\s{1,3}(\d)\b", re.IGNORECASE
)
_MARK = r"\s{1,3}(?:the\s)?['\"`*(]{0,3}([XO])\b(?!['\u2019]s\b)"
_SUPPOSED = r"(?<!\b[Ii]f\s)(?<!\b[Ww]hen\s)(?<!\b[Ww]hether\s)"
_SOMEBODY_ELSE = (
    r"opponent|who|whom|whose|that|which|and|but|while|where|plays?|playing|moves|moving|taking"
    r"|using|having|being|is|are"
)
_SEATED = re.compile(
    rf"{_SUPPOSED}\b(?:[Yy]ou(?:\s(?:will|shall|always|now)){{0,2}}"
    r"\s(?:are|be|play)(?:\s(?:playing|now|always))?(?:\sas)?"
    r"|[Yy]ou(?:\s(?:will|shall|always|now|are|be)){0,3}\s(?:play|playing)\b"
    rf"(?:(?!\b(?:{_SOMEBODY_ELSE})\b)[^.,;:\n]){{0,60}}?,?\sas"
    rf"|[Yy]our\s(?:mark|symbol|piece|token|stone)s?\s(?:is|are|will\sbe)){_MARK}"
)
"""Nobody else comes between the model and its mark: not `you play a machine that plays as O`."""
_GAME = re.compile(r"\btic[\s_-]{0,3}tac[\s_-]{0,3}toe", re.IGNORECASE)
_BEFORE = re.compile(r"(\w{1,20})[\s-]{1,3}\Z")
_REACH = 23
"""Characters that `_BEFORE` looks at. To look back from the game's name, not for a word at each
letter, takes a hundredth of the time in a text of megabytes.
"""
_OTHER_GAMES = frozenset({"reverse", "misere", "misère", "wild", "ultimate", "quantum", "super"})


@dataclass(frozen=True)
class Reply:
    """What a reply names."""

    loose: frozenset[int] | None
    """None where it may name anything: in words, by coordinates, through a tool."""
    last: int | None = None
    """The last of these that is complete."""
    strict: int | None = None
    """The same, of what stands behind the thinking."""


def replies_of(texts: Sequence[str | None]) -> list[Reply]:
    """What each of a chat's replies names.

    Args:
        texts: None for a reply that calls a tool.
    """
    way = _way([text for text in texts if text is not None])
    return [Reply(None) if text is None else _reply(text, way) for text in texts]


class _Found(NamedTuple):
    number: int
    whole: bool


class _Way(NamedTuple):
    """How a chat's replies put their moves."""

    pattern: re.Pattern[str]
    tag: str | None = None

    def numbers(self, text: str) -> list[_Found]:
        """The numbers that stand there, in order."""
        found = self.pattern.finditer(text)
        if self.tag is None:
            return [_Found(int(match[1]), True) for match in found]
        return [_Found(int(match[2]), bool(match[3])) for match in found if match[1] == self.tag]


def _way(texts: Sequence[str]) -> _Way | None:
    """The way that most of the replies share; None where none of them puts a number anywhere."""
    tags = Counter(tag for text in texts for tag in {match[1] for match in _TAG.finditer(text)})
    ways = [_Way(_TAG, "move")] + [_Way(_TAG, tag) for tag, _ in tags.most_common(1)]
    ways += [_Way(pattern) for pattern in _UNTAGGED]
    best = max(ways, key=lambda way: sum(bool(way.numbers(text)) for text in texts))
    return best if any(best.numbers(text) for text in texts) else None


def _reply(text: str, way: _Way | None) -> Reply:
    answer = _behind_thinking(text)
    if way is None:
        alone = _ALONE.fullmatch(answer.strip()[:30])
        number = int(alone[1]) if alone else None
        return Reply(None if number is None else frozenset({number}), number, number)
    named, behind = way.numbers(text), way.numbers(answer)
    return Reply(frozenset(each.number for each in named), _last(named), _last(behind))


def _last(found: Sequence[_Found]) -> int | None:
    return next((each.number for each in reversed(found) if each.whole), None)


def _behind_thinking(text: str) -> str:
    """What is left once thinking is taken out; nothing where it never closes."""
    answer = text.rpartition(_END_THINK)[2]
    return "" if _THINK in answer else answer


def listed_free(text: str) -> frozenset[int] | None:
    """The numbers that a question lists as free; None where it lists none. That all nine are valid
    is no such list: it says which numbers there are.
    """
    found = None
    for line in text.split("\n"):
        head = _LISTED.match(line)
        if head and _LISTING.fullmatch(line, head.end()):
            found = frozenset(map(int, re.findall(r"\d{1,9}", line[head.end() :])))
            if head[1] and len(found) == len(SQUARES):
                found = None
    return found or None


def told_move(text: str) -> int | None:
    """The square that the opponent took, as a question says; None where it says none, or several
    things.
    """
    told = {int(each) for each in _TOOK.findall(text)}
    return told.pop() if len(told) == 1 else None


def told_mark(texts: Iterable[str]) -> Mark | None:
    """The mark that a chat's questions call the model's; None where they say none, or both."""
    told = {Mark(each) for text in texts for each in _SEATED.findall(text)}
    return told.pop() if len(told) == 1 else None


def names_the_game(texts: Iterable[str]) -> bool | None:
    """Whether texts name tic-tac-toe; None where they name another game that is called after it."""
    found = [(text, game.start()) for text in texts for game in _GAME.finditer(text)]
    words = (_BEFORE.search(text[max(0, at - _REACH) : at]) for text, at in found)
    is_another = any(word and word[1].lower() in _OTHER_GAMES for word in words)
    return None if is_another else bool(found)
