"""What a model replies where a game begins, how fast, and what all replies have in common."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import AsyncGenerator, Iterator

from arena.game import Termination, Verdict
from models.adapt import Adaptation
from models.completion import Fault
from models.doctor.card import Outcome, Probe
from models.doctor.subject import Reply, StopError, Subject, sentence
from models.reply import CUT, END_THINK, THINK

FORMAT, LATENCY, STREAMING = "format", "latency", "streaming"
TOKENS, REASONING, EMPTY, USAGE = "token limit", "reasoning", "empty replies", "usage"

_SEEDS = (21, 22, 23)
_SLOW_S = 30.0
_STREAMED = 256


async def first_moves(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Whether the model answers a game's first prompt in its format, and how long it takes.

    Raises:
        StopError: it does not answer at all.
    """
    replies: list[Reply] = []
    fault: Fault | None = None
    for each in _SEEDS:
        reply = await subject.ask(*subject.first_prompt(), seed=each)
        if isinstance(reply, Fault):
            fault = reply
            break
        replies.append(reply)
        if reply.completion.seconds > _SLOW_S:
            break
    if not replies:
        assert fault is not None
        reason = f"A game's first prompt gets no reply: {fault.message}"
        change = None
        if fault.kind is Termination.CONTEXT_EXCEEDED:
            change = "the context that the server gives the model"
        yield Probe(FORMAT, Outcome.PROBLEM, reason, change)
        raise StopError(reason)
    yield _of_format(replies)
    yield _of_latency(replies)


def _of_format(replies: list[Reply]) -> Probe:
    count = len(replies)
    verdicts = Counter(reply.reading.verdict for reply in replies)
    contains = sum(reply.reading.contains for reply in replies)
    exact = sum(reply.reading.exact for reply in replies)
    legal = verdicts[Verdict.OK]
    said = ", ".join(f"{times} {verdict.value}" for verdict, times in verdicts.most_common())
    seen = (
        f"Of {count} first moves: {said}; format contained in {contains}, kept exactly by {exact}."
    )
    figures = {"replies": count, "legal": legal, "contains": contains, "exact": exact}
    change = None
    if legal < count:
        outcome = Outcome.NOTE if legal else Outcome.PROBLEM
        change = "prompt, to the format that the model was trained with"
        if verdicts[Verdict.TRUNCATED] * 2 > count - legal:
            change = "sampling.max_tokens: the replies are cut off before their move"
    else:
        outcome = Outcome.OK if contains == count else Outcome.NOTE
    return Probe(FORMAT, outcome, seen, change, figures)


def _of_latency(replies: list[Reply]) -> Probe:
    seconds = [reply.completion.seconds for reply in replies]
    median = statistics.median(seconds)
    figures: dict[str, int | float | str] = {"reply_s": round(median, 3)}
    seen = f"A first move takes {median:.2f} s (median of {len(replies)})"
    tokens = sum(reply.completion.completion_tokens or 0 for reply in replies)
    if tokens and sum(seconds) > 0:
        speed = tokens / sum(seconds)
        figures["tokens_per_s"] = round(speed, 1)
        seen += f", at {speed:.0f} tokens a second"
    return Probe(LATENCY, Outcome.OK, f"{seen}.", figures=figures)


async def streaming(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Whether replies arrive in pieces, as a person who plays would like them to."""
    begun = subject.clock()
    arrived: list[float] = []

    def arrive(_kind: str, _text: str) -> None:
        arrived.append(subject.clock() - begun)

    tokens = min(_STREAMED, subject.most_tokens)
    reply = await subject.ask(*subject.first_prompt(), tokens=tokens, on_delta=arrive, tries=1)
    if isinstance(reply, Fault):
        seen = f"A streamed reply did not arrive: {reply.message}"
        yield Probe(STREAMING, Outcome.PROBLEM, seen)
    elif Adaptation.NO_STREAM in subject.endpoint.adaptations:
        seen = "Refused by the server: in the app, a reply shows once it is whole."
        yield Probe(STREAMING, Outcome.NOTE, seen)
    elif reply.blank:
        yield Probe(STREAMING, Outcome.UNKNOWN, "It cannot be told: the reply is empty.")
    elif len(arrived) < 2:
        seen = "The reply came in one piece, though it was to be streamed."
        yield Probe(STREAMING, Outcome.NOTE, seen)
    else:
        first = round(arrived[0], 3)
        seen = f"Works: the first piece of a first move came after {first:.2f} s."
        yield Probe(STREAMING, Outcome.OK, seen, figures={"first_piece_s": first})


def overview(subject: Subject) -> Iterator[Probe]:
    """What all replies so far have in common; sends nothing."""
    if subject.replies:
        yield _tokens(subject)
        yield _reasoning(subject)
        yield _empty(subject)
        yield _usage(subject)


def _tokens(subject: Subject) -> Probe:
    name, sent = subject.token_parameter, subject.adaptations
    if Adaptation.NO_TOKEN_LIMIT in sent:
        seen = "The server takes none: a reply ends when the model ends it."
        return Probe(TOKENS, Outcome.PROBLEM, seen, "the limit, at the server")
    for adaptation in (Adaptation.MAX_COMPLETION_TOKENS, Adaptation.MAX_TOKENS):
        if adaptation in sent:
            other = adaptation.value
            seen = f"Sent as {other}, since the server refuses {name}."
            change = f"sampling.{name}, to sampling.{other}: it spares a refused request"
            return Probe(TOKENS, Outcome.NOTE, seen, change)
    excess = [
        reply for reply in subject.replies if (reply.completion.completion_tokens or 0) > reply.cap
    ]
    if excess:
        said = f"{excess[0].completion.completion_tokens} tokens where {excess[0].cap} were allowed"
        seen = f"{name} is accepted, but not kept: a reply had {said}."
        return Probe(TOKENS, Outcome.PROBLEM, seen, "the limit, at the server")
    return Probe(TOKENS, Outcome.OK, f"{name} is accepted.", figures={"parameter": name})


def _reasoning(subject: Subject) -> Probe:
    whole = [reply for reply in subject.replies if reply.completion.finish_reason not in CUT]
    fields = Counter(
        reply.reading.reasoning_field for reply in subject.replies if reply.reading.reasoning_field
    )
    texts = [reply.reading.text for reply in whole]
    if any(END_THINK in text and THINK not in text.partition(END_THINK)[0] for text in texts):
        seen = (
            f"Only {END_THINK} comes, the opening {THINK} is missing: moves are read all the same, "
            "but no reply counts as following a format that asks for thinking."
        )
        change = "the server, so that it sends thinking in a field of its own (a reasoning parser)"
        return Probe(REASONING, Outcome.NOTE, seen, change)
    if fields:
        name = fields.most_common(1)[0][0]
        seen = f"Thinking comes in a field of its own, {name}."
        return Probe(REASONING, Outcome.OK, seen, figures={"field": name})
    if any(END_THINK in text for text in texts):
        seen = f"Thinking stands in the text, between {THINK} and {END_THINK}."
        return Probe(REASONING, Outcome.OK, seen)
    if any(THINK in text for text in texts):
        seen = f"Thinking stands in the text after {THINK}, and is never closed."
        return Probe(REASONING, Outcome.NOTE, seen)
    return Probe(REASONING, Outcome.OK, sentence("no thinking was seen"))


def _empty(subject: Subject) -> Probe:
    count = len(subject.replies)
    empty = sum(reply.blank for reply in subject.replies)
    figures = {"replies": count, "empty": empty}
    if not empty:
        return Probe(EMPTY, Outcome.OK, f"None of {count} replies was empty.", figures=figures)
    outcome = Outcome.PROBLEM if empty * 2 > count else Outcome.NOTE
    seen = f"{empty} of {count} replies were empty."
    change = "sampling.stop or the server's chat template, where one of them ends replies at once"
    return Probe(EMPTY, outcome, seen, change, figures)


def _usage(subject: Subject) -> Probe:
    counts = [
        (reply.completion.prompt_tokens, reply.completion.completion_tokens)
        for reply in subject.replies
    ]
    known = sum(None not in pair for pair in counts)
    if known == len(counts):
        return Probe(USAGE, Outcome.OK, "The server reports the tokens of each reply.")
    seen = f"The server reports the tokens of {known} in {len(counts)} replies: figures lack them."
    if Adaptation.NO_STREAM_OPTIONS in subject.adaptations and known == len(counts) - 1:
        seen = "The server reports the tokens of each reply that is not streamed."
    return Probe(USAGE, Outcome.NOTE, seen)
