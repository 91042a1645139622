"""Files in and out of the page: databases of dropped files, and reports that open from disk."""

from pathlib import Path

from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.page.browser import ask
from tests.e2e.page.test_reach import AXE, violations
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel


def test_a_chosen_file_is_read_and_its_types_are_corrected(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("day,amount\n03/04/2026,1\n05/06/2026,2\nsoon,3\n")
    page.goto("/connections")
    page.get_by_role("button", name="Connect a database").click()
    page.get_by_label("Choose a file").and_(page.locator("input")).set_input_files(file)
    expect(page.get_by_role("heading", name="sales.csv is read")).to_be_visible()
    page.get_by_label("Type of day").select_option("date mdy")
    page.get_by_role("button", name="Read again with these types").click()
    expect(page.get_by_text("1 of 3 cells do not fit and are empty: soon")).to_be_visible()
    if AXE.is_file():
        assert violations(page) == []
    page.get_by_role("button", name="Open the database").click()
    expect(page.get_by_role("heading", name="sales.csv")).to_be_visible()


def test_a_report_opens_from_disk_without_a_request_or_a_barrier(
    page: Page, browser: Browser, model: ScriptedModel, session: str, tmp_path: Path
) -> None:
    model.rule("SQL writer", sql(PER_COUNTRY))
    model.rule("## Statements", FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("button", name="Options for").first.click()
    page.get_by_role("menuitem", name="Report").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Heading of").fill("Customers of the week")
    dialog.get_by_label("Text before").fill("## Summary\n\nAll is well.")
    if AXE.is_file():
        assert violations(page) == []
    with page.expect_download() as begun:
        dialog.get_by_role("button", name="Download").click()
    expect(dialog.get_by_role("button", name="Download")).to_be_focused()
    file = tmp_path / "report.html"
    begun.value.save_as(file)
    requests: list[str] = []

    def see(request: Request) -> None:
        requests.append(request.url)

    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        opened = context.new_page()
        opened.on("request", see)
        opened.goto(file.as_uri())
        expect(opened.get_by_role("heading", name="Summary")).to_be_visible()
        expect(opened.get_by_role("heading", name="Customers of the week")).to_be_visible()
        expect(opened.get_by_role("cell", name="Brazil")).to_be_visible()
        drawing = opened.get_by_role("region", name="Chart of Customers of the week")
        assert drawing.evaluate("each => each.scrollWidth > each.clientWidth"), "its letters stay readable"
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert requests == [file.as_uri()]
        opened.locator("summary").click()
        expect(opened.get_by_text("GROUP BY")).to_be_visible()
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if not AXE.is_file():
        return
    with browser.new_context(bypass_csp=True) as context:  # axe is a script, and the report allows none
        opened = context.new_page()
        opened.goto(file.as_uri())
        assert violations(opened) == []
