"""What a server's answer means where it is no completion: try again, adapt, or give up and say why.

Pure: an answer goes in, a diagnosis comes out. Whether a change of the request can help is
`models.adapt`'s part, which the endpoint asks first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from models.transport import Answer

_LONGEST_TEXT = 300
_CONTEXT = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|prompt is too long|too many tokens"
    r"|exceeds? the (?:model's )?(?:maximum )?context",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_(?:quota|credits|balance)|exceeded your current quota"
    r"|(?:insufficient|out of|not enough) (?:credits?|quota|balance|funds)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\bmodel\b.*\b(?:not exist|not found|unknown|no such|invalid)"
    r"|(?:no such|unknown|invalid|not find).*\bmodel\b",
    re.IGNORECASE | re.DOTALL,
)
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)


class Kind(Enum):
    """What can be done about it."""

    RETRY = "the same request may succeed later"
    CONTEXT = "the game does not fit the model's context"
    GIVE_UP = "the same request would fail again"
    FATAL = "no request to this endpoint can succeed"


class Diagnosis(NamedTuple):
    """What an answer that is no completion means."""

    kind: Kind
    reason: str
    """In words, without a full stop; may quote the server."""
    wait_s: float = 0.0
    """Not to be tried again before."""
    unknown_model: bool = False


def is_completion(answer: Answer) -> bool:
    """Whether the answer holds a reply."""
    choice = _choice(answer.data)
    return (
        answer.status == 200
        and isinstance(choice.get("message"), dict)
        and not choice.get("error")
        and not (isinstance(answer.data, dict) and answer.data.get("error"))
    )


def diagnose(answer: Answer) -> Diagnosis:
    """What is wrong with an answer that is no completion."""
    if answer.status is None:
        kind = Kind.FATAL if answer.fatal else Kind.RETRY
        return Diagnosis(kind, answer.failure or "no answer came")
    if answer.status != 200:
        return _of_status(answer.status, answer)
    if not isinstance(answer.data, dict):
        return Diagnosis(Kind.RETRY, "the answer was no JSON object")
    error = answer.data.get("error") or _choice(answer.data).get("error")
    if error:
        return _of_error(answer._replace(data={"error": error}))
    return Diagnosis(Kind.RETRY, "the answer held no reply")


def error_text(answer: Answer) -> str:
    """The server's own words about an error, on one line and cut to a readable length."""
    words = _words(answer.data)
    if not words and answer.text and not _MARKUP.match(answer.text):
        words = answer.text
    return shorten(words)


def full_text(answer: Answer) -> str:
    """All that the server says about an error, codes and types too, for recognising it."""
    error = error_of(answer.data)
    codes = [str(error.get(key) or "") for key in ("code", "type")]
    return " ".join([_words(answer.data) or answer.text[:10_000], *codes])


def error_of(data: object) -> Mapping[str, Any]:
    """The object that describes an error, wrapped in `error` or not; empty where there is none."""
    if not isinstance(data, dict):
        return {}
    error = data.get("error")
    if isinstance(error, dict):
        return error
    return {"message": error} if isinstance(error, str) else data


def shorten(text: str) -> str:
    """A server's text on one line, without control characters, and not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:10_000]).split())
    return line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…"


def _choice(data: object) -> Mapping[str, Any]:
    choices = data.get("choices") if isinstance(data, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _of_error(answer: Answer) -> Diagnosis:
    """An error under status 200: by the status that it names, else worth another try."""
    code = error_of(answer.data).get("code")
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:4])
    if isinstance(code, int) and 400 <= code < 600:
        return _of_status(code, answer)
    if _CONTEXT.search(full_text(answer)):
        return Diagnosis(Kind.CONTEXT, _quote("the game no longer fits the context", answer))
    return Diagnosis(Kind.RETRY, _quote("the server answered with an error", answer))


def _of_status(status: int, answer: Answer) -> Diagnosis:
    text = full_text(answer)
    said = _quote(f"the server answered with status {status}", answer)
    if 300 <= status < 400:
        return Diagnosis(Kind.FATAL, f"the server redirects elsewhere (status {status})")
    if status in (401, 403):
        return Diagnosis(
            Kind.FATAL, _quote(f"the server refused the key (status {status})", answer)
        )
    if status == 402 or (status == 429 and _QUOTA.search(text)):
        return Diagnosis(Kind.FATAL, _quote("the account has no quota left", answer))
    if status == 429 or status == 408:
        return Diagnosis(Kind.RETRY, said, _wait(answer.headers))
    if status in (404, 405) and _NO_MODEL.search(text):
        reason = _quote("the server does not know the model", answer)
        return Diagnosis(Kind.FATAL, reason, unknown_model=True)
    if status in (404, 405):
        return Diagnosis(
            Kind.FATAL,
            f"the server has no chat completions at this address (status {status}): "
            "a base URL usually ends in /v1",
        )
    if _CONTEXT.search(text):
        return Diagnosis(Kind.CONTEXT, _quote("the game no longer fits the context", answer))
    if status >= 500 or status in (409, 425):
        return Diagnosis(Kind.RETRY, said, _wait(answer.headers))
    return Diagnosis(Kind.GIVE_UP, said)


def _words(data: object) -> str:
    if not isinstance(data, dict):
        return ""
    error = error_of(data)
    for value in (error.get("message"), error.get("detail"), data.get("detail")):
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict):
            value = value.get("detail")
        if isinstance(value, list):
            return "; ".join(_detail(each) for each in value[:5])
    return ""


def _detail(detail: object) -> str:
    """One entry of FastAPI's list of what is wrong with a request."""
    if not isinstance(detail, dict):
        return str(detail)
    place = detail.get("loc")
    where = ".".join(map(str, place)) if isinstance(place, list) else ""
    return f"{where}: {detail.get('msg') or detail.get('type')}"


def _quote(reason: str, answer: Answer) -> str:
    words = error_text(answer).rstrip(".")
    return f"{reason}: {words}" if words else reason


def _wait(headers: Mapping[str, str]) -> float:
    """The seconds that the server asks us to wait; 0 where it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        # Both are the server's, so that it does not matter how our clocks differ.
        until, now = (parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
        return max(0.0, (until - now).total_seconds())
    except (KeyError, TypeError, ValueError):
        return 0.0
