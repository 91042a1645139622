"""Sizes and words of the pictures of charts."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from app.core.pictures import Pictures
from app.modules.analysis.chart.countries import read_world
from app.modules.analysis.chart.pictures import (
    ChartPictures,
    heading_of,
    notes_of,
    picture_tag,
    portable_spec,
    replace_width,
)
from app.modules.analysis.chart.plan import Spec

BARS: Spec = {
    "title": {"text": "Revenue by month", "subtitle": ["No rows: May.", "June is not whole."]},
    "data": {"name": "rows", "values": [{"c0": "a", "c1": 1}, {"c0": "b", "c1": 2}]},
    "mark": "bar",
    "encoding": {"y": {"field": "c0", "type": "nominal"}, "x": {"field": "c1", "type": "quantitative"}},
    "width": 880,
    "height": 100,
    "autosize": {"type": "fit", "contains": "padding"},
    "usermeta": {"kai": {"how": ["No rows: May.", "June is not whole."]}},
}


@pytest_asyncio.fixture
async def pictures() -> AsyncIterator[ChartPictures]:
    process = Pictures()
    yield ChartPictures(process)
    await process.close()


def size_of(svg: str) -> tuple[float, float]:
    found = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    assert found is not None
    return float(found[1]), float(found[2])


async def test_a_file_has_room_for_its_margin_title_and_notes(pictures: ChartPictures) -> None:
    assert size_of(await pictures.svg(BARS)) == (880, 100 + 2 * 16 + 27 + 2 * 15)
    inline = await pictures.inline_svg(BARS)
    assert size_of(inline) == (880, 108)
    assert "Revenue by month" not in inline


async def test_long_notes_and_titles_go_on_in_a_next_line_of_a_narrow_file(pictures: ChartPictures) -> None:
    note = "December 2025 is not over: its data goes up to 10 December 2025."
    long: Spec = {**BARS, "title": {"text": "Revenue and number of orders by month", "subtitle": [note]}}
    wide, narrow = [await pictures.svg(long, width=each) for each in (880, 240)]
    assert f">{note}<" in wide
    assert f">{note}<" not in narrow
    assert size_of(narrow)[1] == size_of(wide)[1] + 16 + 15


async def test_a_theme_has_its_own_ground(pictures: ChartPictures) -> None:
    light, dark = [await pictures.svg(BARS, theme=each) for each in ("light", "dark")]
    grounds = [re.search(r'<rect width="\d+" height="\d+" fill="([^"]+)"', each) for each in (light, dark)]
    assert all(grounds)
    assert len({found[1] for found in grounds if found}) == 2


def test_another_width_reaches_every_view_that_spans_the_picture() -> None:
    views: Spec = {"vconcat": [{"width": 880}, {"layer": [{"width": 880}, {"width": 60}]}], "width": 880}
    assert replace_width(views, 400) == {
        "vconcat": [{"width": 400}, {"layer": [{"width": 400}, {"width": 60}]}],
        "width": 400,
    }
    assert replace_width({"mark": "bar"}, 400) == {"mark": "bar", "width": 400}
    assert replace_width({"hconcat": []}, 400) == {"hconcat": []}


@pytest.mark.parametrize(
    ("spec", "heading", "notes"),
    [
        (BARS, "Revenue by month", "No rows: May. June is not whole."),
        ({"title": "Old", "usermeta": {"kai": {"how": "One sentence."}}}, "Old", "One sentence."),
        ({}, "", ""),
    ],
)
def test_titles_and_notes_are_read_from_new_and_old_charts(spec: Spec, heading: str, notes: str) -> None:
    assert (heading_of(spec), notes_of(spec)) == (heading, notes)


def test_a_tag_changes_with_the_chart_and_how_it_is_drawn() -> None:
    tags = {picture_tag(BARS, "svg"), picture_tag(BARS, "png"), picture_tag({**BARS, "height": 9}, "svg")}
    assert len(tags) == 3
    assert picture_tag({**BARS}, "svg") in tags


def test_a_notebook_needs_no_theme_of_kai() -> None:
    portable = portable_spec(BARS)
    assert {"$schema", "config", "data"} <= portable.keys()
    assert "kai-answer" in str(portable["config"])
    shown_as_map: Spec = {**BARS, "usermeta": {"kai": {"mark": "map"}}}
    assert "datasets" not in portable
    assert portable_spec(shown_as_map)["datasets"] == {"world": read_world()}
