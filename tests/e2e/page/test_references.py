"""What the page shows of an answer's statements, and of what each was computed from."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.amended import amend
from tests.e2e.page.browser import ask, eventually, expect_width
from tests.e2e.page.conftest import connected, opened
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server

QUESTION = "How many customers per country?"
CHOSEN = json.dumps(
    {"facts": ["highest_customers", "lowest_customers", "f99"], "reading": "This may be worth a closer look."}
)
SHOWN = (
    "Brazil has the most customers: 2, 66.7% of the total of 3. Norway has the fewest customers: 1."
    "\n\nReading: This may be worth a closer look."
)


def answered(page: Page, model: ScriptedModel, session: str) -> Page:
    model.say(sql(PER_COUNTRY), CHOSEN)
    page.goto(f"/sessions/{session}")
    ask(page, QUESTION)
    expect(page.locator(".answer-actions")).to_be_visible()
    expect(page.locator(".analysis .statement").first).to_be_visible()
    return page


@pytest.fixture
def answer(page: Page, model: ScriptedModel, session: str) -> Page:
    return answered(page, model, session)


def test_the_headline_the_picture_and_the_statements_follow_each_other_live_and_after_a_reload(
    answer: Page,
) -> None:
    expect(answer.locator(".headline")).to_have_text("Brazil has the most customers: 2")
    eventually(lambda: answer.locator(".analysis").inner_text() == SHOWN)
    boxes = [
        answer.locator(part).bounding_box()
        for part in (".headline", ".answer-card", ".analysis", ".left-out")
    ]
    tops = [each["y"] for each in boxes if each is not None]
    assert len(tops) == len(boxes)
    assert tops == sorted(tops)
    expect(answer.locator(".left-out")).to_contain_text("A statement that the model named is left out")
    expect(answer.locator(".left-out")).not_to_contain_text("Left out")
    before = answer.locator(".analysis").inner_html()
    answer.reload()
    expect(answer.locator(".headline .statement")).to_be_visible()
    eventually(lambda: answer.locator(".analysis").inner_html() == before)


def test_a_models_own_sentence_is_muted_and_has_no_source(answer: Page) -> None:
    reading = answer.locator(".analysis .model-reading")
    expect(reading).to_have_text("Reading: This may be worth a closer look.")
    assert reading.locator(".statement").count() == 0
    colour = "each => getComputedStyle(each).color"
    assert reading.evaluate(colour) != answer.locator(".analysis .statement").first.evaluate(colour)


def test_a_statement_pointed_at_says_what_it_was_computed_from(answer: Page) -> None:
    source = answer.locator(".source")
    expect(source.locator("visible=true")).to_have_count(0)
    answer.locator(".analysis .statement", has_text="Norway").hover()
    shown = answer.locator(".source:not([hidden])")
    expect(shown).to_contain_text("lowest customers of 2 rows")
    expect(shown.locator("tr")).to_have_text(["Row 2 · Norwaycustomers1"])
    shown.hover()
    expect(shown).to_be_visible()
    answer.locator("h2.question").hover()
    expect(shown).to_have_count(0)
    answer.locator(".headline .statement").hover()
    expect(shown).to_contain_text("sum of customers over 2 rows")


def test_the_rows_of_a_statement_are_one_click_away(answer: Page) -> None:
    expect(answer.get_by_role("tab", name="Chart")).to_have_attribute("aria-selected", "true")
    answer.locator(".analysis .statement", has_text="Norway").hover()
    answer.locator(".source:not([hidden])").get_by_role("button", name="Show the rows").click()
    expect(answer.get_by_role("tab", name="Table")).to_have_attribute("aria-selected", "true")
    expect(answer.locator(".rows-panel")).to_contain_text("Norway")


def test_an_open_source_brings_its_row_into_sight_in_a_long_table(
    page: Page, api: httpx.Client, many_rows: str, model: ScriptedModel
) -> None:
    session = opened(api, connected(api, many_rows, "Many"))
    statement = "SELECT id, celsius FROM measurements WHERE id <= 2000 ORDER BY id"
    reference = {"key": "k", "span": [0, 9], "result_id": None, "how": "value", "value": "30.1"}
    amend(page, [{**reference, "cells": [{"row": 1500, "column": "celsius"}], "cell_count": 1}])
    model.say(sql(statement), CHOSEN)
    page.goto(f"/sessions/{session}")
    ask(page, "Which measurements are there?")
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    row = page.locator('[role=row][aria-rowindex="1502"]')
    expect(row).to_have_count(0)
    page.locator(".statement").first.hover()
    expect(page.locator(".source:not([hidden])")).to_contain_text("Row 1501")
    expect(row).to_contain_text("1500")
    expect(row).to_have_class(re.compile(r"\blit\b"))
    grid, found = page.locator(".grid").bounding_box(), row.bounding_box()
    assert grid is not None
    assert found is not None
    assert grid["y"] < found["y"]
    assert found["y"] + found["height"] <= grid["y"] + grid["height"]


def test_a_paragraph_is_one_stop_and_its_statements_are_reached_by_arrows(answer: Page) -> None:
    first, last = answer.locator(".analysis .statement").first, answer.locator(".analysis .statement").last
    shown = answer.locator(".source:not([hidden])")
    first.focus()
    expect(shown).to_contain_text("share of the sum of customers")
    expect(first).to_have_attribute("aria-describedby", shown.get_attribute("id") or "missing")
    answer.keyboard.press("ArrowRight")
    expect(last).to_be_focused()
    expect(shown).to_contain_text("lowest customers of 2 rows")
    answer.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    expect(last).to_be_focused()
    answer.keyboard.press("Enter")
    expect(shown).to_be_visible()
    answer.keyboard.press("Enter")
    rows = shown.get_by_role("button", name="Show the rows")
    expect(rows).to_be_focused()
    answer.keyboard.press("Escape")
    expect(last).to_be_focused()
    expect(shown).to_have_count(0)
    assert [each.get_attribute("tabindex") for each in (first, last)] == ["-1", "0"]


def test_a_statement_is_tapped_on_a_phone(
    browser: Browser, page_server: Server, model: ScriptedModel, session: str
) -> None:
    phone = {"width": 390, "height": 700}
    with browser.new_context(base_url=page_server.address, viewport=phone, has_touch=True) as context:  # type: ignore[arg-type]
        page = answered(context.new_page(), model, session)
        shown = page.locator(".source:not([hidden])")
        page.mouse.move(195, 400)
        page.mouse.wheel(0, 600)  # a reader's own movement ends that of the page
        page.locator(".analysis .statement", has_text="Norway").tap()
        expect(shown).to_contain_text("lowest customers of 2 rows")
        box = shown.bounding_box()
        assert box is not None
        assert (box["x"], round(box["width"]), round(box["y"] + box["height"])) == (0, 390, 700)
        expect_width(page, 390)
        page.mouse.click(195, 120)
        expect(shown).to_have_count(0)


def test_a_source_of_markup_runs_nothing(page: Page, model: ScriptedModel, session: str) -> None:
    image = "<img src=x onerror='window.hacked = 1'>"
    reference = {
        "key": "k",
        "span": [0, 30],
        "result_id": None,
        "how": image,
        "value": image,
        "cells": [{"row": 0, "column": image}],
        "cell_count": 3,
    }
    amend(page, [reference])
    answered(page, model, session)
    page.locator(".analysis .statement").first.hover()
    shown = page.locator(".source:not([hidden])")
    expect(shown).to_contain_text("onerror")
    expect(shown).to_contain_text("and 2 more cells")
    expect(page.locator("main img")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


@pytest.fixture
def reader(browser: Browser, page_server: Server) -> Iterator[Page]:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make check` brings it")
    with browser.new_context(base_url=page_server.address, reduced_motion="reduce") as context:
        yield context.new_page()


def test_statements_have_no_barriers(reader: Page, model: ScriptedModel, session: str) -> None:
    answered(reader, model, session)
    reader.locator(".analysis .statement").first.focus()
    expect(reader.locator(".source:not([hidden])")).to_be_visible()
    assert violations_in_light_and_dark(reader) == []
