"""For all users: axe finds nothing serious on any screen, in light and dark, wide and narrow, by keyboard."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.browser import ask, eventually, expect_width
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server

AXE = Path(__file__).parents[3] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
COLORS = {"runOnly": ["color-contrast", "link-in-text-block"], "resultTypes": ["violations"]}
SCHEMES: dict[Literal["dark", "light"], dict[str, list[str]]] = {"dark": COLORS, "light": OPTIONS}
PHONE = 390
WIDTHS = (1440, 1024, PHONE, 320)
FOUND = "options => axe.run(document, {...options, iframes: false}).then(found => found.violations)"
"""A frame without rights takes no messages of axe, which is an error on the console."""
SMALL_TARGETS = """least => {
  const kinds = "a[href], button, input, select, textarea, summary, [role=menuitem], [role=option]";
  const isSeen = each => each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && each.getBoundingClientRect().bottom > 0 && each.getBoundingClientRect().width > 1;
  const isInSentence = each => getComputedStyle(each).display === "inline"
    && each.parentElement.textContent.trim() !== each.textContent.trim();
  const isReached = each => {
    const { left, top, width, height } = each.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return each.contains(hit);
  };
  const reach = each =>
    [each, ...(each.labels ?? [])].filter(isSeen).map(part => part.getBoundingClientRect());
  return [...document.querySelectorAll(kinds)]
    .filter(each => isSeen(each) && !isInSentence(each) && isReached(each))
    .filter(each => !reach(each).some(({ width, height }) => Math.min(width, height) > least - 0.5))
    .map(each => each.outerHTML.slice(0, 200));
}"""
"""What a finger is to hit in the view and is smaller than it needs; a box's label counts with it."""
LEAST_TARGET = 40
DRAWN = "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def violations(page: Page) -> list[str]:
    """What axe finds in the colors and at the width that the page has."""
    page.evaluate("document.querySelector('main')?.scrollTo(0, document.querySelector('main').scrollHeight)")
    return _found(page, OPTIONS)


def _found(page: Page, options: dict[str, list[str]]) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in page.evaluate(FOUND, options)]


def violations_in_light_and_dark(page: Page) -> list[str]:
    """What axe finds in either color scheme at each width, and what a finger would miss on a phone.

    The page is light afterwards, and as it was.

    Colors are looked at in both schemes, all else in one: it does not depend on them. The screen is so high
    that head and foot cover nothing.
    """
    before = page.viewport_size
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 2400})
        page.evaluate("document.querySelector('main')?.scrollTo(0, 0)")
        for scheme, options in SCHEMES.items():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(DRAWN)
            found += [f"{width}, {scheme}: {each}" for each in _found(page, options)]
        if width == PHONE:
            found += [
                f"below {LEAST_TARGET} px: {each}" for each in page.evaluate(SMALL_TARGETS, LEAST_TARGET)
            ]
    if before is not None:
        page.set_viewport_size(before)
    return found


@pytest.fixture
def reader(browser: Browser, page_server: Server, model: ScriptedModel) -> Iterator[Page]:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make check` brings it")
    model.rule("SQL writer", sql(PER_COUNTRY))
    model.rule("## Statements", FIRST)
    with browser.new_context(base_url=page_server.address, reduced_motion="reduce") as context:
        yield context.new_page()


def test_the_start_page_has_no_barriers(reader: Page, connection: str) -> None:
    reader.goto("/")
    expect(reader.locator(":is(.starters, .overview) button").first).to_be_visible()
    assert violations_in_light_and_dark(reader) == []


def test_the_badges_of_verified_answers_and_own_sql_have_no_barriers(
    reader: Page, api: httpx.Client, connection: str, session: str
) -> None:
    body = {"db_connection_id": connection, "question": "How many?", "sql": "SELECT count(*) FROM customers"}
    example = api.post("/examples", json=body)
    assert example.status_code == 201
    given = {"query": "Mine", "sql": PER_COUNTRY}
    assert api.post(f"/sessions/{session}/query/stream", json=given).is_success
    reader.goto(f"/sessions/{session}")
    expect(reader.get_by_text("Your SQL", exact=True)).to_be_visible()
    ask(reader, "How many?")
    expect(reader.get_by_text(re.compile("^Verified by "))).to_be_visible()
    assert violations_in_light_and_dark(reader) == []
    changed = api.patch(f"/examples/{example.json()['id']}", json={"question": "How many are there?"})
    assert changed.is_success
    reader.reload()
    expect(reader.locator(".origin.verified")).to_have_text("Verified")


def test_an_answer_has_no_barriers_on_any_tab(reader: Page, session: str) -> None:
    reader.goto(f"/sessions/{session}")
    ask(reader, "How many customers per country?")
    expect(reader.locator(".answer-actions")).to_be_visible()
    reader.locator(".timeline summary").click()
    fetched = reader.locator(".steps summary", has_text="Run the query")
    fetched.press("Enter")
    expect(reader.locator(".step-used", has_text="columns: ")).to_be_visible()
    for tab in ("Chart", "Table"):
        reader.get_by_role("tab", name=tab).click()
        expect(reader.get_by_role("tabpanel").locator("svg, .grid-row").first).to_be_visible()
        assert violations_in_light_and_dark(reader) == [], tab
    reader.locator(".fold-sql > summary").click()
    expect(reader.locator(".fold-sql .sql-keyword").first).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "SQL"
    reader.get_by_role("button", name="Edit").click()
    expect(reader.get_by_label("SQL editor")).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "editor"


def test_dialogs_menus_and_errors_have_no_barriers(reader: Page, session: str, model: ScriptedModel) -> None:
    model.rule("List them", sql("SELECT nmae FROM customers"))
    reader.goto(f"/sessions/{session}")
    ask(reader, "How many customers per country?")
    expect(reader.locator(".answer-actions")).to_be_visible()
    reader.get_by_role("button", name="Bad answer").click()
    assert violations_in_light_and_dark(reader) == [], "feedback"
    reader.keyboard.press("Escape")
    reader.get_by_role("button", name="Options for").first.click()
    assert violations_in_light_and_dark(reader) == [], "menu"
    reader.keyboard.press("Escape")
    ask(reader, "List them")
    expect(reader.get_by_role("alert")).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "error"


def test_databases_have_no_barriers(reader: Page, connection: str) -> None:
    reader.goto(f"/connections/{connection}")
    expect(reader.locator(".relation")).to_have_count(1)
    assert violations_in_light_and_dark(reader) == [], "relations"
    reader.get_by_role("navigation", name="Tables").get_by_role("link", name="customers").click()
    reader.get_by_role("button", name="Show first rows").click()
    expect(reader.get_by_role("row", name="1 Ada Norway")).to_be_visible()
    assert violations_in_light_and_dark(reader) == []
    reader.get_by_role("button", name="More for Shop").click()
    reader.get_by_role("menuitem", name="Edit").click()
    expect(reader.get_by_role("heading", name="Edit Shop")).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "edit"
    reader.goto("/connections")
    reader.get_by_role("button", name="Connect a database").click()
    reader.get_by_label("Kind of database").select_option("SQLite file")
    reader.get_by_label("Path of the file").fill("/nowhere.db")
    reader.get_by_role("button", name="Test connection").click()
    expect(reader.get_by_role("alert")).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "dialog"


def test_a_link_is_made_read_continued_and_revoked_without_barriers(reader: Page, session: str) -> None:
    reader.goto(f"/sessions/{session}")
    ask(reader, "How many customers per country?")
    expect(reader.locator(".answer-actions")).to_be_visible()
    reader.get_by_role("button", name="Share this answer").click()
    expect(reader.get_by_role("dialog")).to_contain_text("the answer to this question")
    reader.get_by_label("Show a preview where the link is posted").check()
    assert violations_in_light_and_dark(reader) == [], "dialog of an answer"
    reader.get_by_role("button", name="Make the link").click()
    address = reader.get_by_label("Address of the link").input_value()
    assert "og:title" in httpx.get(address).text
    reader.keyboard.press("Escape")
    expect(reader.get_by_role("button", name="Share this answer")).to_be_focused()
    reader.get_by_role("button", name="Share this session").click()
    reader.get_by_label("It ends").select_option("7")
    assert violations_in_light_and_dark(reader) == [], "dialog"
    reader.get_by_role("button", name="Make the link").click()
    address = reader.get_by_label("Address of the link").input_value()
    reader.goto(address)
    expect(reader.get_by_role("heading", name="How many customers per country?", level=2)).to_be_visible()
    expect(reader.locator(".chart-canvas svg")).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "shared session"
    reader.get_by_role("tab", name="Table").click()
    expect(reader.get_by_role("gridcell", name="Brazil")).to_be_visible()
    for name in ("Your question", "Export", "Good answer"):
        expect(reader.get_by_label(name)).to_have_count(0)
    reader.get_by_role("button", name="Continue as my own session").click()
    expect(reader.get_by_label("Your question")).to_be_visible()
    assert session not in reader.url
    expect(reader.locator(".answer-actions")).to_be_visible()
    reader.on("dialog", lambda dialog: dialog.accept())
    reader.goto("/links")
    expect(reader.locator(f"a[href='{urlsplit(address).path}']")).to_be_visible()
    assert violations_in_light_and_dark(reader) == [], "links"
    reader.get_by_role("button", name="Revoke the link").first.click()
    expect(reader.get_by_text("The link is revoked.")).to_be_visible()
    reader.goto(address)
    expect(reader.get_by_role("heading", level=1)).to_contain_text("This page does not exist")


def test_the_settings_tell_the_state_and_have_no_barriers(reader: Page) -> None:
    reader.goto("/")
    reader.get_by_role("link", name="Settings").click()
    model = reader.get_by_role("region", name="Language model")
    expect(model.get_by_role("row", name="scripted")).to_contain_text("SQL")
    expect(reader.get_by_role("region", name="Usage today")).to_contain_text("Tokens")
    expect(reader.get_by_text("Everything belongs to the one user of this machine.")).to_be_visible()
    assert violations_in_light_and_dark(reader) == []
    reader.get_by_label("Density").select_option("Compact")
    reader.get_by_label("Owner").fill("ada")
    reader.get_by_role("button", name="Make a key").click()
    expect(reader.get_by_text("It is not shown again.")).to_be_visible()
    reader.set_viewport_size({"width": 320, "height": 700})
    expect_width(reader, 320)
    assert violations_in_light_and_dark(reader) == [], "compact"
    reader.reload()
    expect(reader.locator("html")).to_have_css("font-size", "14.86px")
    reader.once("dialog", lambda dialog: dialog.accept())
    reader.get_by_role("button", name="Revoke: ada").first.click()
    expect(reader.get_by_role("listitem").filter(has_text="ada").first).to_contain_text("revoked")


ENGLISH = re.compile(r"\b(?:the|is|are|not|of|with|your|you|and|to|it|this|there|no|found)\b", re.IGNORECASE)
SAID = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
        const { textContent, parentElement } = walker.currentNode;
        if (parentElement.closest("script, style, code, pre, nav, [lang=en]")) continue;
        texts.push(textContent.trim());
    }
    return texts;
}"""


def english_in(page: Page, path: str) -> list[str]:
    """The texts of a view with at least two words that German does not have, if not marked as English."""
    page.goto(f"/{path}")
    expect(page.locator("main h1, main .problem").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    return [each for each in page.evaluate(SAID) if len(ENGLISH.findall(each)) > 1]


def test_german_is_chosen_stays_in_all_tabs_and_goes_back_to_english(reader: Page, session: str) -> None:
    reader.goto("/settings")
    reader.get_by_role("combobox", name="Language").select_option("Deutsch")
    expect(reader.get_by_role("heading", name="Einstellungen")).to_be_visible()
    reader.reload()
    expect(reader.get_by_role("combobox", name="Sprache")).to_have_value("de")
    reader.goto(f"/sessions/{session}")
    field = reader.get_by_label("Ihre Frage")
    field.fill("Wie viele Kunden je Land?")
    field.press("Enter")
    expect(reader.get_by_role("tab", name="Diagramm")).to_be_visible()
    expect(reader.get_by_role("button", name="Antwort kopieren")).to_be_visible()
    assert violations_in_light_and_dark(reader) == []
    gone = "00000000-0000-7000-8000-000000000000"
    views = ["boards", "schedules", "links", "rules", "tools", "memory", "settings", "connections", "nowhere"]
    errors = [f"boards/{gone}", f"shared/{gone}", f"sessions/{gone}", f"connections/{gone}"]
    found = {path: english_in(reader, path) for path in views}
    found |= {path: english_in(reader, path) + _found(reader, OPTIONS) for path in errors}
    assert {path: texts for path, texts in found.items() if texts} == {}
    other = reader.context.new_page()
    other.goto("/connections")
    expect(other.get_by_role("heading", name="Datenbanken")).to_be_visible()
    expect(other.locator("html")).to_have_attribute("lang", "de")
    other.goto("/settings")
    other.get_by_role("combobox", name="Sprache").select_option("English")
    expect(other.get_by_role("heading", name="Settings")).to_be_visible()
    expect(other.locator("html")).to_have_attribute("lang", "en")


def test_dark_is_dark_by_choice_and_stays_so(page: Page) -> None:
    page.goto("/settings")
    page.get_by_label("Theme").select_option("Dark")
    expect(page.locator("html")).to_have_css("background-color", "rgb(19, 21, 23)")
    page.reload()
    expect(page.get_by_label("Theme")).to_have_value("dark")
    expect(page.locator("html")).to_have_css("background-color", "rgb(19, 21, 23)")


def test_a_narrow_screen_needs_no_sideways_scrolling(
    page: Page, session: str, connection: str, model: ScriptedModel
) -> None:
    def is_whole() -> bool:
        """Neither the page nor what scrolls in it is wider than the screen."""
        parts = "[...document.querySelectorAll('html, main, main > *')]"
        return bool(page.evaluate(f"{parts}.every(each => each.scrollWidth <= 320)"))

    model.say(sql(PER_COUNTRY), FIRST)
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".chart-canvas svg")).to_be_visible()
    eventually(is_whole)
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Databases").click()
    expect(page.get_by_role("heading", name="Databases")).to_be_visible()
    eventually(is_whole)
    page.goto(f"/connections/{connection}")
    expect(page.locator(".relation")).to_have_count(1)
    eventually(is_whole)
    if AXE.is_file():
        assert violations(page) == []


def test_a_question_is_asked_and_its_sql_seen_by_keyboard_alone(
    page: Page, connection: str, model: ScriptedModel
) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    page.goto("/")
    expect(page.get_by_label("Your question")).to_be_focused()
    database = page.get_by_role("combobox", name="Database")
    database.select_option(connection)
    database.focus()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("How many customers per country?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("tab", name="Chart").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Table")).to_be_focused()
    page.locator(".fold-sql > summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("pre.sql")).to_contain_text("FROM customers\nGROUP BY")


def test_screen_readers_hear_steps_and_never_tokens(page: Page, session: str, model: ScriptedModel) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.get_by_role("status").filter(has_text="The answer is complete")).to_have_count(1)
    assert page.locator("[aria-live] .analysis, [role=status] .analysis, [role=log] .analysis").count() == 0


def test_the_api_stays_the_apis(page_server: Server) -> None:
    answer = httpx.get(f"{page_server.address}/api/v1/nothing/here", timeout=60)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
