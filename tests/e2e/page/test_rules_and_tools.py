"""The pages of rules and tools: what is there, who may change it, and what is wrong with it."""

import sys
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import model_settings
from tests.e2e.page.test_reach import AXE, violations
from tests.support.scripted_model import ScriptedModel
from tests.support.server import running_server


def test_a_rule_is_added_switched_off_changed_and_deleted(
    page: Page, api: httpx.Client, connection: str
) -> None:
    page.goto("/")
    page.get_by_role("link", name="Rules").click()
    expect(page.get_by_text("A rule says how answers are made here")).to_be_visible()
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_role("textbox", name="Name").fill("revenue")
    page.get_by_label("Rule", exact=True).fill("State revenue without tax.")
    page.get_by_label("Database").select_option(connection)
    page.get_by_role("textbox", name="Tables").fill("orders*, invoices")
    page.get_by_role("button", name="Save").click()
    card = page.locator(".entry")
    expect(card).to_contain_text("State revenue without tax.")
    expect(card).to_contain_text("Shop · orders*, invoices")
    if AXE.is_file():
        assert violations(page) == []
    card.get_by_role("button", name="Switch off").click()
    expect(card.get_by_role("button", name="Switch on")).to_be_visible()
    assert api.get("/rules/revenue").json()["active"] is False
    card.get_by_role("button", name="Edit: revenue").click()
    page.get_by_label("Rule", exact=True).fill("State revenue with tax.")
    page.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("State revenue with tax.")
    scope = api.get("/rules/revenue").json()["scope"]
    assert (scope["connections"], scope["table_patterns"]) == ([connection], ["orders*", "invoices"])
    card.get_by_role("button", name="Delete: revenue").click()
    expect(page.get_by_text("A rule says how answers are made here")).to_be_visible()


def test_tools_show_what_they_do_and_which_ask_first(page: Page) -> None:
    page.goto("/tools")
    row = page.locator(".tool", has=page.get_by_text("run_sql", exact=True))
    expect(row).to_contain_text("reads")
    expect(row).to_contain_text("runs")
    writing = page.locator(".tool", has=page.get_by_text("describe_table_as", exact=True))
    expect(writing).to_contain_text("asks first")
    expect(writing).to_contain_text("in agent mode only")
    writing.locator("summary").click()
    expect(writing.get_by_label("Arguments")).to_contain_text('"table"')
    if AXE.is_file():
        assert violations(page) == []


def test_an_administrator_approves_a_tool_of_an_mcp_server(
    browser: Browser, model: ScriptedModel, tmp_path: Path
) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        "server = MCPServer('weather')\n"
        "@server.tool()\n"
        "def forecast(city: str) -> str:\n"
        '    "The forecast of a city."\n'
        "    return 'sunny'\n"
        "server.run()\n"
    )
    config = tmp_path / "mcp.json"
    config.write_text(
        f'{{"mcpServers": {{"weather": {{"transport": "stdio", "command": "{sys.executable}",'
        f' "args": ["{script}"], "description": "Weather of cities"}}}}}}'
    )
    settings = {**model_settings(model), "KAI_MCP__CONFIG": str(config)}
    with (
        running_server(tmp_path / "data", settings) as server,
        browser.new_context(base_url=server.address) as context,
    ):
        page = context.new_page()
        page.goto("/tools")
        offered = page.locator(".entry", has=page.get_by_role("heading", name="weather"))
        expect(offered).to_contain_text("Connected", ignore_case=True)
        expect(offered).to_contain_text("waits for an administrator")
        offered.get_by_role("button", name="Approve forecast as it is now").click()
        expect(offered).to_contain_text("approved, asks first")
        expect(page.locator(".tool", has=page.get_by_text("weather__forecast"))).to_contain_text("leaves KAI")
