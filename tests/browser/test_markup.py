"""Text from people and models is data: it is shown as it stands and fires nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import begin, status, try_click, visit
from tests.conftest import MARKUP, TRICKS
from tests.servers import Json, ModelServer, Say
from tests.web.process import Arena, Table, checkpoint, human

IMAGE, TEMPLATE, CURLY = TRICKS
REPLY = f"<think>{IMAGE}{TEMPLATE}{CURLY}<script>fire()</script></think><move>0</move>"


@pytest.fixture
def tricked(arena: Arena, model: ModelServer) -> Table:
    """A finished game between tricksters, and a model's that was won by a person."""
    model.answer = Say(REPLY, reasoning=IMAGE + TEMPLATE)
    with arena.client() as client:
        people = Table(client, human(TEMPLATE), human(CURLY))
        people.resign("X")
        table = Table(client, human(TEMPLATE), checkpoint(MARKUP))
        table.move(4)
        table.my_turn()
        table.resign("X")
        return table


def test_play(page: Page, arena: Arena, model: ModelServer) -> None:
    visit(page, arena)
    model.answer = [
        Say(REPLY, reasoning=IMAGE + TEMPLATE, piece_delay_s=0.05),
        Json(400, {"error": {"message": IMAGE + TEMPLATE}}),
    ]
    begin(page, "human:", f"model:{MARKUP}", x_name=CURLY)
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{CURLY} against {MARKUP}")
    try_click(page, 4)
    expect(page.locator(".thinking .reasoning")).to_contain_text("<img")
    expect(page.locator(".square[data-square='0']")).to_have_attribute("data-mark", "O")
    page.get_by_text("Replies", exact=True).click()
    expect(page.locator("pre.reply")).to_have_text(REPLY)
    try_click(page, 8)
    expect(status(page)).to_contain_text(IMAGE + TEMPLATE)
    page.reload(wait_until="commit")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{CURLY} against {MARKUP}")
    expect(page.locator("img[src=x]")).to_have_count(0)


def test_the_address_of_play(page: Page, arena: Arena) -> None:
    visit(page, arena, f"/?x={MARKUP}&o={TEMPLATE}")
    expect(page.locator("[name=o-spec]")).to_have_value(TEMPLATE)


def test_game(page: Page, arena: Arena, tricked: Table) -> None:
    visit(page, arena, f"/game/{tricked.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{TEMPLATE} against {MARKUP}")
    page.get_by_text("Replies", exact=True).click()
    expect(page.locator("pre.reply")).to_have_text(REPLY)
    page.get_by_text("Reasoning", exact=True).click()
    # Beside its move, as the reason that was given, and within the whole reply.
    said = page.get_by_text(IMAGE + TEMPLATE, exact=True)
    expect(said).to_have_count(2)
    for each in (said.first, said.last):
        expect(each).to_be_visible()


def test_games(page: Page, arena: Arena, tricked: Table) -> None:
    visit(page, arena, "/games")
    row = page.locator("tbody tr").first
    expect(row.locator(".who")).to_have_text([TEMPLATE, MARKUP])
    visit(page, arena, f"/games?player={MARKUP}&opponent={TEMPLATE}")
    expect(page.locator(".about")).to_contain_text(f"of {MARKUP} against {TEMPLATE}")


def test_leaderboard(page: Page, arena: Arena, tricked: Table) -> None:
    visit(page, arena, "/leaderboard")
    page.locator(".everybody > summary").click()
    for name in TRICKS:
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def test_datasets(page: Page, arena: Arena, tricked: Table) -> None:
    visit(page, arena, f"/datasets?player={MARKUP}")
    expect(page.locator("summary").first).to_contain_text(f"{MARKUP} against {TEMPLATE}")
    expect(page.locator("details pre").first).to_contain_text("<script>fire()</script>")
