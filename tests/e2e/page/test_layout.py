"""What was drawn stays where it is while an answer arrives, and a route fetches no more code than it may."""

import asyncio
import gzip
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from app.core.auth.caller import LOCAL_OWNER
from app.core.ids import new_id
from app.core.storage.sqlite import open_sqlite
from app.modules.records.repository import SessionRepository, later
from app.modules.records.rows import RowStore
from tests.e2e.page.browser import ask
from tests.e2e.page.test_reach import DRAWN
from tests.e2e.test_investigations import PLAN, per_year
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Server

MOST_SHIFT = 0.02
OVERVIEW_BYTES = 5_000
"""Of what stands below the question box, which is fetched when the rest is shown."""
ROUTE_BYTES = 60_000
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
CUMULATIVE = """
window.windows = [];
window.moved = [];
new PerformanceObserver(seen => {
  for (const { value, startTime, hadRecentInput, sources } of seen.getEntries()) {
    if (hadRecentInput) continue;
    const rect = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
    for (const { node, previousRect, currentRect } of sources)
      window.moved.push([value, node?.className ?? node?.nodeName, rect(previousRect), rect(currentRect)]);
    const last = window.windows.at(-1);
    const joins = last && startTime - last.end < 1000 && startTime - last.begin < 5000;
    if (joins) Object.assign(last, { end: startTime, value: last.value + value });
    else window.windows.push({ begin: startTime, end: startTime, value });
  }
}).observe({ type: "layout-shift" });
window.cls = () => Math.max(0, ...window.windows.map(each => each.value));
"""
"""Cumulative layout shift as browsers report it: the worst window of shifts less than a second apart."""
LONG_TEXT = " ".join(f"Sentence {n} of a **long** text says nothing of the rows." for n in range(200))
"""About 2,000 tokens."""
QUESTIONS = 100
SCROLLER = "document.getElementById('main')"
SCROLL_UP = """async () => {
  const main = document.getElementById("main");
  const jumps = [];
  const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  while (main.scrollTop > 0) {
    const middle = [...document.querySelectorAll(".exchange")].find(each => {
      const { top, bottom } = each.getBoundingClientRect();
      return bottom > 422 && top < 844;
    });
    const before = middle.getBoundingClientRect().bottom;
    const step = Math.min(300, main.scrollTop);
    main.scrollBy(0, -step);
    await drawn();
    const moved = middle.getBoundingClientRect().bottom - before;
    if (Math.abs(moved - step) > 2) jumps.push([middle.querySelector(".question").textContent, moved, step]);
  }
  return jumps;
}"""
"""Scrolls by steps, and says where what was read moved by more or less than it was scrolled."""
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
        expect(page.locator(".composer")).to_have_js_property("offsetHeight", 56)
        ask(page, "How many customers per country?")
        model.wait_until(lambda: model.on_hold == 1)
        expect(page.locator(".timeline-line")).to_be_visible()
        page.evaluate(f"() => {DRAWN}")
        page.evaluate(f"{SHIFTS}.length = 0")
        model.release()
        expect(page.locator(".answer-actions")).to_be_visible()
        expect(page.locator(".chart-canvas svg")).to_be_visible()
        page.evaluate(f"() => {DRAWN}")
        shifts = page.evaluate(SHIFTS)
    assert sum(each[0] for each in shifts) < MOST_SHIFT, shifts


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("mode", ["ask", "agent"])
def test_a_long_streamed_answer_shifts_nothing(
    browser: Browser,
    page_server: Server,
    api: httpx.Client,
    model: ScriptedModel,
    session: str,
    mode: str,
    width: int,
) -> None:
    if mode == "agent":
        assert api.patch(f"/sessions/{session}", json={"mode": "agent"}).is_success
        model.say(PLAN, per_year("First the years."), Scripted(LONG_TEXT, delay_seconds=0.002))
    else:
        model.say(Scripted(sql(PER_COUNTRY), delay_seconds=0.05), READING)
    with browser.new_context(
        base_url=page_server.address, viewport={"width": width, "height": 844}, locale="en-GB"
    ) as context:
        page = context.new_page()
        page.add_init_script(CUMULATIVE)
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        page.evaluate("() => { windows.length = moved.length = 0 }")
        ask(page, "How many customers per country?")
        expect(page.locator(".answer-actions")).to_be_visible()
        page.wait_for_timeout(500)
        assert page.evaluate("window.cls()") <= MOST_SHIFT, page.evaluate(
            "moved.toSorted((a, b) => b[0] - a[0]).slice(0, 9)"
        )


@pytest.mark.parametrize("width", [390, 1440])
def test_head_and_picture_stand_where_their_skeletons_were(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str, width: int
) -> None:
    def tops(page: Page, *parts: str) -> list[float]:
        return [page.locator(part).bounding_box()["y"] for part in parts]  # type: ignore[index]

    model.say(Scripted(sql(PER_COUNTRY), hold_after=0), READING)
    with browser.new_context(
        base_url=page_server.address, viewport={"width": width, "height": 844}, locale="en-GB"
    ) as context:
        page = context.new_page()
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        ask(page, "How many customers per country?")
        model.wait_until(lambda: model.on_hold == 1)
        expect(page.locator(".plate")).to_be_visible()
        before = tops(page, ".question", ".headline-bones", ".plate", ".composer")
        model.release()
        expect(page.locator(".answer-actions")).to_be_visible()
        expect(page.locator(".chart-canvas svg")).to_be_visible()
        assert tops(page, ".question", ".headline", ".answer-card", ".composer") == before


def test_conversation_and_result_stand_side_by_side_on_a_large_screen_until_the_reader_says_otherwise(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), READING)
    large = {"width": 1920, "height": 1080}
    with browser.new_context(base_url=page_server.address, viewport=large, locale="en-GB") as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        ask(page, "How many customers per country?")
        expect(page.locator(".answer-actions")).to_be_visible()
        head, card = page.locator(".answer-head"), page.locator(".answer-card")
        right_of_head = (
            "([head, card]) => card.getBoundingClientRect().left > head.getBoundingClientRect().right"
        )
        both = [head.element_handle(), card.element_handle()]
        assert page.evaluate(right_of_head, both)
        page.locator(".wide-switch").click()
        assert not page.evaluate(right_of_head, both)
        page.reload()
        expect(page.locator(".wide-switch")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("width", [390, 1440])
def test_a_question_without_an_answer_keeps_no_room_for_one(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str, width: int
) -> None:
    model.rule("SQL writer", sql("DELETE FROM customers"))
    with browser.new_context(
        base_url=page_server.address, viewport={"width": width, "height": 844}, locale="en-GB"
    ) as context:
        page = context.new_page()
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        ask(page, "Remove all customers")
        problem = page.locator(".exchange > .problem").first
        expect(problem).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        question, box = page.locator(".question").bounding_box(), problem.bounding_box()
    assert question is not None
    assert box is not None
    assert box["y"] - question["y"] - question["height"] < 96


async def ask_again(folder: Path, session_id: str, questions: Sequence[str]) -> None:
    """Store these questions behind the only one of a session, each with a copy of its answer and rows."""
    async with open_sqlite(folder / "kai.db") as storage:
        repository, rows = SessionRepository(storage), RowStore(storage)
        session = await repository.get(LOCAL_OWNER, session_id)
        first = [each async for each in repository.all_messages(session)]
        for turn, query in enumerate(questions, start=1):
            run_id = new_id()
            for message in first:
                sequence, copy_id = message.sequence + 2 * turn, new_id()
                own = {"id": copy_id, "run_id": run_id, "query": query, "sequence": sequence}
                copy = message.model_copy(update=own)
                await repository.add_message(copy)
                if copy.row_count is not None:
                    await rows.copy(message.id, copy, to_id=copy_id, row_count=copy.row_count)
        turns = session.turns + len(questions)
        changes = {"turn": turns, "turns": turns, "updated_at": later(session)}  # outdates what is cached
        assert await repository.change(session, changes) is not None


def test_scrolling_up_through_a_long_session_never_jumps(
    browser: Browser, page_server: Server, api: httpx.Client, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), READING)
    first, *others = (f"How many customers per country, take {number}?" for number in range(QUESTIONS))
    assert api.post(f"/sessions/{session}/query/stream", json={"query": first}).is_success
    with ThreadPoolExecutor(1) as thread:  # in that of the browser a loop runs already
        thread.submit(asyncio.run, ask_again(page_server.data_dir, session, others)).result()
    with browser.new_context(
        base_url=page_server.address, viewport={"width": 1440, "height": 844}, locale="en-GB"
    ) as context:
        page = context.new_page()
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        exchanges = page.locator(".exchange")
        expect(exchanges.first).to_be_visible()
        while (shown := exchanges.count()) < QUESTIONS:
            page.get_by_role("button", name="Show earlier questions").click()
            expect(exchanges).not_to_have_count(shown)
        expect(exchanges).to_have_count(QUESTIONS)
        page.evaluate(f"() => {{ {SCROLLER}.scrollTop = {SCROLLER}.scrollHeight }}")
        page.wait_for_timeout(500)
        jumps = page.evaluate(SCROLL_UP)
    assert jumps == []


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
            parts = [got for got in scripts if re.search(r"/(overview|starter)", got.url)]
            assert sum(len(gzip.compress(got.body(), 6)) for got in parts) <= OVERVIEW_BYTES
            return sum(len(gzip.compress(got.body(), 6)) for got in scripts if got not in parts)

    def shows(what: str) -> Callable[[Page], None]:
        return lambda page: expect(page.locator(what).first).to_be_visible()

    assert fetched("/", shows(":is(.starters, .overview) button")) <= ROUTE_BYTES
    assert fetched(f"/sessions/{session}", shows(".starters button")) <= ROUTE_BYTES
    assert fetched(f"/boards/{board}", shows("h1")) <= ROUTE_BYTES
    assert api.delete(f"/boards/{board}").is_success


def test_an_answer_is_read_before_the_code_of_its_chart_has_come(
    page: Page, api: httpx.Client, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), READING)
    api.post(f"/sessions/{session}/query/stream", json={"query": "How many customers per country?"})
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/assets/runtime-*.js", hold)
    page.add_init_script(WATCH)
    with page.expect_request("**/assets/runtime-*.js"):
        page.goto(f"/sessions/{session}")
    expect(page.locator(".headline, .analysis").first).to_be_visible()
    expect(page.locator(".answer-actions")).to_be_visible()
    expect(page.locator(".chart-rows")).to_be_visible()
    expect(page.locator(".chart-canvas svg")).to_have_count(0)
    page.evaluate(f"() => {DRAWN}")
    page.evaluate(f"{SHIFTS}.length = 0")
    held[0].continue_()
    expect(page.locator(".chart-canvas svg").first).to_be_visible()
    page.evaluate(f"() => {DRAWN}")
    shifts = page.evaluate(SHIFTS)
    assert sum(each[0] for each in shifts) < MOST_SHIFT, shifts
