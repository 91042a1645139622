"""Databases on the page."""

import httpx
from playwright.sync_api import Page, expect


def test_a_database_that_fails_says_why_and_one_that_works_is_scanned(page: Page, shop: str) -> None:
    page.goto("/connections")
    page.get_by_role("button", name="Connect a database").click()
    page.get_by_role("textbox", name="Name").fill("My shop")
    page.get_by_label("Password").fill("secret")
    for field in ("Host", "Database", "User"):
        page.get_by_label(field, exact=True).fill("127.0.0.1")
    page.get_by_label("Port").fill("1")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing listens at this host and port")
    page.get_by_label("Kind of database").select_option("SQLite file")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Path of the file").fill("/nowhere/to/be/found.db")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The URL names no existing file")
    page.get_by_label("Path of the file").fill(shop.removeprefix("sqlite:///"))
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("The connection works: shop.db")).to_be_visible()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("heading", name="My shop")).to_be_visible()
    expect(page.locator(".table-entry strong")).to_have_text(["customers", "orders"])
    assert shop.removeprefix("sqlite:///") not in page.content()


def test_a_database_gets_another_name_and_address(
    page: Page, connection: str, api: httpx.Client, many_rows: str
) -> None:
    page.goto(f"/connections/{connection}")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Name").fill("Weather")
    page.get_by_label("Kind of database").select_option("One address for everything")
    page.get_by_role("textbox", name="Address").fill(many_rows)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Weather")).to_be_visible()
    expect(page.locator(".table-entry strong")).to_have_text(["measurements"])
    kept = api.get(f"/database-connections/{connection}").json()
    assert (kept["name"], kept["masked_url"]) == ("Weather", "many.db")


def test_tables_are_found_shown_and_described(page: Page, connection: str, api: httpx.Client) -> None:
    page.goto(f"/connections/{connection}")
    page.get_by_label("Search tables and columns").fill("country")
    expect(page.locator(".table-entry")).to_have_count(1)
    page.locator(".table-entry summary").click()
    expect(page.get_by_role("row", name="country")).to_contain_text("Brazil, Norway")
    page.get_by_role("button", name="Show first rows").click()
    expect(page.get_by_role("row", name="1 Ada Norway")).to_be_visible()
    page.get_by_role("button", name="Describe").click()
    page.get_by_label("Description: customers").fill("Who buys")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Description saved")).to_be_visible()
    tables = api.get(f"/database-connections/{connection}/tables").json()["items"]
    assert tables[0]["description"] == "Who buys"


def test_a_database_is_disconnected_after_a_second_click(
    page: Page, connection: str, api: httpx.Client
) -> None:
    page.goto(f"/connections/{connection}")
    page.get_by_role("button", name="Disconnect").click()
    assert api.get(f"/database-connections/{connection}").status_code == 200
    page.get_by_role("button", name="Disconnect?").click()
    expect(page.get_by_text("“Shop” disconnected")).to_be_visible()
    assert api.get(f"/database-connections/{connection}").status_code == 404
