"""The pages beside Play: what they show, where their links lead, what they give to take away."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.steps import expect_board, ready, status, visit
from tests.web.process import Arena, Table, engine, human

# -- leaderboard -----------------------------------------------------------------------------------


def everybody(page: Page, arena: Arena) -> Page:
    """The leaderboard with the tables of all who played, whomever they met."""
    visit(page, arena, "/leaderboard")
    page.locator(".everybody > summary").click()
    expect(page.get_by_role("region", name="Players")).to_be_visible()
    return page


@pytest.mark.parametrize(("seat", "column"), [("opening", 1), ("replying", 5)])
def test_an_entry_of_the_leaderboard_leads_to_its_games(
    page: Page, records: Arena, seat: str, column: int
) -> None:
    everybody(page, records)
    expect(page.get_by_role("heading", level=1)).not_to_be_empty()
    row = page.locator(".results tbody tr", has_text="random")
    row.get_by_role("cell").nth(column).get_by_role("link", name="10", exact=True).click()
    page.wait_for_url("**/games?*")
    ready(page)
    expect(page.locator(".about")).to_have_text(f"10 games of random, {seat}, newest first.")
    expect(page.locator("tbody tr")).to_have_count(10)


def test_people_stand_apart(page: Page, records: Arena) -> None:
    everybody(page, records)
    people = page.get_by_role("region", name="People")
    expect(people.locator("tr", has_text="Rita").locator("td")).to_have_text(
        ["1", "0", "0", "1", "0"]
    )
    expect(page.locator(".results")).not_to_contain_text("Rita")
    people.get_by_role("link", name="Rita").click()
    page.wait_for_url("**/games?*")
    ready(page)
    expect(page.locator("tbody tr")).to_have_count(1)


# -- games and a game ------------------------------------------------------------------------------


def test_filters_of_the_games_are_in_the_address(page: Page, records: Arena) -> None:
    visit(page, records, "/games?player=minimax:tie=corner&source=store")
    expect(page.locator(".about")).to_contain_text("40 games")
    page.fill("[name=opponent]", "random")
    page.locator("[name=opponent]").press("Enter")
    expect(page.locator(".about")).to_contain_text("20 games")
    page.select_option("[name=opening]", "true")
    expect(page.locator(".about")).to_contain_text("10 games")
    assert "opening=true" in page.url
    page.go_back()
    expect(page.locator(".about")).to_contain_text("20 games")
    expect(page.locator("[name=opening]")).to_have_value("")
    page.fill("[name=player]", "nobody")
    page.locator("[name=player]").press("Enter")
    expect(page.locator(".about")).to_contain_text("No games of nobody")


def test_a_game_by_its_permalink_step_by_step(page: Page, records: Arena) -> None:
    with records.client() as client:
        table = Table(client, human("Ann"), human("Bob"))
        table.move(0, 3, 1, 4, 2)
    visit(page, records, table.state["url"])
    expect(status(page)).to_contain_text("Ann won.")
    expect_board(page, "XXXOO....")
    page.get_by_role("button", name="Back").click()
    expect_board(page, "XX.OO....")
    expect(status(page)).to_have_text("Move 4 of 5")
    page.keyboard.press("ArrowLeft")
    expect_board(page, "XX.O.....")
    page.reload(wait_until="commit")
    ready(page)
    expect_board(page, "XX.O.....")
    page.get_by_role("button", name="First").click()
    expect_board(page, ".........")
    page.get_by_role("button", name="O 4").click()
    expect_board(page, "XX.OO....")
    page.get_by_role("button", name="Last").click()
    expect_board(page, "XXXOO....")


def test_a_game_is_followed_live(page: Page, records: Arena) -> None:
    with records.client() as client:
        table = Table(client, human("Ann"), human("Bob"))
        visit(page, records, table.state["url"])
        expect(status(page)).to_contain_text("Ann is to move")
        table.move(4)
        expect_board(page, "....X....")
        table.move(0, 2, 1, 6)
    expect(status(page)).to_contain_text("Ann won.")


def test_an_unknown_game(page: Page, arena: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 404",)
    visit(page, arena, "/game/none")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such game")
    expect(page.get_by_role("link", name="All games")).to_be_visible()


# -- datasets --------------------------------------------------------------------------------------


def test_what_is_shown_is_what_is_downloaded(page: Page, records: Arena, tmp_path: Path) -> None:
    visit(page, records, "/datasets")
    page.get_by_label("games: the evaluation record").check()
    page.fill("[name=player]", "minimax:tie=corner")
    page.locator("[name=player]").press("Enter")
    expect(status(page)).to_contain_text("40 games fit")
    page.fill("[name=opponent]", "random")
    page.locator("[name=opponent]").press("Tab")
    expect(status(page)).to_have_text("20 games fit; the first 5 rows:")
    expect(page.locator("details.record")).to_have_count(5)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    file = tmp_path / "arena.jsonl"
    download.value.save_as(file)
    assert download.value.suggested_filename == "arena-games.jsonl"
    query = urlencode({"player": "minimax:tie=corner", "opponent": "random"})
    expected = httpx2.get(f"{records.url}/api/v1/export/games?{query}").content
    assert file.read_bytes() == expected
    assert expected.count(b"\n") == 20


def test_filters_of_a_dataset_are_in_the_address(page: Page, records: Arena) -> None:
    visit(page, records, "/datasets?player=tagger&opponent=Rita&result=win")
    expect(page.locator("[name=result]")).to_have_value("win")
    expect(status(page)).to_have_text("One game fits; the first row:")
    expect(page.locator("details.record summary")).to_have_text("tagger against Rita: O won")
    page.get_by_label("without an invalid reply").check()
    expect(status(page)).to_contain_text("No finished game with a model in it fits")
    expect(page.get_by_role("link", name="Download")).to_be_hidden()
    assert "no_invalid=true" in page.url


def test_the_docs_of_the_routes(page: Page, arena: Arena) -> None:
    page.goto(f"{arena.url}/api/v1/docs")
    expect(page.get_by_text("Begin A Game")).to_be_visible()


# -- nothing stored --------------------------------------------------------------------------------


def test_a_person_against_an_engine_is_in_the_list(page: Page, arena: Arena) -> None:
    with arena.client() as client:
        Table(client, human("Zoe"), engine()).resign("X")
    visit(page, arena, "/games?player=Zoe")
    expect(page.locator("tbody tr")).to_contain_text(["O won, resigned"])
