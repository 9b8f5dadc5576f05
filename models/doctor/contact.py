"""The first contact: whether there is a server, whether it lets us in, whether it has the model."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from models.completion import Fault
from models.config import nearest
from models.doctor.card import Outcome, Probe
from models.doctor.subject import StopError, Subject, chat, sentence
from models.faults import shorten
from models.listing import listing_of

REACHABLE, KEY, MODEL = "reachable", "key", "model"

_FEW = 16
_MOST_LISTED = 10
_REACHABLE = Probe(REACHABLE, Outcome.OK, "The server answers.")
_NOT_FOUND = (404, 405)
_REFUSED_KEY = (401, 403)


async def contact(subject: Subject) -> AsyncGenerator[Probe, None]:
    """Look at the list of models, then ask for a short reply.

    Raises:
        StopError: there is no reply to be had.
    """
    entry = subject.entry
    tries = None
    if entry.base_url is not None:
        answer = await subject.fetch("/models")
        subject.listed = listing_of(answer)
        # Where nobody answers, to try again is to wait for nothing.
        tries = 1 if answer.status is None else None
    # Where the format has no system message, whether one is taken is of no account.
    system = "Answer briefly." if subject.form.system else None
    reply = await subject.ask(*chat("Say hello.", system), tokens=_FEW, tries=tries)
    if isinstance(reply, Fault):
        for probe in await _why_not(subject, reply):
            yield probe
        raise StopError(probe.seen)
    for probe in (_REACHABLE, _key(subject), _model(subject)):
        yield probe


def _key(subject: Subject) -> Probe:
    entry = subject.entry
    if entry.gguf is not None:
        seen = "The arena serves the file itself."
    elif entry.api_key_env or entry.headers_env:
        seen = "The server answers with this key; whether it looks at it was not tried."
    else:
        seen = "The server answers without a key."
    return Probe(KEY, Outcome.OK, seen)


def _model(subject: Subject) -> Probe:
    name, listed = subject.entry.model, subject.listed
    if subject.entry.gguf is not None:
        return Probe(MODEL, Outcome.OK, "The file was loaded.")
    if listed is None:
        return Probe(
            MODEL, Outcome.UNKNOWN, "The server lists no models, but answers to this name."
        )
    if name in listed:
        return Probe(MODEL, Outcome.OK, "The server lists the model.")
    return Probe(
        MODEL,
        Outcome.NOTE,
        f"The server does not list {shorten(name)!r} and answers all the same: it plays whatever "
        f"it has loaded. It lists {_offered(subject)}.",
        "model, to a name that the server lists, so that another model cannot be played unseen",
    )


async def _why_not(subject: Subject, fault: Fault) -> tuple[Probe, ...]:
    """What was seen where no reply came; the last of it is why."""
    entry, request, reason = subject.entry, fault.requests[-1], fault.message
    if not request.sent:
        change = "the variable, where the arena runs, or its name in models.toml"
        return (Probe(KEY, Outcome.PROBLEM, reason, change),)
    if request.status is None:
        change = "base_url, or start the server if it does not run"
        if entry.gguf is not None:
            change = "gguf, or the file itself"
        return (Probe(REACHABLE, Outcome.PROBLEM, reason, change),)
    if request.status in _REFUSED_KEY:
        change = "api_key_env, to the name of the environment variable that holds the key"
        if entry.api_key_env is not None:
            change = f"what the environment variable {entry.api_key_env} holds"
        return (_REACHABLE, Probe(KEY, Outcome.PROBLEM, reason, change))
    base, listed = entry.base_url, subject.listed
    named = request.status in _NOT_FOUND or entry.model in (request.error or "")
    if listed is not None and entry.model not in listed and named:
        reason = sentence(f"{request.error}; it offers {_offered(subject)}")
        near = nearest(shorten(entry.model), map(shorten, listed))
        change = f"model, to a name that the server lists ({near})"
        return (_REACHABLE, Probe(MODEL, Outcome.PROBLEM, reason, change))
    elsewhere = listed is None and base is not None and not base.endswith("/v1")
    if elsewhere and listing_of(await subject.fetch("/v1/models")) is not None:
        reason = f"There is no API at {base}, but there is one at {base}/v1."
        change = f'base_url, to "{base}/v1"'
        return (Probe(REACHABLE, Outcome.PROBLEM, reason, change),)
    return (Probe(REACHABLE, Outcome.PROBLEM, reason),)


def _offered(subject: Subject) -> str:
    """The first models of the server's list, in words."""
    names = list(subject.listed or ())
    shown = ", ".join(shorten(name) for name in names[:_MOST_LISTED]) or "none"
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
