"""Files of reports: HTML that sends no request, Markdown and notebooks, with hostile texts everywhere."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from markdown_it import MarkdownIt
from pydantic import JsonValue

from app.core.pictures import Pictures
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.reports.errors import NothingToReport
from app.modules.reports.html import html_of
from app.modules.reports.markdown import markdown_of
from app.modules.reports.model import MAX_CELLS, MAX_CHARACTERS, Exchange, OwnText, PartList, Report
from app.modules.reports.notebook import notebook_of
from app.modules.reports.words import ReportWords
from graph.state import Reference

HOSTILE = (
    "</td><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)> | `x` [a](javascript:1)"
)
CHART: dict[str, JsonValue] = {
    "title": {"text": "Revenue by month", "subtitle": ["Only the top 3 are drawn."]},
    "description": "Bars of revenue",
    "data": {"name": "rows", "values": [{"c0": HOSTILE, "c1": 3}, {"c0": "b", "c1": -1}]},
    "mark": {"type": "bar", "clip": True},
    "encoding": {
        "x": {"field": "c0", "type": "nominal", "title": HOSTILE},
        "y": {"field": "c1", "type": "quantitative", "title": "Sum"},
    },
    "usermeta": {"kai": {"rows": 300, "shown": 2, "how": ["Only the top 3 are drawn."]}},
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
    chart={**CHART, "title": HOSTILE, "description": HOSTILE},
    note=HOSTILE,
)


ENGLISH = ReportWords("en", ZoneInfo("UTC"))


def report(*parts: Exchange | OwnText) -> Report:
    return Report(title="Sales in May", made_at=1_780_000_000_000, parts=parts, words=ENGLISH)


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
    assert "The first 2 of 300 rows." in statement["outputs"][1]["data"]["text/plain"]
    assert len({each["id"] for each in notebook["cells"]}) == len(notebook["cells"])
    evil = json.loads(notebook_of(report(EVIL)))
    for cell in evil["cells"]:
        for output in cell.get("outputs", []):
            check_harmless(output["data"].get("text/html", ""))


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


@pytest_asyncio.fixture
async def drawn() -> AsyncIterator[Callable[[Exchange, str], Awaitable[Exchange]]]:
    """Gives an exchange its picture, as the service does."""
    process = Pictures()
    pictures = ChartPictures(process)

    async def draw(exchange: Exchange, picture: str) -> Exchange:
        assert exchange.chart is not None
        if picture == "svg":
            return replace(exchange, picture=await pictures.inline_svg(exchange.chart))
        return replace(exchange, picture=b64encode(await pictures.png(exchange.chart)).decode())

    yield draw
    await process.close()


Draw = Callable[[Exchange, str], Awaitable[Exchange]]


async def test_a_page_has_its_charts_inline_with_titles_and_notes_as_text(drawn: Draw) -> None:
    text = html_of(report(await drawn(EXCHANGE, "svg"), await drawn(EVIL, "svg")))
    assert text.count("<svg") == 2
    check_harmless(text)
    assert '<p class="chart-title">Revenue by month</p>' in text
    assert "<figcaption>Only the top 3 are drawn.</figcaption>" in text
    ids = [str(each["id"]) for _, each in Seen(text).elements if "id" in each]
    assert len(ids) == len(set(ids)) >= 2
    assert set(re.findall(r"url\(#([^)]*)\)", text)) == set(ids)


async def test_a_notebook_has_the_specification_and_a_picture_of_it(drawn: Draw) -> None:
    notebook = json.loads(notebook_of(report(await drawn(EXCHANGE, "png"))))
    (statement,) = [each for each in notebook["cells"] if each["source"].startswith("%%sql")]
    data = statement["outputs"][0]["data"]
    assert data["application/vnd.vegalite.v6+json"]["data"] == CHART["data"]
    assert b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == "Bars of revenue"


async def test_markdown_holds_its_pictures(drawn: Draw) -> None:
    text = markdown_of(report(await drawn(EVIL, "png")))
    (picture,) = re.findall(r"data:image/png;base64,([^)]+)\)", text)
    assert b64decode(picture).startswith(b"\x89PNG")
    elements = Seen(MarkdownIt("commonmark", {"html": True}).render(text)).elements
    assert not {tag for tag, _ in elements} & {"script", "a", "iframe"}


def test_every_format_says_why_a_chart_is_not_drawn() -> None:
    failed = report(replace(EXCHANGE, undrawn="The chart has too much data for a picture."))
    for text in (html_of(failed), markdown_of(failed), notebook_of(failed)):
        assert "too much data for a picture" in text
    assert "<svg" not in html_of(failed)


def test_a_report_is_written_in_its_language_and_time_zone() -> None:
    words = ReportWords("de", ZoneInfo("Europe/Berlin"))
    german = replace(report(replace(EXCHANGE, row_count=1_300)), words=words)
    for text in (html_of(german), markdown_of(german)):
        assert "Erstellt am 28. Mai 2026, 22:26" in text
        assert "Die ersten 2 von 1.300 Zeilen. Nur die ersten 1.300 Zeilen sind behalten" in text
        for name in ("Frage", "Verstanden als", "Datenbank", "Beantwortet"):
            assert name in text
        for english in ("Made", "Question", "Understood", "Database", "Answered", "Rows of", "Chart of"):
            assert english not in text
    assert '<html lang="de">' in html_of(german)
