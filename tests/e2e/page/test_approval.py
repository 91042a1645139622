"""Calls that wait for a person, on the page: cards, decisions, the mode, reloads, other tabs."""

from pathlib import Path

import httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from tests.e2e.conftest import model_settings
from tests.e2e.page.browser import ask, eventually, expect_width
from tests.e2e.page.conftest import connected, opened
from tests.e2e.page.test_reach import AXE, violations, violations_in_light_and_dark
from tests.e2e.test_approval import PLAN_TO_ACT, TEXT, describe
from tests.e2e.test_costly_approvals import COSTLY, READINGS
from tests.e2e.test_investigations import finish
from tests.support.choices import FIRST
from tests.support.clickhouse_server import clickhouse_server
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server, running_server

QUESTION = "Write down what customers are."


def waiting(page: Page, model: ScriptedModel, session: str) -> Locator:
    """Asks in agent mode for a description. Returns the card of the call that waits."""
    page.goto(f"/sessions/{session}")
    page.get_by_role("button", name="Mode: Read-only. Change it").click()
    page.get_by_role("menuitem", name="Agent mode").click()
    expect(page.get_by_text("each such call asks you first")).to_be_visible()
    model.say(PLAN_TO_ACT, describe())
    ask(page, QUESTION)
    return card_on(page)


def card_on(page: Page) -> Locator:
    card = page.get_by_role("region", name="Approval of the call")
    expect(card).to_be_visible()
    return card


def test_a_card_shows_what_will_run_and_an_approval_goes_on(
    page: Page, model: ScriptedModel, session: str
) -> None:
    card = waiting(page, model, session)
    expect(card).to_contain_text("Replace the description of the table customers.")
    expect(card.get_by_label("Arguments of the call")).to_contain_text(TEXT)
    expect(card).to_contain_text("Goes to database")
    expect(card).to_contain_text("left")
    if AXE.is_file():
        assert violations(page) == []
    model.say(finish("It is described."))
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("It is described.")).to_be_visible()
    expect(card).to_have_count(0)
    expect(page.locator(".call.done")).to_have_count(1)
    expect(page.locator(".question")).to_have_count(1)
    page.reload()
    expect(page.get_by_text("It is described.")).to_be_visible()
    expect(page.locator(".call.done")).to_have_count(1)
    expect(page.locator(".question")).to_have_count(1)


def test_a_person_edits_the_arguments_by_keyboard_and_the_call_runs_with_theirs(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client, connection: str
) -> None:
    card = waiting(page, model, session)
    edit = card.get_by_role("button", name="Edit")
    edit.press("Enter")
    form = card.get_by_role("form", name="Arguments of the call: Describe a table")
    table = form.get_by_label("table", exact=True)
    expect(table).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("nowhere")
    form.get_by_role("button", name="Cancel").press("Enter")
    expect(edit).to_be_focused()
    expect(card.get_by_label("Arguments of the call", exact=True)).to_contain_text("customers")

    edit.press("Enter")
    expect(table).to_have_value("customers")
    expect(form.get_by_label("database (optional)")).to_have_value("")
    form.get_by_label("text").fill("")
    submit = form.get_by_role("button", name="Approve with these arguments")
    submit.press("Enter")
    alert = form.get_by_role("alert")
    expect(alert).to_contain_text("The call cannot run with these arguments")
    expect(alert).to_contain_text("text: String should have at least 1 character. The call still waits.")
    assert api.get(f"/sessions/{session}").json()["status"] == "awaiting_approval"
    if AXE.is_file():
        assert violations_in_light_and_dark(page) == []
    form.get_by_label("text").fill("Mine.")
    model.say(finish("It is described."))
    submit.press("Enter")
    expect(page.get_by_text("It is described.")).to_be_visible()
    tables = api.get(f"/database-connections/{connection}/tables").json()["items"]
    assert {each["name"]: each["description"] for each in tables}["customers"] == "Mine."
    for _ in ("from the stream", "from the store"):
        done = page.locator(".call.done")
        done.locator("summary").first.click()
        expect(done.get_by_label("Arguments of the call", exact=True)).to_contain_text("Mine.")
        expect(done.get_by_text("The arguments were changed before the call was approved.")).to_be_visible()
        page.reload()


def test_a_german_page_edits_a_call_on_a_narrow_screen(
    browser: Browser, page_server: Server, page: Page, model: ScriptedModel, session: str
) -> None:
    waiting(page, model, session)
    size: ViewportSize = {"width": 390, "height": 844}
    with browser.new_context(base_url=page_server.address, locale="de-DE", viewport=size) as context:
        german = context.new_page()
        german.goto(f"/sessions/{session}")
        card = german.get_by_role("region", name="Freigabe des Aufrufs")
        card.get_by_role("button", name="Bearbeiten").click()
        card.get_by_label("text").fill("Meins.")
        expect_width(german, 390)
        model.say(finish("Beschrieben."))
        card.get_by_role("button", name="Mit diesen Argumenten freigeben").click()
        expect(german.get_by_text("Beschrieben.")).to_be_visible()


HOLD_DONE = """
const send = window.fetch;
window.fetch = async (request) => {
  const response = await send(request);
  if (!request.url.endsWith("/query/stream")) return response;
  const released = new Promise((release) => { window.letGo = release; });
  const read = new TextDecoderStream(), write = new TextEncoderStream();
  const hold = new TransformStream({
    async transform(text, to) {
      const at = text.includes("event: done") ? text.lastIndexOf("id: ") : text.length;
      to.enqueue(text.slice(0, at));
      if (at < text.length) await released;
      to.enqueue(text.slice(at));
    },
  });
  const body = response.body.pipeThrough(read).pipeThrough(hold).pipeThrough(write);
  return new Response(body, { headers: response.headers });
};
"""


def test_a_call_is_approved_before_the_run_that_has_asked_says_its_end(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    page.add_init_script(HOLD_DONE)
    card = waiting(page, model, session)
    model.say(finish("It is described."))
    card.get_by_role("button", name="Approve").click()
    expect(card).to_have_count(0)
    eventually(lambda: api.get(f"/sessions/{session}").json()["status"] == "idle")
    page.evaluate("letGo()")
    expect(page.get_by_text("It is described.")).to_be_visible()
    expect(page.locator(".call.done")).to_have_count(1)
    expect(page.locator(".answer-actions")).to_be_visible()


def test_a_card_survives_a_reload_and_a_denial_gives_the_model_the_reason(
    page: Page, model: ScriptedModel, session: str
) -> None:
    before = waiting(page, model, session).inner_text().splitlines()[2:]
    expect(page.get_by_role("img", name="waits for your approval")).to_be_visible()
    page.reload()
    card = card_on(page)
    assert card.inner_text().splitlines()[2:] == before
    model.say(finish("Not done."))
    card.get_by_label("Reason for the model").fill("It says nothing new.")
    card.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Not done.")).to_be_visible()
    expect(page.locator(".call.denied")).to_have_count(1)
    assert "It says nothing new." in str(model.requests[-1].messages)


def test_a_decision_in_one_tab_is_followed_in_the_other(
    page: Page, context: BrowserContext, model: ScriptedModel, session: str
) -> None:
    card = waiting(page, model, session)
    other = context.new_page()
    other.goto(f"/sessions/{session}")
    model.say(finish("It is described."))
    card_on(other).get_by_role("button", name="Approve").click()
    expect(other.get_by_text("It is described.")).to_be_visible()
    expect(page.get_by_text("It is described.")).to_be_visible()
    expect(card).to_have_count(0)


def test_calls_that_wait_can_be_withdrawn_and_a_new_question_asks_what_to_do(
    page: Page, model: ScriptedModel, session: str
) -> None:
    card = waiting(page, model, session)
    model.say(finish("Something else."))
    ask(page, "Something else?")
    expect(page.get_by_text("Stop it and ask now")).to_be_visible()
    page.get_by_role("button", name="Do not ask").click()
    card.get_by_role("button", name="Withdraw, and end this answer").click()
    expect(card).to_have_count(0)
    expect(page.get_by_text("None of them was made.")).to_be_visible()


def test_a_costly_statement_is_read_and_approved_where_investigations_are_off(
    browser: Browser, model: ScriptedModel, tmp_path: Path
) -> None:
    off = {**model_settings(model), "KAI_AGENT__ENABLED": "false"}
    with (
        clickhouse_server(READINGS) as readings,
        running_server(tmp_path, off) as server,
        httpx.Client(base_url=f"{server.address}/api/v1", timeout=100) as api,
        browser.new_context(base_url=server.address) as context,
    ):
        database = connected(api, readings.url(), "Readings")
        page = context.new_page()
        page.goto(f"/connections/{database}")
        page.get_by_role("button", name="More for Readings").click()
        page.get_by_role("menuitem", name="Edit").click()
        bound = page.get_by_role("dialog").get_by_label("Ask before statements above")
        bound.fill("20000")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        bounded = api.get(f"/database-connections/{database}").json()
        assert (bounded["ask_above_rows"], bounded["refuse_above_rows"]) == (20_000, None)

        model.say(f"```sql\n{COSTLY}\n```")
        page.goto(f"/sessions/{opened(api, database)}")
        ask(page, "readings per place")
        for _ in ("from the stream", "from the store"):
            card = card_on(page)
            expect(card.locator("pre.sql")).to_contain_text("GROUP BY")
            expect(card).to_contain_text("about 50,000 rows")
            expect(card).to_contain_text("Goes to database Readings")
            expect(card.get_by_role("button", name="Edit")).to_have_count(0)
            expect(page.get_by_label("Reason for the model")).to_have_count(0)
            expect(page.locator(".call-tool")).to_have_text("Run the statement")
            page.reload()
        if AXE.is_file():
            assert violations(page) == []
        model.say(FIRST)
        card_on(page).get_by_role("button", name="Approve").click()
        expect(page.locator(".call.done")).to_have_count(1)
