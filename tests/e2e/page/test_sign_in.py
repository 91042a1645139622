"""The page of a KAI that asks for a login: a key is pasted, kept for the tab, and sent with everything, or an
identity provider signs the browser in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from tests.e2e.page.browser import Watched, ask, eventually
from tests.e2e.page.conftest import connected
from tests.e2e.page.test_reach import AXE, violations_in_light_and_dark
from tests.support.keys import made_key
from tests.support.oidc_issuer import CLIENT, running_issuer
from tests.support.server import Server, running_server


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
    with running_server(data, {"KAI_AUTH__REQUIRED": "true"}) as server:
        with httpx.Client(
            base_url=f"{server.address}/api/v1", headers={"X-API-Key": admin_key}, timeout=30
        ) as client:
            one = f"/database-connections/{connected(client, shop, 'Shop')}"
            client.patch(one, json={"shared": True}).raise_for_status()
            client.get(f"{one}/tables")
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
    ask(visitor, "How many customers per country?")
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
    ask(second, "How many customers per country?")
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
