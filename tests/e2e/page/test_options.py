"""A question back: its readings are pressed, reached by keyboard, and gone once the session went on."""

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.amended import amend
from tests.e2e.page.browser import ask, expect_width
from tests.e2e.page.test_reach import AXE, violations
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST, SHOWN
from tests.support.scripted_model import ScriptedModel

OPTIONS = [
    {"label": "by order date", "question": "Orders per month of the order date"},
    {"label": "by ship date", "question": "Orders per month of the ship date"},
]


@pytest.fixture
def asked_back(page: Page, model: ScriptedModel, session: str) -> Page:
    amend(page, options=OPTIONS)
    model.say("CLARIFY: By which date?")
    page.goto(f"/sessions/{session}")
    ask(page, "Orders per month")
    expect(page.get_by_role("button", name="by order date")).to_be_visible()
    return page


def test_an_option_is_pressed_and_its_whole_question_asked(asked_back: Page, model: ScriptedModel) -> None:
    expect(asked_back.get_by_placeholder("Answer KAI")).to_be_visible()
    model.say(sql(PER_COUNTRY), FIRST)
    asked_back.get_by_role("button", name="by ship date").click()
    expect(asked_back.locator("h2.question").last).to_have_text("Orders per month of the ship date")
    expect(asked_back.get_by_text(SHOWN)).to_be_visible()
    expect(asked_back.get_by_placeholder("Ask a follow-up")).to_be_visible()
    expect(asked_back.get_by_role("button", name="by order date")).to_have_count(0)


def test_options_are_reached_by_keyboard_and_stay_over_a_reload(
    asked_back: Page, model: ScriptedModel
) -> None:
    asked_back.reload()
    asked_back.get_by_role("button", name="by order date").focus()
    asked_back.keyboard.press("Tab")
    expect(asked_back.get_by_role("button", name="by ship date")).to_be_focused()
    model.say(sql(PER_COUNTRY), FIRST)
    asked_back.keyboard.press("Enter")
    expect(asked_back.get_by_text(SHOWN)).to_be_visible()


def test_options_of_a_closed_session_cannot_be_pressed(
    asked_back: Page, api: httpx.Client, session: str
) -> None:
    api.patch(f"/sessions/{session}", json={"status": "closed"})
    asked_back.reload()
    expect(asked_back.get_by_text("By which date?")).to_be_visible()
    expect(asked_back.get_by_role("button", name="Resume it")).to_be_visible()
    expect(asked_back.get_by_role("button", name="by order date")).to_have_count(0)


def test_options_have_no_barriers_and_fit_a_phone(asked_back: Page) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make check` brings it")
    assert violations(asked_back) == []
    asked_back.set_viewport_size({"width": 360, "height": 640})
    expect_width(asked_back, 360)
