"""Databases on the page."""

import re
from pathlib import Path

import duckdb
import httpx
from playwright.sync_api import Page, Route, expect


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
    expect(page.locator(".table-names strong")).to_have_text(["customers", "orders"])
    assert shop.removeprefix("sqlite:///") not in page.content()


def test_a_database_gets_another_name_and_address(
    page: Page, connection: str, api: httpx.Client, many_rows: str
) -> None:
    page.goto(f"/connections/{connection}")
    page.get_by_role("button", name="More for Shop").click()
    page.get_by_role("menuitem", name="Edit").click()
    page.get_by_role("textbox", name="Name").fill("Weather")
    page.get_by_label("Kind of database").select_option("One address for everything")
    page.get_by_role("textbox", name="Address").fill(many_rows)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Weather")).to_be_visible()
    expect(page.locator(".table-names strong")).to_have_text(["measurements"])
    kept = api.get(f"/database-connections/{connection}").json()
    assert (kept["name"], kept["masked_url"]) == ("Weather", "many.db")


def test_a_form_saves_the_version_that_it_was_opened_with(
    page: Page, connection: str, api: httpx.Client
) -> None:
    where = f"/database-connections/{connection}"
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(f"**/api/v1{where}/tables?*", hold)
    with page.expect_request(f"**/api/v1{where}/tables?*"):
        page.goto(f"/connections/{connection}")
    page.get_by_role("button", name="More for Shop").click()
    page.get_by_role("menuitem", name="Edit").click()
    api.patch(where, json={"description": "Sales of 2024"}).raise_for_status()
    held[0].continue_()  # the page reads the database again when it has the tables
    expect(page.get_by_text("Sales of 2024")).to_be_visible()
    page.get_by_role("textbox", name="Name").fill("My shop")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").last).to_contain_text("Sales of 2024")
    assert api.get(where).json()["name"] == "Shop"


def test_tables_are_found_shown_and_described(page: Page, connection: str, api: httpx.Client) -> None:
    page.goto(f"/connections/{connection}")
    page.get_by_label("Search tables and columns").fill("country")
    expect(page.locator(".table-names strong")).to_have_text(["customers"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="country")).to_contain_text("Brazil, Norway")
    page.get_by_role("button", name="Show first rows").click()
    expect(page.get_by_role("row", name="1 Ada Norway")).to_be_visible()
    page.get_by_role("button", name="Describe").click()
    page.get_by_label("Description: customers").fill("Who buys")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Description saved")).to_be_visible()
    tables = api.get(f"/database-connections/{connection}/tables").json()["items"]
    assert tables[0]["description"] == "Who buys"
    page.get_by_role("link", name="Relations").click()
    page.go_back()
    expect(page.get_by_text("Who buys")).to_be_visible()


def test_the_picture_of_relations_is_moved_and_leads_to_a_table_that_a_link_opens(
    page: Page, connection: str
) -> None:
    def expect_at(x: float, y: float) -> None:
        expect(drawn).to_have_attribute("transform", f"translate({x:g} {y:g}) scale(1)")

    page.goto(f"/connections/{connection}")
    view = page.get_by_role("group", name="Picture of relations")
    orders = view.get_by_role("link", name="orders")
    drawn = view.locator("svg > g")
    expect(view.get_by_role("link")).to_have_count(2)
    expect(view.locator(".relation")).to_have_count(1)
    x, y = (float(part) for part in re.findall(r"[\d.]+", drawn.get_attribute("transform") or "")[:2])
    view.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect_at(x - 60, y + 60)
    page.keyboard.press("+")
    expect(drawn).to_have_attribute("transform", re.compile(r"scale\(1\.25\)"))
    page.keyboard.press("0")
    expect_at(x, y)
    box = orders.bounding_box()
    assert box is not None
    left, top = round(box["x"] + 20), round(box["y"] + 20)
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(left + 50, top + 20)
    page.mouse.up()
    expect_at(x + 50, y + 20)
    page.get_by_text("1 relation as a list").click()
    expect(page.get_by_role("listitem").filter(has_text="→")).to_have_text(
        "orders (customer_id) → customers (id)"
    )
    orders.click()
    expect(page.get_by_role("region", name="orders", exact=True)).to_contain_text("→ customers")
    page.reload()
    expect(page.get_by_role("heading", name="orders")).to_be_visible()


def test_a_database_is_disconnected_after_a_second_thought(
    page: Page, connection: str, api: httpx.Client
) -> None:
    page.goto(f"/connections/{connection}")

    def disconnect() -> None:
        page.get_by_role("button", name="More for Shop").click()
        page.get_by_role("menuitem", name="Disconnect").click()

    disconnect()  # without an answer to its dialog
    assert api.get(f"/database-connections/{connection}").status_code == 200
    page.once("dialog", lambda dialog: dialog.accept())
    disconnect()
    expect(page.get_by_text("“Shop” disconnected")).to_be_visible()
    assert api.get(f"/database-connections/{connection}").status_code == 404


def test_the_schemas_that_are_read_are_chosen_with_their_numbers_of_tables(
    page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "many.duckdb"
    with duckdb.connect(str(file)) as made:
        for schema, names in (("sales", ("orders", "returns")), ("raw", ("lines",))):
            made.execute(f"CREATE SCHEMA {schema}")
            for table in names:
                made.execute(f"CREATE TABLE {schema}.{table} (id INTEGER)")
    page.goto("/connections")
    page.get_by_role("button", name="Connect a database").click()
    page.get_by_role("textbox", name="Name").fill("Depot")
    page.get_by_label("Kind of database").select_option("DuckDB file")
    page.get_by_label("Path of the file").fill(str(file))
    page.get_by_label("Schemas").fill("salse")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("It may use: main, raw, sales")
    page.get_by_label("Schemas").fill("sales, !main")
    page.get_by_role("button", name="Connect", exact=True).click()
    tables = page.locator(".table-names strong")
    expect(tables).to_have_text(["orders", "returns"])

    page.get_by_role("button", name="More for Depot").click()
    page.get_by_role("menuitem", name="Schemas").click()
    dialog = page.get_by_role("dialog", name="Schemas of Depot")
    rows = dialog.get_by_role("listitem")
    expect(rows).to_have_text(["main" + "not read yet", "raw" + "not read yet", "sales" + "2 tables"])
    expect(dialog.get_by_role("checkbox", name="sales")).to_be_checked()
    expect(dialog.get_by_role("checkbox", name="sales")).to_be_disabled()
    dialog.get_by_role("checkbox", name="raw").check()
    expect(dialog.get_by_role("textbox")).to_have_value("sales, !main, raw")
    dialog.get_by_role("button", name="Save").click()
    expect(tables).to_have_text(["lines", "orders", "returns"])
    kept = next(each for each in api.get("/database-connections").json()["items"] if each["name"] == "Depot")
    assert kept["schemas"] == ["sales", "!main", "raw"]
