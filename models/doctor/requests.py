"""What a server does with the parts of a request: roles, seed, temperature."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from arena.game import Message
from models.adapt import Adaptation
from models.completion import Fault
from models.doctor.card import Outcome, Probe
from models.doctor.subject import Reply, Subject, chat, refused

SYSTEM, ROLES, SEED = "system role", "roles", "seed"
TEMPERATURE, REPEATS, CONCURRENCY = "temperature 0", "repeats", "concurrency"

AT_ONCE = 8
"""How many requests are sent at once."""

_WORD = "marigold"
_HOLDS_THE_WORD = f"The name of the cat is {_WORD.capitalize()}."
_ASKS_THE_WORD = "What is the name of the cat? Reply with the name alone."
_FURTHER = " It is black and white, sleeps by day, and likes to be left alone."
_FOR_A_WORD = 256
_SOME = 32
_DRAWN = "Name a few animals, cities and numbers at random."
_COUNTED = "Count from one to thirty in words."
_OTHER_SEED = 29


async def system_role(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Whether the system message reaches the model: by a word that only it holds, and by the
    number of tokens that the server counts.
    """
    if not subject.form.system:
        yield _unknown(SYSTEM, "Not tried: the prompt format has no system message.")
        return
    if Adaptation.SYSTEM_IN_USER in subject.adaptations:
        seen = "Refused by the server, so its text stands at the head of the first user message."
        yield Probe(SYSTEM, Outcome.NOTE, seen)
        return
    joined = f"{_HOLDS_THE_WORD}\n\n{_ASKS_THE_WORD}"
    replies: list[Reply] = []
    for question in (
        chat(_ASKS_THE_WORD, _HOLDS_THE_WORD),
        chat(_ASKS_THE_WORD, _HOLDS_THE_WORD + _FURTHER),
        chat(joined),
    ):
        reply = await subject.ask(*question, tokens=_FOR_A_WORD)
        if isinstance(reply, Fault):
            yield _no_reply(SYSTEM, reply)
            return
        replies.append(reply)
    yield _of_system(*replies)


def _of_system(asked: Reply, longer: Reply, as_user: Reply) -> Probe:
    # Not one without a system message: a template may have one of its own for that.
    counts = [each.completion.prompt_tokens or 0 for each in (asked, longer, as_user)]
    counted, grows = min(counts) > 0, counts[1] - counts[0]
    if _says(asked):
        seen = "Kept: the model repeats a word that only the system message holds."
        if counted and grows and counts[0] == counts[2]:
            seen = (
                "It reaches the model, which repeats a word that only it holds; by the number of "
                "tokens, the server itself puts it into the user message."
            )
        return Probe(SYSTEM, Outcome.OK, seen)
    change = (
        "the server's chat template; or prompt, to a format whose system text stands in its first "
        "user message"
    )
    if counted and not grows:
        seen = "Accepted, but dropped: the prompt has as many tokens whatever its length."
        return Probe(SYSTEM, Outcome.PROBLEM, seen, change)
    if counted:
        seen = "Accepted, and the longer it is, the longer is the prompt; but the model"
        if _says(as_user):
            seen += " repeats a word of it only where the user says it."
            return Probe(SYSTEM, Outcome.NOTE, seen)
        return Probe(SYSTEM, Outcome.OK, f"{seen} repeats no word of it, nor of the user's.")
    if _says(as_user):
        seen = "Accepted, but the model repeats a word of it only where the user says it."
        return Probe(SYSTEM, Outcome.PROBLEM, seen, change)
    seen = "Accepted; whether the model sees it cannot be told: it repeats no word of the user's."
    return _unknown(SYSTEM, seen)


def _says(reply: Reply) -> bool:
    return any(_WORD in words.lower() for words in reply.words)


async def roles(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Whether a chat with a reply in it is taken, and whether the roles have to alternate."""
    again = Message("user", "Once more.")
    hello = tuple(chat("Say hello.", "Answer briefly." if subject.form.system else None))
    going_on = await subject.ask(*hello, Message("assistant", "Hello."), again, tokens=_SOME)
    if isinstance(going_on, Fault):
        if refused(going_on):
            seen = f"A chat that goes on after a reply is refused: {going_on.message}"
            yield Probe(ROLES, Outcome.PROBLEM, seen, 'history, to "board"')
        else:
            yield _no_reply(ROLES, going_on)
        return
    two = await subject.ask(*chat("Say hello."), again, tokens=_SOME)
    if isinstance(two, Reply):
        seen = "They need not alternate: two user messages in a row are accepted."
        yield Probe(ROLES, Outcome.OK, seen)
    elif refused(two):
        seen = "They have to alternate, which those of a game always do."
        yield Probe(ROLES, Outcome.OK, seen)
    else:
        yield _no_reply(ROLES, two)


async def seed(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Whether the seed decides a reply at temperature 1."""
    if Adaptation.NO_SEED in subject.adaptations:
        seen = "Refused by the server: games are played unseeded, and none can be repeated."
        yield Probe(SEED, Outcome.NOTE, seen)
        return
    replies: list[Reply] = []
    for each in (_OTHER_SEED + 1, _OTHER_SEED + 1, _OTHER_SEED):
        reply = await subject.ask(*chat(_DRAWN), tokens=_SOME, temperature=1, seed=each)
        if isinstance(reply, Fault):
            yield _no_reply(SEED, reply)
            return
        replies.append(reply)
    first, again, other = (reply.words for reply in replies)
    if all(reply.blank for reply in replies):
        yield _unknown(SEED, "It cannot be told: the replies are empty.")
    elif first != again:
        seen = "Accepted, but not honoured: the same seed gave two different replies."
        yield Probe(SEED, Outcome.NOTE, seen)
    elif first == other:
        seen = "It cannot be told: the replies are the same whatever the seed."
        yield _unknown(SEED, seen)
    else:
        seen = "Honoured: the same seed gave the same reply, another seed another."
        yield Probe(SEED, Outcome.OK, seen)


async def greedy(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Whether temperature 0 is taken, and gives the same reply each time, under load too."""
    wanted = Outcome.PROBLEM if subject.greedy else Outcome.NOTE
    alone = await subject.ask(*chat(_COUNTED), tokens=_SOME, temperature=0)
    if isinstance(alone, Fault):
        for name in (TEMPERATURE, REPEATS, CONCURRENCY):
            yield _no_reply(name, alone)
        return
    if Adaptation.NO_TEMPERATURE in subject.endpoint.adaptations:
        seen = "Refused by the server: replies are drawn at its own default temperature."
        change = "sampling.temperature" if subject.greedy else None
        yield Probe(TEMPERATURE, wanted, seen, change)
        for name in (REPEATS, CONCURRENCY):
            yield _unknown(name, "Not tried: the server takes no temperature 0.")
        return
    yield Probe(TEMPERATURE, Outcome.OK, "Accepted.")
    again = await subject.ask(*chat(_COUNTED), tokens=_SOME, temperature=0)
    if isinstance(again, Fault):
        yield _no_reply(REPEATS, again)
    elif alone.blank and again.blank:
        yield _unknown(REPEATS, "It cannot be told: the replies are empty.")
    elif alone.words == again.words:
        seen = "At temperature 0 the same question got the same reply twice."
        yield Probe(REPEATS, Outcome.OK, seen)
    else:
        seen = "At temperature 0 the same question got two different replies: games do not repeat."
        yield Probe(REPEATS, wanted, seen)
    subject.room_for(AT_ONCE)
    yield await _at_once(subject, alone, wanted)


async def _at_once(subject: Subject, alone: Reply, wanted: Outcome) -> Probe:
    replies = await asyncio.gather(
        *(
            subject.ask(*chat(_COUNTED), tokens=_SOME, temperature=0, tries=1)
            for _ in range(AT_ONCE)
        )
    )
    failed = [reply for reply in replies if isinstance(reply, Fault)]
    came = [reply for reply in replies if isinstance(reply, Reply)]
    different = len({reply.words for reply in (alone, *came)})
    figures = {"at_once": AT_ONCE, "failed": len(failed), "different": different}
    if failed:
        seen = f"{len(failed)} of {AT_ONCE} requests at once failed: {failed[0].message}"
        change = "how many games are played at once"
        return Probe(CONCURRENCY, Outcome.NOTE, seen, change, figures)
    if all(reply.blank for reply in (alone, *came)):
        return _unknown(CONCURRENCY, "It cannot be told: the replies are empty.")
    if different == 1:
        seen = f"{AT_ONCE} requests at once got the reply that one alone gets."
        return Probe(CONCURRENCY, Outcome.OK, seen, figures=figures)
    seen = (
        f"At temperature 0, {AT_ONCE} requests at once and one alone got {different} different "
        "replies to the same question: under load games do not repeat."
    )
    change = "one game at a time, or a batch-invariant server, where games have to repeat exactly"
    return Probe(CONCURRENCY, wanted, seen, change, figures)


def _unknown(name: str, seen: str) -> Probe:
    return Probe(name, Outcome.UNKNOWN, seen)


def _no_reply(name: str, fault: Fault) -> Probe:
    return Probe(name, Outcome.UNKNOWN, f"It cannot be told, for no reply came: {fault.message}")
