"""Reports as Jupyter notebooks, with the statements as cells that run by JupySQL."""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from app.modules.analysis.chart.pictures import SPEC_MEDIA_TYPE, description_of, portable_spec
from app.modules.analysis.chart.plan import Spec
from app.modules.reports.html import table_html
from app.modules.reports.markdown import exchange_markdown, fenced, markdown_of, without_html
from app.modules.reports.model import Exchange, OwnText, Report
from app.modules.reports.words import ReportWords

_SETUP = (
    "# pip install jupysql, and the driver of your database\n"
    "%load_ext sql\n"
    "# Connect by its URL, such as: %sql postgresql://user@host/database"
)


def notebook_of(report: Report) -> str:
    """JSON of version 4.5 of the format. Statements hold no address and no password."""
    head = Report(title=report.title, made_at=report.made_at, parts=[], words=report.words)
    cells = [_markdown(markdown_of(head)), _code(_SETUP, [])]
    for part in report.parts:
        cells += (
            [_markdown(without_html(part.markdown))]
            if isinstance(part, OwnText)
            else _cells(part, report.words)
        )
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": numbered,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cells(exchange: Exchange, words: ReportWords) -> Iterator[dict[str, JsonValue]]:
    about, *rest = exchange_markdown(exchange, words, with_sql=False, with_chart=False)
    text = [about, *(rest[:4] if exchange.columns else rest)]
    yield _markdown("\n\n".join(filter(None, text)))
    if exchange.sql is None:
        return
    shown: list[JsonValue] = []
    if exchange.chart is not None:
        shown.append(_output(_chart(exchange, exchange.chart)))
    if exchange.columns:
        coverage = exchange.coverage(words)
        html = f"{table_html(exchange)}<p>{coverage}</p>"
        shown.append(_output({"text/html": html, "text/plain": coverage}))
    if not exchange.columns or _has_magic(exchange.sql):  # without a result it may be one that was refused
        yield _markdown(fenced(exchange.sql, "sql"))
        return
    yield _code(f"%%sql\n{exchange.sql}", shown)


def _chart(exchange: Exchange, chart: Spec) -> dict[str, JsonValue]:
    """The specification for those who read it, and a picture for the others."""
    if not exchange.picture:
        return {SPEC_MEDIA_TYPE: portable_spec(chart), "text/plain": exchange.undrawn}
    return {
        SPEC_MEDIA_TYPE: portable_spec(chart),
        "image/png": exchange.picture,
        "text/plain": description_of(chart),
    }


def _output(data: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"output_type": "display_data", "metadata": {}, "data": data}


def _has_magic(sql: str) -> bool:
    """JupySQL expands `{{name}}` and reads a first line that begins with a dash as options."""
    return "{{" in sql or "{%" in sql or sql.lstrip().startswith("--")


def _markdown(text: str) -> dict[str, JsonValue]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip("\n")}


def _code(source: str, outputs: list[JsonValue]) -> dict[str, JsonValue]:
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "source": source,
        "outputs": outputs,
    }
