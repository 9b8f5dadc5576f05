"""The page Play, as a person uses it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage, Watch
from tests.browser.steps import (
    begin,
    click,
    expect_board,
    game_id,
    marks,
    press,
    ready,
    status,
    try_click,
    visit,
)
from tests.browser.steps import square as on
from tests.web.process import Arena

FIRST = "engine:minimax:tie=first"


@pytest.fixture
def play(page: Page, arena: Arena) -> Page:
    return visit(page, arena)


def test_a_whole_game_by_mouse(play: Page) -> None:
    """Against an engine that always answers alike."""
    begin(play, "human:", FIRST)
    expect(status(play)).to_have_text("Your move.")
    click(play, 4)
    expect_board(play, "O...X....")
    click(play, 8, 1, 3, 6)
    expect(status(play)).to_have_text("A draw.")
    assert marks(play).count("O") == 4
    play.get_by_role("link", name="/game/").click()
    play.wait_for_url("**/game?id=*")
    ready(play)
    expect(play.get_by_role("heading", level=1)).to_have_text("Person X against minimax:tie=first")
    expect(status(play)).to_contain_text("A draw.")


def test_a_whole_game_by_keyboard(play: Page) -> None:
    """Digits, then arrows and Enter; two people at one board."""
    begin(play)
    press(play, 0, 3, 1)
    expect(status(play)).to_have_text("Person O to move.")
    on(play, 1).focus()
    play.keyboard.press("ArrowDown")
    expect(on(play, 4)).to_be_focused()
    play.keyboard.press("Enter")
    expect_board(play, "XX.OO....")
    expect(status(play)).to_have_text("Person X to move.")
    for key in ("ArrowUp", "ArrowRight"):
        play.keyboard.press(key)
    expect(on(play, 2)).to_be_focused()
    play.keyboard.press("Space")
    expect(status(play)).to_have_text("Person X won.")
    expect(play.locator("svg.over.shown")).to_have_count(1)


def test_digits_are_for_fields_where_one_is_filled(play: Page) -> None:
    begin(play)
    play.locator("[name=x-name]").press_sequentially("R2D2 4")
    expect_board(play, ".........")
    play.locator("[name=opener]").press("4")
    expect_board(play, ".........")


def test_two_people_have_names(play: Page) -> None:
    begin(play, x_name="Ann", o_name="Bob", opener="O")
    expect(status(play)).to_have_text("Bob to move.")
    click(play, 4)
    expect(status(play)).to_have_text("Ann to move.")
    click(play, 0, 8, 1, 2, 3, 6)
    expect(status(play)).to_have_text("Bob won.")
    expect(play.get_by_role("list", name="Moves").get_by_role("listitem")).to_have_count(7)


def test_a_taken_square_and_a_double_click(play: Page) -> None:
    begin(play)
    on(play, 4).dblclick()
    expect_board(play, "....X....")
    expect(status(play)).to_have_text("Person O to move.")
    try_click(play, 4)
    expect_board(play, "....X....")


def test_a_typed_spec(play: Page) -> None:
    begin(play, "human:", "spec:", o_spec="minimax:tie=s3,epsilon=0")
    expect(play.get_by_role("heading", level=1)).to_have_text("You against minimax:tie=s3")


def test_a_wrong_spec_is_told(play: Page, watch: Watch) -> None:
    watch.forgives = ("status of 422",)
    play.select_option("[name=o]", "spec:")
    play.fill("[name=o-spec]", "minimax:tie=sideways")
    play.get_by_role("button", name="New game").click()
    expect(play.get_by_role("alert")).to_contain_text("uniform, first, last")
    assert "game=" not in play.url


def test_resign(play: Page) -> None:
    begin(play, "human:", FIRST)
    play.get_by_role("button", name="Resign").click()
    expect(status(play)).to_have_text("You resigned.")
    expect(play.get_by_role("button", name="Resign")).to_be_hidden()


def test_a_rematch_swaps_sides(play: Page) -> None:
    begin(play, "human:", FIRST, x_name="Ann")
    play.get_by_role("button", name="Resign").click()
    expect(status(play)).to_have_text("Ann resigned.")
    first = game_id(play)
    play.get_by_role("button", name="Rematch").click()
    expect(play.get_by_role("heading", level=1)).to_have_text("minimax:tie=first against Ann")
    expect_board(play, "X........")
    assert game_id(play) != first


def test_the_last_choice_is_offered_again(play: Page) -> None:
    begin(play, "human:", FIRST, x_name="Ann", opener="O")
    play.goto(play.url.partition("?")[0], wait_until="commit")
    ready(play)
    expect(play.locator("[name=o]")).to_have_value(FIRST)
    expect(play.locator("[name=x-name]")).to_have_value("Ann")
    expect(play.locator("[name=opener]")).to_have_value("O")


def test_a_link_chooses_the_players(page: Page, arena: Arena) -> None:
    visit(page, arena, "/?x=tagger&o=minimax:tie=s5&opener=O")
    expect(page.locator("[name=x]")).to_have_value("model:tagger")
    expect(page.locator("[name=o-spec]")).to_have_value("minimax:tie=s5")
    expect(page.locator("[name=opener]")).to_have_value("O")


# -- leaving and coming back -----------------------------------------------------------------------


def test_a_refresh_in_mid_game(play: Page) -> None:
    begin(play, "human:", FIRST)
    click(play, 4)
    expect_board(play, "O...X....")
    play.reload(wait_until="commit")
    ready(play)
    expect_board(play, "O...X....")
    expect(status(play)).to_have_text("Your move.")
    click(play, 8)
    expect_board(play, "O.O.X...X")


def test_back_and_forward(play: Page) -> None:
    begin(play)
    click(play, 4)
    begin(play)
    click(play, 0)
    play.go_back()
    expect_board(play, "....X....")
    click(play, 8)
    expect_board(play, "....X...O")
    play.go_forward()
    expect_board(play, "X........")
    play.go_back()
    expect_board(play, "....X...O")
    play.go_back()
    expect(play.get_by_role("heading", level=1)).to_have_text("Can you hold a draw?")
    expect_board(play, ".........")


def test_back_twice_at_once(play: Page) -> None:
    """The answer to the first step comes after the second one, and must not be shown."""
    begin(play)
    click(play, 4)
    begin(play)
    with play.expect_response("**/api/v1/games/*"):
        play.evaluate(
            "addEventListener('popstate', () => history.back(), {once: true}); history.back()"
        )
    play.wait_for_url(re.compile(r"/$"))
    expect(play.get_by_role("heading", level=1)).to_have_text("Can you hold a draw?")
    expect_board(play, ".........")


def test_a_second_tab_keeps_up(play: Page) -> None:
    begin(play, "human:", FIRST)
    second = play.context.new_page()
    second.goto(play.url, wait_until="commit")
    ready(second)
    click(play, 4)
    expect_board(second, "O...X....")
    click(second, 8)
    expect_board(play, "O.O.X...X")


def test_arrows_and_enter_play_right_after_new_game(play: Page) -> None:
    """The focus goes to the board: Enter plays, and begins no other game."""
    begin(play, "human:", FIRST)
    address = play.url
    play.keyboard.press("ArrowRight")
    play.keyboard.press("Enter")
    expect(on(play, 5)).to_have_attribute("data-mark", "X")
    assert play.url == address


def test_a_stale_tab_plays_no_second_move(play: Page, new_page: NewPage, watch: Watch) -> None:
    watch.forgives = ("status of 409",)
    begin(play, "human:", FIRST)
    # The same person in another browser, where nothing is heard of the first one's moves.
    stale = new_page(storage_state=play.context.storage_state())
    stale.goto(play.url, wait_until="commit")
    ready(stale)
    click(play, 4)
    expect_board(play, "O...X....")
    on(stale, 8).click()
    expect(stale.get_by_role("alert")).to_contain_text("another tab")
    expect_board(stale, "O...X....")
    click(stale, 8)
    expect_board(stale, "O.O.X...X")


def test_two_browsers_play_two_games(play: Page, new_page: NewPage, arena: Arena) -> None:
    other = visit(new_page(), arena)
    begin(play, "human:", FIRST)
    begin(other)
    click(play, 4)
    click(other, 8, 0)
    expect_board(play, "O...X....")
    expect_board(other, "O.......X")
    assert game_id(play) != game_id(other)


def test_who_follows_the_address_watches(play: Page, new_page: NewPage) -> None:
    """Without the seat's secret a game is watched, not played; its moves are seen as they come."""
    begin(play)
    watcher = new_page()
    watcher.goto(play.url, wait_until="commit")
    ready(watcher)
    try_click(watcher, 0)
    click(play, 4)
    expect_board(watcher, "....X....")
    expect(watcher.get_by_role("button", name="Resign")).to_be_hidden()
    expect(status(watcher)).to_have_text(re.compile("Person O is to move"))


def test_a_game_that_is_not_there(page: Page, arena: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 404",)
    visit(page, arena, "/?game=none")
    expect(page.get_by_role("alert")).to_contain_text("no such game")
    begin(page, "human:", FIRST)
    click(page, 4)
