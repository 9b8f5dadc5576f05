"""The Datasets page: flavours, filters, two kinds of files, and the end of the demonstration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect

from storage import Database, Games, Source
from storage.imports import import_demonstration
from tests.browser.steps import status, visit
from tests.storage.conftest import Clock
from tests.storage.imports.samples import FIRST, LAST, exported, fill, game_between
from tests.web.process import Arena


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server without a password, with 66 demonstration games and one of its own."""
    folder = tmp_path_factory.mktemp("shown")
    there = Database.open(folder / "there.db")
    fill(Games(there, Clock()))
    exported(there, folder / "games.jsonl")
    there.close()
    here = Database.open(folder / "data" / "arena.db")
    import_demonstration(here, folder / "games.jsonl", Clock())
    own = game_between(FIRST, LAST, 500)
    Games(here, Clock()).record(own, FIRST, LAST, Source.STORE)
    here.close()
    server = Arena(folder / "data", {})
    server.start()
    yield server
    server.stop()


def test_a_flavour_and_its_files(page: Page, shown: Arena, tmp_path: Path) -> None:
    visit(page, shown, "/datasets")
    page.get_by_label("kto: every reply with a label").check()
    expect(status(page)).to_contain_text("the first 5 rows:")
    first = page.locator("details.record pre").first
    expect(first).to_contain_text('"label": true')
    page.get_by_label("never gave up a win or a draw").check()
    page.locator("[name=since]").fill("2026-01-01")
    page.locator("[name=demonstration]").select_option("true")
    expect(status(page)).to_contain_text("fit")
    assert "keeps_value=true" in page.url
    assert "since=2026-01-01" in page.url
    with page.expect_download() as download:
        page.get_by_role("link", name="Parquet").click()
    assert download.value.suggested_filename == "arena-kto.parquet"
    download.value.save_as(tmp_path / "rows.parquet")
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert rows
    assert not any(row["loses_value"] for row in rows)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download JSONL").click()
    download.value.save_as(tmp_path / "rows.jsonl")
    assert len((tmp_path / "rows.jsonl").read_bytes().splitlines()) == len(rows)


def test_an_evaluation_that_there_is_not(page: Page, shown: Arena, watch) -> None:
    watch.forgives = ("status of 404",)
    visit(page, shown, "/datasets?evaluation=nope")
    expect(page.locator(".problem").first).to_have_text("There is no evaluation 'nope'.")
    expect(page.get_by_role("link", name="Download JSONL")).to_be_hidden()


def test_the_demonstration_is_marked_and_goes_by_a_button(page: Page, shown: Arena) -> None:
    visit(page, shown, "/games")
    expect(page.locator("tbody tr td small", has_text="demonstration")).to_have_count(49)
    visit(page, shown, "/datasets?flavour=games")
    expect(status(page)).to_contain_text("67 games fit")
    place = page.locator(".demonstration")
    expect(place).to_contain_text("66 games came with the arena")
    place.get_by_role("button", name="Remove the demonstration").click()
    place.get_by_role("button", name="Remove them for good?").click()
    expect(place).to_have_text("66 demonstration games are removed.")
    expect(status(page)).to_contain_text("One game fits")
    visit(page, shown, "/datasets?flavour=games")
    expect(place).to_be_empty()
