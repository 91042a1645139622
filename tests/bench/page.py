"""Measures the built page: from a chunk's arrival or a key to its paint, and memory after many exchanges.

Run by hand: `.venv/bin/python -m tests.bench.page`.
"""

import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.e2e.conftest import model_settings
from tests.e2e.page.browser import ask, running_browser
from tests.e2e.test_turn import sql
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.server import running_server
from tests.support.shop import make_shop

EXCHANGES = 200
TYPED_AT = 30
"""Exchanges of the session in which keys are measured."""
TOKENS = 300
_ARRIVALS = """
window.delays = [];
const read = ReadableStreamDefaultReader.prototype.read;
ReadableStreamDefaultReader.prototype.read = async function () {
  const result = await read.call(this);
  const arrived = performance.now();
  const painted = new MessageChannel();
  painted.port1.onmessage = () => window.delays.push(performance.now() - arrived);
  requestAnimationFrame(() => painted.port2.postMessage(0));
  return result;
};
"""

_KEYS = """
window.keys = [];
document.addEventListener("keydown", ({ timeStamp }) => {
  const painted = new MessageChannel();
  painted.port1.onmessage = () => window.keys.push(performance.now() - timeStamp);
  requestAnimationFrame(() => painted.port2.postMessage(0));
}, true);
"""


def main() -> None:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        model = opened.enter_context(scripted_model())
        server = opened.enter_context(running_server(folder / "data", model_settings(model), folder / "log"))
        browser = opened.enter_context(running_browser())
        session = session_of(f"{server.address}/api/v1", make_shop(folder / "shop.db"))
        page = browser.new_page(base_url=server.address)
        page.add_init_script(_ARRIVALS)
        page.goto(f"/sessions/{session}", wait_until="networkidle")
        measure_paint(page, model)
        measure_memory(page, model)


def session_of(address: str, database: Path) -> str:
    with httpx.Client(base_url=address, timeout=60) as api:
        body = {"url": f"sqlite:///{database}", "name": "Shop"}
        connection = api.post("/database-connections", json=body).json()["id"]
        return str(api.post("/sessions", json={"db_connection_id": connection}).json()["id"])


def measure_paint(page: Page, model: ScriptedModel) -> None:
    model.say(sql("SELECT 1 AS n"), Scripted("a **word** and more " * (TOKENS // 4), delay_seconds=0.01))
    ask(page, "Something long")
    expect(page.locator(".answer-actions")).to_have_count(1, timeout=60_000)
    delays = sorted(page.evaluate("window.delays"))
    median, p95 = statistics.median(delays), delays[int(len(delays) * 0.95)]
    print(f"chunk to paint: median {median:.1f} ms, p95 {p95:.1f} ms, {len(delays)} reads")


def measure_memory(page: Page, model: ScriptedModel) -> None:
    model.rule("SQL writer", sql("SELECT id, name FROM customers UNION ALL SELECT 9, 'x'"))
    model.rule("## Statements", FIRST)
    print(f"heap after 1 exchange: {heap_mib(page):.1f} MiB")
    for number in range(2, EXCHANGES + 1):
        ask(page, f"Question {number}")
        expect(page.locator(".answer-actions")).to_have_count(number)
        if number == TYPED_AT:
            measure_keys(page)
        if number % 100 == 0:
            elements = page.evaluate("document.querySelectorAll('*').length")
            print(f"heap after {number} exchanges: {heap_mib(page):.1f} MiB, {elements} elements")


def measure_keys(page: Page) -> None:
    """Prints the time from a key to the frame that shows it."""
    page.evaluate(_KEYS)
    field = page.get_by_label("Your question")
    field.press_sequentially("How many customers are there per country, and what did they spend?", delay=60)
    delays = sorted(page.evaluate("window.keys"))
    median, p95 = statistics.median(delays), delays[int(len(delays) * 0.95)]
    exchanges = page.locator(".answer-actions").count()
    print(f"key to paint after {exchanges} exchanges: median {median:.1f} ms, p95 {p95:.1f} ms")


def heap_mib(page: Page) -> float:
    cdp = page.context.new_cdp_session(page)
    cdp.send("HeapProfiler.collectGarbage")
    size = cdp.send("Runtime.getHeapUsage")["usedSize"]
    cdp.detach()
    return float(size) / 2**20


if __name__ == "__main__":
    main()
