"""Takes the pictures of the documents: `make screenshots`. The sample business, read without a model.

Before they are committed, reduce them to 128 colours, which takes a third of the space. `ask.webp`,
at most 1 MB, is made of screenshots of a question by hand.
"""

import tempfile
from datetime import date
from pathlib import Path
from typing import Literal

import httpx
from playwright.sync_api import Browser, Page
from pydantic import JsonValue

from app.sample_data.build import build_sample
from tests.e2e.page.browser import running_browser
from tests.support.server import Server, running_server

IMAGES = Path(__file__).parents[3] / "docs" / "images"
SAMPLE_DAY = date(2026, 6, 30)
WIDE, PHONE = (1280, 900), (360, 740)
FACTS: list[dict[str, JsonValue]] = [
    {"kind": "terminology", "scope": "workspace", "text": "Churn means no order for 90 days."},
    {"kind": "decision", "scope": "workspace", "text": "Revenue is net of returns.", "about": ["orders"]},
    {"kind": "preference", "scope": "user", "text": "Months as 2026-03, amounts without cents."},
]
QUESTIONS = ["Revenue per month", "How many customers per segment?", "Top 5 products by revenue"]


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_browser() as browser:
        build_sample(Path(folder) / "sample.db", SAMPLE_DAY)
        with running_server(Path(folder)) as server:
            sessions = [asked(server, folder, question) for question in QUESTIONS]
            take(browser, server, sessions)


def asked(server: Server, folder: str, question: str) -> str:
    """A session with one answered question; its id."""
    with httpx.Client(base_url=f"{server.address}/api/v1", timeout=60) as api:
        connections = api.get("/database-connections").json()["items"]
        if not connections:
            body = {"url": f"sqlite:///{folder}/sample.db", "name": "Sample business"}
            connections = [api.post("/database-connections", json=body).json()]
        body = {"db_connection_id": connections[0]["id"]}
        session = str(api.post("/sessions", json=body).json()["id"])
        api.post(f"/sessions/{session}/query/stream", json={"query": question})
        return session


def take(browser: Browser, server: Server, sessions: list[str]) -> None:
    months, segments, products = (f"/sessions/{session}" for session in sessions)
    page = opened(browser, server, months, ".chart-canvas svg")
    shoot(page, "answer")
    page.get_by_role("tab", name="Table").click()
    page.locator(".grid-row").first.wait_for()
    shoot(page, "table")
    page.get_by_role("button", name="How was this made?").click()
    page.locator(".made-checks").wait_for()
    shoot(page, "made")
    shoot(opened(browser, server, products, ".chart-canvas svg", colors="dark"), "answer-dark")
    shoot(opened(browser, server, segments, ".chart-canvas svg", size=PHONE), "phone")
    remembered(browser, server)


def remembered(browser: Browser, server: Server) -> None:
    with httpx.Client(base_url=f"{server.address}/api/v1", timeout=60) as api:
        connection = api.get("/database-connections").json()["items"][0]["id"]
        for fact in FACTS:
            place = {} if fact["scope"] == "user" else {"db_connection_id": str(connection)}
            api.post("/memory/facts", json={**fact, **place}).raise_for_status()
    shoot(opened(browser, server, "/memory", ".fact-group"), "memory")


def opened(
    browser: Browser,
    server: Server,
    path: str,
    ready: str,
    size: tuple[int, int] = WIDE,
    colors: Literal["light", "dark"] = "light",
) -> Page:
    context = browser.new_context(
        base_url=server.address,
        color_scheme=colors,
        locale="en-GB",
        reduced_motion="reduce",
        viewport={"width": size[0], "height": size[1]},
    )
    page = context.new_page()
    page.goto(path, wait_until="networkidle")
    page.locator(ready).first.wait_for()
    return page


def shoot(page: Page, name: str) -> None:
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
