"""Files of reports: HTML that sends no request, Markdown and notebooks, with hostile texts everywhere."""

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt
from pydantic import JsonValue

from app.modules.analysis.computed import ChartOption, computed_or_refused
from app.modules.reports.chosen import drawn_chart
from app.modules.reports.errors import NothingToReport
from app.modules.reports.figure import draw_figure
from app.modules.reports.html import html_of
from app.modules.reports.markdown import markdown_of
from app.modules.reports.model import MAX_CELLS, MAX_CHARACTERS, Exchange, OwnText, PartList, Report
from app.modules.reports.notebook import notebook_of
from graph.state import Column, Rows

HOSTILE = (
    "</td><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)> | `x` [a](javascript:1)"
)
CHART: dict[str, JsonValue] = {
    "data": {"values": [{"c0": HOSTILE, "c1": 3}, {"c0": "b", "c1": -1}, {"c0": "c", "c1": None}]},
    "mark": {"type": "bar"},
    "encoding": {
        "x": {"field": "c0", "type": "nominal", "title": HOSTILE},
        "y": {"field": "c1", "type": "quantitative", "title": "Sum"},
    },
    "usermeta": {"kai": {"rows": 300, "shown": 3, "how": "Only the top 3 are drawn."}},
}
EXCHANGE = Exchange(
    heading="Revenue per month",
    question="Revenue per month?",
    explanation="Revenue is the sum of amounts.",
    text="It **grew**.",
    sql="SELECT month, revenue FROM sales",
    dialect="duckdb",
    database="Shop",
    columns=[{"name": "month", "type": "date"}, {"name": "revenue", "type": "number"}],
    rows=[["2026-01-01", 12.5], ["2026-02-01", None]],
    row_count=300,
    truncated=True,
    cut_by="rows",
    chart=CHART,
    at=1_780_000_000_000,
)
EVIL = replace(
    EXCHANGE,
    heading=HOSTILE,
    question=HOSTILE,
    explanation=HOSTILE,
    text=f"# {HOSTILE}\n\n![x](http://evil.example/y.png) <iframe src=x></iframe> [go](javascript:alert(1))",
    sql=f"SELECT '{HOSTILE}' -- ```\n",
    dialect=HOSTILE,
    database=HOSTILE,
    columns=[{"name": HOSTILE, "type": "text"}],
    rows=[[HOSTILE], [{"a": HOSTILE}], ["=cmd|x"]],
    note=HOSTILE,
)


def report(*parts: Exchange | OwnText) -> Report:
    return Report(title="Sales in May", made_at=1_780_000_000_000, parts=parts)


class Seen(HTMLParser):
    """Elements of a page, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def check_harmless(text: str) -> None:
    for tag, attributes in Seen(text).elements:
        assert tag not in {"script", "img", "iframe", "object", "embed", "link", "form", "base", "video"}
        assert not {name for name in attributes if name.startswith("on") or name in {"src", "style"}}
        assert not str(attributes.get("href", "")).startswith("javascript:")


def test_a_report_has_its_parts_in_order_and_says_which_rows_it_shows() -> None:
    text = html_of(report(OwnText("## Summary\n\nAll is *well*."), EXCHANGE))
    assert text.index("Summary") < text.index("Revenue per month")
    assert "The first 2 of 300 rows. Only the first 300 rows are kept" in text
    assert "Only the top 3 are drawn." in text
    assert "<svg" in text
    assert "SELECT month, revenue FROM sales" in text
    assert "28 May 2026" in text


def test_no_text_of_a_report_becomes_markup() -> None:
    text = html_of(report(OwnText(HOSTILE), EVIL))
    check_harmless(text)
    assert 'http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;' in text


def test_headings_have_one_order_whatever_the_texts_say() -> None:
    text = html_of(report(OwnText("#### Deep\n\n# High"), replace(EXCHANGE, text="###### Six")))
    assert re.findall(r"<(h\d)", text) == ["h1", "h2", "h2", "h2", "h3"]


def test_markdown_keeps_hostile_cells_in_their_cells_and_code_in_its_block() -> None:
    text = markdown_of(report(EVIL))
    check_harmless(
        MarkdownIt("commonmark", {"html": True}).enable("table").render(text.replace(EVIL.text, ""))
    )
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    assert rendered.count("<tr>") == 1 + len(EVIL.rows)
    assert rendered.count("<td>") == len(EVIL.rows)
    assert "````sql" in text


def test_a_notebook_has_statements_as_cells_and_rows_as_their_outputs() -> None:
    notebook = json.loads(notebook_of(report(OwnText("Why?"), EXCHANGE)))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    (statement,) = [each for each in notebook["cells"] if each["source"].startswith("%%sql")]
    assert statement["source"] == "%%sql\nSELECT month, revenue FROM sales"
    assert "The first 2 of 300 rows." in statement["outputs"][0]["data"]["text/plain"]
    assert len({each["id"] for each in notebook["cells"]}) == len(notebook["cells"])
    evil = json.loads(notebook_of(report(EVIL)))
    for cell in evil["cells"]:
        for output in cell.get("outputs", []):
            check_harmless(output["data"]["text/html"])


@pytest.mark.parametrize("mark", ["bar", "line", "point", "arc"])
def test_every_mark_of_kai_is_drawn(mark: str) -> None:
    encoding: dict[str, JsonValue] = {
        "x": {"field": "c0", "type": "temporal", "title": "Day"},
        "y": {"field": "c1", "type": "quantitative", "title": "Sum"},
        "color": {"field": "c2", "type": "nominal", "title": "Kind"},
    }
    if mark == "arc":
        encoding = {"theta": encoding["y"], "color": encoding["x"]}
    values: list[JsonValue] = [
        {"c0": f"2026-01-{day:02d}", "c1": day * 1.5, "c2": "a" if day % 2 else "b"} for day in range(1, 9)
    ]
    figure = draw_figure({"data": {"values": values}, "mark": {"type": mark}, "encoding": encoding}, 1)
    assert figure is not None
    assert figure.description == "Sum by Day"
    assert {"bar": "<rect", "arc": "<rect", "line": "<polyline", "point": "<circle"}[mark] in figure.svg


@pytest.mark.parametrize("value", [0, 5, -3, 1e-9, 1e15, 5e-324, 1e17, 1e300])
def test_a_single_value_of_any_size_is_drawn(value: float) -> None:
    for mark in ("bar", "line", "point"):
        data: JsonValue = {"values": [{"c0": "x", "c1": value}]}
        figure = draw_figure({**CHART, "data": data, "mark": {"type": mark}}, 1)
        assert figure is not None
        assert "nan" not in figure.svg


def test_values_whose_distance_is_no_number_are_not_drawn() -> None:
    data: JsonValue = {
        "values": [{"c0": "a", "c1": 1.7e308}, {"c0": "b", "c1": -1.7e308}, {"c0": "c", "c1": 1}]
    }
    for mark in ("bar", "line", "point"):
        figure = draw_figure({**CHART, "data": data, "mark": {"type": mark}}, 1)
        assert figure is not None
        assert "inf" not in figure.svg


def test_no_format_makes_a_link_of_what_a_model_wrote() -> None:
    links = (
        "[go](http://evil.example/?q=secret) [a][r] <https://evil.example/b> HTTP://evil.example/c "
        "\\[go](http://evil.example/d) www.evil.example/e [r] ![x](http://evil.example/f)\n\n"
        "[r]: http://evil.example/r"
    )
    evil = report(replace(EXCHANGE, text=links))
    notebook = json.loads(notebook_of(evil))
    for text in (markdown_of(evil), "\n\n".join(each["source"] for each in notebook["cells"][2:])):
        assert not re.search(r"https?://|www\.", text, re.IGNORECASE)
        rendered = MarkdownIt("commonmark", {"html": True}).render(text)
        assert not {tag for tag, _ in Seen(rendered).elements} & {"a", "img"}
        assert "[go](http://evil.example/?q=secret)" in rendered
    page = html_of(report(OwnText("[mine](https://kai.example)"), replace(EXCHANGE, text=links)))
    assert [each["href"] for tag, each in Seen(page).elements if tag == "a"] == ["https://kai.example"]
    assert "[go](http://evil.example/?q=secret)" in page


def test_own_text_has_no_html_and_no_images_in_any_format() -> None:
    own = OwnText(f"{HOSTILE} ![x](http://evil.example/y.png)")
    notebook = json.loads(notebook_of(report(own)))
    for text in (markdown_of(report(own)), "\n\n".join(each["source"] for each in notebook["cells"][2:])):
        rendered = MarkdownIt("commonmark", {"html": True}).render(text)
        assert not {tag for tag, _ in Seen(rendered).elements} & {"script", "img", "td"}


def test_a_statement_without_a_result_is_no_cell_that_runs() -> None:
    refused = replace(EXCHANGE, sql="DELETE FROM sales", columns=[], rows=[], note="KAI only reads.")
    notebook = json.loads(notebook_of(report(refused)))
    assert [each["cell_type"] for each in notebook["cells"][2:]] == ["markdown", "markdown"]
    assert "DELETE FROM sales" in notebook["cells"][-1]["source"]


def test_a_report_is_refused_as_soon_as_its_texts_or_cells_are_too_many() -> None:
    parts = PartList()
    wide = replace(EXCHANGE, rows=[["x" * (MAX_CHARACTERS // 2), 1]])
    parts.add(wide)
    with pytest.raises(NothingToReport, match="characters"):
        parts.add(wide)
    with pytest.raises(NothingToReport, match="cells"):
        PartList().add(replace(EXCHANGE, rows=[["x", 1]] * (MAX_CELLS // 2 + 1)))


def test_a_report_draws_the_mark_that_was_chosen_or_says_that_it_cannot() -> None:
    assert drawn_chart(CHART, None, None) == CHART
    chosen = drawn_chart(CHART, None, {"mark": "area", "title": "Sums"})
    assert chosen is not None
    assert "<polyline" in str(
        draw_figure({**chosen, "data": {"values": [{"c0": n, "c1": n} for n in (1, 2)]}}, 1)
    )
    others: list[dict[str, JsonValue]] = [{"mark": "heat"}, {"values": [{"column": 1}]}, {"mark": 7}]
    for choice in others:
        figure = draw_figure(drawn_chart(CHART, None, choice), 1)
        assert figure is not None
        said = "On the page another chart was chosen; this is the one that KAI proposed."
        assert list(figure.notes) == [f"Only the top 3 are drawn. {said}"]


def test_a_report_makes_a_built_chart_again_of_all_rows() -> None:
    columns: list[Column] = [
        {"name": "day", "type": "date"},
        {"name": "region", "type": "text"},
        {"name": "units", "type": "integer"},
    ]
    rows: list[list[JsonValue]] = [
        [f"2026-{month:02}-{day:02}", region, month]
        for month in (2, 1)
        for day in (1, 2)
        for region in ("north", "south")
    ]
    expected: dict[str, list[Any]] = {
        '{"across": 1, "values": [{"column": 2, "how": "sum"}]}': [("north", 6, None), ("south", 6, None)],
        '{"across": 1, "values": [{"column": 2}], "mark": "bar"}': [
            ("north", 1.5, None),
            ("south", 1.5, None),
        ],
        '{"time": "month", "values": [{"column": 2, "how": "sum"}], "mark": "area"}': [
            ("2026-01-01", 4, None),
            ("2026-02-01", 8, None),
        ],
        '{"across": 1, "series": 0, "values": [{"column": 2, "how": "sum"}], "time": "month"}': [
            *(("north", month, f"2026-{month:02}-{day:02}") for month in (2, 1) for day in (1, 2)),
            *(("south", month, f"2026-{month:02}-{day:02}") for month in (2, 1) for day in (1, 2)),
        ],
        '{"mark": "histogram", "values": [{"column": 2}]}': [4, 4],
    }
    for choice, points in expected.items():
        made = drawn_chart(None, None, json.loads(choice), columns=columns, rows=rows)
        assert made is not None
        data: Any = made["data"]
        found = [(each["a0"], each["v0"], each.get("s0")) for each in data["values"]]
        if "histogram" in choice:
            found = [value for _, value, _ in found if value]
        assert sorted(found) == sorted(points), choice
        assert draw_figure(made, 1) is not None
    parts = '{"mark": "percent", "across": 1, "series": 0, "values": [{"column": 2, "how": "sum"}]}'
    figure = draw_figure(drawn_chart(None, None, json.loads(parts), columns=columns, rows=rows), 1)
    assert figure is not None
    assert "100%" in figure.svg
    assert figure.svg.count(" part") == 8
    hostile: list[dict[str, JsonValue]] = [
        {"across": 99, "values": [{"column": -1}, 7]},
        {"across": True, "series": "x", "time": 5, "sort": []},
    ]
    for each in hostile:
        assert drawn_chart(None, None, each, columns=columns, rows=rows) is not None
    assert drawn_chart(None, None, {"mark": "heat", "across": 1}, columns=columns, rows=rows) is None


def test_a_projection_is_drawn_with_its_band_and_a_change_in_percent() -> None:
    months: list[list[JsonValue]] = [[f"2025-{month:02}", 100 + month % 3] for month in range(1, 13)]
    rows = Rows(
        columns=[{"name": "month", "type": "text"}, {"name": "revenue", "type": "number"}],
        rows=months,
        row_count=12,
        truncated=False,
        cut_by=None,
    )
    drawn = {}
    for kind in ("projection", "change"):
        option = ChartOption.model_validate({"kind": kind, "across": 0, "value": 1})
        computed = computed_or_refused(rows, option, None, today=date(2026, 6, 1))
        figure = draw_figure(drawn_chart(CHART, computed, {"mark": "heat"}), 1)
        assert figure is not None
        drawn[kind] = figure
    assert drawn["projection"].svg.count("<polygon") == 1
    assert "Projection of 3 months by" in drawn["projection"].notes[0]
    assert "+1.0%" in drawn["change"].svg
