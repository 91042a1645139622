"""Strip the Markdown of an analysis, and map each character back to its original place."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import islice

MAX_CHARACTERS = 20_000
"""The text after this many characters is not read; a usual analysis has 120 words."""

MAX_NUMBERS = 600
"""The text after the sentence with this many numbers is not read."""

_LONGEST = 500
_MARKUP = re.compile(r"\\([\\`*_\[\]<>#|~!&])|\*\*|__|[*`]")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_ENDS = re.compile(r"\n+|[.!?…](?=[)\]\"'”»]?\s)[)\]\"'”»]?\s*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:vs|approx|ca|bzw|resp|e\.g|i\.e|z\.\s?b|mr|mrs|ms|dr|st|no|nr|inc|ltd|"
    r"co|corp|mio|mrd|tsd|jan|feb|"
    r"mar|apr|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez)|(?<![\d.,])\d{1,2})$",
    re.IGNORECASE,
)
_MONTH_NEXT = re.compile(
    r"(?:jan|feb|mär|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|quartal|platz)", re.IGNORECASE
)


@dataclass(frozen=True)
class Plain:
    """A text without markup; `bold` are spans in it.

    The two lists of starts hold matching offsets in the plain and the original text, one for each piece
    between markup.
    """

    text: str
    bold: list[tuple[int, int]]
    _plain_starts: list[int] = field(repr=False)
    _original_starts: list[int] = field(repr=False)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Map a non-empty span of the plain text to a span of the original text."""
        return self._original(start), self._original(end - 1) + 1

    def _original(self, at: int) -> int:
        piece = bisect_right(self._plain_starts, at) - 1
        return self._original_starts[piece] + at - self._plain_starts[piece]


def plain_text(markdown: str) -> Plain:
    """Strip the markup, in time linear in the length of the text."""
    markdown = _read(markdown[:MAX_CHARACTERS])
    pieces: list[str] = []
    plain_starts: list[int] = [0]
    original_starts: list[int] = [0]
    bold: list[tuple[int, int]] = []
    opened: int | None = None
    length = taken = 0
    for found in _MARKUP.finditer(markdown):
        mark = found.group()
        pieces.append(markdown[taken : found.start()])
        length += found.start() - taken
        taken = found.end()
        if found.group(1):
            taken -= 1
        elif mark in ("**", "__"):
            if opened is not None:
                bold.append((opened, length))
            opened = length if opened is None else None
        elif mark == "*" and _is_bullet(markdown, found.start()):
            taken = found.start()
            pieces.append("•")
            plain_starts.append(length)
            original_starts.append(taken)
            length, taken = length + 1, taken + 1
        plain_starts.append(length)
        original_starts.append(taken)
    pieces.append(markdown[taken:])
    return Plain("".join(pieces), bold, plain_starts, _original_starts=original_starts)


def _read(markdown: str) -> str:
    last = next(islice(_FIGURE.finditer(markdown), MAX_NUMBERS, None), None)
    end = _ENDS.search(markdown, last.end()) if last is not None else None
    return markdown[: end.end()] if end is not None else markdown


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences and list items, in order."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ENDS.finditer(text):
        if not end.group().startswith("\n") and not _is_end(text, start, end):
            continue
        spans += _pieces(text, start, end.end())
        start = end.end()
    return [*spans, *_pieces(text, start, len(text))]


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span of a sentence, split at spaces into pieces of at most 500 characters; empty if blank."""
    spans: list[tuple[int, int]] = []
    while end - start > _LONGEST:
        cut = text.rfind(" ", start, start + _LONGEST) + 1
        cut = cut if cut > start else start + _LONGEST
        spans.append((start, cut))
        start = cut
    return [*spans, (start, end)] if text[start:end].strip() else spans


def _is_end(text: str, start: int, end: re.Match[str]) -> bool:
    after = text[end.end() : end.end() + 12]
    if end.group()[0] != ".":
        return True
    before = text[max(start, end.start() - 12) : end.start()]
    found = _ABBREVIATION.search(before)
    if found is None:
        return True
    if found.group().isdigit():
        # "3. März" and the "1." of a list do not end a sentence; "grew to 12. Tents" does.
        numbering = not text[start : end.start() - len(found.group())].strip(" •-\t")
        return not numbering and _MONTH_NEXT.match(after) is None
    return False


def _is_bullet(text: str, at: int) -> bool:
    line_start = text.rfind("\n", 0, at) + 1
    return not text[line_start:at].strip() and text[at + 1 : at + 2] in (" ", "\t")
