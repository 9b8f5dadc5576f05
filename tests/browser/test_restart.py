"""A server that goes away and comes back while somebody plays."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.steps import begin, click, expect_board, status, visit
from tests.web.process import Arena


def test_a_click_made_meanwhile_is_kept_and_sent(page: Page, home: Arena, watch: Watch) -> None:
    watch.forgives = ("net::ERR",)
    visit(page, home)
    begin(page, "human:", "engine:minimax:tie=first")
    click(page, 4)
    expect_board(page, "O...X....")
    home.stop()
    click(page, 8)
    expect_board(page, "O...X...X")
    expect(page.get_by_role("alert")).to_contain_text("Your move is kept")
    home.start()
    expect_board(page, "O.O.X...X")
    expect(page.get_by_role("alert")).to_be_empty()
    expect(status(page)).to_have_text("Your move.")
    click(page, 1)
    expect_board(page, "OXO.X..OX")
