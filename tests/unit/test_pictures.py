"""Pictures of specifications: real drawings, and what happens to those that take too long."""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import JsonValue

from app.core import pictures
from app.core.pictures import NoPicture, Pictures, PicturesBusy

PNG = b"\x89PNG\r\n\x1a\n"
SLOW: dict[str, JsonValue] = {
    "data": {"sequence": {"start": 0, "stop": 1_000_000}},
    "mark": "bar",
    "encoding": {"x": {"field": "data", "type": "quantitative"}},
}


def bars(values: int = 3, **more: JsonValue) -> dict[str, JsonValue]:
    return {
        "data": {"name": "rows", "values": [{"c0": f"Café {n}", "c1": n} for n in range(values)]},
        "mark": "bar",
        "width": 300,
        "height": 200,
        "encoding": {
            "y": {"field": "c0", "type": "nominal"},
            "x": {"field": "c1", "type": "quantitative"},
        },
        **more,
    }


@pytest_asyncio.fixture
async def drawing() -> AsyncIterator[Pictures]:
    found = Pictures()
    yield found
    await found.close()


async def test_a_specification_becomes_a_picture_with_its_texts(drawing: Pictures) -> None:
    svg = await drawing.svg(bars(), {"bar": {"color": "#123456"}})
    assert svg.startswith("<svg")
    assert re.search(">Café 2<", svg)
    assert "#123456" in svg
    assert (await drawing.png(bars(), {})).startswith(PNG)


async def test_texts_are_drawn_where_the_machine_has_no_font(drawing: Pictures) -> None:
    named = await drawing.png(bars(title="Umsätze nach Café"), {"font": "Inter Variable, sans-serif"})
    assert len(named) > len(await drawing.png(bars(), {"font": "Inter Variable, sans-serif"}))


async def test_one_process_draws_all_pictures(drawing: Pictures) -> None:
    await drawing.svg(bars(), {})
    first = drawing.process_id
    await drawing.svg(bars(4), {})
    assert drawing.process_id == first is not None


async def test_a_picture_that_takes_too_long_is_ended_and_the_next_one_is_drawn() -> None:
    drawing = Pictures(seconds=5)
    with pytest.raises(NoPicture, match=r"more than 5 seconds|memory"):
        await drawing.svg(SLOW, {})
    assert (await drawing.svg(bars(), {})).startswith("<svg")
    await drawing.close()


async def test_a_picture_of_too_much_memory_is_refused_and_the_next_one_is_drawn(drawing: Pictures) -> None:
    await drawing.svg(bars(), {})
    with pytest.raises(NoPicture):
        await drawing.png(bars(width=90_000, height=90_000), {})
    with pytest.raises(NoPicture, match=r"memory|seconds"):
        await drawing.svg({**SLOW, "data": {"sequence": {"start": 0, "stop": 3e7}}}, {})
    assert (await drawing.svg(bars(), {})).startswith("<svg")


async def test_a_killed_process_is_replaced_unseen(drawing: Pictures) -> None:
    await drawing.svg(bars(), {})
    killed = drawing.process_id
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert (await drawing.svg(bars(), {})).startswith("<svg")
    assert drawing.process_id != killed


async def test_the_loop_goes_on_while_a_picture_is_drawn(drawing: Pictures) -> None:
    drawn = asyncio.create_task(drawing.png(bars(500), {}))
    longest = 0.0
    while not drawn.done():
        begun = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - begun)
    assert (await drawn).startswith(PNG)
    assert longest < 0.5


async def test_many_at_once_wait_and_too_many_are_refused(
    drawing: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "_MOST_WAITING", 5)
    found = await asyncio.gather(*(drawing.svg(bars(), {}) for _ in range(8)), return_exceptions=True)
    assert len([each for each in found if isinstance(each, str)]) == 5
    assert len([each for each in found if isinstance(each, PicturesBusy)]) == 3


async def test_a_caller_that_goes_leaves_no_answer_to_the_next_one(drawing: Pictures) -> None:
    await drawing.svg(bars(), {})
    gone = asyncio.create_task(drawing.svg(bars(1_500), {}))
    await asyncio.sleep(0.05)
    gone.cancel()
    assert "Café 7" not in await drawing.svg(bars(3), {})


@pytest.mark.parametrize(
    "part",
    [
        {"data": {"url": "file:///etc/passwd"}},
        {"data": {"url": "http://127.0.0.1:9/x.json"}},
        {"layer": [{"mark": "image", "encoding": {"url": {"value": "/etc/passwd"}}}]},
        {"mark": {"type": "image"}},
        {"encoding": {"href": {"value": "javascript:alert(1)"}}},
        {"transform": [{"lookup": "a", "from": {"data": {"url": "x.csv"}, "key": "a"}}]},
    ],
)
async def test_nothing_outside_of_the_specification_is_opened(
    drawing: Pictures, part: dict[str, JsonValue]
) -> None:
    with pytest.raises(NoPicture, match="an address or an image"):
        await drawing.svg({**bars(), **part}, {})


async def test_what_is_no_chart_is_refused_with_a_reason(drawing: Pictures) -> None:
    with pytest.raises(NoPicture, match="cannot be drawn"):
        await drawing.svg({"mark": "no such mark"}, {})
    with pytest.raises(NoPicture, match="too much data"):
        await drawing.svg(bars(250_000), {})
    assert (await drawing.svg(bars(), {})).startswith("<svg")
