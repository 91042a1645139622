"""The policies of a database on its page: read, edited, checked, and a statement viewed as a person."""

import httpx
from playwright.sync_api import Dialog, Page, expect

from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark


def test_policies_are_added_edited_checked_and_viewed_as_a_person(
    page: Page, api: httpx.Client, connection: str
) -> None:
    where = f"/database-connections/{connection}/policies"
    page.goto(f"/connections/{connection}")
    page.get_by_role("tab", name="Policies").click()
    expect(page.get_by_text("Limit what people see")).to_be_visible()
    page.get_by_role("button", name="Add a policy").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("own country")
    dialog.get_by_role("button", name="Add a table").click()
    dialog.get_by_role("textbox", name="Rows").fill("countri = {{ user.country }}")
    dialog.get_by_role("button", name="Add a column").click()
    dialog.get_by_role("combobox", name="Column").select_option("name")
    dialog.get_by_role("combobox", name="Shown").select_option("last four characters")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("A name in it is unknown")
    dialog.get_by_role("textbox", name="Rows").fill("country = {{ user.country }}")
    dialog.get_by_role("textbox", name="Attributes").fill("country")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("Write an attribute a line")).to_be_visible()
    dialog.get_by_role("textbox", name="Attributes").fill("")
    if AXE.is_file():
        assert violations_in_light_and_dark(page) == []
    dialog.get_by_role("button", name="Save").click()
    card = page.locator(".entry")
    expect(card).to_contain_text("customers: country = {{ user.country }} · name last four characters")
    held = api.get(where).json()["policies"]
    table = {"rows": ["country = {{ user.country }}"], "columns": {"name": "last4"}}
    assert held == {"default": "allow", "policies": [{"name": "own country", "tables": {"customers": table}}]}

    page.get_by_label("Person").fill("anna")
    page.get_by_label("What is known of them").fill("country=O'Hara")
    page.get_by_label("Statement").fill("SELECT name FROM customers WHERE 1 / id > 0")
    page.get_by_role("button", name="Show", exact=True).click()
    shown = page.get_by_role("status").filter(has_text="Rows limited by")
    expect(shown).to_contain_text("own country")
    expect(shown.locator("pre")).to_contain_text("'O''Hara'")
    page.get_by_label("Tables that no policy names").select_option("are unknown to everyone")
    expect(page.locator(".policy-faults")).to_contain_text("table 'orders': No policy names it")
    if AXE.is_file():
        assert violations_in_light_and_dark(page) == []

    questions: list[str] = []

    def dismiss(question: Dialog) -> None:
        questions.append(question.message)
        question.dismiss()

    page.once("dialog", dismiss)
    page.get_by_role("button", name="End all policies").click()
    assert questions == ["End all policies? Everyone then sees what the database's account sees."]
    assert api.get(where).json()["policies"]["default"] == "deny"

    # Another editor comes first: the reader sees both, and chooses.
    api.patch(where, json={"policies": {**held, "default": "deny", "trusted_views": []}}).raise_for_status()
    default = page.get_by_label("Tables that no policy names")
    default.select_option("are shown to everyone")
    expect(dialog).to_contain_text('"default": "allow"')
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(default).to_have_value("deny")  # what holds, as the other is not saved

    page.get_by_role("button", name="Edit as text").click()
    text = dialog.get_by_label("Policies as YAML")
    expect(text).to_have_value(api.get(where).json()["text"])
    written = "default: allow\npolicies: []\n"
    text.fill(written.replace("allow", "perhaps"))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("line 1: default")
    text.fill(written)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").last).to_contain_text("- name: own country")
    assert api.get(where).json()["policies"]["default"] == "deny"
