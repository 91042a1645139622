"""Remove contradicted claims from a text, and list them with the values of the rows."""

import re
from collections.abc import Sequence

from app.modules.analysis.claims.plain import plain_text, sentences
from graph.state import Claim

_MOST_NAMED = 8
_LONGEST = 160
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")
_ITEM_START = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?[*_`]*$")
_HEADING = "**Left out, because the rows say otherwise:** "


def contradicted(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim["status"] == "contradicted"]


def in_first_sentence(text: str, claims: Sequence[Claim]) -> list[Claim]:
    """The claims in the same sentence as the first claim, which must be the earliest."""
    first = claims[0]["span"][0]
    end = next((end for _, end in _sentences(text) if end > first), len(text))
    return [claim for claim in claims if claim["span"][0] < end]


def struck(text: str, claims: Sequence[Claim]) -> str:
    """The text without the sentences and list items that hold these claims."""
    spans = [each["span"] for each in claims]
    kept: list[str] = []
    reached = 0
    for start, end in _sentences(text):
        if any(start < stop and begin < end for begin, stop in spans):
            kept.append(text[reached:start])
            reached = end
    kept.append(text[reached:])
    lines = [_balanced(line) for line in "".join(kept).splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def with_closing_line(body: str, left_out: Sequence[Claim]) -> tuple[str, list[Claim]]:
    """Append a line that names the removed claims; at most 8 are quoted.

    Returns the text, and the quoted claims with their spans in it.
    """
    line = f"{body}\n\n{_HEADING}"
    named = list[Claim]()
    for claim in left_out[:_MOST_NAMED]:
        quoted = _escaped(claim["text"])
        line += ("; " if named else "") + "“"
        named.append({**claim, "text": quoted, "span": [len(line), len(line) + len(quoted)]})
        source = claim["from"]
        line += quoted + "”" + (f" ({_escaped(source['how'])})" if source is not None else "")
    more = len(left_out) - len(named)
    return f"{line}{f'; and {more} more' if more > 0 else ''}.", named


def _sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences in the original text, including list marks and markup at their edges."""
    plain = plain_text(text)
    found: list[tuple[int, int]] = []
    for first, last in sentences(plain.text):
        start, end = plain.original(first, last)
        line_start = max(text.rfind("\n", 0, start) + 1, found[-1][1] if found else 0)
        marks = _ITEM_START.fullmatch(text[line_start:start])
        closing = None if text[end - 1].isspace() else re.match(r"[*_`]*", text[end : end + 4])
        found.append((line_start if marks else start, end + (closing.end() if closing else 0)))
    return found


def _balanced(line: str) -> str:
    """The line without its bold marks if one of a pair was removed."""
    return line.replace("**", "") if line.count("**") % 2 else line


def _escaped(text: str) -> str:
    line = " ".join(text.replace("\\", "").split())
    return _SPECIAL.sub(r"\\\1", line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
