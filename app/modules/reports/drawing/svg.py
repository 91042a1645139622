"""SVG elements as text, and the width of letters, estimated so that it is the same everywhere."""

import re
from collections.abc import Sequence
from html import escape

WIDTH = 780
INK, MUTED, LINE, SURFACE = "#1b1f23", "#5b636b", "#e3e3dd", "#ffffff"
ACCENT = "#0f8b8d"
COLORS = ("#0f8b8d", "#c05926", "#7761e0", "#838fce", "#21a64d", "#a55057", "#d62e82", "#a441a4", "#90987c")
"""Those of the page, which differ for every kind of colour vision."""
MANY_SERIES = 5
"""With so many series or more, dashes tell lines apart, too."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "12 4", "4 2 1 2 1 2", "1 2", "10 2 4 2", "3 4")
_FONT_SIZE = 12
_EM = (
    (re.compile(r"[ilj.,:;'|!I]"), 0.3),
    (re.compile(r"[ ()\[\]{}ftr/\\\"-]"), 0.4),
    (re.compile(r"[mwMW@%…—]"), 0.95),
    (re.compile(r"[A-Z0-9&]"), 0.68),
    (re.compile("[\u0020-\u024f]"), 0.6),
)


def element(tag: str, content: str = "", /, **attributes: float | str | None) -> str:
    """An element. Names of attributes have `_` for `-`; those that are None or empty are left out."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_written(value)}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{tag}{named}>{content}</{tag}>" if content else f"<{tag}{named}/>"


def text(content: str, x: float, y: float, /, **attributes: float | str | None) -> str:
    return element("text", escape(content), x=x, y=y, **attributes)


def line(start: tuple[float, float], end: tuple[float, float], stroke: str) -> str:
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], stroke=stroke)


def path(points: Sequence[tuple[float, float]]) -> str:
    """Straight lines through points, as data of a path."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def color_of(at: int, count: int) -> str:
    """The colour of a series; a single one has that of the page's accent."""
    return ACCENT if count == 1 else COLORS[at % len(COLORS)]


def dash_of(at: int, count: int) -> str:
    return "" if count < MANY_SERIES else _DASHES[at % len(_DASHES)]


def text_width(content: str) -> float:
    def em(letter: str) -> float:
        return next((width for letters, width in _EM if letters.match(letter)), 1.05)

    return sum(map(em, content)) * _FONT_SIZE


def cut(content: str, most: float) -> str:
    """The text on one line, with an ellipsis where it is wider than `most`."""
    content = " ".join(content.split())
    if text_width(content) <= most:
        return content
    while len(content) > 1 and text_width(f"{content}…") > most:
        content = content[:-1]
    return f"{content.rstrip()}…"


def _written(value: float | str) -> str:
    return escape(value) if isinstance(value, str) else f"{round(value, 2):g}"
