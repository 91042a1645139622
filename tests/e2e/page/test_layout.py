"""What was drawn stays where it is while an answer arrives, and a route fetches no more code than it may."""

import gzip
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.e2e.page.browser import ask
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Server

MOST_SHIFT = 0.02
ROUTE_BYTES, CHART_BYTES = 60_000, 100_000
READING = (
    "**Brazil** leads with two customers, twice as many as each other country. Germany and Japan follow "
    "with one each. All customers have a country, so nothing is left out."
)
WATCH = """
window.shifts = [];
const note = entries => {
  for (const { value, sources } of entries)
    window.shifts.push([value, ...sources.map(({ node }) => node?.className ?? node?.nodeName ?? "gone")]);
};
const observer = new PerformanceObserver(seen => note(seen.getEntries()));
observer.observe({ type: "layout-shift" });
window.allShifts = () => { note(observer.takeRecords()); return window.shifts; };
"""
SHIFTS = "window.allShifts()"
"""Those, too, that the observer has not been given yet."""


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_nothing_moves_while_an_answer_arrives(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str, width: int
) -> None:
    model.say(Scripted(sql(PER_COUNTRY), hold_after=0), READING)
    with browser.new_context(
        base_url=page_server.address, viewport={"width": width, "height": 844}, locale="en-GB"
    ) as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        expect(page.locator(".composer")).to_have_js_property("offsetHeight", 44)
        ask(page, "How many customers per country?")
        model.wait_until(lambda: model.on_hold == 1)
        expect(page.locator(".timeline-line")).to_be_visible()
        page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        page.evaluate(f"{SHIFTS}.length = 0")
        model.release()
        expect(page.locator(".answer-actions")).to_be_visible()
        expect(page.locator(".chart svg")).to_be_visible()
        page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        shifts = page.evaluate(SHIFTS)
    assert sum(each[0] for each in shifts) < MOST_SHIFT, shifts


def test_routes_fetch_no_more_code_than_they_may(
    browser: Browser,
    page_server: Server,
    api: httpx.Client,
    model: ScriptedModel,
    session: str,
) -> None:
    board = api.post("/boards", json={"title": "Weekly"}).json()["id"]

    def fetched(path: str, ready: Callable[[Page], None]) -> int:
        with browser.new_context(base_url=page_server.address, locale="en-GB") as context:
            page = context.new_page()
            scripts: list[Response] = []
            page.on("response", lambda got: scripts.append(got) if got.url.endswith(".js") else None)
            page.goto(path, wait_until="networkidle")
            ready(page)
            return sum(len(gzip.compress(got.body(), 6)) for got in scripts)

    def shows(what: str) -> Callable[[Page], None]:
        return lambda page: expect(page.locator(what).first).to_be_visible()

    assert fetched("/", shows(".starters button")) <= ROUTE_BYTES
    assert fetched(f"/sessions/{session}", shows(".starters button")) <= ROUTE_BYTES
    assert fetched(f"/boards/{board}", shows("h1")) <= ROUTE_BYTES
    assert api.delete(f"/boards/{board}").is_success
    model.say(sql(PER_COUNTRY), READING)
    api.post(f"/sessions/{session}/query/stream", json={"query": "How many customers per country?"})
    assert fetched(f"/sessions/{session}", shows(".chart svg")) <= CHART_BYTES
