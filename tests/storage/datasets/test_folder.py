"""A dataset in a folder: its files, its card, its splits; read back by pyarrow."""

from __future__ import annotations

import dataclasses
import gc
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from arena.errors import NotFoundError, StorageError
from arena.symmetry import SYMMETRIES
from storage import Database, Flavour, GameFilter, Games, Source, jsonl, rows
from storage.datasets import Format, Recipe, Split, shards, write_folder, write_rows
from storage.datasets.schema import SCHEMAS
from storage.datasets.splits import Splitter, position_class
from storage.imports import Trouble, files_of, import_files
from tests.storage.imports.samples import exported, fill
from tests.storage.samples import MODEL, PERSON, RANDOM, attempt, chat, game_of


@pytest.fixture
def filled(games: Games, db: Database) -> Database:
    """Some hundred games of engines, models and a person, a pair for preference among them."""
    fill(games, 4)
    for seed, moves in enumerate(((0, 1, 3, 6, 4, 5, 8), (0, 4, 8, 1, 7, 6, 2, 5, 3)), start=900):
        said = {
            ply: (attempt(chat("s", f"board {ply}"), "…", square=moves[ply], contains=True),)
            for ply in range(1, len(moves), 2)
        }
        games.record(game_of(moves, seed=seed, attempts=said), PERSON, MODEL, Source.PLAY)
    return db


ALL = tuple(Flavour)


def recipe(**more: Any) -> Recipe:
    return Recipe(ALL, GameFilter(), **{"validation": 0.3, **more})


def files(folder: Path) -> dict[str, bytes]:
    """Every file under a folder."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def read(folder: Path, flavour: Flavour, format: Format) -> dict[str, list[Any]]:
    """The rows of each split."""
    found: dict[str, list[Any]] = {split: [] for split in Split}
    for path in sorted((folder / flavour).iterdir()):
        split = path.name.partition("-")[0]
        if format is Format.PARQUET:
            found[split] += pq.read_table(path).to_pylist()
        else:
            found[split] += [json.loads(line) for line in path.read_bytes().splitlines()]
    return found


def metadata(folder: Path) -> dict[str, Any]:
    """The head of the card. What we write there is JSON after the key."""
    head = (folder / "README.md").read_text().split("---\n")[1]
    return {
        key: json.loads(value) for key, _, value in (x.partition(": ") for x in head.splitlines())
    }


def without_gaps(value: Any) -> Any:
    """A row without the columns that are null, in chats too: JSONL leaves reasoning out there."""
    if isinstance(value, dict):
        return {key: without_gaps(each) for key, each in value.items() if each is not None}
    return [without_gaps(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("format", Format)
def test_every_row_is_there_once_in_its_order(
    filled: Database, tmp_path: Path, format: Format
) -> None:
    written = write_folder(filled, tmp_path / "out", recipe(format=format))
    for each in written:
        found = read(tmp_path / "out", each.flavour, format)
        expected = [json.loads(line) for line in jsonl(rows(filled, each.flavour))]
        assert {split: len(some) for split, some in found.items()} == each.rows
        by_split: dict[str, list[Any]] = {split: [] for split in Split}
        splitter = Splitter(each.flavour, 0.3)
        for row in expected:
            by_split[splitter.split(row)].append(row)
        assert without_gaps(found) == without_gaps(by_split)
        assert len(expected) > 0


def test_the_schema_names_exactly_what_a_row_has(filled: Database) -> None:
    for flavour in Flavour:
        row = next(rows(filled, flavour))
        assert set(SCHEMAS[flavour].names) == set(row)


@pytest.mark.parametrize("format", Format)
def test_the_same_games_give_the_same_bytes(
    filled: Database, tmp_path: Path, format: Format
) -> None:
    for name in ("one", "two"):
        write_folder(filled, tmp_path / name, recipe(format=format))
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".arena")]


def test_validation_shares_no_position_with_training(filled: Database, tmp_path: Path) -> None:
    written = write_folder(filled, tmp_path / "out", recipe())
    seen_in_validation = 0
    for each in written:
        if each.flavour in (Flavour.MESSAGES, Flavour.GAMES):
            assert each.leak.shared > 0
            continue
        found = read(tmp_path / "out", each.flavour, Format.PARQUET)
        train, validation = (
            {position_class(row["board"]) for row in found[split]} for split in Split
        )
        assert not train & validation
        assert each.leak.shared == 0
        assert all(name.count(".") <= 6 for name in validation)
        seen_in_validation += len(validation)
    assert seen_in_validation > 3


def test_symmetric_positions_and_games_are_on_one_side() -> None:
    rows_of: list[tuple[Flavour, dict[str, Any]]] = [
        (Flavour.TURNS, {"board": "X...O..OX"}),
        (Flavour.GAMES, {"moves": [0, 4, 8, 2, 6, 3, 7], "opener": "X"}),
    ]
    for flavour, row in rows_of:
        sides = set()
        for share in (0.2, 0.5, 0.8):
            splitter = Splitter(flavour, share)
            for symmetry in SYMMETRIES:
                image = dict(row)
                if "board" in row:
                    squares = [""] * 9
                    for square, mark in enumerate(row["board"]):
                        squares[symmetry[square]] = mark
                    image["board"] = "".join(squares)
                else:
                    image["moves"] = [symmetry[square] for square in row["moves"]]
                sides.add((share, splitter.split(image)))
        assert len(sides) == 3


def test_few_marks_always_train_and_shares_are_what_they_are_called() -> None:
    splitter = Splitter(Flavour.TURNS, 1.0)
    assert splitter.split({"board": "X........"}) is Split.TRAIN
    assert splitter.split({"board": "XO......."}) is Split.TRAIN
    assert splitter.split({"board": "XOX......"}) is Split.VALIDATION
    assert Splitter(Flavour.TURNS, 0.0).split({"board": "XOX......"}) is Split.TRAIN


def test_the_leak_report_counts_positions_by_class() -> None:
    splitter = Splitter(Flavour.MESSAGES, 0.5)
    games: list[dict[str, Any]] = [
        {"moves": moves, "opener": "X", "mark": "X", "ply": None}
        for moves in ([0, 4, 8, 2, 6, 3, 7], [4, 0, 8, 2, 1, 7, 5, 3, 6], [0, 1, 3, 6, 4, 5, 8])
    ]
    by_split: dict[Split, list[list[int]]] = {split: [] for split in Split}
    for game in games:
        by_split[splitter.split(game)].append(game["moves"])
    assert all(by_split.values()), "another share makes both sides"
    # All begin on the empty board; what follows differs.
    validation = splitter.leak.seen[Split.VALIDATION]
    assert validation["........."] == len(by_split[Split.VALIDATION])
    assert splitter.leak.shared >= 1
    assert splitter.leak.share == sum(
        validation[name] for name in splitter.leak.seen[Split.TRAIN]
    ) / sum(validation.values())


def test_the_card_says_what_is_there(filled: Database, tmp_path: Path) -> None:
    kept = GameFilter(player="tiny", no_invalid=True)
    chosen = Recipe((Flavour.TURNS, Flavour.KTO), kept, validation=0.3, licence="cc-by-4.0")
    written = write_folder(filled, tmp_path / "out", chosen)
    head = metadata(tmp_path / "out")
    assert head["license"] == "cc-by-4.0"
    assert [config["config_name"] for config in head["configs"]] == ["turns", "kto"]
    assert [config["default"] for config in head["configs"]] == [True, False]
    for config, info, each in zip(head["configs"], head["dataset_info"], written, strict=True):
        for files_of_split, counted in zip(config["data_files"], info["splits"], strict=True):
            (path,) = (tmp_path / "out").glob(files_of_split["path"])
            split = Split(counted["name"])
            assert (counted["num_examples"], counted["num_bytes"]) == (
                each.rows[split],
                path.stat().st_size,
            )
        assert [column["name"] for column in info["features"]] == SCHEMAS[each.flavour].names
    text = (tmp_path / "out" / "README.md").read_text()
    for said in ("Leak report", "`tiny` (a1b2)", "`random`", '"no_invalid": true'):
        assert said in text
    for each in written:
        share = each.rows[Split.VALIDATION] / (each.rows[Split.TRAIN] + each.rows[Split.VALIDATION])
        assert (
            f"a chance of 30% (with fewer than 3 marks it always trains), which came to {share:.1%}"
            in text
        )
    labels = written[1].labels
    assert f"Labels: {labels[True]:,} true, {labels[False]:,} false." in text


def test_names_are_no_markup_in_the_card(games: Games, db: Database, tmp_path: Path) -> None:
    odd = dataclasses.replace(MODEL, name="a`|\n# b\ud800", prompt_hash=None)
    said = {0: (attempt(chat("s", "u"), "0", contains=True),)}
    games.record(game_of((0, 3, 1, 4, 2), attempts=said), odd, RANDOM, Source.STORE)
    write_folder(db, tmp_path / "out", Recipe((Flavour.TURNS,), GameFilter()))
    assert "| `a'/ # b\ufffd` | 1 |" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_a_flavour_without_rows_is_no_configuration(
    games: Games, db: Database, tmp_path: Path
) -> None:
    games.record(game_of((0, 3, 1, 4, 2)), RANDOM, RANDOM, Source.STORE)
    write_folder(db, tmp_path / "out", recipe())
    assert [each["config_name"] for each in metadata(tmp_path / "out")["configs"]] == ["games"]
    text = (tmp_path / "out" / "README.md").read_text()
    assert text.count("there is no such configuration to load") == len(ALL) - 1
    assert "TRL" not in text


@pytest.mark.parametrize(("share", "empty"), [(0.0, Split.VALIDATION), (1.0, Split.TRAIN)])
def test_a_split_without_rows_is_no_split(
    filled: Database, tmp_path: Path, share: float, empty: Split
) -> None:
    chosen = Recipe((Flavour.MESSAGES,), GameFilter(), validation=share)
    write_folder(filled, tmp_path / "out", chosen)
    head = metadata(tmp_path / "out")
    there = [[each["split"] for each in config["data_files"]] for config in head["configs"]]
    assert there == [[split for split in Split if split is not empty]]
    assert [split["name"] for split in head["dataset_info"][0]["splits"]] == there[0]
    text = (tmp_path / "out" / "README.md").read_text()
    assert f"There are no rows for {empty}, and so there is no such split to load." in text
    assert "Leak report" not in text


def test_the_card_counts_chats_that_repeat_replies(
    games: Games, db: Database, tmp_path: Path
) -> None:
    """What was sent back is not what came: the second turn's chat has the first reply too."""
    first = attempt(chat("s", "u"), "4", square=4, reasoning="the centre")
    second = attempt(chat("s", "u", "4", "v"), "6", square=6)
    for seed, said in enumerate(({0: (first,), 2: (second,)}, {0: (first,)})):
        game = game_of((4, 0, 6, 1, 2), seed=seed, attempts=said)
        games.record(game, MODEL, RANDOM, Source.STORE)
    (written,) = write_folder(db, tmp_path / "out", Recipe((Flavour.MESSAGES,), GameFilter()))
    assert (sum(written.rows.values()), written.repeating) == (3, 1)
    assert "In **1 of 3 rows** the chat repeats" in (tmp_path / "out" / "README.md").read_text()


def test_nothing_to_export(db: Database, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nothing to export"):
        write_folder(db, tmp_path / "out", recipe())
    assert [path.name for path in tmp_path.iterdir() if "arena.db" not in path.name] == []


def test_what_is_broken_off_leaves_nothing(filled: Database, tmp_path: Path) -> None:
    """No file, and nothing that the writer would still say: here a warning is a failure."""
    rows_left = 30

    def interrupt() -> None:
        nonlocal rows_left
        rows_left -= 1
        if not rows_left:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_folder(filled, tmp_path / "out", recipe(), on_row=interrupt)
    gc.collect()
    assert [path.name for path in tmp_path.iterdir() if "arena.db" not in path.name] == []


@pytest.mark.parametrize("group", [7, 1000])
def test_a_full_disk(filled: Database, monkeypatch: pytest.MonkeyPatch, group: int) -> None:
    monkeypatch.setattr(shards, "_ROWS_A_GROUP", group)
    for format in Format:
        with (
            Path("/dev/full").open("wb", buffering=0) as file,
            pytest.raises(OSError, match="No space left"),
        ):
            write_rows(file, format, Flavour.GAMES, rows(filled, "games"))
        gc.collect()


def test_an_evaluation_that_there_is_not(filled: Database, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no evaluation 'ev'"):
        write_folder(filled, tmp_path / "out", Recipe(ALL, GameFilter(evaluation="ev")))


def test_what_may_be_replaced(filled: Database, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    write_folder(filled, out, Recipe((Flavour.GAMES,), GameFilter()))
    before = files(out)
    with pytest.raises(StorageError, match="holds an export already"):
        write_folder(filled, out, recipe())
    assert files(out) == before
    write_folder(filled, out, recipe(), replace=True)
    assert set(files(out)) > set(before)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    with pytest.raises(StorageError, match="something else than an export"):
        write_folder(filled, tmp_path / "mine", recipe(), replace=True)
    assert files(tmp_path / "mine") == {"thesis.tex": b"precious"}
    with pytest.raises(StorageError, match="is a file"):
        write_folder(filled, tmp_path / "mine" / "thesis.tex", recipe())
    with pytest.raises(StorageError, match="cannot be written"):
        write_folder(filled, tmp_path / "no" / "such", recipe())
    assert out.stat().st_mode == (tmp_path / "mine").stat().st_mode


@pytest.mark.parametrize("replace", [False, True])
def test_a_rival_export_that_is_faster(filled: Database, tmp_path: Path, replace: bool) -> None:
    """Of two that began on a free place, the slower is refused; with `replace` it comes last."""
    out = tmp_path / "out"
    one, other = (Recipe((flavour,), GameFilter()) for flavour in (Flavour.GAMES, Flavour.TURNS))

    def overtake() -> None:
        if not out.exists():
            write_folder(filled, out, other)

    if replace:
        write_folder(filled, out, one, replace=True, on_row=overtake)
    else:
        with pytest.raises(StorageError, match="holds an export already"):
            write_folder(filled, out, one, on_row=overtake)
    assert (out / ("games" if replace else "turns")).is_dir()
    assert len(list(out.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir() if "arena.db" not in path.name] == ["out"]


def test_a_new_file_every_so_many_rows(
    filled: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "ROWS_A_FILE", 20)
    monkeypatch.setattr(shards, "_ROWS_A_GROUP", 7)
    (written,) = write_folder(filled, tmp_path / "out", Recipe((Flavour.GAMES,), GameFilter()))
    parts = sorted((tmp_path / "out" / "games").glob("train-*"))
    assert [path.name for path in parts][:2] == ["train-00000.parquet", "train-00001.parquet"]
    assert sum(pq.read_metadata(path).num_rows for path in parts) == written.rows[Split.TRAIN]
    assert pq.read_metadata(parts[0]).num_rows == 20
    assert pq.read_metadata(parts[0]).num_row_groups == 3
    assert sum(path.stat().st_size for path in parts) == written.bytes[Split.TRAIN]


@pytest.mark.parametrize("format", Format)
def test_a_folder_of_games_comes_in_again(filled: Database, tmp_path: Path, format: Format) -> None:
    chosen = Recipe((Flavour.GAMES,), GameFilter(), format=format, validation=0.0)
    write_folder(filled, tmp_path / "out", chosen)
    other = Database.open(tmp_path / "other.db")
    report = import_files(other, files_of(tmp_path / "out"))
    assert report.problems == []
    assert exported(other) == exported(filled)
    other.close()


def test_a_torn_parquet_file(filled: Database, db: Database, tmp_path: Path) -> None:
    write_folder(filled, tmp_path / "out", Recipe((Flavour.GAMES,), GameFilter()))
    (path,) = (tmp_path / "out" / "games").glob("train-*")
    path.write_bytes(path.read_bytes()[:-100])
    other = Database.open(tmp_path / "other.db")
    report = import_files(other, [path])
    assert (report.imported, report.troubles[Trouble.UNREADABLE]) == (0, 1)
    other.close()
