"""Leaderboard, Checkpoints, Checkpoint, Compare, and a replay's grades, as a person reads them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage, Watch
from tests.browser.steps import ready, visit
from tests.browser.test_accessibility import DESK, PHONE, faults
from tests.web.numbered import PANEL, SEEDS, UNFINISHED, fill
from tests.web.process import Arena

BOARD = "/leaderboard?panel=mine"
DASH = "–"


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server whose database has something to say about every number."""
    folder = tmp_path_factory.mktemp("numbers") / "data"
    folder.mkdir()
    (folder / "panels.toml").write_text(
        f'[[panel]]\nname = "mine"\nopponents = {list(PANEL)}\n', "utf-8"
    )
    fill(folder)
    server = Arena(folder, {"ARENA_DEMO": "0"})
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server without a game."""
    folder = tmp_path_factory.mktemp("empty") / "data"
    folder.mkdir()
    server = Arena(folder, {"ARENA_DEMO": "0"})
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


def id_of(arena: Arena, name: str) -> int:
    with arena.client() as client:
        members = client.get("families").json()["members"]
    [found] = [m["player"]["id"] for m in members if m["player"]["name"] == name]
    return int(found)


def row(page: Page, name: str, table: str = ".standings") -> Locator:
    head = page.get_by_role("rowheader").filter(has_text=name)
    return page.locator(f"{table} tbody tr").filter(has=head)


def cell(page: Page, name: str, column: str, table: str = ".standings") -> Locator:
    """The cell of a row under a heading that begins so."""
    heads = page.locator(f"{table} thead th").all_inner_texts()
    [at] = [n for n, text in enumerate(heads) if text.startswith(column)]
    return row(page, name, table).locator("th, td").nth(at)


# -- leaderboard -----------------------------------------------------------------------------------


def test_the_answer_stands_above_the_table(page: Page, numbers: Arena) -> None:
    visit(page, numbers, BOARD)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "2 of 4 have lost no game to a perfect opponent"
    )
    expect(cell(page, "unbeaten", "Worst opponent, replying")).to_contain_text("100 %")
    expect(cell(page, "Perfect player", "Worst opponent, replying")).to_contain_text("exact")
    expect(cell(page, "Random player", "random, opening")).to_contain_text("58.5 · 12.7 · 28.8")


def test_edges_are_dashes_and_never_zero(page: Page, numbers: Arena) -> None:
    visit(page, numbers, f"{BOARD}&least_games=0")
    for column in ("uniform ties, replying", "Worst opponent, replying", "Memorisation", "Format"):
        expect(cell(page, "void", column)).to_have_text(DASH)
    expect(cell(page, "unmet", "uniform ties, replying")).to_have_text(DASH)
    expect(cell(page, "unmet", "random, opening")).to_contain_text("1 game")
    expect(cell(page, "single", "uniform ties, replying")).to_contain_text("1/1 distinct")
    expect(row(page, "void", ".heat")).to_have_text(
        "void" + "prompt tags, temperature 1" + DASH * 3
    )
    assert "NaN" not in page.locator("body").inner_text()
    assert "undefined" not in page.locator("body").inner_text()


def test_an_evaluation_under_way_says_so(page: Page, numbers: Arena) -> None:
    visit(page, numbers, f"{BOARD}&evaluation={UNFINISHED}")
    planned = 2 * SEEDS * 2 * len(PANEL)
    expect(page.locator(".provisional")).to_have_text(
        f"Provisional: {planned // 2} of {planned} games of {UNFINISHED} are played."
    )
    expect(page.locator(".standings tbody tr:not(.reference)")).to_have_count(1)


def test_filters_order_and_columns_are_in_the_address(page: Page, numbers: Arena) -> None:
    visit(page, numbers, "/leaderboard")
    page.select_option("[name=panel]", "mine")
    page.wait_for_url("**panel=mine*")
    page.select_option("[name=family]", "ladder")
    rows = page.locator(".standings tbody tr:not(.reference)")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Worst opponent, replying").click()
    expect(rows.first).to_contain_text("novice")
    page.locator(".chooser > summary").click()
    page.get_by_label("Tokens per move").check()
    expect(cell(page, "novice", "Tokens per move")).to_have_text("12")
    for part in ("panel=mine", "family=ladder", "sort=worst_replying", "tokens"):
        assert part in page.url
    page.reload(wait_until="commit")
    ready(page)
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("novice")
    expect(cell(page, "novice", "Tokens per move")).to_have_text("12")
    expect(page.locator("[aria-sort=ascending]")).to_contain_text("Worst opponent, replying")
    page.go_back()
    page.wait_for_function("!location.search.includes('family')")


def test_files_hold_what_is_shown(page: Page, numbers: Arena, tmp_path: Path) -> None:
    visit(page, numbers, f"{BOARD}&family=ladder&columns=tokens,minimax+replying&sort=tokens")
    texts = []
    for kind in ("CSV", "JSON"):
        with page.expect_download() as told:
            page.get_by_role("link", name=kind, exact=True).click()
        told.value.save_as(tmp_path / kind)
        texts.append((tmp_path / kind).read_text("utf-8"))
    rows = list(csv.DictReader(texts[0].splitlines()))
    assert [each["checkpoint"] for each in rows[-2:]] == ["minimax", "random"]
    assert {each["checkpoint"] for each in rows[:3]} == {
        "novice",
        "expert",
        "<img src=x onerror=fire()>",
    }
    assert rows[0]["Tokens per move"] == "12"
    assert rows[-1]["Tokens per move"] == ""
    assert set(rows[0]) >= {"minimax replying", "minimax replying low", "minimax replying games"}
    found = json.loads(texts[1])
    assert [each["checkpoint"] for each in found] == [each["checkpoint"] for each in rows]
    assert found[-1]["Tokens per move"] is None


@pytest.mark.parametrize("side", ["opening", "replying"])
def test_an_entry_of_the_heat_map_opens_its_games(page: Page, numbers: Arena, side: str) -> None:
    visit(page, numbers, BOARD)
    page.select_option("[name=seat]", side)
    row(page, "novice", ".heat").get_by_role("link").nth(1).click()
    page.wait_for_url("**/games?*")
    ready(page)
    expect(page.locator(".about")).to_have_text(
        f"{SEEDS} games of novice against minimax, {side}, newest first."
    )


def test_nobody_yet(page: Page, empty: Arena) -> None:
    visit(page, empty, "/leaderboard")
    expect(page.get_by_role("heading", level=1)).to_contain_text("No checkpoint has played")
    expect(page.locator(".standings tbody tr")).to_have_count(2)
    visit(page, empty, "/checkpoints")
    expect(page.get_by_role("heading", level=1)).to_have_text("No family of checkpoints yet")
    visit(page, empty, "/compare")
    expect(page.locator(".about")).to_contain_text("Two checkpoints")


def test_a_panel_that_is_not_there(page: Page, numbers: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 404",)
    visit(page, numbers, "/leaderboard?panel=mnie")
    expect(page.get_by_role("alert").first).to_contain_text("mine")


# -- checkpoints -----------------------------------------------------------------------------------


def test_lines_over_the_step(page: Page, numbers: Arena) -> None:
    visit(page, numbers, "/checkpoints?family=ladder&panel=mine")
    expect(page.get_by_role("heading", level=1)).to_contain_text("From novice to")
    charts = page.locator(".chart")
    expect(charts).to_have_count(6)
    for at in range(6):
        expect(charts.nth(at)).to_have_attribute("data-drawn", "nothing" if at == 2 else "1")
    first = charts.first
    expect(first.locator(".annotation-text", has_text="uniform ties")).to_have_count(1)
    first.locator("summary").click()
    expect(first.locator("tbody tr")).to_have_count(3)
    expect(first.locator("tbody tr").first.locator("td").first).to_have_text("100")


def test_a_point_opens_its_checkpoint(page: Page, numbers: Arena) -> None:
    visit(page, numbers, "/checkpoints?family=ladder&panel=mine")
    chart = page.locator(".chart").nth(5)
    expect(chart).to_have_attribute("data-drawn", "1")
    chart.scroll_into_view_if_needed()
    chart.locator(".scatterlayer .points path").first.hover(force=True)
    chart.locator(".scatterlayer .points path").first.click(force=True)
    page.wait_for_url("**/checkpoint?id=*")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("novice")


def test_a_chart_follows_the_scheme(new_page: NewPage, numbers: Arena) -> None:
    colours = []
    for scheme in ("light", "dark"):
        page = visit(new_page(color_scheme=scheme), numbers, "/checkpoints?family=ladder")
        expect(page.locator(".chart").first).to_have_attribute("data-drawn", "1")
        line = page.locator(".chart").first.locator(".js-line").last
        colours.append(line.evaluate("each => getComputedStyle(each).stroke"))
    assert colours[0] != colours[1]


def test_the_published_table_can_be_copied(page: Page, numbers: Arena) -> None:
    visit(page, numbers, "/checkpoints?family=ladder&panel=mine")
    page.locator(".published > summary").click()
    expect(page.locator(".published pre")).to_contain_text("| novice")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.locator(".published [role=status]")).to_have_text("Copied.")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("| Model | Opponent |")


# -- where it goes wrong ---------------------------------------------------------------------------


def test_where_a_checkpoint_goes_wrong(page: Page, numbers: Arena) -> None:
    visit(page, numbers, f"/checkpoint?id={id_of(numbers, 'novice')}")
    expect(page.locator(".traps .trap")).to_have_count(63)
    words = page.locator(".traps .status-word").all_inner_texts()
    assert set(words) <= {"passed", "failed", "never met"}
    for status in ("passed", "failed", "never_met"):
        shown = page.locator(f".trap.{status}").count()
        assert shown == words.count(status.replace("_", " "))
    assert words.count("failed") > 0
    losing = page.locator(".gallery").first.get_by_role("link").first
    losing.click()
    page.wait_for_url("**/game?id=*")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("novice")
    expect(page.locator(".arena .status")).to_contain_text("won")


def test_a_checkpoint_that_never_lost_or_never_played(page: Page, numbers: Arena) -> None:
    visit(page, numbers, f"/checkpoint?id={id_of(numbers, 'unbeaten')}")
    expect(page.locator("main, .arena").last).to_contain_text(
        "It has lost no rated game on the board."
    )
    expect(page.locator(".trap.failed")).to_have_count(0)
    visit(page, numbers, f"/checkpoint?id={id_of(numbers, 'void')}")
    expect(page.get_by_role("heading", level=1)).to_have_text("void has no game yet that counts")
    expect(page.locator(".trap.never_met")).to_have_count(63)
    assert "NaN" not in page.locator("body").inner_text()


def test_there_is_no_such_checkpoint(page: Page, numbers: Arena, watch: Watch) -> None:
    watch.forgives = ("status of 404", "status of 422")
    for id in ("999", "x"):
        visit(page, numbers, f"/checkpoint?id={id}")
        expect(page.get_by_role("heading", level=1)).to_have_text("There is no such checkpoint")


# -- two of them -----------------------------------------------------------------------------------


def test_two_side_by_side(page: Page, numbers: Arena) -> None:
    visit(page, numbers, "/compare")
    page.select_option("[name=first]", label="expert (prompt tags, temperature 1)")
    page.select_option("[name=second]", label="novice (prompt tags, temperature 1)")
    expect(page.get_by_role("heading", level=1)).to_contain_text("expert loses less than novice")
    expect(page.locator(".standings tbody tr")).to_have_count(2 + 2 * len(PANEL))
    expect(row(page, "All opponents").first).to_contain_text(f"of {SEEDS * len(PANEL)} common")
    expect(page.locator(".cells li").first.locator("svg")).to_have_count(2)
    page.locator("[name=opening]").select_option("true")
    expect(page.locator(".cells li").filter(has_text="replying")).to_have_count(0)
    assert "opening=true" in page.url
    page.locator(".cells li").first.get_by_role("link").first.click()
    page.wait_for_url("**/game?id=*")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("expert")


# -- a replay --------------------------------------------------------------------------------------


def test_a_replay_shows_grades_values_and_reasons(page: Page, numbers: Arena) -> None:
    with numbers.client() as client:
        found = client.get(f"checkpoints/{id_of(numbers, 'novice')}").json()["lines"][0]
    id = found["url"].rsplit("/", 1)[-1]
    visit(page, numbers, f"/game?id={id}&ply={found['decisive'] + 1}")
    expect(page.locator(".why .grade")).to_contain_text("became a loss")
    expect(page.locator(".why .reason")).to_contain_text("I take ")
    expect(page.locator(".moves .grade")).to_have_count(len(found["moves"]))
    expect(page.locator(".board .number", has_text="loss")).to_have_count(0)
    page.get_by_role("button", name="Back", exact=True).click()
    values = page.get_by_role("button", name="Values")
    values.click()
    expect(values).to_have_attribute("aria-pressed", "true")
    worth = page.locator(".board .number").all_inner_texts()
    assert len(worth) == 9 - found["decisive"]
    assert set(worth) <= {"win", "draw", "loss"}
    assert "loss" in worth
    expect(page.locator(".board [aria-label*='a loss for']").first).to_be_visible()
    values.click()
    expect(page.locator(".board .number", has_text="loss")).to_have_count(0)


# -- for everybody ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", [BOARD, "/checkpoints?panel=mine", "checkpoint", "compare", "game"]
)
def test_axe_and_the_phone(new_page: NewPage, numbers: Arena, path: str, scheme: str) -> None:
    novice, expert = id_of(numbers, "novice"), id_of(numbers, "expert")
    if path == "game":
        with numbers.client() as client:
            found = client.get(f"checkpoints/{novice}").json()["lines"][0]
        path = f"/game?id={quote(found['url'].rsplit('/', 1)[-1])}&ply=3"
    path = {
        "checkpoint": f"/checkpoint?id={novice}",
        "compare": f"/compare?first={expert}&second={novice}",
    }.get(path, path)
    page = new_page(color_scheme=scheme, viewport=DESK)
    visit(page, numbers, path)
    page.evaluate("document.querySelectorAll('.arena details').forEach(each => each.open = true)")
    for chart in page.locator(".chart").all():
        expect(chart).to_have_attribute("data-drawn", re.compile("1|nothing"))
    found = faults(page)
    page.set_viewport_size(PHONE)
    found += [f"phone: {fault}" for fault in faults(page)]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert not found, "\n".join(found)
