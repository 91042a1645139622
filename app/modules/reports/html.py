"""Reports as one HTML file that opens from disk: no script, no request, and every text escaped."""

import hashlib
import re
from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.modules.analysis.chart.pictures import description_of, heading_of, notes_of
from app.modules.reports.cells import cell_text
from app.modules.reports.model import Exchange, Report
from app.modules.session.footnotes import footnotes, marked

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NUMBERS = ("integer", "number")
_TAG = re.compile(r'<\w(?:[^">]|"[^"]*")*>')
_ID = re.compile(r'( id="|="url\(#|href="#)')
_STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
_HASH = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"


def html_of(report: Report) -> str:
    return _environment().get_template("report.html.jinja").render(report=report, words=report.words) + "\n"


def table_html(exchange: Exchange) -> str:
    return _environment().get_template("table.html.jinja").render(part=exchange)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_escaped,
    )
    environment.globals |= {"policy": _POLICY, "style": _STYLE}
    environment.filters |= {
        "analysis": lambda part: _rendered(marked(part.text, part.references), _parser_without_links(), "h3"),
        "cell_text": cell_text,
        "description": description_of,
        "footnotes": footnotes,
        "heading": heading_of,
        "notes": notes_of,
        "numeric": lambda part: [column["type"] in _NUMBERS for column in part.columns],
        "own_text": lambda part: _rendered(part.markdown, _parser(), "h2"),
        "prefix_ids": _prefix_ids,
        "zip": zip,
    }
    return environment


def _escaped(value: object) -> Markup:
    """Returns what a template shows as HTML, unless it is HTML."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704


def _prefix_ids(svg: str, prefix: str) -> Markup:
    """Several processes may have drawn the pictures of a file, each with the same ids."""
    return Markup(_TAG.sub(lambda tag: _ID.sub(rf"\1{prefix}", tag[0]), svg))  # noqa: S704 (of our own drawing)


def _rendered(markdown: str, parser: "MarkdownIt", heading: str) -> Markup:
    """HTML of Markdown, whose own HTML and images stay text. All headings are of one level."""
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = heading
        for child in token.children or ():
            _open_outside(child)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 (escaped by the parser)


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
