"""Questions that the page proposes: about a table, a result, a failed answer."""

import json
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.page.browser import ask
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel

SQL = "```sql\nSELECT country, count(*) AS n FROM customers GROUP BY country\n```"


def asked(page: Page) -> list[dict[str, Any]]:
    """The bodies of the questions that the page sends."""
    bodies: list[dict[str, Any]] = []
    page.on(
        "request",
        lambda request: (
            bodies.append(json.loads(request.post_data or "{}"))
            if request.url.endswith("/query/stream")
            else None
        ),
    )
    return bodies


def box(page: Page) -> Locator:
    return page.get_by_label("Your question")


def test_a_table_proposes_to_document_it_and_to_check_its_data(
    page: Page, model: ScriptedModel, connection: str
) -> None:
    bodies = asked(page)
    page.goto(f"/connections/{connection}")
    page.get_by_role("navigation", name="Tables").get_by_role("link", name="orders").click()
    page.get_by_role("button", name="Check the data").click()
    expect(box(page)).to_have_value("Check the data of the table orders: what is wrong with it?")
    expect(page.get_by_text("About the table orders")).to_be_visible()
    expect(page.get_by_text("KAI only reads")).to_be_visible()
    model.say(SQL, FIRST)
    box(page).press("Enter")
    expect(page.locator(".analysis")).to_have_count(1)
    assert bodies[0]["mode"] == "ask"
    assert bodies[0]["about"] == {"kind": "table", "id": f"{connection}/orders"}
    expect(page.get_by_text("About the table orders")).to_have_count(0)
    page.goto(f"/connections/{connection}")
    page.get_by_role("navigation", name="Tables").get_by_role("link", name="customers").click()
    page.get_by_role("button", name="Document", exact=True).click()
    expect(box(page)).to_have_value(
        "Document the table customers: what it is for, its columns, keys, joins and the quality of its data."
    )


def test_a_result_proposes_a_question_about_it_which_can_do_without(
    page: Page, model: ScriptedModel, session: str
) -> None:
    bodies = asked(page)
    model.say(SQL, FIRST, SQL, FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "customers per country")
    page.get_by_role("button", name="Ask about this").click()
    expect(box(page)).to_have_value("What stands out in this result, and why?")
    page.get_by_role("button", name="Ask without it").click()
    expect(page.get_by_text("About the result of")).to_have_count(0)
    page.get_by_role("button", name="Ask about this").click()
    box(page).press("Enter")
    expect(page.locator(".analysis")).to_have_count(2)
    assert bodies[-1]["about"]["kind"] == "result"


def test_a_failed_answer_proposes_to_explain_it(page: Page, model: ScriptedModel, session: str) -> None:
    bodies = asked(page)
    model.say(Scripted(status=400, error="no"))
    page.goto(f"/sessions/{session}")
    ask(page, "customers per country")
    page.get_by_role("button", name="Explain this failure").click()
    expect(box(page)).to_have_value("Why did this fail, and how can I ask it so that it works?")
    model.say("CHAT: The model was unavailable.")
    box(page).press("Enter")
    expect(page.get_by_text("The model was unavailable.").first).to_be_visible()
    assert bodies[-1]["about"]["kind"] == "failed_answer"
