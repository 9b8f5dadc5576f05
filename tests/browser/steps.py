"""What a person does in the browser, in words."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.web.process import Arena


def visit(page: Page, arena: Arena, path: str = "/") -> Page:
    """Open a page of the arena and wait until it is filled."""
    page.goto(f"{arena.url}{path}", wait_until="commit")
    return ready(page)


def ready(page: Page) -> Page:
    page.locator("[data-ready]").wait_for()
    return page


def begin(page: Page, x: str = "human:", o: str = "human:", **more: str) -> None:
    """Choose who plays, by the values of the selects; `x_name`, `o_spec`, `opener` too."""
    page.select_option("[name=x]", x)
    page.select_option("[name=o]", o)
    for field, value in more.items():
        control = page.locator(f"[name={field.replace('_', '-')}]")
        if field == "opener":
            control.select_option(value)
        else:
            control.fill(value)
    before = page.url
    page.get_by_role("button", name="New game").click()
    page.wait_for_function("before => location.href !== before", arg=before)


def square(page: Page, number: int) -> Locator:
    return page.locator(f".square[data-square='{number}']")


def click(page: Page, *numbers: int) -> None:
    """Click squares, each once the one before has its mark."""
    for number in numbers:
        square(page, number).click()
        expect(square(page, number)).not_to_have_attribute("data-mark", "")


def press(page: Page, *numbers: int) -> None:
    """The same with digits."""
    for number in numbers:
        expect(square(page, number)).to_have_attribute("aria-disabled", "false")
        page.keyboard.press(str(number))
        expect(square(page, number)).not_to_have_attribute("data-mark", "")


def try_click(page: Page, number: int) -> None:
    """Click a square whether or not it can be played."""
    square(page, number).click(force=True)


def marks(page: Page) -> str:
    """The board in reading order, a dot for a free square."""
    found = page.locator(".square").evaluate_all("all => all.map(each => each.dataset.mark || '.')")
    return "".join(found)


def expect_board(page: Page, board: str) -> None:
    """Wait for the board to look so."""
    for number, mark in enumerate(board):
        expect(square(page, number)).to_have_attribute("data-mark", mark.replace(".", ""))


def status(page: Page) -> Locator:
    return page.locator(".arena .status")


def game_id(page: Page) -> str:
    value: Any = page.evaluate("new URLSearchParams(location.search).get('game')")
    return str(value)
