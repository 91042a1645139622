"""The page of a KAI that asks for a login: a key is pasted, kept for the tab, and sent with everything, or an
identity provider signs the browser in.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import APIResponse, Browser, Locator, Page, Route, expect

from tests.e2e.page.browser import Watched, ask, eventually
from tests.e2e.page.conftest import connected
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
from tests.support.keys import made_key
from tests.support.oidc_issuer import CLIENT, running_issuer
from tests.support.server import Server, running_server

PER_COUNTRY = "How many customers per country?"


@dataclass(frozen=True)
class House:
    """A server with a shared shop, and the keys of its administrator and of a user."""

    server: Server
    admin_key: str
    user_key: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, shop: str) -> Iterator[House]:
    data = tmp_path_factory.mktemp("sign-in")
    admin_key, user_key = made_key(data, "root", "--role", "admin"), made_key(data, "ann")
    # Pages whose keys are revoked offer them again and again, but none before it sends a question.
    settings = {
        "KAI_AUTH__REQUIRED": "true",
        "KAI_AUTH__WRONG_KEYS_PER_MINUTE": "0",
        "KAI_OVERVIEW__ENABLED": "false",
    }
    with running_server(data, settings) as server:
        with httpx.Client(
            base_url=f"{server.address}/api/v1", headers={"X-API-Key": admin_key}, timeout=30
        ) as client:
            one = f"/database-connections/{connected(client, shop, 'Shop')}"
            client.patch(one, json={"shared": True}).raise_for_status()
            client.post(f"{one}/scan").raise_for_status()  # the start page shows examples of scanned tables
            eventually(lambda: client.get(f"{one}/scan").json()["state"] == "complete")
        yield House(server, admin_key, user_key)


@pytest.fixture
def visitor(browser: Browser, house: House) -> Iterator[Page]:
    with browser.new_context(base_url=house.server.address) as context:
        watched = Watched(context, house.server.address)
        yield context.new_page()
    assert watched.faults == []


def offer(page: Page, key: str) -> None:
    page.get_by_label("API key or token").fill(key)
    page.get_by_label("API key or token").press("Enter")


def sign_in(page: Page, key: str) -> None:
    """Offer a key that is right, until the page has kept it."""
    offer(page, key)
    expect(page.get_by_label("API key or token")).to_have_count(0)


def test_a_user_signs_in_asks_takes_the_rows_along_and_leaves(visitor: Page, house: House) -> None:
    visitor.goto("/")
    offer(visitor, "kai_wrong")
    expect(visitor.get_by_role("alert")).to_contain_text("That did not work")
    if AXE.is_file():
        assert violations_in_light_and_dark(visitor) == []
    sign_in(visitor, house.user_key)
    ask(visitor, PER_COUNTRY)
    expect(visitor.locator(".answer-actions")).to_be_visible()
    visitor.get_by_role("tab", name="Table").click()
    visitor.get_by_role("button", name="Export").click()
    with visitor.expect_download() as download:
        visitor.get_by_role("menuitem", name="CSV").click()
    assert download.value.path().read_text().startswith("country")
    visitor.reload()
    expect(visitor.locator(".answer-actions")).to_be_visible()
    visitor.get_by_role("button", name="Sign out ann").click()
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    assert visitor.evaluate("sessionStorage.length") == 0


def test_a_remembered_browser_is_signed_in_in_every_tab_until_it_signs_out(
    visitor: Page, house: House
) -> None:
    visitor.goto("/")
    visitor.get_by_label("Remember on this device").check()
    if AXE.is_file():
        assert violations_in_light_and_dark(visitor) == []
    sign_in(visitor, house.user_key)
    expect(visitor.get_by_role("button", name="Sign out ann")).to_be_visible()
    second = visitor.context.new_page()
    second.goto("/settings")
    expect(second.get_by_text("Signed in as ann by an API key.")).to_be_visible()
    for tab in (visitor, second):
        kept = tab.evaluate(
            "document.cookie + JSON.stringify({...sessionStorage}) + JSON.stringify({...localStorage})"
        )
        assert "kai_" not in kept
        assert house.user_key not in tab.content()
    second.goto("/")
    ask(second, PER_COUNTRY)
    expect(second.locator(".answer-actions")).to_be_visible()
    second.get_by_role("button", name="Sign out ann").click()
    expect(second.get_by_label("API key or token")).to_be_focused()
    visitor.reload()
    expect(visitor.get_by_label("API key or token")).to_be_visible()
    assert visitor.context.cookies() == []


def test_an_identity_provider_signs_the_browser_in_for_all_tabs(browser: Browser, tmp_path: Path) -> None:
    with running_issuer() as issuer:
        page_settings = {
            "KAI_AUTH__OIDC__CLIENT_ID": CLIENT,
            "KAI_AUTH__OIDC__SCOPES": "openid profile groups",
            "KAI_AUTH__OIDC__PROVIDER_NAME": "Acme",
        }
        with running_server(tmp_path, {**issuer.settings, **page_settings}) as server:
            issuer.add_page(f"{server.address}/api/v1/sign-in/provider/callback")
            with browser.new_context(base_url=server.address) as context:
                watched = Watched(context, server.address, issuer.address)
                page = context.new_page()
                page.goto("/settings")
                button = page.get_by_role("link", name="Sign in with Acme")
                expect(button).to_be_focused()
                button.press("Enter")
                page.locator("[name=login]").fill("ada")
                page.keyboard.press("Enter")
                page.locator("[name=password]").fill("password of ada")
                page.keyboard.press("Enter")
                page.get_by_role("button", name="Deny").click()
                expect(page.get_by_role("alert")).to_contain_text("did not let you in")
                if AXE.is_file():
                    assert violations_in_light_and_dark(page) == []
                expect(page).to_have_url(f"{server.address}/settings")
                button.click()
                page.get_by_role("button", name="Accept").click()
                second = context.new_page()
                second.goto("/settings")
                for tab in (page, second):
                    expect(tab.get_by_text("Signed in as ada by the identity provider.")).to_be_visible()
                    assert tab.evaluate("document.cookie + sessionStorage.length") == "0"
                page.goto("/boards")
                page.get_by_role("button", name="New board").click()
                page.get_by_label("Name of the board").fill("Typed before")
                end_sign_in_at_write(page, "boards", lambda: context.clear_cookies(name="kai_sign_in"))
                page.get_by_label("Name of the board").press("Enter")
                button.click()
                expect(page.get_by_label("Name of the board")).to_have_value("Typed before")
                page.get_by_label("Name of the board").press("Enter")
                expect(page.get_by_role("heading", name="Typed before")).to_be_visible()
                second.get_by_role("button", name="Sign out ada").click()
                expect(second.get_by_role("link", name="Sign in with Acme")).to_be_focused()
                page.reload()
                expect(button).to_be_visible()
                kept = {each["name"] for each in context.cookies(server.address)}
                assert kept.isdisjoint({"kai_sign_in", "kai_attempt"})
            assert watched.faults == []


def test_a_refusal_that_comes_after_the_sign_in_asks_for_no_other(visitor: Page, house: House) -> None:
    late: list[tuple[Route, APIResponse]] = []
    visitor.route("**/api/v1/me", lambda route: late.append((route, route.fetch())), times=1)
    visitor.goto("/")
    eventually(lambda: bool(visitor.evaluate("true")) and len(late) == 1)
    ((route, refusal),) = late
    assert refusal.status == 401
    sign_in(visitor, house.user_key)
    expect(visitor.get_by_role("button", name="Sign out ann")).to_be_visible()
    with visitor.expect_response(lambda read: read.url.endswith("/api/v1/me") and read.ok):
        route.fulfill(response=refusal)  # what was refused is read again
    expect(visitor.get_by_role("button", name="Sign out ann")).to_be_visible()
    expect(visitor.get_by_label("API key or token")).to_have_count(0)


def test_what_needs_a_model_says_so(visitor: Page, house: House) -> None:
    visitor.goto("/tools")
    sign_in(visitor, house.admin_key)
    main = visitor.get_by_role("main")
    for path, what in (("/rules", "Rules"), ("/tools", "Tools")):
        visitor.goto(path)
        expect(main).to_contain_text(f"{what} need a language model")
        expect(main).to_contain_text("set KAI_LLM__BASE_URL and KAI_LLM__MODEL where KAI runs")
        expect(main.get_by_role("alert")).to_have_count(0)
        expect(main.get_by_role("button")).to_have_count(0)
    main.get_by_role("link", name="Language model in the settings").click()
    expect(visitor.get_by_role("heading", name="Settings")).to_be_focused()


@pytest.mark.parametrize("visitor", ["light"], indirect=True)
def test_a_user_sees_no_way_to_change_databases_and_an_administrator_does(
    visitor: Page, house: House
) -> None:
    changes = ["Connect a database", "Scan the schema", "More for Shop"]
    for key, count in ((house.user_key, 0), (house.admin_key, 1)):
        visitor.goto("/connections")
        sign_in(visitor, key)
        expect(visitor.get_by_role("main").get_by_role("link", name="Shop")).to_be_visible()
        expect(visitor.get_by_role("button", name=changes[0])).to_have_count(count)
        visitor.get_by_role("main").get_by_role("link", name="Shop").click()
        expect(visitor.get_by_role("button", name="Ask this database").first).to_be_visible()
        for name in changes[1:]:
            expect(visitor.get_by_role("button", name=name)).to_have_count(count)
        expect(visitor.get_by_role("heading", name="Shop")).to_be_focused()
        visitor.get_by_role("tab", name="Glossary").click()
        expect(visitor.get_by_role("button", name="Add")).to_have_count(count)
        visitor.get_by_role("button", name="Sign out").click()
        expect(visitor.get_by_label("API key or token")).to_be_visible()


def administrator(house: House) -> httpx.Client:
    key = {"X-API-Key": house.admin_key}
    return httpx.Client(base_url=f"{house.server.address}/api/v1", headers=key, timeout=30)


def sign_in_for_now(page: Page, house: House) -> dict[str, str]:
    """Sign ann in, at the start page, with a key of her own for the test. Returns it."""
    with administrator(house) as client:
        made: dict[str, str] = client.post("/api-keys", json={"owner": "ann", "days": 1}).json()
    page.goto("/")
    sign_in(page, made["key"])
    expect(page.get_by_role("button", name="Sign out ann")).to_be_visible()
    expect_start(page)
    return made


def expect_start(page: Page) -> None:
    """Wait until the start page has read all that it reads before a question."""
    expect(page.get_by_label("Your question")).to_be_visible()
    expect(page.get_by_role("region", name="For example")).to_be_visible()


def revoke(house: House, made: dict[str, str]) -> None:
    """Revoke a key, and wait until the server refuses it."""
    with administrator(house) as client:
        client.delete(f"/api-keys/{made['id']}").raise_for_status()
        key = {"X-API-Key": made["key"]}
        eventually(lambda: client.get("/me", headers=key).status_code == 401)


def is_write(route: Route) -> bool:
    return route.request.method != "GET"


def end_sign_in_at_write(page: Page, path: str, end: Callable[[], None]) -> None:
    """End the sign-in when the page next writes to a path of the API: the first request that is refused.

    The page reads in the background: were the sign-in ended earlier, it would ask for the next before the
    test's own step.
    """

    address = f"**/api/v1/{path}"

    def send(route: Route) -> None:
        if not is_write(route):
            route.fallback()
            return
        end()
        route.continue_()
        page.unroute(address, send)

    page.route(address, send)


def questions_of(house: House, key: str) -> list[str]:
    """All questions that the owner of a key has asked."""
    with httpx.Client(
        base_url=f"{house.server.address}/api/v1", headers={"X-API-Key": key}, timeout=30
    ) as client:
        sessions = client.get("/sessions", params={"limit": 100}).json()["items"]
        asked = [client.get(f"/sessions/{each['id']}/questions").json()["items"] for each in sessions]
    return [each["query"] for items in asked for each in items]


def test_a_question_that_an_expired_sign_in_refused_is_asked_once_after_the_next(
    visitor: Page, house: House
) -> None:
    asked_before = questions_of(house, house.user_key)
    field = visitor.get_by_label("Your question")
    made = sign_in_for_now(visitor, house)
    end_sign_in_at_write(visitor, "sessions", lambda: revoke(house, made))
    ask(visitor, PER_COUNTRY)
    credential = visitor.get_by_label("API key or token")
    expect(credential).to_be_focused()
    expect(visitor.get_by_role("textbox", name="Your question")).to_have_count(0)
    for _ in range(2):
        visitor.keyboard.press("Escape")
    expect(credential).to_be_visible()
    with administrator(house) as client:
        made = client.post("/api-keys", json={"owner": "ann", "days": 1}).json()
    sign_in(visitor, made["key"])
    expect(visitor.locator(".answer-actions")).to_be_visible()
    end_sign_in_at_write(visitor, "sessions/*/query/stream", lambda: revoke(house, made))
    ask(visitor, PER_COUNTRY)
    expect(credential).to_be_focused()
    sign_in(visitor, house.user_key)
    expect(visitor.locator(".answer-actions")).to_have_count(2)
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    assert len(questions_of(house, house.user_key)) == len(asked_before) + 2


def test_forms_and_drafts_outlive_an_expired_sign_in(visitor: Page, house: House) -> None:
    made = sign_in_for_now(visitor, house)
    visitor.get_by_label("Your question").fill("half a question")
    visitor.get_by_role("link", name="Boards").click()
    visitor.get_by_role("button", name="New board").click()
    visitor.get_by_label("Name of the board").fill("Written before")
    end_sign_in_at_write(visitor, "boards", lambda: revoke(house, made))
    visitor.get_by_label("Name of the board").press("Enter")
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    sign_in(visitor, house.user_key)
    expect(visitor.get_by_role("heading", name="Written before")).to_be_visible()
    visitor.goto("/")
    expect(visitor.get_by_label("Your question")).to_have_value("half a question")


def test_a_refused_question_is_there_again_where_the_page_was_left_to_sign_in(
    visitor: Page, house: House
) -> None:
    made = sign_in_for_now(visitor, house)
    end_sign_in_at_write(visitor, "sessions", lambda: revoke(house, made))
    ask(visitor, "A question of before?")
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    visitor.reload()  # as an identity provider makes the browser do
    sign_in(visitor, house.user_key)
    expect(visitor.get_by_label("Your question")).to_have_value("A question of before?")


class Form(NamedTuple):
    """A form that is open, with the path below `/api/v1/` that it is sent to."""

    field: Locator
    send: Locator
    path: str


def edit_a_fact(page: Page) -> Form:
    page.goto("/memory")
    page.get_by_role("button", name="Remember a fact").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Counts").select_option("user")
    save = dialog.get_by_role("button", name="Save")
    return Form(dialog.get_by_label("What to remember"), save, "memory/facts")


def rate_an_answer(page: Page) -> Form:
    ask(page, PER_COUNTRY)
    page.get_by_role("button", name="Bad answer").click()
    send = page.get_by_role("button", name="Send feedback")
    return Form(page.get_by_label("Comment"), send, "sessions/*/messages/*/feedback")


def name_a_board(page: Page) -> Form:
    page.goto("/boards")
    page.get_by_role("button", name="New board").click()
    create = page.get_by_role("button", name="Create")
    return Form(page.get_by_label("Name of the board"), create, "boards")


@pytest.mark.parametrize("form", [edit_a_fact, rate_an_answer, name_a_board])
def test_a_form_is_open_again_with_its_text_where_the_page_was_left_to_sign_in(
    visitor: Page, house: House, form: Callable[[Page], Form]
) -> None:
    made = sign_in_for_now(visitor, house)
    field, send, path = form(visitor)
    field.fill("Typed before.")
    end_sign_in_at_write(visitor, path, lambda: revoke(house, made))
    send.click()
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    visitor.reload()  # as an identity provider makes the browser do
    sign_in(visitor, house.user_key)
    expect(field).to_have_value("Typed before.")
    visitor.reload()
    expect(visitor.get_by_role("button", name="Sign out ann")).to_be_visible()
    expect(field).to_have_count(0)


def test_no_password_or_address_of_a_database_is_kept_where_the_page_was_left_to_sign_in(
    visitor: Page, house: House
) -> None:
    with administrator(house) as client:
        made = client.post("/api-keys", json={"owner": "root", "days": 1, "role": "admin"}).json()
    visitor.goto("/connections")
    sign_in(visitor, made["key"])
    visitor.get_by_role("button", name="Connect a database").click()
    dialog = visitor.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Sales")
    for label, typed in (("Host", "db.example"), ("Database", "sales"), ("User", "ann")):
        dialog.get_by_label(label, exact=True).fill(typed)
    dialog.get_by_label("Password").fill("hidden-in-vain")
    end_sign_in_at_write(visitor, "database-connections", lambda: revoke(house, made))
    dialog.get_by_role("button", name="Connect", exact=True).click()
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    visitor.reload()
    expect(visitor.get_by_label("API key or token")).to_be_visible()
    assert "hidden-in-vain" not in visitor.evaluate("JSON.stringify({...sessionStorage})")
    sign_in(visitor, house.admin_key)
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("Sales")
    expect(dialog.get_by_label("Host", exact=True)).to_have_value("db.example")
    expect(dialog.get_by_label("Password")).to_have_value("")


def test_another_person_who_signs_in_after_the_page_was_left_finds_nothing_of_the_last(
    visitor: Page, house: House
) -> None:
    made = sign_in_for_now(visitor, house)
    field, send, path = name_a_board(visitor)
    field.fill("A secret of ann's")
    end_sign_in_at_write(visitor, path, lambda: revoke(house, made))
    send.click()
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    visitor.reload()
    sign_in(visitor, house.admin_key)
    expect(visitor.get_by_role("button", name="Sign out root")).to_be_visible()
    visitor.get_by_role("button", name="New board").click()
    expect(field).to_have_value("")


def test_another_person_who_signs_in_next_sees_and_sends_nothing_of_the_last(
    visitor: Page, house: House
) -> None:
    made = sign_in_for_now(visitor, house)
    end_sign_in_at_write(visitor, "sessions", lambda: revoke(house, made))
    ask(visitor, "A secret of ann's?")
    expect(visitor.get_by_label("API key or token")).to_be_focused()
    sign_in(visitor, house.admin_key)
    expect(visitor.get_by_role("button", name="Sign out root")).to_be_visible()
    expect(visitor.get_by_label("Your question")).to_have_value("")
    assert "A secret of ann's?" not in visitor.content()
    for key in (house.admin_key, house.user_key):
        assert "A secret of ann's?" not in questions_of(house, key)


def test_a_sign_in_for_all_tabs_goes_on_in_each_with_what_was_typed(visitor: Page, house: House) -> None:
    visitor.goto("/")
    visitor.get_by_label("Remember on this device").check()
    sign_in(visitor, house.user_key)
    second = visitor.context.new_page()
    second.goto("/")
    asked: list[Route] = []
    visitor.context.route(
        "**/api/v1/sessions", lambda route: asked.append(route) if is_write(route) else route.fallback()
    )
    for tab in (visitor, second):
        expect_start(tab)
        ask(tab, PER_COUNTRY)
    eventually(lambda: bool(visitor.evaluate("true")) and len(asked) == 2)
    visitor.context.clear_cookies()
    for route in asked:
        route.continue_()
    visitor.context.unroute("**/api/v1/sessions")
    for tab in (visitor, second):
        expect(tab.get_by_label("API key or token")).to_be_visible()
    visitor.get_by_label("Remember on this device").check()
    sign_in(visitor, house.user_key)
    for tab in (visitor, second):
        expect(tab.locator(".answer-actions")).to_be_visible()
