"""What the page says of claims: nothing of those that are right until asked, and a mark at the rest."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.page.amended import amend, claim
from tests.e2e.page.browser import ask, eventually, expect_width
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.model_script import Scripted
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server

READING = (
    "Customers 😀 come from **two** countries, most of them (2) from **Brazil**. "
    "Visits to the web site came to 12 %."
)
WRITTEN = f"{READING}\n\nNorway has 5."
SHOWN = (
    READING.replace("**", "")
    + "\n\nLeft out, because the rows say otherwise: “5” (customers of Norway is 1)."
)


def answered(page: Page, model: ScriptedModel, session: str) -> Page:
    model.say(sql(PER_COUNTRY), WRITTEN, WRITTEN)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".answer-actions")).to_be_visible()
    return page


@pytest.fixture
def reading(page: Page, model: ScriptedModel, session: str) -> Page:
    return answered(page, model, session)


def line_under(marked: Locator) -> str:
    style = (
        "(({ textDecorationLine, textDecorationStyle }) => `${textDecorationLine} ${textDecorationStyle}`)"
    )
    return str(marked.evaluate(f"each => {style}(getComputedStyle(each))"))


def assert_marked(page: Page) -> None:
    checked = page.locator(".claim.checked")
    expect(checked).to_have_count(3)
    assert [line_under(each) for each in checked.all()] == ["none solid"] * 3
    assert line_under(page.locator(".claim.not-found", has_text="12 %")) == "underline dotted"
    assert line_under(page.locator(".claim.contradicted", has_text="5")) == "underline wavy"
    eventually(lambda: page.locator(".analysis").inner_text() == SHOWN)


def test_only_what_is_not_checked_is_underlined_live_and_after_a_reload(reading: Page) -> None:
    assert_marked(reading)
    before = reading.locator(".analysis").inner_html()
    reading.reload()
    expect(reading.locator(".claim.not-found")).to_be_visible()
    eventually(lambda: reading.locator(".analysis").inner_html() == before)


def test_a_claim_pointed_at_says_where_it_comes_from(reading: Page) -> None:
    tip = reading.get_by_role("tooltip")
    expect(tip).to_have_count(0)
    reading.locator(".claim.checked", has_text="2").hover()
    expect(tip).to_contain_text("Checked against the rows")
    expect(tip).to_contain_text("customers of Brazil")
    expect(tip).to_contain_text("customers, row 1")
    tip.hover()
    expect(tip).to_be_visible()
    reading.locator(".claim", has_text="12 %").hover()
    expect(tip).to_have_text("Not found in the rows")
    reading.locator("h2.question").hover()
    expect(tip).to_have_count(0)


def test_claims_are_reached_and_left_by_keyboard(reading: Page) -> None:
    tip = reading.get_by_role("tooltip")
    first, last = reading.locator(".claim").first, reading.locator(".claim").last
    first.focus()
    expect(tip).to_contain_text("number of rows")
    expect(first).to_have_attribute("aria-describedby", tip.get_attribute("id") or "missing")
    reading.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    expect(first).to_be_focused()
    reading.keyboard.press("Enter")
    expect(tip).to_be_visible()
    for _ in range(4):
        reading.keyboard.press("Tab")
    expect(last).to_be_focused()
    expect(tip).to_contain_text("The rows say otherwise")
    expect(tip).to_contain_text("customers of Norway is 1")


def test_a_claim_is_tapped_on_a_phone(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str
) -> None:
    phone = {"width": 360, "height": 640}
    with browser.new_context(base_url=page_server.address, viewport=phone, has_touch=True) as context:  # type: ignore[arg-type]
        page = answered(context.new_page(), model, session)
        tip = page.get_by_role("tooltip")
        page.locator(".claim.contradicted").tap()
        expect(tip).to_contain_text("customers of Norway is 1")
        box = tip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        expect_width(page, 360)
        page.locator("h2.question").tap()
        expect(tip).to_have_count(0)


def test_nothing_is_marked_while_the_reading_is_written(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), Scripted(WRITTEN, hold_after=8))
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".analysis.writing")).to_contain_text("two countries")
    assert page.locator(".claim").count() == 0
    model.release()
    expect(page.locator(".answer-actions")).to_be_visible()


def test_a_claim_of_markup_runs_nothing(page: Page, model: ScriptedModel, session: str) -> None:
    image = "<img src=x onerror='window.hacked = 1'>"
    text = f"So {image} and [it](javascript:window.hacked=1) are 5."
    source = {"column": image, "row": 0, "how": image}
    amend(
        page, [claim(text, image, "checked", source), claim(text, "javascript:window.hacked=1", "not_found")]
    )
    model.say(sql(PER_COUNTRY), text)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    page.locator(".claim").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("onerror")
    expect(page.locator("main img")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


@pytest.fixture
def reader(browser: Browser, page_server: Server) -> Iterator[Page]:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make check` brings it")
    with browser.new_context(base_url=page_server.address, reduced_motion="reduce") as context:
        yield context.new_page()


def test_claims_have_no_barriers(reader: Page, model: ScriptedModel, session: str) -> None:
    answered(reader, model, session)
    for marked in (".claim.checked", ".claim.not-found", ".claim.contradicted"):
        reader.locator(marked).first.focus()
        expect(reader.get_by_role("tooltip")).to_be_visible()
        assert violations_in_light_and_dark(reader) == [], marked
