"""Examples, glossary and instructions on the page, of servers that keep them."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import ask
from tests.e2e.page.conftest import connected
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
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
    page.get_by_role("button", name="Repair").click()
    page.get_by_label("SQL").fill("SELECT c.full_name FROM customers AS c")
    page.get_by_role("button", name="Save").click()
    expect(fault).to_have_count(0)
    expect(page.get_by_role("article")).to_contain_text("verified")
