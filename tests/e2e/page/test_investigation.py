"""An investigation on the page: its steps and calls, their results and rows, and the statements."""

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pydantic import JsonValue

from tests.e2e.conftest import model_settings
from tests.e2e.page.browser import ask, eventually, expect_width
from tests.e2e.page.conftest import connected, opened
from tests.e2e.page.test_reach import AXE, DRAWN, violations_in_light_and_dark
from tests.e2e.test_investigations import FIRST, PLAN, QUESTION, TOTAL, calls, finish, per_year
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import running_server

FINDINGS: list[JsonValue] = [
    {"result": "r1.1", "fact": "value_revenue_2024", "reading": "The shop was new then."},
    {"result": "r1.1", "fact": "total_revenue"},
]
STEPS = ".investigation"


@pytest.fixture
def investigated(page: Page, model: ScriptedModel, session: str) -> Page:
    return investigate(page, model, session)


def investigate(page: Page, model: ScriptedModel, session: str) -> Page:
    """A page with an answer of two steps, of which the second failed, and two findings."""
    end = finish("The rest stays open.", findings=FINDINGS, main_result="r1.1")
    model.say(PLAN, per_year("First the years."), calls(("profile_table", {"table": "nowhere"})), end)
    page.goto(f"/sessions/{session}")
    ask(page, QUESTION)
    expect(page.locator(".answer-actions")).to_be_visible()
    return page


def test_steps_open_to_their_results_and_are_the_same_after_a_reload(investigated: Page) -> None:
    page = investigated
    expect(page.get_by_text("Investigation: 2 steps, 2 calls")).to_be_visible()
    expect(page.locator(".step-text").first).to_have_text("Step 1 First the years.")
    failed = page.locator(".call.failed")
    expect(failed).to_contain_text("Profile a tabletable: nowherefailed")
    before = page.locator(STEPS).inner_text()
    expect(page.locator(".analysis .statement")).to_have_count(2)
    said = page.locator(".analysis").inner_text()
    page.reload()
    expect(page.locator(".call")).to_have_count(2)
    eventually(lambda: page.locator(STEPS).inner_text() == before)
    eventually(lambda: page.locator(".analysis").inner_text() == said)
    failed.locator("summary").click()
    expect(failed.get_by_label("Result of the call")).to_contain_text("nowhere")


def test_a_press_that_ends_after_the_answer_does_opens_its_call(
    page: Page, model: ScriptedModel, session: str
) -> None:
    end = finish("It rose.", findings=FINDINGS[:1], main_result="r1.1")
    model.say(PLAN, per_year("First the years."), replace(end, hold_after=0))
    page.goto(f"/sessions/{session}", wait_until="networkidle")
    ask(page, QUESTION)
    call = page.locator(".call.done")
    model.wait_until(lambda: model.on_hold == 1)
    call.locator("summary").hover()
    page.evaluate(f"() => {DRAWN}")
    place = call.bounding_box()
    page.mouse.down()
    model.release()
    expect(page.locator(".answer-actions")).to_be_visible()
    assert call.bounding_box() == place
    page.mouse.up()
    expect(page.get_by_role("grid", name="Rows of the call")).to_be_visible()


def test_a_statement_is_opened_by_keyboard_and_shows_its_sql_and_rows(investigated: Page) -> None:
    page = investigated
    page.locator(".investigation > summary").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    call = page.locator(".call.done")
    expect(call.locator(".sql .sql-keyword").first).to_have_text("SELECT")
    rows = call.get_by_role("grid", name="Rows of the call")
    expect(rows.get_by_role("gridcell")).to_have_text(["2024", "10.0", "2025", "55.5"])
    expect(call.get_by_text("2 rows", exact=True)).to_be_visible()
    call.get_by_text("What the model read").click()
    expect(call.get_by_label("Result of the call")).to_contain_text("55.5")


def show_rows(page: Page) -> None:
    """Show the rows of the first statement."""
    page.locator(".analysis .statement").first.hover()
    page.locator(".source:not([hidden])").get_by_role("button", name="Show the rows").click()


def test_a_finding_stands_once_with_its_reading_and_opens_its_result(investigated: Page) -> None:
    page = investigated
    expect(page.locator(".analysis .statement")).to_have_text([FIRST, TOTAL])
    expect(page.locator(".findings")).to_have_count(0)
    expect(page.locator(".analysis")).to_contain_text("Reading: The shop was new then.")
    expect(page.locator(".analysis")).to_contain_text("Reading: The rest stays open.")
    expect(page.locator(".call")).to_have_count(2)
    show_rows(page)
    expect(page.locator(".call.done summary").first).to_be_focused()
    expect(page.get_by_role("grid", name="Rows of the call")).to_be_visible()


def test_a_result_that_is_opened_before_its_step_is_drawn_is_opened_then(
    page: Page, model: ScriptedModel, session: str
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/assets/investigation-*.js", hold)
    investigate(page, model, session)
    show_rows(page)
    expect(page.locator(".call")).to_have_count(0)
    held[0].continue_()
    expect(page.locator(".call.done summary").first).to_be_focused()
    expect(page.get_by_role("grid", name="Rows of the call")).to_be_visible()


def test_code_links_and_next_steps_stand_below_the_answer_and_survive_a_reload(
    page: Page, model: ScriptedModel, session: str
) -> None:
    end = finish(
        "It rose.",
        code=[{"content": "SELECT count(*) FROM orders"}],
        links=[{"label": "The orders", "resource_type": "table", "name": "orders"}],
        actions=[
            {"label": "See the years", "action": "open_result", "target": "r1.1"},
            {"label": "By customer", "action": "ask", "target": "Revenue per customer?"},
        ],
    )
    model.say(PLAN, per_year(), end)
    page.goto(f"/sessions/{session}")
    ask(page, QUESTION)
    shown = page.get_by_role("region", name="Code, links and next steps")
    expect(shown.locator("figcaption")).to_contain_text("Checked: only reads")
    before = shown.inner_text()
    page.reload()
    expect(shown.locator(".sql-keyword").first).to_have_text("SELECT")
    eventually(lambda: shown.inner_text() == before)
    shown.get_by_role("button", name="See the years").click()
    expect(page.get_by_role("grid", name="Rows of the call")).to_be_visible()
    shown.get_by_role("button", name="By customer").click()
    expect(page.get_by_label("Your question")).to_have_value("Revenue per customer?")
    shown.get_by_role("link", name="The orders").click()
    expect(page.locator(".table-head")).to_contain_text("orders")


def test_what_the_model_says_is_shown_live_and_after_a_reload_until_it_is_stopped(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(PLAN, per_year("First the years."), Scripted("Thinking it over.", hold_after=1))
    page.goto(f"/sessions/{session}")
    ask(page, QUESTION)
    expect(page.locator(".call.done")).to_contain_text("Revenue per year")
    expect(page.locator(".thinking")).to_have_text("Thinking")
    page.reload()
    expect(page.locator(".thinking")).to_have_text("Thinking")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()
    expect(page.locator(".thinking")).to_have_count(0)
    expect(page.locator(".call.done")).to_have_count(1)


def test_an_investigation_has_no_barriers_and_fits_a_phone(investigated: Page) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make check` brings it")
    page = investigated
    summaries = page.locator(".call > details > summary")
    expect(summaries).to_have_count(2)
    for summary in summaries.all():
        summary.click()
    expect(page.get_by_role("grid", name="Rows of the call")).to_be_visible()
    assert violations_in_light_and_dark(page) == []
    page.set_viewport_size({"width": 360, "height": 640})
    expect_width(page, 360)


def test_where_investigations_are_off_nothing_of_an_earlier_one_is_shown(
    browser: Browser, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with (
        running_server(tmp_path, model_settings(model)) as server,
        httpx.Client(base_url=f"{server.address}/api/v1", timeout=100) as api,
    ):
        session = opened(api, connected(api, shop, "Shop"))
        model.say(PLAN, per_year(), finish("It rose.", findings=FINDINGS[:1], main_result="r1.1"))
        api.post(f"/sessions/{session}/query/stream", json={"query": QUESTION})
    off = {**model_settings(model), "KAI_AGENT__ENABLED": "false"}
    with running_server(tmp_path, off) as server, browser.new_context(base_url=server.address) as context:
        page = context.new_page()
        with page.expect_response("**/capabilities"):
            page.goto(f"/sessions/{session}")
        expect(page.locator(".analysis")).to_contain_text(FIRST)
        page.wait_for_load_state("networkidle")
        expect(page.locator(f"{STEPS}, .findings")).to_have_count(0)
