"""Files of reports: HTML that sends no request, Markdown and notebooks, with hostile texts everywhere."""

import json
import re
from dataclasses import asdict, replace
from datetime import date, timedelta
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pytest
from markdown_it import MarkdownIt
from pydantic import JsonValue

from app.modules.analysis.computed import ChartOption, ComputedChart, computed_or_refused
from app.modules.reports.charts.given import read_chart
from app.modules.reports.charts.model import MARKS, Chart, Mark, Numbers
from app.modules.reports.charts.shown import needs_all_rows, shown_chart
from app.modules.reports.drawing import draw_figure
from app.modules.reports.errors import NothingToReport
from app.modules.reports.html import html_of
from app.modules.reports.markdown import markdown_of
from app.modules.reports.model import MAX_CELLS, MAX_CHARACTERS, Exchange, OwnText, PartList, Report
from app.modules.reports.notebook import notebook_of
from app.modules.run.records import Row
from graph.state import Column, Reference, Rows

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
CHART_READ = cast("Chart", read_chart(CHART))
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
    chart=CHART_READ,
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
    chart=replace(CHART_READ, heading=HOSTILE, numbers=Numbers(unit=HOSTILE)),
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


GOLDEN = json.loads(Path("ui/src/conversation/chart/golden/charts.json").read_text())
"""Charts of the page: its own tests hold them to what it draws."""


def made(case: dict[str, Any]) -> Chart | None:
    computed = case["computed"] and ComputedChart.model_validate(case["computed"])
    return shown_chart(case["proposed"], computed, case["choice"], **GOLDEN["tables"][case["table"]])


@pytest.mark.parametrize("case", GOLDEN["charts"], ids=lambda case: case["says"])
def test_a_report_has_the_points_words_and_numbers_of_the_pages_chart(case: dict[str, Any]) -> None:
    chart = cast("Chart", made(case))
    figure = draw_figure(chart, 1)
    assert figure is not None
    assert figure.notes == case["notes"]
    found = json.loads(json.dumps(asdict(chart)))
    expected = case["shown"]
    assert {**found, "data": None} == {**expected, "data": None}
    assert len(found["data"]) == len(expected["data"])
    for point, other in zip(found["data"], expected["data"], strict=True):
        assert point.keys() == other.keys()
        for name, cell in other.items():
            is_amount = isinstance(cell, float) and isinstance(point[name], float)
            assert point[name] == (pytest.approx(cell, rel=1e-12) if is_amount else cell)


def test_every_mark_is_drawn_with_the_title_unit_and_format_of_the_reader() -> None:
    drawn: dict[str, str] = {}
    for case in GOLDEN["charts"]:
        chart = cast("Chart", made(case))
        figure = draw_figure(chart, 1)
        assert figure is not None, case["says"]
        assert figure.title == chart.heading
        drawn[chart.mark] = figure.svg
        if chart.numbers.unit and chart.mark != "percent":
            assert chart.numbers.unit in figure.svg, case["says"]
    assert set(drawn) == set(MARKS)
    assert drawn["heat"].count("<rect") > drawn["combo"].count("<rect") > 0
    assert 'class="line"' in drawn["combo"]
    assert 'class="slice"' in drawn["arc"]
    assert ">50%<" in drawn["percent"]
    assert ">120%<" not in drawn["percent"]
    assert 'class="area"' not in drawn["line"]
    assert 'fill="none"' in drawn["line"]


def test_three_thousand_days_are_weeks() -> None:
    days = [date(2016, 1, 4) + timedelta(days=each) for each in range(3_000)]
    columns: list[Column] = [{"name": "day", "type": "date"}, {"name": "orders", "type": "integer"}]
    chart = shown_chart(
        None,
        None,
        {"values": [{"column": 1, "how": "sum"}]},
        columns=columns,
        rows=[[day.isoformat(), 1] for day in days],
    )
    assert chart is not None
    assert (len(chart.data), sum(int(str(each["v0"]).removesuffix(".0")) for each in chart.data)) == (
        429,
        3_000,
    )
    assert "one week of day" in chart.how


@pytest.mark.parametrize("value", [0, 5, -3, 1e-9, 1e15, 5e-324, 1e17, 1e300, 1.7e308])
@pytest.mark.parametrize("mark", MARKS)
def test_values_of_any_size_are_drawn(mark: Mark, value: float) -> None:
    for values in ([value], [value, -value, 1]):
        rows: list[Row] = [[f"P{at}", each, "x"] for at, each in enumerate(values)]
        columns: list[Column] = [{"name": "c", "type": kind} for kind in ("text", "number", "text")]
        chart = shown_chart(None, None, {"mark": mark}, columns=columns, rows=rows)
        figure = draw_figure(chart, 1)
        if figure is not None:
            assert not re.search(r'"[^"]*\b(nan|inf)\b', figure.svg)


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


def test_without_its_rows_a_report_says_that_another_chart_was_chosen() -> None:
    columns: list[Column] = [{"name": "a", "type": "text"}, {"name": "b", "type": "number"}]
    assert not needs_all_rows(CHART, {"mark": "line", "title": "Sums"}, 2)
    assert needs_all_rows(CHART, {"mark": "heat"}, 2)
    chart = shown_chart(CHART, None, {"mark": "heat"}, columns=columns, rows=None)
    assert chart is not None
    assert chart.how.startswith("Only the top 3 are drawn. The chart that was chosen needs all rows")


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
        computed = computed_or_refused(
            rows, option, None, sql="SELECT month, revenue FROM t", dialect="sqlite", today=date(2026, 6, 1)
        )
        chart = shown_chart(None, computed, None, columns=rows["columns"], rows=months)
        figure = draw_figure(chart, 1)
        assert figure is not None
        drawn[kind] = figure
    assert drawn["projection"].svg.count('class="band"') == 1
    assert "Projection of 3 months by" in drawn["projection"].notes
    assert ">1%<" in drawn["change"].svg


def test_every_format_says_how_each_statement_was_computed() -> None:
    how = f"total of {HOSTILE}"
    reference = Reference(
        key="total", span=[0, 12], result_id=None, how=how, value="12.5", cells=[], cell_count=2
    )
    known = report(replace(EXCHANGE, references=[reference]))
    page = html_of(known)
    check_harmless(page)
    assert f"¹ total of {escape(HOSTILE)}: 12.5" in page
    assert "It <strong>grew</strong>.\u202f¹" in page
    written = markdown_of(known)
    assert "It **grew**.\u202f¹\n\n¹ total of " in written
    notebook = json.loads(notebook_of(known))
    assert any("¹ total of " in each["source"] for each in notebook["cells"])
