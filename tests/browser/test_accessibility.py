"""axe on every page; the order of focus; the phone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import NewPage
from tests.browser.steps import begin, click, status, visit
from tests.servers import ModelServer
from tests.web.process import ROOT, Arena

PHONE: ViewportSize = {"width": 375, "height": 667}
DESK: ViewportSize = {"width": 1280, "height": 800}
PAGES = (
    "/",
    "/?game={game}",
    "/game?id={game}",
    "/games",
    "/leaderboard",
    "/checkpoints",
    "/compare",
    "/datasets",
    "/evaluations",
    "/evaluation?name=engines",
)
ALLOWED: dict[str, str] = {}
"""Gradio's own faults that we cannot mend: the rule, and why."""


@pytest.fixture(scope="module")
def game(records: Arena) -> str:
    """A game with a model, an invalid reply on the way, and an end; and an evaluation."""
    command = ["-m", "cli", "--data-dir", str(records.folder), "evaluate", "minimax:tie=edge"]
    options = ["--opponents=minimax:tie=last", "--games=2", "--name=engines"]
    subprocess.run([sys.executable, *command, *options], cwd=ROOT, check=True)
    with records.client() as client:
        found = client.get("games", params={"player": "Rita"}).json()["games"]
    return str(found[0]["id"])


def faults(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['html'][:200]}"
        for rule in found
        if rule["id"] not in ALLOWED
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe(new_page: NewPage, arena: Arena, game: str, path: str, scheme: str) -> None:
    page = new_page(color_scheme=scheme, viewport=DESK)
    visit(page, arena, path.format(game=game))
    page.evaluate("document.querySelectorAll('.arena details').forEach(each => each.open = true)")
    found = faults(page)
    page.set_viewport_size(PHONE)
    found += [f"phone: {fault}" for fault in faults(page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_needs_no_sideways_scrolling(
    new_page: NewPage, arena: Arena, game: str, path: str
) -> None:
    page = new_page(viewport=PHONE, is_mobile=True, has_touch=True)
    visit(page, arena, path.format(game=game))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_board_fits_a_phone(new_page: NewPage, arena: Arena, model: ModelServer) -> None:
    page = new_page(viewport=PHONE, is_mobile=True, has_touch=True)
    visit(page, arena)
    box = page.get_by_role("group", name="Board").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert box["y"] + box["height"] <= PHONE["height"]
    assert box["width"] > 250
    begin(page)
    page.locator(".square[data-square='4']").tap()
    expect(status(page)).to_have_text("Person O to move.")


def test_the_order_of_focus(page: Page, arena: Arena) -> None:
    """Navigation, board, the game's buttons, the choice of players, the foot."""
    visit(page, arena)
    order = []
    for _ in range(40):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate(
                """() => {
                    const at = document.activeElement;
                    const region = at.closest('.board, .actions, .setup, .foot, nav');
                    return region ? region.className || 'nav' : at.tagName;
                }"""
            )
        )
    places = [place.split()[0] for place in dict.fromkeys(order)]
    kept = [place for place in places if place in ("board", "actions", "setup", "foot")]
    assert kept == ["board", "actions", "setup", "foot"]


def test_squares_say_what_they_hold(page: Page, arena: Arena) -> None:
    visit(page, arena)
    begin(page)
    click(page, 4)
    expect(page.get_by_role("button", name="Square 4, X")).to_have_attribute(
        "aria-disabled", "true"
    )
    expect(page.get_by_role("button", name="Square 0, free")).to_be_enabled()


def test_focus_is_seen(page: Page, arena: Arena) -> None:
    visit(page, arena)
    begin(page)
    page.locator(".square[data-square='3']").focus()
    page.keyboard.press("ArrowRight")
    outline = page.evaluate(
        """() => {
            const style = getComputedStyle(document.activeElement);
            return [style.outlineStyle, style.outlineWidth, style.boxShadow].join(' ');
        }"""
    )
    assert outline != "none 0px none"
