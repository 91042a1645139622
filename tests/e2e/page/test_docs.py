"""The API's description at /docs, read by a browser."""

from playwright.sync_api import Page, expect

from tests.support.server import Server


def test_the_api_is_described_without_another_origin_and_within_the_policy(
    page: Page, page_server: Server
) -> None:
    page.goto(f"{page_server.address}/docs")
    expect(page.get_by_role("heading", name="KAI", level=1)).to_be_visible()
    page.locator("#operations-tag-sessions").click()
    expect(page.get_by_text("/api/v1/sessions", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_text("An API key, or a token of the configured issuer")).to_be_visible()
