"""Examples, glossary and instructions on the page, of servers that keep them."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.page.browser import ask, eventually
from tests.e2e.page.conftest import connected
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST, SHOWN, choice
from tests.support.scripted_model import ScriptedModel
from tests.support.shop import make_shop


@pytest.fixture
def parts(page: Page, connection: str) -> Page:
    page.goto(f"/connections/{connection}")
    return page


def test_an_example_is_added_answers_is_corrected_and_deleted(parts: Page, session: str) -> None:
    parts.get_by_role("tab", name="Examples").click()
    parts.get_by_role("button", name="Add").click()
    parts.get_by_role("textbox", name="Question").fill("How many customers?")
    parts.get_by_label("SQL").fill("SELECT count(*) FROM customers")
    parts.get_by_role("button", name="Save").click()
    expect(parts.get_by_role("article")).to_contain_text("verified")
    listed = parts.url
    parts.goto(f"/sessions/{session}")
    ask(parts, "how many customers")
    badge = parts.locator(".origin.verified")
    expect(badge).to_have_text(re.compile(r"^Verified by \S+ on .*\d"))
    expect(badge).to_have_attribute("title", re.compile("reviewed this SQL for this question: "))
    parts.reload()
    expect(badge).to_have_text(re.compile(r"^Verified by \S+ on .*\d"))
    parts.goto(listed)
    parts.get_by_role("tab", name="Examples").click()
    parts.get_by_role("button", name="Edit: How many customers?").click()
    parts.get_by_role("textbox", name="Question").fill("How many clients?")
    parts.get_by_role("button", name="Save").click()
    parts.get_by_role("button", name="Delete: How many clients?").click()
    expect(parts.get_by_text("Nothing here yet.")).to_be_visible()


def test_a_term_and_an_instruction_need_no_sql_and_no_table(parts: Page) -> None:
    for tab, fields in (
        ("Glossary", {"Term": "client", "Meaning": "A customer"}),
        ("Instructions", {"Instruction": "Round."}),
    ):
        parts.get_by_role("tab", name=tab).click()
        parts.get_by_role("button", name="Add").click()
        for label, value in fields.items():
            parts.get_by_role("dialog").get_by_label(label).fill(value)
        parts.get_by_role("button", name="Save").click()
        expect(parts.get_by_role("article")).to_contain_text(next(iter(fields.values())))


def test_an_example_whose_column_is_gone_is_shown_as_broken_after_a_scan_and_repaired(
    page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    path = make_shop(tmp_path / "renamed.db")
    connection = connected(api, f"sqlite:///{path}", "Renamed")
    example = {"question": "Names?", "sql": "SELECT c.name FROM customers AS c"}
    added = api.post("/examples", json={"db_connection_id": connection, **example})
    assert added.status_code == 201
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("ALTER TABLE customers RENAME COLUMN name TO full_name")
    page.goto(f"/connections/{connection}")
    page.get_by_role("tab", name="Examples").click()
    expect(page.get_by_role("article")).to_contain_text("verified")
    expect(page.locator(".entry-fault")).to_have_count(0)
    page.get_by_role("button", name="Scan the schema").click()
    fault = page.locator(".entry-fault")
    expect(fault).to_contain_text("Unknown column c.name")
    expect(fault).to_contain_text("c.full_name")
    if AXE.is_file():
        assert violations_in_light_and_dark(page) == []
    page.get_by_role("button", name="Repair", exact=True).click()
    page.get_by_label("SQL").fill("SELECT c.full_name FROM customers AS c")
    page.get_by_role("button", name="Save").click()
    expect(fault).to_have_count(0)
    expect(page.get_by_role("article")).to_contain_text("verified")


def test_a_liked_answer_is_reviewed_beside_its_sql_and_rows(
    page: Page, api: httpx.Client, model: ScriptedModel, connection: str, session: str
) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    page.goto(f"/sessions/{session}")
    question = f"Customers per country of {connection}?"
    ask(page, question)
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("button", name="Good answer").click()
    expect(page.get_by_role("region", name="Keep as verified example?")).to_be_visible()
    page.goto("/connections")
    expect(page.get_by_role("article").filter(has_text=question)).to_contain_text("Asked by")
    page.goto(f"/connections/{connection}")
    page.get_by_role("tab", name="Examples").click()
    card = page.get_by_role("article")
    expect(card.get_by_role("region", name="Answer")).to_contain_text(SHOWN)
    card.get_by_role("button", name="Run it").click()
    expect(card.get_by_role("status")).to_contain_text("2 rows in")
    expect(card.get_by_role("cell", name="Brazil")).to_be_visible()
    if AXE.is_file():
        assert violations_in_light_and_dark(page) == []
    card.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("region", name="Waiting for your review")).to_have_count(0)
    expect(page.get_by_role("article")).to_contain_text("verified")
    answered = api.post(f"/sessions/{session}/query/stream", json={"query": question})
    assert "verified example" in answered.text

    def is_counted() -> bool:
        listed = api.get("/examples", params={"db_connection_id": connection}).json()["items"]
        return [each["uses"] for each in listed] == [1]

    eventually(is_counted)
    page.reload()
    page.get_by_role("tab", name="Examples").click()
    expect(page.get_by_role("article")).to_contain_text("helped 1 answer")


def test_knowledge_is_exported_and_imported_after_saying_what_that_would_do(parts: Page) -> None:
    parts.get_by_role("tab", name="Glossary").click()
    parts.get_by_role("button", name="Import").click()
    dialog = parts.get_by_role("dialog")
    bad = b"kind,name,text,sql\nterm,vip,Called first,\nexample,Names?,,select nam from customers\n"
    dialog.get_by_label("File").set_input_files({"name": "bad.csv", "mimeType": "text/csv", "buffer": bad})
    expect(dialog.get_by_role("status")).to_contain_text("1 new, 0 changed, 0 the same, 1 refused.")
    refused = dialog.get_by_role("row").nth(1)
    expect(refused).to_contain_text("Unknown column nam")
    expect(dialog.get_by_role("button", name="Import 1 entry")).to_be_disabled()
    if AXE.is_file():
        assert violations_in_light_and_dark(parts) == []
    good = bad.replace(b"nam ", b"name ")
    dialog.get_by_label("File").set_input_files({"name": "good.csv", "mimeType": "text/csv", "buffer": good})
    dialog.get_by_role("button", name="Import 2 entries").click()
    expect(parts.get_by_role("article")).to_contain_text("Called first")
    with parts.expect_download() as begun:
        parts.get_by_role("button", name="Markdown").click()
    assert begun.value.suggested_filename == "shop-knowledge.md"
    written = begun.value.path().read_text()
    assert "### vip\n\nCalled first" in written
    assert "### Names?\n\n```sql\nselect name from customers\n```" in written


def test_starters_of_a_person_come_before_generated_ones(parts: Page, connection: str) -> None:
    parts.get_by_role("tab", name="Examples").click()
    parts.get_by_role("button", name="Starters").click()
    parts.get_by_label("Questions to begin with").fill("Which country buys most?\n\n  How are we doing? ")
    if AXE.is_file():
        assert violations_in_light_and_dark(parts) == []
    parts.get_by_role("button", name="Save").click()
    expect(parts.get_by_role("dialog")).to_have_count(0)
    parts.evaluate("id => localStorage.setItem('kai.connection', id)", connection)
    parts.goto("/")
    shown = parts.locator(".starters button, .overview-questions b")
    expect(shown.nth(0)).to_have_text("Which country buys most?")
    expect(shown.nth(1)).to_have_text("How are we doing?")
    expect(shown).to_have_count(4)


def test_a_term_is_underlined_and_its_card_changes_in_open_tabs(
    page: Page,
    context: BrowserContext,
    api: httpx.Client,
    model: ScriptedModel,
    connection: str,
    session: str,
) -> None:
    term = {"db_connection_id": connection, "term": "market", "meaning": "A country we sell in"}
    assert api.post("/glossary", json=term).status_code == 201
    model.say(sql(PER_COUNTRY), choice("f1", reading="A market is a place to sell in."))
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per market?")
    expect(page.locator(".answer-actions")).to_be_visible()
    named = page.get_by_role("button", name="market", exact=True)
    expect(named).to_be_visible()
    eventually(lambda: page.evaluate("CSS.highlights.get('kai-terms')?.size") == 2)
    named.click()
    card = page.locator(".term-card")
    expect(card).to_contain_text("A country we sell in")
    if AXE.is_file():
        assert violations_in_light_and_dark(page) == []
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    page.locator(".question").scroll_into_view_if_needed()
    place = page.evaluate("""() => {
        const { x, y } = [...CSS.highlights.get('kai-terms')][0].getBoundingClientRect();
        return [x + 2, y + 2];
    }""")
    page.mouse.click(*place)
    expect(card).to_contain_text("A country we sell in")
    other = context.new_page()
    other.goto(f"/connections/{connection}")
    other.get_by_role("tab", name="Glossary").click()
    other.get_by_role("button", name="Edit: market").click()
    other.get_by_label("Meaning").fill("A region of countries")
    other.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("A region of countries")


def test_of_two_edits_both_are_shown_and_the_reader_keeps_one(
    parts: Page, connection: str, api: httpx.Client
) -> None:
    made = {"db_connection_id": connection, "term": "client", "meaning": "A customer"}
    term = api.post("/glossary", json=made).json()["id"]
    parts.get_by_role("tab", name="Glossary").click()
    clash = parts.get_by_role("dialog", name="This was changed meanwhile")
    for keep, kept in (("Keep the saved one", "Theirs 1"), ("Save mine", "Mine 2")):
        number = kept[-1]
        parts.get_by_role("button", name="Edit: client").click()
        parts.get_by_label("Meaning").fill(f"Mine {number}")
        api.patch(f"/glossary/{term}", json={"meaning": f"Theirs {number}"}).raise_for_status()
        parts.get_by_role("button", name="Save", exact=True).click()
        expect(clash.get_by_role("row")).to_have_text(
            ["Saved meanwhileYours", f"MeaningTheirs {number}Mine {number}"]
        )
        clash.get_by_role("button", name=keep).click()
        expect(parts.get_by_role("article")).to_contain_text(kept)
        assert api.get(f"/glossary/{term}").json()["meaning"] == kept

    parts.get_by_role("button", name="Edit: client").click()
    parts.get_by_label("Meaning").fill("Mine 3")
    api.patch(f"/glossary/{term}", json={"meaning": "Theirs 3"}).raise_for_status()
    parts.get_by_role("button", name="Save", exact=True).click()
    expect(clash).to_be_visible()
    parts.keyboard.press("Escape")
    expect(clash).to_have_count(0)
    expect(parts.get_by_label("Meaning")).to_have_value("Mine 3")
    assert api.get(f"/glossary/{term}").json()["meaning"] == "Theirs 3"
    parts.get_by_role("button", name="Save", exact=True).click()
    clash.get_by_role("button", name="Save mine").click()
    expect(parts.get_by_role("article")).to_contain_text("Mine 3")

    parts.get_by_role("button", name="More for Shop").click()
    parts.get_by_role("menuitem", name="Edit").click()
    parts.get_by_role("textbox", name="Name").fill("My shop")
    path = f"/database-connections/{connection}"
    api.patch(path, json={"description": "Sells"}).raise_for_status()
    parts.get_by_role("button", name="Save", exact=True).click()
    expect(clash.get_by_role("row")).to_have_count(3)
    clash.get_by_role("button", name="Keep the saved one").click()
    expect(parts.get_by_role("dialog")).to_have_count(0)
    expect(parts.get_by_text("Saved", exact=True)).to_have_count(0)
    assert (api.get(path).json()["name"], api.get(path).json()["description"]) == ("Shop", "Sells")
