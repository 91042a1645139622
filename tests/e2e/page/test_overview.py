"""The start shows what a database holds, in its own time: below the question box, where it moves nothing."""

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import eventually
from tests.e2e.page.conftest import connected
from tests.e2e.page.test_reach import violations_in_light_and_dark
from tests.integration.test_overviews import write_sales

SHIFTS = """() => {
    window.shifted = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({type: "layout-shift", buffered: true});
}"""
LOWEST = """[...document.querySelectorAll('.overview :is(a, button)')]
    .map(each => each.getBoundingClientRect().height).sort((one, other) => one - other)[0]"""


@pytest.fixture
def sales(api: httpx.Client, tmp_path: Path) -> str:
    """The id of a database with an overview."""
    write_sales(tmp_path / "sales.db")
    made = connected(api, f"sqlite:///{tmp_path / 'sales.db'}", "Sales")
    assert api.post(f"/database-connections/{made}/scan").status_code == 202

    def is_known() -> bool:
        return api.get(f"/database-connections/{made}/overview").json()["overview"] is not None

    eventually(is_known)
    return made


def test_the_start_shows_what_the_database_holds_and_a_figure_asks_its_question(
    page: Page, sales: str
) -> None:
    page.add_init_script(f"localStorage.setItem('kai.connection', '{sales}'); ({SHIFTS})()")
    page.goto("/")
    figures = page.get_by_role("region", name="What this database holds").get_by_role("button")
    expect(figures).to_have_count(2)
    expect(figures.first).to_contain_text("Amount of sales")
    expect(figures.first).to_contain_text("the same months a year before")
    expect(page.get_by_role("heading", name="Since yesterday")).to_be_visible()
    expect(page.get_by_text("has the highest total amount").first).to_be_visible()
    expect(page.get_by_role("link", name="sales 800 rows")).to_be_visible()
    assert page.evaluate("window.shifted") <= 0.02
    assert not violations_in_light_and_dark(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(LOWEST) >= 40
    figures.first.click()
    expect(page.get_by_role("heading", name="Total amount of sales per month", level=1)).to_be_visible()
