"""Boards on the page: pin an answer, arrange by keys, refresh, and repair a pin whose column is gone."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.e2e.page.browser import ask, eventually
from tests.e2e.page.conftest import connected
from tests.e2e.page.test_layout import MOST_SHIFT, SHIFTS, WATCH
from tests.e2e.page.test_reach import AXE, DRAWN, violations
from tests.e2e.test_turn import sql
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server
from tests.support.shop import make_shop

PER_COUNTRY = "SELECT country, count(*) AS customers FROM customers GROUP BY country"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make_shop(tmp_path / "shop.db")


@pytest.fixture
def asked(api: httpx.Client, database: Path) -> Iterator[str]:
    """The id of a session with one answer, which needed no model for its statement."""
    connection = connected(api, f"sqlite:///{database}", "Shop of the board")
    session = str(api.post("/sessions", json={"db_connection_id": connection}).json()["id"])
    body = {"query": "Customers per country", "sql": PER_COUNTRY}
    api.post(f"/sessions/{session}/query/stream", json=body)
    yield session
    for board in api.get("/boards").json()["items"]:
        api.delete(f"/boards/{board['id']}")
    api.delete(f"/database-connections/{connection}")


def test_an_answer_is_pinned_arranged_by_keys_and_repaired(
    page: Page, api: httpx.Client, asked: str, database: Path
) -> None:
    page.goto(f"/sessions/{asked}")
    page.get_by_role("button", name="Pin to a board").click()
    page.get_by_label("Name of the board").fill("Weekly")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_text("Pinned to “Weekly”.")).to_be_visible()
    expect(page.get_by_role("button", name="Pin to a board")).to_be_focused()
    (board,) = api.get("/boards").json()["items"]
    path = f"/boards/{board['id']}"
    (pin,) = api.get(path).json()["pins"]
    api.post(f"{path}/pins", json={"message_id": pin["message_id"], "title": "Second", "width": 4})
    page.goto("/boards")
    page.get_by_role("link", name="Weekly").click()
    tiles = page.locator(".tile")
    expect(tiles).to_have_count(2)
    handle = page.get_by_role("button", name="Move or resize Customers per country")
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Place 2 of 2")).to_be_attached()
    expect(tiles.nth(1)).to_contain_text("Customers per country")
    expect(handle).to_be_focused()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.get_by_text(f"{pin['width'] - 1} of 12 columns wide")).to_be_attached()
    arranged = api.get(path).json()["pins"]
    assert [each["title"] for each in arranged] == ["Second", "Customers per country"]
    assert arranged[1]["width"] == pin["width"] - 1
    if AXE.is_file():
        assert violations(page) == []
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("ALTER TABLE customers RENAME COLUMN country TO land")
    page.get_by_role("button", name="Refresh all").click()
    expect(page.get_by_text("Did not run.")).to_have_count(2)
    expect(tiles.nth(1)).to_contain_text("Last good")
    if AXE.is_file():
        assert violations(page) == []
    tiles.nth(1).get_by_role("button", name="Repair").click()
    expect(page.get_by_text("The SQL did not run")).to_be_visible()
    expect(page.get_by_text("country", exact=False).first).to_be_visible()
    repairing = api.get("/sessions", params={"q": "Repair"}).json()["items"][0]
    assert repairing["metadata"] == {"repairs_board": board["id"], "repairs_pin": pin["id"]}


def pinned(api: httpx.Client, session: str) -> str:
    """A board with the answer of the session, titled By country; its id."""
    board = str(api.post("/boards", json={"title": "Weekly"}).json()["id"])
    message = api.get(f"/sessions/{session}").json()["messages"]["items"][-1]
    api.post(f"/boards/{board}/pins", json={"message_id": message["id"], "title": "By country"})
    return board


def test_ask_and_pin_leads_back_to_its_board_and_a_verified_statement_says_so(
    page: Page, api: httpx.Client, asked: str, model: ScriptedModel
) -> None:
    board = pinned(api, asked)
    api.post("/boards", json={"title": "A newer one"})
    connection = api.get(f"/sessions/{asked}").json()["db_connection_id"]
    example = {"db_connection_id": connection, "question": "Buyers by country", "sql": f"{PER_COUNTRY};"}
    api.post("/examples", json=example)
    page.goto(f"/boards/{board}")
    expect(page.locator(".tile footer").get_by_text("Verified")).to_be_visible()
    page.get_by_role("link", name="Ask and pin").click()
    expect(page.get_by_text("Ask for the board “Weekly”")).to_be_visible()
    page.get_by_label("Database", exact=True).select_option("Shop of the board")
    model.rule("SQL writer", sql(PER_COUNTRY.lower()))
    ask(page, "Where are they?")
    page.get_by_role("button", name="Pin to a board").click()
    expect(page.get_by_role("dialog").get_by_label("Board")).to_have_value(board)
    page.keyboard.press("Escape")
    expect(page.locator(".basis").get_by_text("Verified by local on")).to_be_visible()
    page.locator(".fold-origin > summary").click()
    page.get_by_role("button", name="Not what I meant").click()
    expect(page.get_by_role("dialog")).to_contain_text("Understood as: ")
    if AXE.is_file():
        assert violations(page) == []
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Your question").fill("How many are there?")
    dialog.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="How many are there?", level=2)).to_be_visible()


def test_a_tile_that_was_moved_stays_though_the_board_was_being_read_again(
    page: Page, api: httpx.Client, asked: str
) -> None:
    path = f"/boards/{pinned(api, asked)}"
    (pin,) = api.get(path).json()["pins"]
    api.post(f"{path}/pins", json={"message_id": pin["message_id"], "title": "Second"})
    read: list[tuple[Route, APIResponse]] = []

    def look(route: Route) -> None:
        answer = route.fetch()
        read.append((route, answer))
        if len(read) == 1:  # a tile that runs is looked at again; that answer is held back
            board = answer.json()
            board["pins"][0]["state"] = "running"
            route.fulfill(response=answer, json=board)

    page.route(f"**/api/v1{path}", look, times=2)
    page.goto(path)
    tiles = page.locator(".tile")
    expect(tiles).to_have_count(2)
    eventually(lambda: bool(page.evaluate("true")) and len(read) == 2)
    page.get_by_role("button", name="Move or resize By country").press("ArrowRight")
    expect(page.get_by_text("Place 2 of 2")).to_be_attached()
    with page.expect_request(f"**/api/v1{path}"):  # it looks once more
        read[1][0].fulfill(response=read[1][1])
    expect(tiles.nth(1)).to_contain_text("By country")


def test_a_pin_is_scheduled_paused_and_its_schedule_removed(
    page: Page, api: httpx.Client, asked: str
) -> None:
    board = pinned(api, asked)
    page.goto(f"/boards/{board}")
    page.get_by_role("button", name="More for By country").click()
    page.get_by_role("menuitem", name="Schedule").click()
    choices = page.get_by_role("dialog").get_by_role("combobox")
    choices.nth(0).select_option("every Monday at 8:00")
    choices.nth(1).select_option("when a value is more than")
    page.get_by_label("Bound").fill("3")
    page.get_by_label("Chat: the URL of a webhook").fill(
        f"https://discord.com/api/webhooks/{'1' * 18}/{'a' * 20}"
    )
    if AXE.is_file():
        assert violations(page) == []
    page.get_by_role("button", name="Schedule", exact=True).click()
    expect(page.get_by_role("button", name="Remove every Monday at 8:00")).to_be_visible()
    expect(page.get_by_text("every Monday at 8:00, when customers is more than 3")).to_be_visible()
    (made,) = api.get("/schedules").json()["items"]
    assert made["cron"] == "0 8 * * 1"
    assert [each["label"] for each in made["targets"]] == ["Discord …aaaa"]
    expect(page.get_by_text("and messages to Discord …aaaa")).to_be_visible()
    expect(page.get_by_role("button", name="Send a test for every Monday at 8:00")).to_be_visible()
    assert made["condition"] == {"kind": "above", "column": "customers", "value": 3}
    page.get_by_role("button", name="Pause every Monday at 8:00").click()
    expect(page.get_by_text("paused")).to_be_visible()
    (paused,) = api.get("/schedules").json()["items"]
    assert (paused["paused"], paused["next_at"]) == (True, None)
    page.get_by_role("button", name="Resume every Monday at 8:00").click()
    expect(page.get_by_role("button", name="Pause every Monday at 8:00")).to_be_visible()
    assert api.get("/schedules").json()["items"][0]["paused"] is False
    page.goto("/schedules")
    expect(page.get_by_role("link", name="Weekly · By country")).to_be_visible()
    expect(page.get_by_text("08:00 (Europe/Zurich)")).to_be_visible()
    page.get_by_role("button", name="Change every Monday at 8:00").click()
    page.get_by_role("main").get_by_role("combobox").first.select_option("every day at 8:00")
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    page.get_by_role("button", name="Do not send to Discord …aaaa any more").click()
    page.get_by_label("Mail addresses").fill("ada@example.com")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("KAI_MAIL__HOST is not set")).to_be_visible()
    page.get_by_label("Mail addresses").fill("")
    if AXE.is_file():
        assert violations(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("08:00 (Asia/Tokyo)")).to_be_visible()
    (changed,) = api.get("/schedules").json()["items"]
    assert (changed["cron"], changed["condition"]) == ("0 8 * * *", made["condition"])
    assert changed["targets"] == []
    page.get_by_role("button", name="Remove every day at 8:00").click()
    expect(page.get_by_role("heading", name="A schedule runs a board while you are away")).to_be_visible()
    assert api.get("/schedules").json()["items"] == []


def test_of_two_edits_of_titles_and_a_schedule_the_reader_keeps_one_and_loses_none(
    page: Page, api: httpx.Client, asked: str
) -> None:
    path = f"/boards/{pinned(api, asked)}"
    (pin,) = api.get(path).json()["pins"]
    every = {"board_id": pin["board_id"], "pin_id": pin["id"], "cron": "0 8 * * *", "time_zone": "Asia/Tokyo"}
    schedule = f"/schedules/{api.post('/schedules', json=every).json()['id']}"
    clash = page.get_by_role("dialog", name="This was changed meanwhile")
    save = page.get_by_role("button", name="Save", exact=True)

    def edit_meanwhile(changed: str, change: dict[str, str]) -> None:
        api.patch(changed, json=change).raise_for_status()

    page.goto(path)
    page.get_by_role("button", name="More for By country").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox").fill("My tile")
    edit_meanwhile(f"{path}/pins/{pin['id']}", {"title": "Their tile"})
    save.click()
    expect(clash.get_by_role("row").last).to_have_text("TitleTheir tileMy tile")
    page.keyboard.press("Escape")
    expect(page.get_by_text("your edit is not saved")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("My tile")
    save.click()
    clash.get_by_role("button", name="Save mine").click()
    expect(page.get_by_role("heading", name="My tile")).to_be_visible()

    page.get_by_role("button", name="More for My tile").click()
    page.get_by_role("menuitem", name="Schedule").click()
    page.get_by_role("button", name="Change every day at 8:00").click()
    page.get_by_role("listitem").get_by_label("Time zone").fill("Europe/Zurich")
    edit_meanwhile(schedule, {"time_zone": "Europe/Oslo"})
    save.click()
    expect(clash.get_by_role("row")).to_have_count(2)
    clash.get_by_role("button", name="Keep the saved one").click()
    expect(page.get_by_text("08:00 (Europe/Oslo)")).to_be_visible()
    assert api.get(schedule).json()["time_zone"] == "Europe/Oslo"

    page.goto(f"/sessions/{asked}")
    shown = page.get_by_role("listitem").filter(has=page.locator(f'a[href="/sessions/{asked}"]'))
    shown.get_by_role("button", name="Options for Customers per country").click()
    page.get_by_role("menuitem", name="Rename").click()
    title = page.get_by_role("textbox", name="Title of the session")
    title.fill("My session")
    edit_meanwhile(f"/sessions/{asked}", {"title": "Their session"})
    title.press("Enter")
    expect(clash).to_be_visible()
    page.keyboard.press("Escape")
    expect(title).to_have_value("My session")
    title.press("Enter")
    clash.get_by_role("button", name="Save mine").click()
    expect(page.get_by_role("link", name="My session")).to_be_visible()
    assert api.get(f"/sessions/{asked}").json()["title"] == "My session"
    api.delete(schedule)


def test_a_period_shows_the_change_and_says_what_takes_none(
    page: Page, api: httpx.Client, asked: str, database: Path
) -> None:
    today = datetime.now(UTC).date()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany(
            "INSERT INTO orders (id, customer_id, placed) VALUES (?, 1, ?)",
            [(10 + number, str(today - timedelta(days=age))) for number, age in enumerate((9, 9, 9, 40, 40))],
        )
    board = pinned(api, asked)
    for statement in ("SELECT count(*) AS orders FROM orders", "SELECT 1 AS one, 'x' AS two"):
        api.post(f"/sessions/{asked}/query/stream", json={"query": statement, "sql": statement})
        message = api.get(f"/sessions/{asked}").json()["messages"]["items"][-1]
        api.post(f"/boards/{board}/pins", json={"message_id": message["id"]})
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(f"/boards/{board}")
    more = page.get_by_role("button", name="More for Weekly")
    period = page.get_by_label("Period")
    expect(more).to_be_visible()
    top = "each => each.getBoundingClientRect().top"
    eventually(lambda: bool(abs(period.evaluate(top) - more.evaluate(top)) < 8))
    period.select_option("last 30 days")
    expect(page.get_by_text("+50% / 30 d")).to_be_visible()
    expect(page.locator(".tile").nth(1).get_by_text("by placed")).to_be_visible()
    page.get_by_role("button", name="Not by this period").click()
    expect(page.get_by_role("dialog")).to_contain_text("None of its tables has dates or times.")
    if AXE.is_file():
        assert violations(page) == []
    page.keyboard.press("Escape")
    more.click()
    page.get_by_role("menuitem", name="Report").click()
    report = page.get_by_role("dialog")
    report.get_by_label("Heading of").first.fill("Who bought")
    report.get_by_role("checkbox").last.uncheck()
    report.get_by_role("button", name="Preview").click()
    preview = report.frame_locator("iframe[title=Preview]")
    expect(preview.get_by_role("heading", name="Who bought")).to_be_visible()
    expect(preview.locator("h2")).to_have_count(2)
    eventually(lambda: bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth")))
    if AXE.is_file():
        assert violations(page) == []
    page.keyboard.press("Escape")
    more.click()
    page.get_by_role("menuitem", name="Schedule").click()
    expect(page.get_by_role("heading", name="Schedule: Weekly")).to_be_visible()
    page.get_by_role("button", name="Schedule", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("^Pause "))).to_be_visible()
    (made,) = api.get("/schedules").json()["items"]
    assert (made["board_id"], made["pin_id"]) == (board, None)


def test_what_happened_at_a_time_is_counted_in_the_sidebar_until_it_is_read(
    page: Page, api: httpx.Client, asked: str, page_server: Server
) -> None:
    body = {"board_id": pinned(api, asked), "cron": "0 0 1 1 *", "time_zone": "UTC"}
    schedule = api.post("/schedules", json=body).json()["id"]
    with closing(sqlite3.connect(page_server.data_dir / "kai.db", timeout=60)) as store, store:
        before = f"due_at - {366 * 86_400_000}"
        document = f"json_set(_document, '$.due_at', {before})"
        store.execute(
            f"UPDATE schedules SET _document = {document}, due_at = {before} WHERE id = ?", (schedule,)
        )
    eventually(lambda: api.get("/notices").json()["unread"] == 1)
    page.goto("/boards")
    count = page.get_by_role("link", name="Boards 1 new")
    expect(count).to_have_text("Boards1 new")
    feed = page.get_by_role("region", name="What happened")
    expect(feed.get_by_role("listitem")).to_contain_text("Weekly It ran")
    if AXE.is_file():
        assert violations(page) == []
    feed.get_by_role("button", name="Mark as read").click()
    expect(page.get_by_role("link", name="Boards", exact=True)).to_have_text("Boards")
    expect(feed.get_by_text("1 new")).to_have_count(0)
    assert api.get("/notices").json()["unread"] == 0
    copy_notices(page_server.data_dir / "kai.db", 24)
    page.reload()
    expect(feed.get_by_role("listitem")).to_have_count(20)
    feed.get_by_role("button", name="Show older ones").click()
    expect(feed.get_by_role("listitem")).to_have_count(25)
    expect(feed.get_by_role("button", name="Show older ones")).to_have_count(0)


def copy_notices(path: Path, count: int) -> None:
    """Stores so many older copies of the only notice."""
    with closing(sqlite3.connect(path, timeout=60)) as store, store:
        store.row_factory = sqlite3.Row
        (found,) = store.execute("SELECT * FROM notices").fetchall()
        names = [name for name in dict(found) if name != "_position"]
        values = ", ".join(f":{name}" for name in names)
        for at in range(count):
            changed = {"id": str(uuid4()), "at": found["at"] - at - 1}
            document = json.dumps({**json.loads(found["_document"]), **changed})
            row = {**dict(found), **changed, "_document": document}
            store.execute(f"INSERT INTO notices ({', '.join(names)}) VALUES ({values})", row)


def test_a_line_fills_its_tile_with_its_axis_in_sight(page: Page, api: httpx.Client, asked: str) -> None:
    per_day = "SELECT placed, sum(total) AS total FROM orders GROUP BY placed"
    api.post(f"/sessions/{asked}/query/stream", json={"query": "Total per day", "sql": per_day})
    page.goto(f"/boards/{pinned(api, asked)}")
    body = page.locator(".tile-body")
    expect(body.locator(".chart-canvas svg")).to_be_visible()
    sizes = "body => [body.clientHeight, body.clientWidth, body.scrollHeight, body.scrollWidth]"

    def has_all_in_sight() -> bool:
        height, width, *content = body.evaluate(sizes)
        return bool(content == [height, width])

    eventually(has_all_in_sight)
    path = page.url.removeprefix(str(api.base_url).removesuffix("/api/v1/"))
    (pin,) = api.get(path).json()["pins"]
    api.post(f"{path}/pins", json={"message_id": pin["message_id"]})
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/assets/tile_chart-*.js", hold)
    page.add_init_script(WATCH)
    page.set_viewport_size({"width": 390, "height": 844})
    with page.expect_request("**/assets/tile_chart-*.js"):
        page.reload()
    expect(page.locator(".tile footer")).to_have_count(2)
    page.evaluate(f"() => {DRAWN}")
    held[0].continue_()
    expect(body.locator(".chart-canvas svg")).to_have_count(2)
    page.evaluate(f"() => {DRAWN}")
    shifts = page.evaluate(SHIFTS)
    assert sum(each[0] for each in shifts) < MOST_SHIFT, shifts
