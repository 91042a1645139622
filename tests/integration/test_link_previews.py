"""Previews of links: what programs without a sign-in read of them, and when they read nothing."""

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.support.boards import BoardKai, kai_with_boards


@pytest.fixture
async def kai(tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards({}, tmp_path) as opened:
        yield opened


async def tags(kai: BoardKai, link: str) -> dict[str, str]:
    """The tags of the page of a link, as a program without a sign-in reads them."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=kai.app), base_url="http://localhost"
    ) as crawler:
        text = (await crawler.get(f"/shared/{link}")).text
    found = re.findall(r'<meta property="([^"]+)" content="([^"]*)"', text)
    return {name: unescape(content) for name, content in found}


async def linked(kai: BoardKai, kind: str, thing: str, **more: object) -> str:
    return str((await kai.call("POST", "/links", 201, kind=kind, target_id=thing, **more))["id"])


async def test_a_link_with_a_preview_has_title_headline_and_picture(kai: BoardKai) -> None:
    answer = await kai.answer(question='Customers <per> "country"')
    link = await linked(kai, "answer", answer, preview=True)
    found = await tags(kai, link)
    assert found["og:title"] == 'Customers <per> "country"'
    assert "Norway" in found["og:description"]
    assert found["og:image"] == f"http://localhost/shared/{link}/preview.png"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=kai.app)) as crawler:
        picture = await crawler.get(found["og:image"])
        again = await crawler.get(found["og:image"], headers={"If-None-Match": picture.headers["ETag"]})
    assert picture.content.startswith(b"\x89PNG")
    assert picture.headers["Cache-Control"] == "public, max-age=300"
    assert again.status_code == 304
    await kai.call("DELETE", f"/links/{link}", 204)
    assert await tags(kai, link) == {}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=kai.app)) as crawler:
        assert (await crawler.get(found["og:image"])).status_code == 404


async def test_a_link_without_a_preview_says_nothing_of_what_it_shows(kai: BoardKai) -> None:
    link = await linked(kai, "answer", await kai.answer())
    assert await tags(kai, link) == {}
    assert await tags(kai, "01970000-0000-7000-8000-000000000000") == {}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=kai.app), base_url="http://localhost"
    ) as crawler:
        assert (await crawler.get(f"/shared/{link}/preview.png")).status_code == 404


async def test_the_preview_of_a_session_or_a_board_is_its_latest_answer_or_first_chart(kai: BoardKai) -> None:
    board = await kai.board()
    pin = await kai.pinned(board, await kai.answer())
    session = await tags(kai, await linked(kai, "session", pin["session_id"], preview=True))
    shown = await tags(kai, await linked(kai, "board", board, preview=True))
    assert "Norway" in session["og:description"]
    assert shown["og:title"] == "Weekly"
    assert {"og:image"} <= session.keys() & shown.keys()
