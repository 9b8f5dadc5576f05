"""Whatever a folder holds: each file has its own message, the rest comes in, memory is bounded."""

import json
import os
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.errors import NotFoundError, StorageError
from storage import Database, rewards
from storage.datasets import Flavour, Format, Recipe, write_folder
from storage.filters import GameFilter
from storage.imports import Trouble, files_of, import_files
from storage.imports.files import lines_of
from storage.imports.troubles import LineError
from tests.storage.imports.samples import fill

ROW = {"prompt": "Say it.", "completion": "It.", "reward": 1.0}


@pytest.fixture
def folder(tmp_path):
    """A folder whose last file is good."""
    found = tmp_path / "folder"
    found.mkdir()
    (found / "z.jsonl").write_text(f"{json.dumps(ROW)}\n")
    return found


def write_rows(path, rows, **columns):
    columns = {key: [value] * rows for key, value in ROW.items()} | columns
    pq.write_table(pa.table(columns), path)


def invalid_text():
    data = pa.array([b"\xff\xfe"], pa.binary()).buffers()
    return pa.Array.from_buffers(pa.string(), 1, data)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([10**18], pa.timestamp("us")),
        pa.array([0], pa.timestamp("us", tz="Nowhere/Land")),
        invalid_text(),
    ],
    ids=["a year beyond 9999", "an unknown time zone", "no UTF-8"],
)
def test_a_value_that_python_cannot_hold_is_told_and_the_rest_goes_on(db, folder, column):
    write_rows(folder / "a.parquet", 1, when=column)
    report = import_files(db, [folder])
    ((file, line, trouble),) = [(p.file, p.line, p.trouble) for p in report.problems]
    assert (file, line, trouble) == (f"{folder / 'a.parquet'}", 1, Trouble.FORM)
    assert report.rollouts == 1


def test_rows_around_a_broken_one_come_in(db, folder):
    whens = pa.array([0, 10**18, 0], pa.timestamp("us"))
    write_rows(folder / "a.parquet", 3, when=whens)
    report = import_files(db, [folder / "a.parquet"])
    assert [(p.line, p.trouble) for p in report.problems if p.trouble is Trouble.FORM] == [
        (2, Trouble.FORM)
    ]
    assert report.rollouts == 2


def a_bomb(path, megabytes, rows):
    """A text that the file holds once and every row names."""
    text = pa.array(["x" * (megabytes << 20)])
    named = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), text)
    pq.write_table(
        pa.table({"prompt": named, "completion": ["b"] * rows}), path, compression="zstd"
    )
    assert path.stat().st_size < 20_000


def test_rows_of_one_large_text_are_read_one_by_one(tmp_path):
    a_bomb(tmp_path / "bomb.parquet", 8, 50)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    most = 0
    for line in lines_of(tmp_path / "bomb.parquet"):
        assert isinstance(line.content, bytes)
        assert len(line.content) > 8 << 20
        most = max(most, pa.total_allocated_bytes() - before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Fifty of them are 400 MB.
    assert most < 40 << 20
    assert peak < 60 << 20


def test_a_row_longer_than_a_line_may_be_is_refused(tmp_path):
    text = pa.array(["x" * (1 << 20)])
    places = pa.array([0] * 70, pa.int32())
    named = pa.DictionaryArray.from_arrays(places, text)
    lists = pa.ListArray.from_arrays([0, 1, 69, 70], named)
    pq.write_table(pa.table({"texts": lists}), tmp_path / "rows.parquet")
    first, second, third = lines_of(tmp_path / "rows.parquet")
    assert isinstance(first.content, bytes)
    assert isinstance(second.content, LineError)
    assert isinstance(third.content, bytes)
    assert len(first.content) == len(third.content)
    assert (second.content.trouble, str(second.content)) == (Trouble.FORM, "longer than 64 MB")


def test_a_list_of_too_many_values_is_not_unpacked(tmp_path):
    lists = pa.ListArray.from_arrays([0, 9_000_000], pa.nulls(9_000_000, pa.int8()))
    pq.write_table(pa.table({"none": lists}), tmp_path / "lists.parquet")
    (line,) = lines_of(tmp_path / "lists.parquet")
    assert isinstance(line.content, LineError)
    assert (line.number, line.content.trouble) == (0, Trouble.UNREADABLE)
    assert "lists of 9,000,000 values" in str(line.content)


def test_long_lines_make_small_batches(db, tmp_path, monkeypatch):
    monkeypatch.setattr("storage.imports.load._BATCH_BYTES", 1000)
    lines = [json.dumps(ROW | {"id": number, "completion": "x" * 600}) for number in range(6)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    shares: list[float] = []
    assert import_files(db, [tmp_path / "rows.jsonl"], on_progress=shares.append).rollouts == 6
    # After each transaction, and at the end.
    assert len(shares) == 4


def test_what_a_folder_holds_that_is_no_file(db, folder):
    (folder / "b.jsonl").mkdir()
    (folder / "c.jsonl").symlink_to(folder / "nothing")
    (folder / "d.jsonl").symlink_to(folder / "d.jsonl")
    os.mkfifo(folder / "e.jsonl")
    report = import_files(db, [folder])
    told = {(p.file, p.line, p.trouble) for p in report.problems}
    assert told == {(f"{folder / name}.jsonl", 0, Trouble.UNREADABLE) for name in ("c", "d", "e")}
    assert (report.rollouts, report.refused) == (1, 3)
    with pytest.raises(StorageError, match="no ordinary file"):
        import_files(db, [folder / "e.jsonl"])
    with pytest.raises(NotFoundError, match="there is no file"):
        import_files(db, [folder / "c.jsonl"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("closed", ["a.jsonl", "a folder"])
def test_what_may_not_be_read_is_told_and_the_rest_comes_in(db, folder, closed):
    (folder / closed).mkdir() if closed == "a folder" else (folder / closed).touch()
    (folder / closed).chmod(0)
    report = import_files(db, [folder])
    (folder / closed).chmod(0o700)
    assert [p.file for p in report.problems] == [f"{folder / closed}"]
    assert report.rollouts == 1


@pytest.mark.parametrize("format", Format)
def test_of_a_folder_of_several_flavours_the_games_come_in(games, db, tmp_path, format):
    fill(games, 2)
    recipe = Recipe(tuple(Flavour), GameFilter(), format=format, validation=0.0)
    write_folder(db, tmp_path / "out", recipe)
    files = files_of(tmp_path / "out")
    others = [f"{file}" for file in files if "games" not in file.parts]
    other = Database.open(tmp_path / "other.db")
    report = import_files(other, [tmp_path / "out"])
    foreign = [p for p in report.problems if p.trouble is Trouble.FLAVOUR]
    assert [(p.file, p.line) for p in foreign] == [(file, 0) for file in others]
    for problem in foreign:
        (flavour,) = (each for each in Flavour if f"/{each}/" in problem.file)
        assert f"rows of the flavour {flavour}: only the flavour games" in problem.message
    assert report.troubles[Trouble.FLAVOUR] == len(others) >= 2
    assert report.imported > 0
    assert report.refused == 0
    assert import_files(other, [tmp_path / "out"]).refused == 0
    assert import_files(other, [tmp_path / "out" / "messages"]).refused > 0
    assert rewards.runs(other) == []
    other.close()
