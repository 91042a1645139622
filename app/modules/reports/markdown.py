"""Reports as Markdown (CommonMark with tables)."""

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from app.modules.reports.cells import cell_text, moment
from app.modules.reports.model import Exchange, OwnText, Report

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$!&])")
_BACKTICKS = re.compile(r"`+")


def markdown_of(report: Report) -> str:
    parts = [f"# {plain(report.title)}", f"Made {moment(report.made_at)} by KAI."]
    for part in report.parts:
        parts += [without_html(part.markdown)] if isinstance(part, OwnText) else exchange_markdown(part)
    return "\n\n".join(each.strip("\n") for each in parts if each) + "\n"


def exchange_markdown(exchange: Exchange, *, with_sql: bool = True) -> Iterator[str]:
    yield f"## {plain(exchange.heading)}"
    yield provenance(exchange)
    yield plain(exchange.note)
    yield without_html(exchange.text)
    if exchange.columns:
        yield table_markdown(exchange)
        yield exchange.coverage
    if exchange.sql and with_sql:
        yield fenced(exchange.sql, "sql")


def provenance(exchange: Exchange) -> str:
    """The question as asked, how it was understood, the database, and the time."""
    lines = [f"Question: {plain(exchange.question)}"]
    if exchange.explanation:
        lines.append(f"Understood as: {plain(exchange.explanation)}")
    dialect = f" ({plain(exchange.dialect)})" if exchange.dialect else ""
    lines.append(f"Database: {plain(exchange.database)}{dialect}, answered {moment(exchange.at)}")
    return "  \n".join(lines)


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


def plain(text: JsonValue) -> str:
    """Text on one line without a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _row(cells: Sequence[str], *, escaped: bool = False) -> str:
    return "| " + " | ".join(cells if escaped else map(plain, cells)) + " |"
