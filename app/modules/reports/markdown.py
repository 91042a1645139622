"""Reports as Markdown (CommonMark with tables)."""

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from app.modules.analysis.chart.pictures import heading_of, notes_of
from app.modules.reports.cells import cell_text
from app.modules.reports.model import Exchange, OwnText, Report
from app.modules.reports.words import ReportWords
from app.modules.session.footnotes import footnotes, marked

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$!&])")
_LINK = re.compile(r"\][(:]|\b(?:https?|ftp):/(?=/)|\bwww\.", re.IGNORECASE)
"""What begins the address of a link or of a reference, or an address that some readers make a link."""
_BACKTICKS = re.compile(r"`+")


def markdown_of(report: Report) -> str:
    words = report.words
    parts = [f"# {plain(report.title)}", words.say("made", time=words.moment(report.made_at))]
    for part in report.parts:
        parts += (
            [without_html(part.markdown)] if isinstance(part, OwnText) else exchange_markdown(part, words)
        )
    return "\n\n".join(each.strip("\n") for each in parts if each) + "\n"


def exchange_markdown(
    exchange: Exchange, words: ReportWords, *, with_sql: bool = True, with_chart: bool = True
) -> Iterator[str]:
    yield f"## {plain(exchange.heading)}"
    yield _provenance(exchange, words)
    yield plain(exchange.note)
    yield without_links(marked(exchange.text, exchange.references))
    yield "  \n".join(map(plain, footnotes(exchange.references)))
    if with_chart:
        yield _chart(exchange, words)
    if exchange.columns:
        yield table_markdown(exchange)
        yield exchange.coverage(words)
    if exchange.sql and with_sql:
        yield fenced(exchange.sql, "sql")


def _chart(exchange: Exchange, words: ReportWords) -> str:
    """The picture within the file, and its notes; or why there is none."""
    if exchange.chart is None or not exchange.picture:
        return plain(exchange.undrawn)
    name = plain(heading_of(exchange.chart) or words.say("chart"))
    image = f"![{name}](data:image/png;base64,{exchange.picture})"
    return f"{image}\n\n{plain(notes_of(exchange.chart))}".strip()


def _provenance(exchange: Exchange, words: ReportWords) -> str:
    return "  \n".join(f"{name}: {plain(text)}" for name, text in exchange.provenance(words))


def table_markdown(exchange: Exchange) -> str:
    names = [column["name"] for column in exchange.columns]
    lines = [_row(names), _row(["---"] * len(names), escaped=True)]
    lines += [_row([cell_text(cell) for cell in row]) for row in exchange.rows]
    return "\n".join(lines)


def fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def without_html(markdown: str) -> str:
    """Markdown of a model or a person. Its HTML and images become text, as a reader of the file may not check
    them.
    """
    return markdown.replace("<", "&lt;").replace("![", "!\\[")


def without_links(markdown: str) -> str:
    """Markdown of a model, whose links become text, too: it may have put what it has read into an address."""
    return _LINK.sub(_escaped, without_html(markdown))


def _escaped(found: re.Match[str]) -> str:
    """Returns the begin of a link with a backslash before its last character."""
    return f"{found[0][:-1]}\\{found[0][-1]}"


def plain(text: JsonValue) -> str:
    """Text on one line without a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _row(cells: Sequence[str], *, escaped: bool = False) -> str:
    return "| " + " | ".join(cells if escaped else map(plain, cells)) + " |"
