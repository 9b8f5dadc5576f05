"""The operator's door in the foot of every page, and what it opens."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.steps import begin, ready, visit
from tests.conftest import PASSWORD
from tests.web.process import Arena


def test_the_operator_signs_in_and_out(page: Page, arena: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 403",)
    visit(page, arena)
    hidden = page.locator("[name=o] option[value='model:hidden']")
    expect(hidden).to_have_text("hidden (operator only)")
    expect(hidden).to_be_disabled()

    page.locator(".foot summary").click()
    page.get_by_label("Password").fill("guess")
    page.get_by_label("Password").press("Enter")
    expect(page.locator(".foot [role=alert]")).to_have_text("Wrong password.")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Signed in as the operator")).to_be_visible()
    ready(page)
    expect(hidden).to_have_text("hidden")
    begin(page, "human:", "model:hidden")
    expect(page.get_by_role("heading", level=1)).to_have_text("You against hidden")

    page.get_by_role("button", name="Sign out").click()
    expect(page.locator(".foot summary")).to_have_text("Operator")
    ready(page)
    expect(hidden).to_be_disabled()


def test_a_link_to_a_model_that_is_not_public(page: Page, arena: Arena) -> None:
    visit(page, arena, "/?o=hidden")
    expect(page.locator("[name=o]")).to_have_value("human:")


def test_without_a_password_there_is_no_door(page: Page, home: Arena) -> None:
    visit(page, home)
    expect(page.locator("[name=o] option[value='model:hidden']")).to_be_enabled()
    expect(page.locator(".foot")).not_to_contain_text("Operator")
