"""KAI with a scripted model, and a browser to read it with."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app.web.page import STATIC
from tests.e2e.conftest import model_settings
from tests.e2e.page.browser import CHROMIUM, Watched, running_browser
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Server, running_server

MANY_ROWS = 100_000
OTHER_SITE = "http://localhost:3000"
"""A page of others, which may ask KAI. Nothing listens there: tests give the answers."""
expect.set_options(timeout=60_000)


@pytest.fixture(scope="package", autouse=True)
def _needs() -> None:
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    if not (STATIC / "index.html").is_file():
        pytest.fail("the page is not built; `make ui` builds it")


@pytest.fixture(scope="package")
def browser(_needs: None) -> Iterator[Browser]:
    with running_browser() as running:
        yield running


@pytest.fixture(scope="package")
def page_server(tmp_path_factory: pytest.TempPathFactory, model_of_all: ScriptedModel) -> Iterator[Server]:
    settings = {
        **model_settings(model_of_all),
        "KAI_LIMITS__RESULT_ROWS": str(MANY_ROWS),
        "KAI_CORS_ORIGINS": OTHER_SITE,
    }
    with running_server(tmp_path_factory.mktemp("page"), settings) as server:
        yield server


@pytest.fixture
def api(page_server: Server, model_of_all: ScriptedModel) -> Iterator[httpx.Client]:
    """An HTTP client of the page's server; no run of the test outlives it."""
    with httpx.Client(base_url=f"{page_server.address}/api/v1", timeout=100) as client:
        yield client
        model_of_all.release()
        deadline = time.monotonic() + 60
        while client.get("/sessions", params={"status": "processing"}).json()["items"]:
            assert time.monotonic() < deadline, "a run goes on"
            time.sleep(0.05)


@pytest.fixture(scope="package")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a database with a hundred thousand measurements."""
    path: Path = tmp_path_factory.mktemp("many") / "many.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE measurements (id INTEGER PRIMARY KEY, taken DATE, celsius NUMERIC, note TEXT)"
        )
        rows = (
            (n, f"2025-{n % 12 + 1:02}-{n % 28 + 1:02}", n % 400 / 10, None if n % 7 else f"note {n}")
            for n in range(MANY_ROWS)
        )
        connection.executemany("INSERT INTO measurements VALUES (?, ?, ?, ?)", rows)
    return f"sqlite:///{path}"


@pytest.fixture
def connection(api: httpx.Client, shop: str) -> str:
    """The small shop, connected under the name Shop; its id."""
    return connected(api, shop, "Shop")


def connected(api: httpx.Client, url: str, name: str) -> str:
    answer = api.post("/database-connections", json={"url": url, "name": name})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
def session(api: httpx.Client, connection: str) -> str:
    return opened(api, connection)


def opened(api: httpx.Client, connection_id: str) -> str:
    """The id of a session without questions."""
    answer = api.post("/sessions", json={"db_connection_id": connection_id})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
def context(browser: Browser, page_server: Server) -> Iterator[BrowserContext]:
    """A reader's browser; whatever the test did, the page stayed on its origin and raised no error."""
    with browser.new_context(
        base_url=page_server.address, locale="en-GB", timezone_id="Europe/Zurich"
    ) as opened:
        opened.set_default_timeout(60_000)
        watched = Watched(opened, page_server.address)
        yield opened
        assert watched.faults == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
