"""A chat page of others, with LangGraph's `useStream` and React, asks KAI from another origin."""

from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.browser import Watched
from tests.e2e.page.conftest import OTHER_SITE
from tests.e2e.test_approval import PLAN_TO_ACT, describe
from tests.e2e.test_investigations import finish
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.node import bundle
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Server


@pytest.fixture
def chat(browser: Browser, page_server: Server) -> Iterator[Page]:
    """The other page, which is not opened yet."""
    html = "<!doctype html><meta charset=utf-8><div id=root></div><script>{}</script>"
    body = html.format(bundle("chat").replace("</script", "<\\/script"))
    with browser.new_context() as context:
        context.grant_permissions(["local-network-access"])
        watched = Watched(context, page_server.address, OTHER_SITE)
        context.route(f"{OTHER_SITE}/**", lambda route: route.fulfill(body=body, content_type="text/html"))
        yield context.new_page()
        assert watched.faults == []


def open_chat(chat: Page, server: Server, **place: str) -> None:
    chat.goto(f"{OTHER_SITE}/?{urlencode({'api': f'{server.address}/langgraph', **place})}")


def expect_ready(chat: Page) -> None:
    """Wait until no run is under way for this page."""
    expect(chat.get_by_role("status")).to_have_text("ready")


def ask(chat: Page, question: str) -> None:
    expect_ready(chat)
    chat.get_by_label("Question").fill(question)
    chat.get_by_label("Question").press("Enter")


def test_a_page_with_use_stream_shows_steps_as_they_come_and_the_thread_after_a_reload(
    chat: Page, api: httpx.Client, page_server: Server, connection: str, model_of_all: ScriptedModel
) -> None:
    model = model_of_all
    model.forget()
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1), Scripted("CHAT: More."))
    open_chat(chat, page_server, assistant=connection)
    ask(chat, "How many customers per country?")
    messages = chat.get_by_role("listitem")
    expect(messages).to_contain_text(["per country?", "GROUP BY", "Brazil"])
    expect(messages.last).to_contain_text("row_count")
    chat.reload()  # it comes back to the run
    expect(messages.last).to_contain_text("row_count")
    model.release()
    expect(messages.last).to_contain_text("has the most customers: 2, 66.7% of the total of 3.")
    ask(chat, "And now?")
    expect(messages.last).to_have_text("More.")
    expect_ready(chat)
    shown = messages.all_text_contents()
    chat.reload()
    expect(messages).to_have_text(shown)
    assert len(shown) == 6


def test_a_page_with_use_stream_approves_edits_and_rejects_calls(
    chat: Page, api: httpx.Client, page_server: Server, connection: str, model_of_all: ScriptedModel
) -> None:
    model = model_of_all
    model.forget()
    model.say(PLAN_TO_ACT, describe(), finish("It is described."))
    model.say(PLAN_TO_ACT, describe("Short."), describe("People who buy."), finish("It has other words."))
    model.say(PLAN_TO_ACT, describe("Other."), finish("It stays as it is."))
    body = {"db_connection_id": connection, "mode": "agent"}
    session = api.post("/sessions", json=body).json()["id"]
    open_chat(chat, page_server, assistant=connection, thread=session)
    ask(chat, "Describe the customers.")
    expect(chat.get_by_text("Replace the description of the table customers.")).to_be_visible()
    chat.reload()
    expect(chat.get_by_role("button", name="Approve")).to_be_visible()
    expect_ready(chat)
    chat.get_by_role("button", name="Approve").click()
    expect(chat.get_by_role("listitem").last).to_have_text("It is described.")
    expect(chat.get_by_role("button", name="Approve")).to_have_count(0)

    ask(chat, "Describe them better.")
    text = chat.get_by_label("Text")
    expect(text).to_have_value("Short.")
    expect_ready(chat)
    text.fill("Those who buy.")
    text.press("Enter")
    expect(text).to_have_value("People who buy.")  # the model's new call
    expect_ready(chat)
    chat.get_by_role("button", name="Approve").click()
    expect(chat.get_by_role("listitem").last).to_have_text("It has other words.")

    ask(chat, "Describe them again.")
    expect(text).to_have_value("Other.")
    expect_ready(chat)
    chat.get_by_role("button", name="Reject").click()
    expect(chat.get_by_role("listitem").last).to_have_text("It stays as it is.")
    expect(text).to_have_count(0)
    tables = api.get(f"/database-connections/{connection}/tables").json()["items"]
    assert [each["description"] for each in tables if each["name"] == "customers"] == ["People who buy."]
