"""An extension whose only tool has an effect that a second run repeats: it adds a line to a file."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from app.extending import Arguments, Registrar, ToolContext, ToolResult, tool

VARIABLE = "BOOKINGS_FILE"
"""The variable that names the file."""
POINT = "[kai.tools]\nbookings = tests.support.booking_tool:register\n"

on_effect: list[Callable[[str], None]] = []
"""Called with "before" and "after" each effect."""


class Booking(Arguments):
    """What to book."""

    n: int
    """Any number."""
    waits_for: str = ""
    """A file for which the call waits after its effect."""


async def book(given: Booking, context: ToolContext) -> ToolResult:
    _call("before")
    _write(given.n)
    _call("after")
    while not _may_end(given):  # noqa: ASYNC110  (another process makes the file)
        await asyncio.sleep(0.02)
    return ToolResult(text=f"booked {given.n}")


def _may_end(given: Booking) -> bool:
    return not given.waits_for or Path(given.waits_for).exists()


def _write(n: int) -> None:
    with Path(os.environ[VARIABLE]).open("a") as bookings:
        bookings.write(f"{n}\n")


def register(registrar: Registrar) -> None:
    registrar.register(
        tool(
            "book",
            toolset="bookings",
            category="extension",
            description="Book a number.",
            arguments=Booking,
            run=book,
        )
    )


def install(folder: Path) -> None:
    """Make the extension one of those that are found if the folder is in the path of modules."""
    package = folder / "kai_bookings-0.1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: kai-bookings\nVersion: 0.1\n")
    (package / "entry_points.txt").write_text(POINT)


def _call(when: str) -> None:
    for each in on_effect:
        each(when)
