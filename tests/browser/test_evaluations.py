"""The pages of evaluations in a real browser, while a real process plays them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import httpx2
import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import NewPage, Watch
from tests.browser.steps import ready, visit
from tests.servers import ModelServer, PolicyModel
from tests.web import evaluating as served
from tests.web.evaluating import PASSWORD, Slow, evaluating, look, sign_in, start, steer
from tests.web.process import Arena

MARKUP = "<img src=x onerror=fire()>"
SLOW_S = 0.2


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(PolicyModel()) as server:
        yield server


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Iterator[Arena]:
    with evaluating(tmp_path_factory.mktemp("evaluations") / "data", server) as arena:
        yield arena


@pytest.fixture
def operator(desk: Arena, server: ModelServer) -> Iterator[httpx2.Client]:
    """The operator, beside the browser."""
    server.answer = PolicyModel()
    with desk.client() as client:
        sign_in(client)
        yield client


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


def enter(page: Page, desk: Arena) -> None:
    """Sign in through the door of the page."""
    visit(page, desk, "/evaluations")
    page.locator(".foot summary").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Signed in as the operator")).to_be_visible()
    ready(page)


def open_form(page: Page) -> None:
    page.locator("summary", has_text="New evaluation").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def stop(client: httpx2.Client, name: str) -> None:
    steer(client, name, "stop")
    served.watch(client, name, lambda it: it["state"] == "stopped")


def test_before_the_first_one(page: Page, desk: Arena) -> None:
    visit(page, desk, "/evaluations")
    expect(page.get_by_role("heading", level=1)).to_have_text("No evaluation yet")
    expect(page.locator(".empty")).to_contain_text("arena evaluate my-checkpoint")
    expect(page.locator("form.filters")).to_have_count(0)


def test_from_the_form_to_the_end_without_reloading(
    page: Page, desk: Arena, operator: httpx2.Client, server: ModelServer
) -> None:
    server.answer = Slow(SLOW_S)
    enter(page, desk)
    open_form(page)
    page.get_by_label("steady").check()
    page.get_by_label("rising, all 2").check()
    expect(page.get_by_label("rising-10")).to_be_checked()
    page.get_by_label("rising-20").uncheck()
    expect(page.get_by_label("rising, all 2")).not_to_be_checked()
    page.get_by_label("rising-10").uncheck()
    expect(page.locator(".listed")).to_contain_text("9 opponents: random · minimax ·")
    page.select_option("[name=panel]", label="Opponents of my own")
    page.get_by_label("Opponents, one a line").fill("random\n\n minimax:tie=last")
    page.get_by_label("Seeds").fill("8")
    page.get_by_label("Games at once").fill("3")
    expect(page.locator(".sum")).to_have_text(
        "1 checkpoint × 2 opponents × 2 seats × 8 seeds × 1 rollout = 32 games"
    )
    expect(page.get_by_label("Name")).to_have_attribute("placeholder", "steady-opponents-0")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/evaluation?name=steady-opponents-0")
    ready(page)

    page.evaluate("window.same = true")
    expect(page.locator(".watch .status")).to_have_text("Running.")
    expect(page.locator(".watch .hint").first).to_contain_text("Provisional: ")
    expect(page.locator(".boards .small-board")).to_have_count(3)
    expect(page.locator(".boards .mark").first).to_be_attached()
    expect(page.locator(".in-play")).to_contain_text("3 games")
    bar = page.get_by_role("progressbar", name="Games played")
    expect(bar).not_to_have_attribute("aria-valuenow", "0")
    expect(page.locator("h1")).to_contain_text("so far")
    expect(page.locator(".watch .hint").first).to_contain_text("tokens/s")

    server.answer = PolicyModel()
    expect(page.locator(".watch .status")).to_have_text("Finished.")
    expect(page.locator(".watch .hint").first).to_contain_text("32 of 32 games · played for")
    expect(page.locator("h1")).to_have_text("steady has not lost to minimax:tie=last")
    expect(page.locator(".in-play")).to_be_hidden()
    rows = page.locator(".entries tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(0).locator("th")).to_have_text("random")
    expect(rows.nth(1)).to_contain_text("Replying")
    expect(rows.nth(3)).to_contain_text("8 of 8")
    expect(page.get_by_role("region", name="Costs")).to_contain_text("EUR")
    assert page.evaluate("window.same") is True
    seen = look(operator, "steady-opponents-0")
    replying = seen["entries"][1]
    record = " · ".join(str(replying[each]) for each in ("wins", "draws", "losses"))
    expect(rows.nth(1)).to_contain_text(record)

    rows.nth(1).get_by_role("link").click()
    page.wait_for_url("**/games?*")
    ready(page)
    expect(page.locator(".about")).to_have_text(
        "8 games of steady against random, replying, newest first."
    )


def test_the_operator_pauses_resumes_stops_and_goes_on(
    page: Page, desk: Arena, operator: httpx2.Client, server: ModelServer
) -> None:
    server.answer = Slow(SLOW_S)
    start(operator, "buttons", games=10, seed=100, concurrency=2)
    enter(page, desk)
    page.get_by_role("link", name="buttons").click()
    page.wait_for_url("**/evaluation?*")
    status = page.locator(".watch .status")
    expect(status).to_have_text("Running.")
    page.get_by_role("button", name="Pause").click()
    expect(status).to_have_text("Paused.")
    page.get_by_role("button", name="Resume").click()
    expect(status).to_have_text("Running.")
    page.get_by_role("button", name="Stop").click()
    expect(status).to_have_text("Stopped.")
    expect(page.get_by_role("button")).to_have_text(["Go on", "Sign out"])
    server.answer = PolicyModel()
    page.get_by_role("button", name="Go on").click()
    expect(status).to_have_text("Finished.")
    expect(page.locator(".actions button")).to_have_count(0)


def test_a_visitor_follows_and_has_no_buttons(
    page: Page, desk: Arena, operator: httpx2.Client, server: ModelServer
) -> None:
    server.answer = Slow(SLOW_S)
    start(operator, "followed", games=50, seed=200, concurrency=2)
    visit(page, desk, "/evaluation?name=followed")
    expect(page.locator(".watch .status")).to_have_text("Running.")
    expect(page.locator(".boards .small-board")).to_have_count(2)
    expect(page.locator(".arena button")).to_have_text(["Sign in"])
    played = page.get_by_role("progressbar").get_attribute("aria-valuetext")
    assert played is not None
    expect(page.get_by_role("progressbar")).not_to_have_attribute("aria-valuetext", played)
    stop(operator, "followed")
    expect(page.locator(".watch .status")).to_have_text("Stopped.")
    visit(page, desk, "/evaluations")
    expect(page.locator("form.filters")).to_have_count(0)
    row = page.locator("tr", has_text="followed")
    expect(row).to_contain_text("Stopped")


def test_nothing_is_asked_after_the_end(page: Page, desk: Arena, operator: httpx2.Client) -> None:
    start(operator, "ended", games=1, seed=300)
    served.watch(operator, "ended", lambda it: it["state"] == "finished")
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/evaluation?" in request.url and "/api/" in request.url:
            asked.append(request.url)

    page.on("request", note)
    visit(page, desk, "/evaluation?name=ended")
    expect(page.locator(".watch .status")).to_have_text("Finished.")
    page.wait_for_timeout(2500)
    assert len(asked) == 1


def test_a_lost_connection_is_said_and_comes_back(
    page: Page, desk: Arena, operator: httpx2.Client, server: ModelServer, watch: Watch
) -> None:
    watch.forgives = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET")
    server.answer = Slow(SLOW_S)
    start(operator, "lost", games=100, seed=400, concurrency=2)
    visit(page, desk, "/evaluation?name=lost")
    expect(page.locator(".boards .small-board")).to_have_count(2)
    desk.stop()
    expect(page.locator(".head .problem")).to_contain_text("The connection is lost.")
    expect(page.locator(".entries tbody tr")).to_have_count(2)
    before = page.get_by_role("progressbar").get_attribute("aria-valuetext")
    assert before is not None
    desk.start()
    expect(page.locator(".head .problem")).to_be_empty()
    expect(page.get_by_role("progressbar")).not_to_have_attribute("aria-valuetext", before)
    sign_in(operator)
    stop(operator, "lost")


def test_what_the_server_refuses_stands_beside_the_form(
    page: Page, desk: Arena, watch: Watch
) -> None:
    watch.forgives = ("status of 422", "status of 409")
    enter(page, desk)
    open_form(page)
    problem = page.locator(".send .problem")
    page.get_by_role("button", name="Start").click()
    expect(problem).to_have_text("Choose at least one checkpoint.")
    page.get_by_label("Engines too").fill("minimax:tie=first,epsilon=0.5, minimax")
    page.select_option("[name=panel]", label="Opponents of my own")
    expect(page.get_by_label("Name")).to_have_attribute(
        "placeholder", "minimax:tie=first,epsilon=0.5+minimax-opponents-0"
    )
    page.get_by_label("Opponents, one a line").fill("minimax:tie=frist")
    page.get_by_role("button", name="Start").click()
    expect(problem).to_contain_text("frist")
    expect(page.get_by_role("button", name="Start")).to_be_enabled()
    assert page.url.endswith("/evaluations")


def test_a_name_is_no_markup(page: Page, desk: Arena, operator: httpx2.Client) -> None:
    begun = start(operator, MARKUP, games=1, seed=500)
    assert begun.status_code == 202
    visit(page, desk, f"/evaluation?name={quote(MARKUP)}")
    expect(page.locator(".crumb span")).to_have_text(MARKUP)
    expect(page.locator(".watch .status")).to_have_text("Finished.")
    visit(page, desk, "/evaluations")
    page.get_by_role("link", name=MARKUP).click()
    page.wait_for_url("**/evaluation?*")
    ready(page)
    expect(page.locator(".crumb span")).to_have_text(MARKUP)


def test_there_is_none_of_that_name(page: Page, desk: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 404",)
    visit(page, desk, "/evaluation?name=nobody")
    expect(page.get_by_role("heading", level=1)).to_have_text("No evaluation to be seen")
    expect(page.locator(".head .problem")).to_have_text("There is no evaluation 'nobody'.")
