"""Pages of imported runs: the list, a run, its chart and its transcripts, and the end of one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from arena.board import Mark
from storage import Database
from storage.imports import import_files
from tests.browser.conftest import NewPage, Watch
from tests.browser.steps import ready, status, visit
from tests.browser.test_accessibility import DESK, PHONE, faults
from tests.conftest import MARKUP
from tests.storage.imports.chats import PLAIN
from tests.storage.rollouts import rollout, store, write
from tests.web.process import Arena

LINES = Path(__file__).parents[1] / "data" / "traces" / "lines.jsonl"
CALL = {"function": {"name": MARKUP, "arguments": MARKUP}}
TRICKY = [
    {"role": "user", "content": MARKUP},
    {"role": MARKUP, "content": MARKUP, "reasoning_content": MARKUP, "tool_calls": [CALL]},
]


ODD = ["x", "", "  x ", "y" * 20_000, "line\nline"]
"""Examples, of which only the first can be typed."""


def fill(db: Database) -> None:
    """A run of `vf-eval`, one of many rewards, one of games, and one whose texts are markup."""
    import_files(db, [LINES])
    numbers = random.Random(3)
    store(db, *(numbers.gauss(0.5, 0.2) for _ in range(300)), None, run="many")
    torn = PLAIN.tell([4, 0, 8, 2]).messages
    torn[3]["content"] = torn[3]["content"].replace("O", "X")
    chats = [PLAIN.tell(moves).messages for moves in ([4, 0, 1, 2, 7], [4, 0, 8])]
    chats += [torn, replace(PLAIN, mark=Mark.O).tell([4, 0, 1, 2, 7]).messages]
    write(db, [rollout(n, 0.5, "games", messages=chat) for n, chat in enumerate(chats)])
    odd = {"parts": {"length": [3.0, None], "won": [1.0, 0.5]}}
    write(db, [rollout(n, (each, 0.5), "odd", **odd) for n, each in enumerate(ODD)])
    facts = {"messages": TRICKY, "model": MARKUP, "parts": {MARKUP: [1.0, 0.5]}}
    write(
        db,
        [
            rollout(0, (MARKUP, 1.0), MARKUP, **facts),
            rollout(1, (MARKUP, None), MARKUP, **facts | {"why_void": MARKUP}),
        ],
    )
    said = [{"role": "user", "content": "think\n" * 200}, {"role": "assistant", "content": "4"}]
    write(db, [rollout(0, 0.5, "long", messages=said)])


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server without a password: whoever sits at the machine is the operator."""
    folder = tmp_path_factory.mktemp("runs")
    db = Database.open(folder / "data" / "arena.db")
    fill(db)
    db.close()
    server = Arena(folder / "data", {})
    server.start()
    yield server
    server.stop()


RUNS = {"lines": 1, "many": 2, "games": 3, "odd": 4, "markup": 5, "long": 6}


def look(page: Page, arena: Arena, run: str, more: str = "") -> Page:
    visit(page, arena, f"/run?id={RUNS[run]}{more}")
    expect(page.locator("figure.chart")).to_have_attribute("data-drawn", "1")
    return page


def transcripts(page: Page) -> Locator:
    return page.locator("details.transcript")


def test_the_way_from_the_datasets_to_a_run(page: Page, shown: Arena) -> None:
    visit(page, shown, "/datasets")
    page.get_by_role("link", name="runs of other environments").click()
    page.wait_for_url("**/runs")
    ready(page)
    row = page.locator("tbody tr", has_text="reverse_words")
    expect(row.locator("td")).to_have_text(["0.800± 0.200", "scripted", "4", "12", "0"])
    row.get_by_role("link", name="lines").click()
    page.wait_for_url("**/run?id=1")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("lines: mean reward 0.800 ± 0.200")
    expect(page.locator(".about")).to_contain_text("4 examples × 3 rollouts of scripted")


def test_a_run_of_vf_eval(page: Page, shown: Arena) -> None:
    look(page, shown, "lines")
    # Two rewards: a bar for each, and the same in the table.
    expect(page.locator("figure .bars .point")).to_have_count(2)
    page.locator("figure summary").click()
    table = page.get_by_role("region", name="Rewards")
    expect(table.locator("tbody tr")).to_contain_text(["0.2", "1"])
    expect(table.locator("tbody td")).to_have_text(["3", "25.0 %", "9", "75.0 %"])
    rows = page.get_by_role("region", name="Reward functions").locator("tbody tr")
    expect(rows.nth(1)).to_contain_text("reversed_words")
    expect(rows.nth(1).locator("td")).to_have_text(["0.8", "0.750± 0.250", "12"])
    expect(page.get_by_text("Games of tic-tac-toe")).to_have_count(0)
    expect(status(page)).to_have_text("1 to 10 of 12 rollouts")
    first = transcripts(page).first
    expect(first.locator(".role")).to_have_text(["1 · system", "2 · user", "3 · assistant"])
    expect(first.locator("pre").last).to_have_text("three two one")


def test_filters_and_pages_are_in_the_address(page: Page, shown: Arena) -> None:
    look(page, shown, "lines")
    page.get_by_role("button", name="Next").click()
    expect(status(page)).to_have_text("11 to 12 of 12 rollouts")
    expect(page.get_by_role("heading", name="Transcripts")).to_be_focused()
    page.reload(wait_until="commit")
    expect(status(ready(page))).to_have_text("11 to 12 of 12 rollouts")
    page.get_by_label("By reward").select_option("worst")
    expect(status(page)).to_have_text("1 to 10 of 12 rollouts")
    expect(transcripts(page).first.locator("summary").first).to_have_text("Reward 0.2")
    page.get_by_role("link", name="Only example 4b5bd9e1d07da795").click()
    expect(status(ready(page))).to_have_text("3 rollouts")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["order"] == ["worst"]
    expect(page.get_by_label("Example, exact")).to_have_value(asked["example"][0])
    page.get_by_label("Rollouts").select_option("true")
    expect(status(page)).to_have_text("No rollout fits.")
    page.go_back()
    expect(status(page)).to_have_text("3 rollouts")
    visit(page, shown, "/run?id=1&page=99")
    expect(status(page)).to_have_text("There is no such page: 12 rollouts fit.")


@pytest.mark.parametrize("place", range(len(ODD)))
def test_every_example_has_a_link(page: Page, shown: Arena, place: int) -> None:
    look(page, shown, "odd")
    expect(status(page)).to_have_text("5 rollouts")
    page.locator(".transcripts h3 a").nth(place).click()
    expect(status(ready(page))).to_have_text("One rollout")
    page.reload(wait_until="commit")
    expect(status(ready(page))).to_have_text("One rollout")
    heading = page.locator(".transcripts h3")
    assert heading.get_attribute("title") == ODD[place]
    page.get_by_label("Rollouts").select_option("false")
    expect(heading).to_have_count(1)
    heading.get_by_role("link", name="all examples").click()
    expect(status(ready(page))).to_have_text("5 rollouts")


def test_numbers_that_may_be_no_functions(page: Page, shown: Arena) -> None:
    look(page, shown, "odd")
    told = "whether it is a reward function or another number"
    expect(page.get_by_text(told)).to_be_visible()
    look(page, shown, "lines")
    expect(page.get_by_text(told)).to_have_count(0)


def test_many_rewards_stand_in_intervals(page: Page, shown: Arena) -> None:
    look(page, shown, "many")
    bars = page.locator("figure .bars .point")
    assert 5 < bars.count() <= 22
    expect(page.locator("figure .hint")).to_contain_text("300 rollouts that count, in intervals of")
    page.locator("figure summary").click()
    rows = page.get_by_role("region", name="Rewards").locator("tbody tr")
    assert sum(int(each.inner_text()) for each in rows.locator("td:first-of-type").all()) == 300
    expect(page.get_by_role("region", name="Void rollouts")).to_contain_text("it failed")
    expect(page.locator(".about")).to_contain_text("300 examples, 300 rollouts")


def test_games_that_can_be_followed(page: Page, shown: Arena) -> None:
    look(page, shown, "games")
    rows = page.get_by_role("region", name="Games in these chats").locator("tbody tr")
    expect(rows.nth(0).locator("td")).to_have_text(["2", "2", "1", "0", "0", "1", "0"])
    expect(rows.nth(1).locator("td")).to_have_text(["1", "1", "0", "0", "1", "0", "0"])
    expect(page.get_by_text("move no rate")).to_be_visible()
    expect(page.get_by_text("Not followed in one chat: the board cannot follow")).to_be_visible()
    heads = ["won, opening", "unfinished, the opponent's answer unseen, opening"]
    heads += ["game not followed", "lost, replying"]
    expect(transcripts(page).locator("> summary")).to_contain_text(heads)
    game = transcripts(page).first.locator(".shown-game")
    expect(game).to_contain_text("The model is X, opening: won.")
    moves = "X 4, O 0, X 1, O 2, X 7"
    expect(game).to_contain_text(moves)
    expect(game.get_by_role("img", name=f"The last board, won; moves: {moves}")).to_be_visible()
    expect(game.locator(".mark.X")).to_have_count(3)
    transcripts(page).nth(2).locator("> summary").click()
    told = transcripts(page).nth(2).get_by_text("message 4: the board cannot follow")
    expect(told).to_be_visible()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_texts_are_data(new_page: NewPage, shown: Arena, viewport) -> None:
    page = new_page(viewport=viewport)
    visit(page, shown, "/runs")
    expect(page.get_by_role("link", name=MARKUP)).to_be_visible()
    look(page, shown, "markup")
    expect(page.get_by_role("heading", level=1)).to_contain_text(MARKUP)
    page.evaluate("document.querySelectorAll('.arena details').forEach(each => each.open = true)")
    first = transcripts(page).first
    expect(first.locator("pre")).to_have_text([MARKUP, MARKUP, MARKUP, f"{MARKUP}({MARKUP})"])
    expect(transcripts(page).nth(1).locator("> summary")).to_have_text(f"Void: {MARKUP}")
    expect(page.locator("img[src=x]")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/runs", "/run?id=1", "/run?id=3"])
def test_axe(new_page: NewPage, shown: Arena, path: str, scheme: str) -> None:
    page = new_page(color_scheme=scheme, viewport=DESK)
    visit(page, shown, path)
    page.evaluate("document.querySelectorAll('.arena details').forEach(each => each.open = true)")
    found = faults(page)
    page.set_viewport_size(PHONE)
    found += [f"phone: {fault}" for fault in faults(page)]
    assert not found, "\n".join(found)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_keyboard_opens_a_transcript(page: Page, shown: Arena) -> None:
    look(page, shown, "games")
    second = transcripts(page).nth(1)
    second.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(second.locator("pre").first).to_be_visible()


def test_only_what_scrolls_is_a_stop_of_the_tab_key(page: Page, shown: Arena) -> None:
    look(page, shown, "long")
    long, short = transcripts(page).locator("pre").all()
    expect(long).to_have_attribute("tabindex", "0")
    expect(short).to_be_visible()
    assert short.get_attribute("tabindex") is None


def test_there_is_no_such_run(page: Page, shown: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 404", "status of 422")
    for path in ("/run?id=77", "/run?id=x", "/run"):
        visit(page, shown, path)
        expect(page.get_by_role("heading", level=1)).to_have_text("There is no such run")
        expect(page.get_by_role("link", name="All runs")).to_be_visible()


def test_a_run_goes_by_a_button_that_asks_again(page: Page, shown: Arena) -> None:
    look(page, shown, "many")
    page.get_by_role("button", name="Remove this run").click()
    page.get_by_role("button", name="Remove the run with all its rollouts?").click()
    page.wait_for_url("**/runs")
    ready(page)
    expect(page.locator("tbody tr")).to_have_count(len(RUNS) - 1)
    expect(page.locator("tbody")).not_to_contain_text("many")


def test_nothing_is_imported_yet(page: Page, home: Arena) -> None:
    visit(page, home, "/runs")
    expect(page.locator(".empty")).to_contain_text("No run is imported yet.")
