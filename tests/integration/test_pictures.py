"""Charts as pictures: of answers and pins, by their routes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.boards import BoardKai, kai_with_boards


@pytest.fixture
async def kai(tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards({}, tmp_path) as opened:
        yield opened


async def path_of(kai: BoardKai, answer: str) -> str:
    (found,) = (await kai.http.get("/sessions", params={"limit": 1})).json()["items"]
    return f"/sessions/{found['id']}/messages/{answer}"


async def test_an_answers_chart_is_a_picture_with_a_tag(kai: BoardKai) -> None:
    path = await path_of(kai, await kai.answer())
    svg = await kai.http.get(f"{path}/chart.svg")
    assert (svg.status_code, svg.headers["Content-Type"]) == (200, "image/svg+xml")
    assert ">Norway<" in svg.text
    assert svg.headers["Cache-Control"] == "private, no-cache"
    same = await kai.http.get(f"{path}/chart.svg", headers={"If-None-Match": svg.headers["ETag"]})
    assert (same.status_code, same.content) == (304, b"")
    png = await kai.http.get(f"{path}/chart.png", params={"theme": "dark", "width": 400})
    assert (png.headers["Content-Type"], png.content[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert png.headers["ETag"] != svg.headers["ETag"]
    await kai.call("PATCH", path, chart_choice={"title": "Where they live"})
    changed = await kai.http.get(f"{path}/chart.svg", headers={"If-None-Match": svg.headers["ETag"]})
    assert (changed.status_code, "Where they live" in changed.text) == (200, True)


async def test_a_pins_chart_is_a_picture_too(kai: BoardKai) -> None:
    board = await kai.board()
    pin = await kai.pinned(board, await kai.answer())
    svg = await kai.http.get(f"/boards/{board}/pins/{pin['id']}/chart.svg")
    assert (svg.status_code, ">Japan<" in svg.text) == (200, True)


async def test_pictures_of_others_and_of_answers_without_a_chart_are_not_found(kai: BoardKai) -> None:
    plain = await path_of(kai, await kai.answer("SELECT 1 AS one", "One"))
    drawn = await path_of(kai, await kai.answer())
    assert (await kai.http.get(f"{plain}/chart.png")).status_code == 404
    assert (await kai.http.get(f"{drawn}/chart.gif")).status_code == 422
    assert (await kai.http.get(f"{drawn}/chart.svg", params={"width": 9})).status_code == 422
    kai.become("other")
    assert (await kai.http.get(f"{drawn}/chart.svg")).status_code == 404
