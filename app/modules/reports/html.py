"""Reports as one HTML file that opens from disk: no script, no request, and every text escaped."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from app.modules.analysis.chart.pictures import description_of, heading_of, notes_of
from app.modules.analysis.chart.plan import Spec
from app.modules.reports.cells import cell_text, moment
from app.modules.reports.model import Exchange, OwnText, Report
from app.modules.session.footnotes import footnotes, marked

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NUMBERS = ("integer", "number")
_TAG = re.compile(r'<\w(?:[^">]|"[^"]*")*>')
_ID = re.compile(r'( id="|="url\(#|href="#)')
_STYLE = """
:root{color-scheme:light;--ink:#1b1b1f;--quiet:#5b5b66;--line:#d9d9e0;--soft:#f6f6f8}
*{box-sizing:border-box}
body{margin:0;background:#fff;color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:924px;margin:0 auto;padding:40px 20px 80px}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 6px;overflow-wrap:anywhere}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 8px;overflow-wrap:anywhere}
h3{font-size:1rem;margin:16px 0 4px}
section{border-top:1px solid var(--line);margin-top:32px;padding-top:24px}
p,ul,ol,blockquote{margin:8px 0;overflow-wrap:anywhere}
a{color:#1a56c4}
.quiet,dl,figcaption{color:var(--quiet);font-size:.875rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;margin:12px 0 0}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}
.note{border-left:3px solid var(--quiet);padding-left:12px}
figure{margin:16px 0}
svg{display:block}
.drawing{overflow-x:auto}
.chart-title{font-weight:600;margin:0 0 8px}
.rows{overflow-x:auto;max-height:560px;overflow-y:auto;margin:16px 0 6px;border:1px solid var(--line)}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:5px 10px;text-align:left;border-bottom:1px solid var(--line);white-space:pre-wrap;
vertical-align:top;overflow-wrap:break-word;max-width:32em}
thead th{background:var(--soft);position:sticky;top:0}
.number{text-align:right;white-space:nowrap}
details{margin:12px 0}summary{cursor:pointer;padding:4px 0;font-weight:600;font-size:.875rem}
pre{background:var(--soft);padding:12px;overflow-x:auto;font:13px/1.5 ui-monospace,monospace;margin:4px 0;
white-space:pre-wrap;overflow-wrap:anywhere}
@media print{main{max-width:none;padding:0}section{break-inside:auto}figure,tr,dl{break-inside:avoid}
h2{break-after:avoid}.rows{max-height:none;overflow:visible;border:0}details{display:block}
.drawing{overflow:visible}svg{max-width:100%;height:auto}
thead{display:table-header-group}}
"""
_HASH = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"


def html_of(report: Report) -> str:
    body = "".join(_parts(report))
    title = escape(report.title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n<style>{_STYLE}</style>\n'
        f'</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p class="quiet">Made {moment(report.made_at)} by KAI. '
        f"The figures are those of the times given with each answer.</p>\n{body}</main>\n</body>\n</html>\n"
    )


def table_html(exchange: Exchange) -> str:
    numeric = [column["type"] in _NUMBERS for column in exchange.columns]
    head = "".join(
        f'<th scope="col"{_number_class(is_number)}>{escape(column["name"]) or "&nbsp;"}</th>'
        for column, is_number in zip(exchange.columns, numeric, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{_number_class(is_number)}>{escape(cell_text(cell))}</td>"
            for cell, is_number in zip(row, numeric, strict=True)
        )
        + "</tr>\n"
        for row in exchange.rows
    )
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _parts(report: Report) -> Iterator[str]:
    for number, part in enumerate(report.parts, start=1):
        if isinstance(part, OwnText):
            yield f"<section>{_rendered(part.markdown, _parser(), 'h2')}</section>\n"
        else:
            yield f"<section>{''.join(_exchange(part, number))}</section>\n"


def _exchange(exchange: Exchange, number: int) -> Iterator[str]:
    yield f"<h2>{escape(exchange.heading)}</h2>\n"
    if exchange.note:
        yield f'<p class="note">{escape(exchange.note)}</p>\n'
    yield _rendered(marked(exchange.text, exchange.references), _parser_without_links(), "h3")
    if exchange.references:
        notes = "<br>".join(map(escape, footnotes(exchange.references)))
        yield f'<p class="quiet">{notes}</p>\n'
    if exchange.chart is not None and (exchange.picture or exchange.undrawn):
        yield _figure(exchange, exchange.chart, number)
    if exchange.columns:
        label = escape(f"Rows of {exchange.heading}", quote=True)
        table = table_html(exchange)
        yield f'<div class="rows" role="region" tabindex="0" aria-label="{label}">{table}</div>\n'
        yield f'<p class="quiet">{escape(exchange.coverage)}</p>\n'
    if exchange.sql:
        yield (f"<details><summary>SQL</summary><pre><code>{escape(exchange.sql)}</code></pre></details>\n")
    yield _provenance(exchange)


def _provenance(exchange: Exchange) -> str:
    dialect = f" ({exchange.dialect})" if exchange.dialect else ""
    said: Sequence[tuple[str, str]] = (
        ("Question", exchange.question),
        ("Understood as", exchange.explanation),
        ("Database", f"{exchange.database}{dialect}"),
        ("Answered", moment(exchange.at)),
    )
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(text)}</dd>' for name, text in said if text)}</dl>\n"


def _figure(exchange: Exchange, chart: Spec, number: int) -> str:
    if exchange.undrawn:
        return f'<p class="note">{escape(exchange.undrawn)}</p>\n'
    label = escape(f"Chart of {exchange.heading}. {description_of(chart)}", quote=True)
    heading = heading_of(chart)
    title = f'<p class="chart-title">{escape(heading)}</p>' if heading else ""
    picture = _prefix_ids(exchange.picture, f"chart-{number}-")
    drawing = f'<div class="drawing" role="region" tabindex="0" aria-label="{label}">{picture}</div>'
    return f"<figure>{title}{drawing}<figcaption>{escape(notes_of(chart))}</figcaption></figure>\n"


def _prefix_ids(svg: str, prefix: str) -> str:
    """Several processes may have drawn the pictures of a file, each with the same ids."""
    return _TAG.sub(lambda tag: _ID.sub(rf"\1{prefix}", tag[0]), svg)


def _rendered(markdown: str, parser: "MarkdownIt", heading: str) -> str:
    """HTML of Markdown, whose own HTML and images stay text. All headings are of one level."""
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = heading
        for child in token.children or ():
            _open_outside(child)
    return str(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415  (loads slowly, and reports are rare)

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


@cache
def _parser_without_links() -> "MarkdownIt":
    """For the text of a model, which may have put what it has read into an address."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (as above)

    off = ["image", "link", "autolink", "reference"]
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(off)


def _open_outside(token: "Token") -> None:
    """Links other than to the web become plain text."""
    if token.type == "link_open":
        if str(token.attrGet("href") or "").startswith(("http://", "https://", "mailto:")):
            token.attrSet("rel", "noreferrer noopener")
        else:
            token.attrs = {}


def _number_class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""
