"""What `GET /models` says, in the forms that servers give it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from models.transport import Answer

_SIZES = ("max_model_len", "context_length", "max_context_length", "context_window")
"""vLLM; OpenRouter and Together; Mistral; Groq."""
_LARGEST = 1 << 40


class Listed(NamedTuple):
    """One model of a list."""

    id: str
    parent: str | None = None
    """The model that it is an adapter of."""
    context: int | None = None
    """Tokens of a chat, reply included."""


def listing_of(answer: Answer) -> dict[str, Listed] | None:
    """The models of a list by their ids, in its order; None where the answer is no list.

    An adapter without a context of its own has that of its parent.
    """
    data = answer.data.get("data") if isinstance(answer.data, dict) else None
    if answer.status != 200 or not isinstance(data, list):
        return None
    found: dict[str, Listed] = {}
    for model in data:
        if isinstance(model, dict) and isinstance(name := model.get("id"), str):
            found.setdefault(name, _listed(name, model))
    for name, model in found.items():
        above = found.get(model.parent) if model.parent else None
        if above is not None and model.context is None:
            found[name] = model._replace(context=above.context)
    return found


def size_of(table: object, *keys: str) -> int | None:
    """The first of the keys that holds a number of tokens."""
    values = (table.get(key) for key in keys) if isinstance(table, Mapping) else ()
    sizes = (each for each in values if isinstance(each, int) and not isinstance(each, bool))
    return next((size for size in sizes if 0 < size < _LARGEST), None)


def _listed(name: str, model: Mapping[str, Any]) -> Listed:
    parent = model.get("parent")
    return Listed(
        name,
        parent if isinstance(parent, str) and parent != name else None,
        # llama.cpp's n_ctx_train is the training's: the server may have been given less.
        size_of(model, *_SIZES) or size_of(model.get("meta"), "n_ctx"),
    )
