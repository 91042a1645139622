"""Asking on the page, and reading the answer."""

from playwright.sync_api import Page, expect

from tests.e2e.page.browser import ask
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST, SHOWN
from tests.support.scripted_model import Scripted, ScriptedModel


def test_a_question_on_the_start_page_brings_analysis_chart_rows_and_sql(
    page: Page, model: ScriptedModel, connection: str
) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    page.goto("/")
    page.get_by_role("combobox", name="Database").select_option(connection)
    ask(page, "How many customers per country?")
    expect(page.locator(".analysis strong")).to_have_text("Brazil")
    expect(page.locator(".chart-canvas svg")).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_role("row", name="Brazil 2")).to_be_visible()
    page.locator(".fold-sql > summary").click()
    expect(page.locator("pre.sql")).to_contain_text("FROM customers\nGROUP BY")
    expect(page.locator("pre.sql .sql-keyword").first).to_have_text("SELECT")
    assert "/sessions/" in page.url


def test_the_steps_and_the_sql_show_while_they_happen(page: Page, model: ScriptedModel, session: str) -> None:
    model.say(Scripted(sql(PER_COUNTRY), hold_after=12))
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".timeline-line")).to_have_text("Working out the question")
    page.locator(".fold-sql > summary").click()
    expect(page.locator("pre.sql")).to_contain_text("SELECT country")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    model.release()
    expect(page.locator(".timeline-line")).to_contain_text("5 steps")


def test_a_follow_up_stands_below_and_knows_what_was_asked(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), FIRST, sql("SELECT 7 AS n"), FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.get_by_text(SHOWN)).to_be_visible()
    ask(page, "and in total?")
    expect(page.locator(".headline").last).to_have_text("N: 7")
    assert page.locator(".question").all_inner_texts() == ["How many customers per country?", "and in total?"]
    assert any(BRAZIL in each.text for each in model.requests)
