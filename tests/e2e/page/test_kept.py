"""What a reader finds again: the whole answer, unsent words and the focus; and a session on paper."""

import re

import httpx
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import ask
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.scripted_model import Scripted, ScriptedModel

PAGES = re.compile(rb"/Type\s*/Page[^s]")


def test_a_failed_answer_is_the_same_after_a_reload_and_a_closed_session_asks_nothing(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    model.say(sql("SELECT nmae FROM customers"), sql("SELECT naem FROM customers"))
    page.goto(f"/sessions/{session}")
    ask(page, "Names of customers")
    line = page.locator(".timeline-line")
    expect(line).to_contain_text("1 repair tried")
    shown = line.text_content()
    page.reload()
    expect(line).to_have_text(shown or "")
    page.locator(".timeline summary").click()
    expect(page.locator(".timeline .repair").first).to_contain_text("SELECT nmae FROM customers")
    page.locator(".fold-sql > summary").click()
    edit = page.get_by_role("button", name="Edit")
    expect(edit).to_be_enabled()
    page.get_by_role("button", name="Options for Names of customers").click()
    page.get_by_role("menuitem", name="Close").click()
    expect(edit).to_be_disabled()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert api.get(f"/sessions/{session}").json()["status"] == "closed"
    page.get_by_role("button", name="Resume it").click()
    expect(edit).to_be_enabled()


def test_unsent_words_the_focus_and_a_waiting_question_are_the_readers(
    page: Page, model: ScriptedModel, session: str
) -> None:
    field = page.get_by_label("Your question")
    page.goto(f"/sessions/{session}")
    field.fill("half a quest")
    page.reload()
    expect(field).to_have_value("half a quest")
    model.say(Scripted("CHAT: never said", hold_after=0))
    ask(page, "one")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    ask(page, "two")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("You stopped this answer.")).to_have_count(1)
    field.press("Escape")
    expect(page.get_by_text("You stopped this answer.")).to_have_count(2)
    expect(field).to_be_focused()


def test_a_session_is_printed_whole(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    model.rule("", sql(PER_COUNTRY))
    for number in range(13):
        statement = f"{PER_COUNTRY} /* {number} */"
        query = {"query": f"Question number {number}", "sql": statement}
        assert api.post(f"/sessions/{session}/query/stream", json=query).is_success
    page.goto(f"/sessions/{session}")
    expect(page.get_by_role("heading", name="Question number 12").last).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".conversation-foot")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".printed").last).to_contain_text("/* 12 */")
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height > 4_000, "the document is as long as its exchanges, without a scroller"
    assert len(PAGES.findall(page.pdf(format="A4"))) >= 6
