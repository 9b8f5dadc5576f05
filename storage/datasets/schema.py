"""The columns of each flavour, fixed: as an Arrow schema, and as a dataset's card names them.

What has keys of its own for every player is JSON in a string; no struct is empty; a column that is
null in every row has its type all the same.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from storage.datasets.stream import Flavour

_TEXT, _YES, _LONG, _SMALL = pa.string(), pa.bool_(), pa.int64(), pa.int32()
_SQUARES = pa.list_(pa.int8())
_CHAT = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT), ("reasoning_content", _TEXT)]))
_REQUEST = pa.struct(
    [
        ("status", _SMALL),
        ("seconds", pa.float64()),
        ("sent", _TEXT),
        ("error", _TEXT),
        ("finish_reason", _TEXT),
        ("prompt_tokens", _LONG),
        ("completion_tokens", _LONG),
    ]
)
_ATTEMPT = pa.struct(
    [
        ("prompt", _CHAT),
        ("reply", _TEXT),
        ("reasoning", _TEXT),
        ("reasoning_field", _TEXT),
        ("verdict", _TEXT),
        ("square", _LONG),
        ("contains", _YES),
        ("exact", _YES),
        ("finish_reason", _TEXT),
        ("seed", _LONG),
        ("prompt_tokens", _LONG),
        ("completion_tokens", _LONG),
        ("seconds", pa.float64()),
        ("adaptations", pa.list_(_TEXT)),
        ("requests", pa.list_(_REQUEST)),
    ]
)
_TURN = pa.struct(
    [("mark", _TEXT), ("square", pa.int8()), ("at", _TEXT), ("attempts", pa.list_(_ATTEMPT))]
)
_PLAYER = pa.struct(
    [
        ("kind", _TEXT),
        ("name", _TEXT),
        ("family", _TEXT),
        ("step", _LONG),
        ("prompt_format", _TEXT),
        ("prompt_hash", _TEXT),
        ("settings", _TEXT),
        ("deterministic", _YES),
    ]
)
_PROVENANCE = [
    ("game", _TEXT),
    ("player", _TEXT),
    ("family", _TEXT),
    ("step", _LONG),
    ("opponent", _TEXT),
    ("mark", _TEXT),
    ("opener", _TEXT),
    ("outcome", _TEXT),
    ("termination", _TEXT),
    ("result", _TEXT),
    ("moves", _SQUARES),
    ("seed", _LONG),
    ("rollout", _LONG),
    ("source", _TEXT),
    ("demonstration", _YES),
    ("prompt_format", _TEXT),
    ("prompt_hash", _TEXT),
    ("settings", _TEXT),
    ("finished_at", _TEXT),
    ("ply", _SMALL),
]
_REPLY = [
    *_PROVENANCE,
    ("board", _TEXT),
    ("number", _SMALL),
    ("verdict", _TEXT),
    ("square", pa.int8()),
    ("loses_value", _YES),
    ("contains", _YES),
    ("exact", _YES),
    ("finish_reason", _TEXT),
]
_REPLACED = ("replaced", _SMALL)

SCHEMAS: dict[Flavour, Any] = {
    Flavour.MESSAGES: pa.schema(
        [
            *_PROVENANCE,
            ("replies", _SMALL),
            ("invalid", _SMALL),
            ("contains", _SMALL),
            ("exact", _SMALL),
            ("messages", _CHAT),
            _REPLACED,
        ]
    ),
    Flavour.TURNS: pa.schema([*_REPLY, ("prompt", _CHAT), ("completion", _CHAT), _REPLACED]),
    Flavour.KTO: pa.schema(
        [*_REPLY, ("prompt", _CHAT), ("completion", _CHAT), ("label", _YES), _REPLACED]
    ),
    Flavour.PREFERENCE: pa.schema(
        [
            *_REPLY,
            ("chosen_player", _TEXT),
            ("chosen_game", _TEXT),
            ("chosen_square", pa.int8()),
            ("same_prompt", _YES),
            ("prompt", _CHAT),
            ("chosen", _CHAT),
            ("rejected", _CHAT),
            _REPLACED,
        ]
    ),
    Flavour.GAMES: pa.schema(
        [
            ("schema", _TEXT),
            ("game", _TEXT),
            ("x", _PLAYER),
            ("o", _PLAYER),
            ("opener", _TEXT),
            ("outcome", _TEXT),
            ("termination", _TEXT),
            ("moves", _SQUARES),
            ("seed", _LONG),
            ("rollout", _LONG),
            ("source", _TEXT),
            ("demonstration", _YES),
            ("created_at", _TEXT),
            ("updated_at", _TEXT),
            ("finished_at", _TEXT),
            ("turns", pa.list_(_TURN)),
            ("unanswered", pa.list_(_ATTEMPT)),
            ("failed", pa.list_(_REQUEST)),
            ("replaced", _TEXT),
        ]
    ),
}


def features(flavour: Flavour) -> list[dict[str, Any]]:
    """The columns as `dataset_info` of a card lists them, so that JSONL is read with these types
    too, whatever stands in its first lines.
    """
    return [_feature(column.name, column.type) for column in SCHEMAS[flavour]]


def _feature(name: str, type: Any) -> dict[str, Any]:
    return {"name": name, **_type(type)}


def _type(type: Any) -> dict[str, Any]:
    if pa.types.is_list(type):
        inner = _type(type.value_type)
        return {"list": inner["struct"] if "struct" in inner else inner["dtype"]}
    if pa.types.is_struct(type):
        return {"struct": [_feature(field.name, field.type) for field in type]}
    return {"dtype": {"double": "float64"}.get(str(type), str(type))}
