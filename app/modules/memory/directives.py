"""Directives: facts that a user writes into a message, one a line (`kind: text`, `kind (scope): text`)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from app.modules.memory.model import FactKind
from app.modules.memory.scopes import Scope

MOST_DIRECTIVES = 3
"""Of one message. Further ones are not kept."""

DirectiveScope = Literal["session", "workspace", "user"]
_KINDS: dict[str, FactKind] = {kind: kind for kind in get_args(FactKind)}
_SCOPES: dict[str, DirectiveScope] = {scope: scope for scope in get_args(DirectiveScope)}

_DIRECTIVE = re.compile(
    rf"(?P<kind>{'|'.join(_KINDS)})[ \t]*"
    rf"(?:[(\uff08][ \t]*(?P<scope>{'|'.join(_SCOPES)})[ \t]*[)\uff09][ \t]*)?[:\uff1a](?P<text>.*)",
    re.IGNORECASE | re.ASCII,
)
"""Letters of other alphabets that look like ASCII ones begin no directive. Wide colons and brackets count as
the ASCII ones: keyboards of Chinese and Japanese write them."""

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)")
_QUOTATION = re.compile(
    r"""(?<!\w)"[^"]*"(?!\w)|(?<!\w)'[^'\n]*(?:\n[^'\n]+)*'(?!\w)|`[^`]*`"""
    "|\u201c[^\u201c\u201d]*\u201d|\u201e[^\u201c\u201d\u201e]*[\u201c\u201d]|\u2018[^\u2018\u2019]*\u2019(?!\\w)"
    "|\u00ab[^\u00ab\u00bb]*\u00bb|\u00bb[^\u00ab\u00bb]*\u00ab"
    "|\u300c[^\u300c\u300d]*\u300d|\u300e[^\u300e\u300f]*\u300f"
)
_SEPARATORS: Sequence[tuple[re.Pattern[str], int]] = (
    (re.compile(r"[|\u2502\u2503]"), 1),
    (re.compile(r";"), 2),
    (re.compile(r",(?=[^ \t])"), 2),
    (re.compile(r"\S {2,}(?=\S)"), 2),
)
"""What separates the columns of a pasted table, and how many a line has at least."""


@dataclass(frozen=True, kw_only=True)
class Directive:
    """A line of a message that is to be remembered. `line` counts the lines of the message from 0.

    `scope` is None if the line names none: then it is kept for the database of the session, the least lasting
    of `workspace` and `user`.
    """

    kind: FactKind
    scope: Scope | None
    text: str
    line: int


def directives_in(message: str) -> list[Directive]:
    """Returns the directives of a message in order, also those beyond `MOST_DIRECTIVES`.

    A directive begins its line. Lines of code, quotations and pasted tables hold none. Takes time in
    proportion to the message.
    """
    lines = re.split(r"\r\n|\r|\n", message)
    found: list[Directive] = []
    quoted = set(_quoted_lines(lines))
    for number in _lines_of_prose(lines):
        read = _DIRECTIVE.fullmatch(lines[number])
        if read is None or number in quoted or _is_row(lines, number):
            continue
        text = " ".join(read["text"].split())
        if text:
            scope = read["scope"]
            found.append(
                Directive(
                    kind=_KINDS[read["kind"].lower()],
                    scope=None if scope is None else _SCOPES[scope.lower()],
                    text=text,
                    line=number,
                )
            )
    return found


def _lines_of_prose(lines: Sequence[str]) -> Iterator[int]:
    """Yields the numbers of the lines outside of fenced code. A fence that is not closed goes to the end."""
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark["mark"].startswith(fence) and not mark["rest"].strip():
                fence = ""
        elif mark and not (mark["mark"][0] == "`" and "`" in mark["rest"]):
            fence = mark["mark"]
        else:
            yield number


def _quoted_lines(lines: Sequence[str]) -> Iterator[int]:
    """Yields the numbers of the lines that begin within a quotation."""
    text = "\n".join(lines)
    at = 0
    number = 0
    for quotation in _QUOTATION.finditer(text):
        first = number + text.count("\n", at, quotation.start())
        number = first + quotation[0].count("\n")
        at = quotation.end()
        yield from range(first + 1, number + 1)


def _is_row(lines: Sequence[str], number: int) -> bool:
    """True for a line of a pasted table: it has tabs, or as many separators as a line next to it."""
    line = lines[number]
    if "\t" in line.strip():
        return True
    around = [*lines[max(0, number - 1) : number], *lines[number + 1 : number + 2]]
    for separator, least in _SEPARATORS:
        count = len(separator.findall(line))
        if count >= least and any(len(separator.findall(each)) == count for each in around):
            return True
    return False
