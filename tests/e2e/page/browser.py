"""Debian's Chromium, driven as a reader's browser would be."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The shell has no windows to draw, which takes half of the processor time."""
_QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
_ALONE = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
_REFUSED = "Failed to load resource"
"""What Chromium says of any answer that is an error; tests of refusals expect them."""


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*_QUIET, *_ALONE])
        yield browser
        browser.close()


class Watched:
    """What a page must never do: ask another origin for anything, break its policy, or raise an error.

    Pages of `others`, which people visit meanwhile, may.
    """

    def __init__(self, context: BrowserContext, address: str, *others: str) -> None:
        self.faults: list[str] = []
        self._allowed = (address, "data:", f"blob:{address}", *others)
        self._others = others
        context.on("request", self._on_request)
        context.on("console", self._on_console)
        context.on("weberror", lambda raised: self.faults.append(f"error: {raised.error}"))

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(self._allowed):
            self.faults.append(f"asked {request.url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        quiet = message.text.startswith(_REFUSED) or str(message.location["url"]).startswith(self._others)
        if message.type in ("error", "warning") and not quiet:
            self.faults.append(f"said {message.text}")


def ask(page: Page, question: str) -> None:
    """Write a question and send it."""
    field = page.get_by_label("Your question")
    field.fill(question)
    field.press("Enter")


def eventually(met: Callable[[], bool]) -> None:
    """Ask again and again, at most a minute, for what a page does after it was left or drawn."""
    end = time.monotonic() + 60
    while not met():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.02)


def expect_width(page: Page, width: int) -> None:
    """What is drawn has got as narrow as the window: parts that measure themselves follow a frame later."""
    eventually(lambda: bool(page.evaluate("document.documentElement.scrollWidth") == width))
