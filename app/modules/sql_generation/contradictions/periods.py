"""Contradictions of time: 2025 is asked for, and the statement reads 2024, or all years."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from sqlglot import exp

from app.modules.sql_generation.contradictions.asked import is_turned
from app.modules.sql_generation.sentences import WarningPhrase


class Span(NamedTuple):
    """Days from `start` up to, not including, `end`."""

    start: date
    end: date

    def meets(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end

    def intersect(self, other: "Span") -> "Span":
        return Span(max(self.start, other.start), min(self.end, other.end))

    @property
    def is_bounded(self) -> bool:
        return self.start > date.min and self.end < date.max

    @property
    def days(self) -> int:
        return (self.end - self.start).days


_ALWAYS = Span(date.min, date.max)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?:19|20)\d\d"
_PERIOD = re.compile(
    rf"\b(?P<month>{_MONTH}),? (?:of )?(?P<month_year>{_YEAR})\b"
    rf"|\bq(?P<quarter>[1-4])[ /]?(?:of |in )?(?P<quarter_year>{_YEAR})\b"
    rf"|\b(?P<year_first>{_YEAR})[ -]q(?P<quarter_last>[1-4])\b"
    rf"|\b(?P<nth>first|second|third|fourth|last) quarter (?:of|in) (?P<nth_year>{_YEAR})\b"
    rf"|\b(?P<decade>(?:19|20)\d0)'?s\b"
    rf"|(?<![\d.,$€£#-])\b(?P<year>{_YEAR})\b(?![\d.,]*\d|[%$€-]|(?: (?:\w+ )?(?:units|pounds|dollars"
    rf"|euros|km|miles|kg|cc|staff|"
    r"people|items|products|orders|customers|points|hours|minutes|seconds|meters|seats)))"
)
_RELATIVE = re.compile(
    r"\b(?P<which>this|current|last|previous) (?P<unit>year|month)(?:'s)?\b(?! (?:of|that|in|a|with))"
)
_NUMBER_BEFORE = re.compile(
    r"(?:than|over|above|below|under|least|most|around|about|exceeds?|exceeding|#|no\.|number|id"
    r"|weigh\w*|cost\w*|size|"
    r"price\w*|capacity|level|up to|is|are|equals?|worth)$"
)
_FROM_ON = re.compile(r"\b(?:since|starting(?: in| from)?|beginning(?: in| of)?)$")
_AFTER = re.compile(r"\b(?:after|later than)$")
_BEFORE = re.compile(r"\b(?:before|prior to|earlier than)$")
_UNTIL = re.compile(r"\b(?:until|till|up to|through)$")
_OR_LATER = re.compile(
    r"^,? ?(?:or|and) (?:after|later|newer|onwards?|since)\b(?! (?:the |year )*\d)|^ onwards?\b"
)
_OR_EARLIER = re.compile(r"^,? ?(?:or|and) (?:before|earlier|older)\b(?! (?:the |year )*\d)")
_RANGE = re.compile(r"^ ?(?:and|to|-|–|until|till|through) ?(?:the )?(?:end of )?$")
_DATE_TEXT = re.compile(r"^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?:[ T]\d\d:\d\d.*)?(%?)$")
_COMPACT = re.compile(r"^((?:19|20)\d\d)(0[1-9]|1[0-2])(?:([0-3]\d))?$")
_A_YEAR = 366
_YEARS = range(1900, 2101)
_YEAR_NAME = re.compile(r"year|yr|season|open|found|release|built", re.IGNORECASE)
_YEAR_FUNCTIONS = (exp.Year, exp.Extract)
_NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Interval, exp.Parameter, exp.Placeholder)
_FISCAL = re.compile(r"\b(?:fiscal|financial|school|academic|tax)\b|\bfy ?\d")
_GROWTH = re.compile(
    r"\b(?:than|growth|grow|grew|grown|change\w*|compared?|versus|vs|against|develop\w*|trend\w*"
    r"|previous|before|prior)\b"
)


class RequestedPeriod(NamedTuple):
    """A period of the question, and what to call it."""

    name: str | WarningPhrase
    span: Span


def find_other_periods(asked: str, tree: exp.Expr, today: date) -> Iterator[WarningPhrase]:
    """Yields a sentence for the first period of the question that the statement does not read."""
    periods = list(periods_of(asked, today))
    if not periods or _FISCAL.search(asked):
        return
    spans = _Spans(tree)
    for name, span in periods:
        if spans.are_open or _names(tree, span):
            continue
        if not spans.found:
            if not spans.are_grouped:
                yield WarningPhrase("no period", (name,))
                return
        elif not any(_agrees(span, each) for each in spans.found):
            yield WarningPhrase("other period", (name,))
            return
        elif span.days <= 93 and len(periods) == 1 and not spans.are_grouped and not _GROWTH.search(asked):
            read = min((each.days for each in spans.found if span.meets(each) and each.is_bounded), default=0)
            if 3 * span.days < read and not spans.have_parts:
                yield WarningPhrase("longer period", (name,))
                return


def _agrees(asked: Span, read: Span) -> bool:
    """True if a period that is read may be meant. Of one without an end, the other has the same end."""
    if not asked.meets(read):
        return False
    if asked.end == date.max and asked.start > date.min and read.start == date.min:
        return False
    if asked.start == date.min and asked.end < date.max and read.end == date.max:
        return False
    if asked.end == read.end == date.max:
        return abs((asked.start - read.start).days) <= _A_YEAR
    if asked.start == read.start == date.min:
        return abs((asked.end - read.end).days) <= _A_YEAR
    return True


def periods_of(asked: str, today: date) -> Iterator[RequestedPeriod]:
    """Yields the periods that a question in lower case names; `today` is that of "last year"."""
    found = list(_PERIOD.finditer(asked))
    used: set[int] = set()
    for index, each in enumerate(found):
        if index in used:
            continue
        before = re.sub(r"\b(?:the )?years?$", "", asked[: each.start()].rstrip()).rstrip()
        after = asked[each.end() :]
        if each["year"] and _NUMBER_BEFORE.search(before):
            continue
        span = _span(each)
        words = _written(span)
        following = found[index + 1] if index + 1 < len(found) else None
        if (
            following is not None
            and re.search(r"\b(?:between|from)(?: the)?(?: years?)?$", before)
            and _RANGE.match(asked[each.end() : following.start()])
        ):
            used.add(index + 1)
            both = Span(span.start, _span(following).end)
            yield RequestedPeriod(_written(both), both)
        elif _FROM_ON.search(before) or _OR_LATER.search(after):
            yield RequestedPeriod(WarningPhrase("time since", (words,)), Span(span.start, date.max))
        elif _AFTER.search(before):
            yield RequestedPeriod(WarningPhrase("time after", (words,)), Span(span.end, date.max))
        elif _BEFORE.search(before):
            yield RequestedPeriod(WarningPhrase("time before", (words,)), Span(date.min, span.start))
        elif _UNTIL.search(before) or _OR_EARLIER.search(after):
            yield RequestedPeriod(WarningPhrase("time until", (words,)), Span(date.min, span.end))
        else:
            yield RequestedPeriod(words, span)
    for each in _RELATIVE.finditer(asked):
        start = date(today.year, 1 if each["unit"] == "year" else today.month, 1)
        if each["which"] in ("last", "previous"):
            start = (
                date(start.year - 1, 1, 1)
                if each["unit"] == "year"
                else _month(start - timedelta(days=1)).start
            )
        span = _year(start.year) if each["unit"] == "year" else _month(start)
        yield RequestedPeriod(_written(span), span)


def _written(span: Span) -> str:
    """Returns the months of a period in figures, which are read in every language."""
    first, last = span.start, span.end - timedelta(days=1)
    if (first.month, last.month) == (1, 12):
        return f"{first.year}" if first.year == last.year else f"{first.year}–{last.year}"
    if span == _month(first):
        return f"{first:%Y-%m}"
    if first.year == last.year and first.month % 3 == 1 and last.month == first.month + 2:
        return f"Q{last.month // 3} {first.year}"
    return f"{first:%Y-%m}–{last:%Y-%m}"


def _span(found: re.Match[str]) -> Span:
    if found["month"]:
        return _month(date(int(found["month_year"]), _MONTHS.index(found["month"][:3]) + 1, 1))
    if found["decade"]:
        return Span(date(int(found["decade"]), 1, 1), date(int(found["decade"]) + 10, 1, 1))
    year = found["quarter_year"] or found["year_first"] or found["nth_year"]
    if year is None:
        return _year(int(found["year"]))
    nth = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
    quarter = nth[found["nth"]] if found["nth"] else int(found["quarter"] or found["quarter_last"])
    start = date(int(year), 3 * quarter - 2, 1)
    return Span(start, _month(date(int(year), 3 * quarter, 1)).end)


def _year(year: int) -> Span:
    return Span(date(year, 1, 1), date(year + 1, 1, 1))


def _month(day: date) -> Span:
    start = day.replace(day=1)
    return Span(start, (start + timedelta(days=31)).replace(day=1))


class _Spans:
    """The periods that a statement reads.

    `are_open`: a condition depends on the present day or on the data. `are_grouped`: the rows have their
    periods. `have_parts`: there is a condition on a part of the date, such as its month.
    """

    def __init__(self, tree: exp.Expr) -> None:
        self.found: list[Span] = []
        self.are_open = tree.find(*_NOW) is not None
        self.have_parts = False
        self.are_grouped = any(
            _is_time(each) for group in tree.find_all(exp.Group) for each in group.expressions
        )
        joined: dict[tuple[int, str], Span] = {}
        for node in tree.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like):
            self._read(node, joined)
        self.found += joined.values()

    def _read(self, node: exp.Expr, joined: dict[tuple[int, str], Span]) -> None:
        if node.find(exp.Max, exp.Min) or any(
            str(each.this).casefold() in {"now", "today"} for each in node.find_all(exp.Literal)
        ):
            self.are_open = True
            return
        for column, spans, is_part in _conditions(node):
            self.have_parts |= is_part
            if is_part:
                continue
            if is_turned(node):
                self.are_open = True
            elif len(spans) == 1:
                key = (id(_conjunction(node)), column.sql().casefold())
                joined[key] = joined.get(key, _ALWAYS).intersect(spans[0])
            else:
                self.found += spans


def _conjunction(node: exp.Expr) -> exp.Expr:
    """Returns the outermost node that AND connects with a condition."""
    while isinstance(node.parent, exp.And | exp.Paren):
        node = node.parent
    return node


def _conditions(node: exp.Expr) -> Iterator[tuple[exp.Expr, Sequence[Span], bool]]:
    """Yields the dated side of a condition, the periods it allows, and if it is about a part of dates."""
    if isinstance(node, exp.Between):
        low = _literal_span(node.args["low"], node.this)
        high = _literal_span(node.args["high"], node.this)
        if low is not None and high is not None:
            yield _dated(node.this), [Span(low.start, high.end)], False
        return
    if isinstance(node, exp.In):
        spans = [_literal_span(each, node.this) for each in node.expressions]
        known = [each for each in spans if each is not None]
        if known:
            yield _dated(node.this), known, False
        return
    for side, other, is_left in ((node.this, node.expression, True), (node.expression, node.this, False)):
        span = _literal_span(other, side)
        if span is not None:
            yield _dated(side), [_compared(node, span, is_left=is_left)], False
        elif _is_part(side, other):
            yield side, [], True


def _compared(node: exp.Expr, span: Span, *, is_left: bool) -> Span:
    match node:
        case exp.GT():
            return Span(span.end, date.max) if is_left else Span(date.min, span.start)
        case exp.GTE():
            return Span(span.start, date.max) if is_left else Span(date.min, span.end)
        case exp.LT():
            return Span(date.min, span.start) if is_left else Span(span.end, date.max)
        case exp.LTE():
            return Span(date.min, span.end) if is_left else Span(span.start, date.max)
        case _:
            return span


def _literal_span(node: exp.Expr, beside: exp.Expr) -> Span | None:
    """Returns the year, month or day that a literal names. A number is a year only beside a year."""
    while isinstance(
        node,
        exp.Cast | exp.Date | exp.TsOrDsToDate | exp.Paren | exp.Timestamp | exp.StrToDate | exp.Anonymous,
    ):
        inner = node.this if not isinstance(node, exp.Anonymous) else next(iter(node.expressions), None)
        if not isinstance(inner, exp.Expr):
            return None
        node = inner
    if not isinstance(node, exp.Literal):
        return None
    if not node.is_string:
        is_year = node.is_int and int(node.this) in _YEARS and _is_year(beside)
        return _year(int(node.this)) if is_year else None
    text = node.this.strip("%") if isinstance(node.parent, exp.Like) else node.this
    found = _DATE_TEXT.match(text.rstrip("-")) or _COMPACT.match(text)
    if found is None or int(found[1]) not in _YEARS:
        return None
    try:
        if found[3]:
            day = date(int(found[1]), int(found[2]), int(found[3]))
            return Span(day, day + timedelta(days=1))
        return _month(date(int(found[1]), int(found[2]), 1)) if found[2] else _year(int(found[1]))
    except ValueError:
        return None


def _dated(node: exp.Expr) -> exp.Expr:
    """Returns the column of a date, so that two conditions on it are one period."""
    return node.find(exp.Column) or node


def _is_year(node: exp.Expr) -> bool:
    if any(isinstance(each, _YEAR_FUNCTIONS) for each in node.walk()):
        return "YEAR" in node.sql().upper()
    if any(each.this in {"%Y", "YYYY"} for each in node.find_all(exp.Literal)):
        return True
    return isinstance(node.unalias(), exp.Column | exp.Cast | exp.Predicate) and any(
        _YEAR_NAME.search(each.name) for each in node.find_all(exp.Column)
    )


def _is_part(node: exp.Expr, other: exp.Expr) -> bool:
    """True for the month, quarter or weekday of a date compared with a literal."""
    if not isinstance(other, exp.Literal):
        return False
    text = node.sql().upper()
    return any(each in text for each in ("MONTH", "QUARTER", "'%M'", "%W", "DOW", "WEEK", "'%D'", "DAY"))


def _is_time(node: exp.Expr) -> bool:
    text = node.sql().casefold()
    return re.search(r"date|time|year|month|day|week|quarter|%y|period", text) is not None or (
        isinstance(node, exp.Literal)
    )


def _names(tree: exp.Expr, span: Span) -> bool:
    """True if a literal is the year as another number, such as an id, or holds it outside of a condition."""
    year = str(span.start.year)
    return span.is_bounded and any(
        each.this == year and not _is_year(each.parent or each)
        if not each.is_string
        else year in each.this
        and not isinstance(each.find_ancestor(exp.Predicate, exp.Select), exp.Predicate)
        for each in tree.find_all(exp.Literal)
    )
