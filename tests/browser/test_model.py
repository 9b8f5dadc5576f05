"""Playing a model behind a real HTTP server, as a person sees it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import begin, click, expect_board, ready, status, try_click, visit
from tests.servers import Json, ModelServer, Say
from tests.web.process import Arena, says

TAGGER = "model:tagger"


@pytest.fixture
def play(page: Page, arena: Arena) -> Page:
    return visit(page, arena)


def test_a_whole_game_with_an_invalid_reply(play: Page, model: ModelServer) -> None:
    wrong = "<think>I look at the board.</think><move>9</move>"
    model.answer = [Say(wrong, piece_delay_s=0.2), *says(0, 1)]
    begin(play, "human:", TAGGER)
    click(play, 4)
    expect(status(play)).to_have_text("tagger is thinking")
    expect(play.locator(".thinking .text")).to_contain_text("<think>I look")
    expect_board(play, "O...X....")
    expect(play.locator(".thinking")).to_be_hidden()

    play.get_by_text("Replies", exact=True).click()
    replies = play.locator(".attempt")
    expect(replies).to_have_count(2)
    expect(replies.nth(0).locator(".verdict")).to_contain_text("no such square")
    expect(replies.nth(0).locator("pre.reply")).to_have_text(wrong)
    expect(replies.nth(1).locator(".verdict")).to_contain_text("legal move")
    replies.nth(1).get_by_text("Prompt, 4 messages").click()
    expect(replies.nth(1).locator(".prompt pre").nth(2)).to_have_text(wrong)

    click(play, 2, 6)
    expect(status(play)).to_have_text("You won.")
    play.get_by_role("link", name="/game/").click()
    play.wait_for_url("**/game?id=*")
    ready(play)
    expect(status(play)).to_contain_text("Person X won.")
    play.get_by_text("Replies", exact=True).first.click()
    expect(play.locator(".attempt pre.reply").first).to_have_text(wrong)


def test_thinking_in_a_field_of_its_own(play: Page, model: ModelServer) -> None:
    model.answer = Say("<move>0</move>", reasoning="The corner is best.", piece_delay_s=0.3)
    begin(play, TAGGER, "human:")
    expect(play.locator(".thinking .reasoning")).to_contain_text("The cor")
    expect_board(play, "X........")
    expect(status(play)).to_have_text("Your move.")
    expect(play.locator(".moves .said")).to_have_text("“The corner is best.”")


def test_a_refresh_while_the_model_thinks(play: Page, model: ModelServer) -> None:
    model.answer = Say(
        "<think>" + "deep thoughts " * 20 + "</think><move>0</move>", piece_delay_s=0.1
    )
    begin(play, TAGGER, "human:")
    expect(play.locator(".thinking .text")).to_contain_text("deep")
    play.reload(wait_until="commit")
    ready(play)
    expect(play.locator(".thinking .text")).to_contain_text("<think>deep thoughts deep")
    assert len(model.requests) == 1
    try_click(play, 4)
    expect_board(play, "X........")


def test_resign_while_the_model_thinks(play: Page, model: ModelServer) -> None:
    model.answer = Say("<move>0</move>", delay_s=60)
    begin(play, TAGGER, "human:")
    expect(status(play)).to_have_text("tagger is thinking")
    play.get_by_role("button", name="Resign").click()
    expect(status(play)).to_have_text("You resigned.")
    expect(play.locator(".thinking")).to_be_hidden()


def test_stop_the_model_and_ask_again(play: Page, model: ModelServer) -> None:
    model.answer = Say("<move>0</move>", delay_s=60)
    begin(play, TAGGER, "human:")
    play.get_by_role("button", name="Stop").click()
    expect(status(play)).to_have_text("tagger was stopped.")
    model.answer = says(0)
    play.get_by_role("button", name="Ask again").click()
    expect_board(play, "X........")
    expect(status(play)).to_have_text("Your move.")


def test_a_model_that_forfeits(play: Page, model: ModelServer) -> None:
    model.answer = says("no")
    begin(play, TAGGER, "human:")
    expect(status(play)).to_have_text("tagger has lost by invalid replies.")
    play.get_by_role("link", name="/game/").click()
    play.wait_for_url("**/game?id=*")
    ready(play)
    expect(play.get_by_text("Replies that led to no move:")).to_be_visible()
    expect(play.locator(".attempt pre.reply")).to_have_text(["no"] * 8)


def test_a_model_that_fails(play: Page, model: ModelServer) -> None:
    model.answer = Json(500, {"error": {"message": "out of memory"}})
    begin(play, TAGGER, "human:")
    expect(status(play)).to_contain_text("counts for nobody")
    expect(status(play)).to_contain_text("out of memory")
    model.answer = says(0)
    play.get_by_role("button", name="Rematch").click()
    expect(play.get_by_role("heading", level=1)).to_have_text("You against tagger")


def test_the_buttons_stand_still_once_a_game_has_ended(play: Page, model: ModelServer) -> None:
    model.answer = Json(400, {"error": {"message": "out of memory"}}, delay_s=0.5)
    begin(play, TAGGER, "human:")
    expect(play.locator(".clock")).not_to_have_text("")
    button = play.get_by_role("button", name="Rematch", include_hidden=True)
    clock = button.evaluate(
        """each => new Promise(done => {
            const look = () => each.hidden || done(document.querySelector(".clock").textContent);
            new MutationObserver(look).observe(each, { attributes: true });
            look();
        })"""
    )
    assert clock == "", "it goes with the sentence: later, the line may break anew"


def test_two_models_are_watched(play: Page, model: ModelServer) -> None:
    begin(play, TAGGER, TAGGER)
    expect(status(play)).to_have_text("A draw.")
    expect(play.get_by_role("button", name="Resign")).to_be_hidden()
