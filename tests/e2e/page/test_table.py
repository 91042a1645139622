"""The tools of the table: wide results, a column's menu, search, a row's detail, totals and copies."""

import re

import httpx
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e.page.browser import ask
from tests.e2e.page.conftest import connected, opened
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
from tests.e2e.test_turn import sql
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server

COLUMNS = 45
MOST_CELLS = 400
WIDE = ", ".join(f"id * {number} AS c{number:02}" for number in range(COLUMNS))


def asked_rows(page: Page, session: str, question: str) -> None:
    page.goto(f"/sessions/{session}")
    ask(page, question)
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_role("grid")).to_be_visible()


@pytest.fixture
def session(api: httpx.Client, many_rows: str) -> str:
    return opened(api, connected(api, many_rows, "Many"))


def test_a_wide_result_has_only_the_cells_in_sight(page: Page, model: ScriptedModel, session: str) -> None:
    model.say(sql(f"SELECT {WIDE} FROM measurements ORDER BY id LIMIT 731"), "Wide.")
    page.set_viewport_size({"width": 1440, "height": 900})
    asked_rows(page, session, "All columns")
    grid = page.get_by_role("grid")
    cells = page.get_by_role("gridcell")
    assert cells.count() <= MOST_CELLS
    grid.evaluate("grid => grid.scrollTo(grid.scrollWidth / 2, grid.scrollHeight / 2)")
    expect(page.get_by_role("columnheader", name="c22", exact=False).first).to_be_visible()
    assert cells.count() <= MOST_CELLS
    grid.focus()
    for key in ("ArrowDown", "End"):
        grid.press(key)
    expect(page.get_by_role("columnheader", name="c44")).to_be_in_viewport()
    active = page.locator(f"[id='{grid.get_attribute('aria-activedescendant')}']")
    expect(active).to_be_in_viewport()
    expect(active).to_have_text("44")


def test_the_table_is_searched_measured_and_read_row_by_row(
    page: Page, model: ScriptedModel, session: str
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    statement = (
        "SELECT id, celsius, CASE id WHEN 700 THEN '{\"site\": [1, 2]}' ELSE note END AS note"
        " FROM measurements ORDER BY id LIMIT 731"
    )
    model.say(sql(statement), "Measured.")
    asked_rows(page, session, "Measurements")
    grid = page.get_by_role("grid")
    grid.focus()
    grid.press("Control+f")
    page.keyboard.type("site")
    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    expect(page.locator(".cell.match")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(grid).to_be_focused()
    grid.press("Enter")
    detail = page.get_by_role("complementary", name="Row 701")
    expect(detail.locator("pre")).to_have_text('{\n  "site": [\n    1,\n    2\n  ]\n}')
    grid.press("Escape")
    expect(detail).to_have_count(0)
    page.get_by_role("button", name="Totals").click()
    expect(page.locator(".grid-foot")).to_contain_text("13,441.5")
    page.get_by_role("button", name="Column celsius").click()
    menu = page.get_by_role("dialog", name="Column celsius")
    expect(menu).to_contain_text(re.compile("Smallest0.0Largest39.9Mean18.3878Nulls0Different values400"))
    menu.get_by_role("button", name="Freeze").click()
    expect(page.get_by_role("columnheader").first).to_contain_text("celsius")
    page.get_by_role("button", name="Column id").click()
    page.get_by_role("button", name="Hide").click()
    expect(page.get_by_role("columnheader")).to_have_count(2)
    grid.evaluate("grid => grid.scrollTo(0, 0)")
    page.get_by_role("gridcell", name="0.1", exact=True).click()
    page.get_by_role("button", name="Copy with headers").click()
    expect(page.get_by_text("Cell copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "celsius\n0.1"
    page.get_by_role("button", name="Show 1 hidden column").click()
    expect(page.get_by_role("columnheader")).to_have_count(3)


def test_tools_of_the_table_have_no_barriers(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str
) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make check` brings it")
    model.say(sql("SELECT * FROM measurements ORDER BY id LIMIT 50"), "Some.")
    phone: ViewportSize = {"width": 390, "height": 844}
    with browser.new_context(base_url=page_server.address, viewport=phone) as context:
        page = context.new_page()
        asked_rows(page, session, "Some rows")
        page.get_by_role("button", name="Totals").click()
        page.get_by_role("button", name="Find", exact=True).click()
        page.get_by_role("searchbox", name="Find in the rows").fill("note")
        page.get_by_role("gridcell").first.click()
        page.get_by_role("grid").press("Enter")
        assert violations_in_light_and_dark(page) == []
        page.get_by_role("button", name="Close").last.click()
        page.get_by_role("columnheader", name="taken").hover()
        page.get_by_role("button", name="Column taken").click()
        expect(page.get_by_role("dialog", name="Column taken")).to_be_visible()
        assert violations_in_light_and_dark(page) == []
