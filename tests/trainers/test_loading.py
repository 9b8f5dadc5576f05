"""`datasets.load_dataset` reads each folder: configurations, splits, columns and rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="TRL is not installed here: `make trainers` runs this")

FOLDERS = ("jsonl", "parquet", "shipped", "engines", "late")
FLAVOURS = ("messages", "turns", "preference", "kto", "games")


def head(folder: Path) -> dict[str, Any]:
    """The head of the card. What stands there is JSON after the key."""
    lines = (folder / "README.md").read_text("utf-8").split("---\n")[1].splitlines()
    return {key: json.loads(value) for key, _, value in (line.partition(": ") for line in lines)}


def with_gaps(value: Any) -> Any:
    """A row of JSONL with the null that messages without a thinking of their own leave out."""
    if isinstance(value, dict):
        thinking = {"reasoning_content": None} if "role" in value else {}
        return thinking | {key: with_gaps(each) for key, each in value.items()}
    return [with_gaps(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("folder", FOLDERS)
def test_splits_and_columns_are_those_of_the_card(folder: str, exports: Path, load: Any) -> None:
    infos = head(exports / folder)["dataset_info"]
    assert infos
    for info in infos:
        loaded = load(exports / folder, info["config_name"])
        counted = {split["name"]: split["num_examples"] for split in info["splits"]}
        assert loaded.num_rows == counted
        assert 0 not in counted.values()
        columns = [column["name"] for column in info["features"]]
        assert set(map(tuple, loaded.column_names.values())) == {tuple(columns)}
    first = load(exports / folder, infos[0]["config_name"])
    assert load(exports / folder).num_rows == first.num_rows


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_rows_are_those_of_the_files(flavour: str, exports: Path, load: Any) -> None:
    loaded = load(exports / "jsonl", flavour)
    assert set(loaded) == {"train", "validation"}
    for split, rows in loaded.items():
        (path,) = (exports / "jsonl" / flavour).glob(f"{split}-*")
        lines = path.read_bytes().splitlines()
        assert rows.to_list() == [with_gaps(json.loads(line)) for line in lines]
    assert "🙂👍🏽" in str(loaded["train"].to_list())


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_both_formats_hold_the_same(flavour: str, exports: Path, load: Any) -> None:
    jsonl, parquet = (load(exports / format, flavour) for format in ("jsonl", "parquet"))
    for split in jsonl:
        assert jsonl[split].features == parquet[split].features
        assert jsonl[split].to_list() == parquet[split].to_list()


def test_a_flavour_without_rows_is_no_configuration(exports: Path, load: Any) -> None:
    with pytest.raises(ValueError, match=r"'kto' not found\. Available: \['games'\]"):
        load(exports / "engines", "kto")
    card = (exports / "engines" / "README.md").read_text("utf-8")
    assert card.count("there is no such configuration to load") == 4


def test_a_split_without_rows_is_no_split(exports: Path, load: Any) -> None:
    assert set(load(exports / "late", "messages")) == {"validation"}
    assert set(load(exports / "late", "turns")) == {"train", "validation"}
    assert set(load(exports / "shipped", "preference")) == {"train"}
    with pytest.raises(ValueError, match='Unknown split "train"'):
        load(exports / "late", "messages", split="train")
    card = (exports / "late" / "README.md").read_text("utf-8")
    assert "There are no rows for train, and so there is no such split to load." in card
