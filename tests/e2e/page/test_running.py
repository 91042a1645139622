"""A run that is stopped, cut off, reloaded or joined by another tab goes on as if nothing had happened."""

from pathlib import Path

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from app.core.servers import free_port
from tests.e2e.conftest import model_settings
from tests.e2e.page.browser import ask, eventually
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST, SHOWN
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import running_server


def test_stop_stops_the_run_on_the_server(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    model.say(Scripted(sql(PER_COUNTRY), hold_after=8))
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    page.locator(".fold-sql > summary").click()
    expect(page.locator("pre.sql")).to_contain_text("SELECT country")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    assert api.get(f"/sessions/{session}").json()["active_run_id"] is None
    model.wait_until(lambda: model.disconnects == 1)


def test_a_question_is_stopped_while_it_is_still_on_its_way(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    model.say(Scripted("CHAT: never said", hold_after=0))
    page.goto(f"/sessions/{session}", wait_until="networkidle")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/query/stream", hold)
    with page.expect_request("**/query/stream"):
        ask(page, "one")
    page.get_by_role("button", name="Stop").click()
    held[0].continue_()
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()


def test_a_reload_in_mid_run_goes_on_where_it_was(page: Page, model: ScriptedModel, session: str) -> None:
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=0))
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".timeline-line")).to_have_text("Reading the rows")
    page.reload()
    expect(page.locator(".timeline-line")).to_have_text("Reading the rows")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    model.release()
    expect(page.locator(".headline")).to_have_text("Brazil has the most customers: 2")
    expect(page.locator(".question")).to_have_count(1)


def test_the_steps_tell_the_same_times_before_and_after_a_reload(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".timeline-line")).to_have_text("Reading the rows")
    page.locator(".timeline summary").click()
    steps = page.locator(".steps > li")
    expect(steps.last).to_contain_text("Read the rows")
    before = steps.all_inner_texts()[:-1]
    page.reload()
    page.locator(".timeline summary").click()
    expect(steps).to_have_count(len(before) + 1)
    eventually(lambda: steps.all_inner_texts()[:-1] == before)
    model.release()


def test_a_killed_server_is_waited_for_and_its_run_followed_to_the_end(
    browser: Browser, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    model.say(Scripted(sql(PER_COUNTRY), hold_after=8))
    settings = {**model_settings(model), "KAI_PORT": str(free_port())}
    with (
        running_server(tmp_path, settings) as server,
        browser.new_context(base_url=server.address) as context,
    ):
        page = context.new_page()
        session = session_of(f"{server.address}/api/v1", shop)
        page.goto(f"/sessions/{session}")
        ask(page, "How many customers per country?")
        page.locator(".fold-sql > summary").click()
        expect(page.locator("pre.sql")).to_contain_text("SELECT country")
        server.kill()
        expect(page.get_by_text("The connection was lost. Reconnecting …")).to_be_visible()
        model.say(sql(PER_COUNTRY), FIRST)
        server.start()
        expect(page.get_by_text(SHOWN)).to_be_visible()
        expect(page.locator(".question")).to_have_count(1)


def session_of(address: str, database: str) -> str:
    with httpx.Client(base_url=address, timeout=100) as api:
        connection = api.post("/database-connections", json={"url": database, "name": "Shop"}).json()
        session = api.post("/sessions", json={"db_connection_id": connection["id"]}).json()
        return str(session["id"])


def test_a_second_tab_follows_the_run_of_the_first(
    context: BrowserContext, model: ScriptedModel, session: str
) -> None:
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=0))
    one, two = context.new_page(), context.new_page()
    for page in (one, two):
        page.goto(f"/sessions/{session}")
    ask(one, "How many customers per country?")
    expect(two.locator(".timeline-line")).to_have_text("Reading the rows")
    model.release()
    for page in (one, two):
        expect(page.locator(".headline")).to_have_text("Brazil has the most customers: 2")
        expect(page.locator(".question")).to_have_count(1)


def test_a_question_asked_while_one_is_answered_waits_for_it(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted("CHAT: first", hold_after=0), "CHAT: second")
    page.goto(f"/sessions/{session}")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/query/stream", hold, times=1)
    with page.expect_request("**/query/stream"):
        ask(page, "one")
    ask(page, "two")  # which must not overtake the first on its way
    expect(page.locator(".question")).to_have_text(["one", "two"])
    held[0].continue_()
    expect(page.locator(".timeline-line").last).to_have_text("Waiting for the question before this one")
    model.release()
    expect(page.locator(".analysis")).to_have_text(["first", "second"])


def test_a_run_that_another_client_started_may_be_interrupted(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    page.goto(f"/sessions/{session}", wait_until="networkidle")
    model.say(Scripted("CHAT: never said", hold_after=0))
    with api.stream("POST", f"/sessions/{session}/query/stream", json={"query": "one"}):
        model.wait_until(lambda: model.on_hold == 1)
        ask(page, "two")
        expect(page.get_by_text("This session is answering another question.")).to_be_visible()
        model.say("CHAT: at once")
        page.get_by_role("button", name="Stop it and ask now").click()
        expect(page.locator(".analysis")).to_have_text("at once")


def test_a_question_that_never_reached_the_server_can_be_sent_again(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say("CHAT: here")
    page.goto(f"/sessions/{session}")
    page.route("**/query/stream", lambda route: route.abort())
    ask(page, "one")
    expect(page.get_by_text("KAI cannot be reached")).to_be_visible()
    page.unroute("**/query/stream")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".analysis")).to_have_text("here")
    expect(page.locator(".question")).to_have_count(1)


def test_a_failed_answer_says_why_and_offers_another_try(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(*[sql("SELECT nmae FROM customers")] * 3)
    page.goto(f"/sessions/{session}")
    ask(page, "List the customers")
    expect(page.get_by_role("alert")).to_contain_text("unknown column nmae")
    page.locator(".timeline summary").click()
    expect(page.locator(".repair")).to_have_count(1)
    model.say(sql("SELECT name FROM customers"), FIRST)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".rows-panel")).to_contain_text("Cleo")
