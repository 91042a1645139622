"""Judge names in bold and dates by their presence in the rows."""

import re
from collections.abc import Iterator

from app.modules.analysis.claims.context import ClaimVerdict, JudgedSpan
from app.modules.analysis.claims.mentions import TIME, LabelMention, Mentions
from app.modules.analysis.claims.periods import WrittenPeriod
from app.modules.analysis.claims.plain import Plain
from app.modules.analysis.claims.table import ClaimTable, stem
from graph.state import ClaimSource

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SMALL = frozenset(
    [
        "of",
        "the",
        "and",
        "de",
        "la",
        "le",
        "du",
        "von",
        "und",
        "der",
        "die",
        "das",
        "for",
        "in",
        "&",
        "y",
        "el",
        "los",
        "da",
        "do",
        "dos",
        "e",
        "a",
        "an",
        "et",
        "to",
        "by",
        "on",
    ]
)
_MOST_WORDS = 4
_ORDINARY = frozenset(
    stem(word)
    for word in [
        "key",
        "takeaway",
        "insight",
        "summary",
        "overall",
        "total",
        "average",
        "median",
        "highlight",
        "finding",
        "result",
        "answer",
        "note",
        "notable",
        "observation",
        "trend",
        "peak",
        "low",
        "high",
        "highest",
        "lowest",
        "largest",
        "smallest",
        "top",
        "bottom",
        "best",
        "worst",
        "most",
        "least",
        "leader",
        "leading",
        "runner",
        "up",
        "second",
        "third",
        "first",
        "last",
        "least",
        "overview",
        "conclusion",
        "recommendation",
        "context",
        "caveat",
        "detail",
        "breakdown",
        "comparison",
        "growth",
        "decline",
        "increase",
        "decrease",
        "change",
        "share",
        "rank",
        "ranking",
        "range",
        "mean",
        "maximum",
        "minimum",
        "sum",
        "count",
        "number",
        "figure",
        "data",
        "row",
        "record",
        "value",
        "amount",
        "percent",
        "percentage",
        "period",
        "month",
        "year",
        "quarter",
        "week",
        "day",
        "date",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "region",
        "country",
        "city",
        "category",
        "product",
        "customer",
        "employee",
        "sales",
        "revenue",
        "profit",
        "cost",
        "order",
        "invoice",
        "price",
        "quantity",
        "unit",
        "next",
        "step",
        "important",
        "remark",
        "remaining",
        "other",
        "all",
        "none",
        "yes",
        "no",
        "only",
        "not",
        "worth",
        "checking",
        "performance",
        "performer",
        "seller",
        "volume",
        "distribution",
        "spread",
        "outlier",
        "gap",
        "difference",
        "difference",
        "concentration",
        "seasonality",
        "pattern",
        "what",
        "why",
        "how",
        "where",
        "when",
        "who",
        "which",
        "it",
        "this",
        "that",
        "these",
        "those",
        "here",
        "there",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "in",
        "short",
        "brief",
        "bottom",
        "line",
        "tl",
        "dr",
        "question",
        "statistic",
        "metric",
        "measure",
        "analysis",
        "question",
        "observed",
        "steady",
        "stable",
        "strong",
        "weak",
        "slight",
        "sharp",
        "significant",
        "moderate",
        "overall",
        "upward",
        "downward",
        "flat",
        "volatile",
        "consistent",
        "dominant",
        "tied",
        "tie",
        "combined",
        "together",
        "fazit",
        "zusammenfassung",
        "insgesamt",
        "gesamt",
        "durchschnitt",
        "höchst",
        "niedrigst",
        "umsatz",
        "bestellung",
        "kunde",
        "ergebnis",
        "hinweis",
        "wichtig",
        "trend",
        "anteil",
        "spitzenreiter",
        "schlusslicht",
        "monat",
        "jahr",
        "quartal",
        "wert",
        "summe",
        "anzahl",
        "rückgang",
        "anstieg",
        "wachstum",
        "vergleich",
        "auffällig",
        "kernaussage",
        "erkenntnis",
        "north",
        "south",
        "east",
        "west",
        "northern",
        "southern",
        "eastern",
        "western",
    ]
)


def judge_names(plain: Plain, mentions: Mentions, table: ClaimTable) -> Iterator[JudgedSpan]:
    """Judge bold text: labels of the rows are "checked", other names "not_found"."""
    asked = {stem(word) for word in _WORD.findall(f"{table.question} {table.sql[:8_000]}")}
    known = _ORDINARY | asked | {word for column in table.columns for word in (*column.words, *column.called)}
    for start, end in plain.bold[:200]:
        inside = [each for each in mentions.within(start, end) if each.column != TIME and each.end <= end]
        if inside:
            yield from ((each.start, each.end, _of_label(each, table)) for each in _apart(inside))
        elif plain.text[start:end].rstrip().endswith(":") and _labelled(plain, mentions, end):
            continue
        elif _is_name(plain.text[start:end].rstrip(":").strip(), known) and not mentions.is_taken(start, end):
            text = plain.text[start:end]
            stripped = text.rstrip(" :")
            if table.labels:
                yield start, start + len(stripped), ClaimVerdict("not_found")


def judge_dates(mentions: Mentions, table: ClaimTable) -> Iterator[JudgedSpan]:
    """Judge dates and periods: "checked" if a row has them, else "not_found"."""
    known = {(each.start, each.end): each for each in mentions.all if each.column == TIME}
    for written in mentions.written:
        mention = known.get((written.start, written.end))
        if mention is None:
            continue
        if mention.found:
            row = int(mention.rows[0]) if len(mention.rows) == 1 else None
            column = (table.times or table.parts)[0]
            how = f"{column.title} of {len(mention.rows)} rows" if row is None else column.title
            yield (
                mention.start,
                mention.end,
                ClaimVerdict("checked", ClaimSource(column=column.name, row=row, how=how)),
            )
        elif _is_of_the_data(mentions, written, table):
            continue
        elif not _is_asked(written.period.year, table):
            yield mention.start, mention.end, ClaimVerdict("not_found")


def _labelled(plain: Plain, mentions: Mentions, end: int) -> bool:
    """Return True if a label follows on the same line, so that the bold text is a heading."""
    stop = plain.text.find("\n", end)
    return any(
        each.column != TIME for each in mentions.within(end, min(end + 40, stop if stop >= 0 else end + 40))
    )


def _is_of_the_data(mentions: Mentions, written: WrittenPeriod, table: ClaimTable) -> bool:
    """Return True for a day on which the data begins or ends, or a period without rows.

    KAI's own figures name these, so they are not in the rows and still right.
    """
    before = mentions.text[max(0, written.start - 12) : written.start]
    text = mentions.text[written.start : written.end]
    return (
        text in table.said_days | table.gaps or re.search(r"\b(?:begins|ends|runs) on $", before) is not None
    )


def _is_asked(year: int | None, table: ClaimTable) -> bool:
    return year is None or float(year) in table.asked_numbers or str(year) in table.sql


def _apart(mentions: list[LabelMention]) -> list[LabelMention]:
    return list({(each.start, each.end): each for each in mentions}.values())


def _of_label(mention: LabelMention, table: ClaimTable) -> ClaimVerdict:
    column = table.columns[mention.column]
    row = int(mention.rows[0]) if len(mention.rows) == 1 else None
    how = column.title if row is not None else f"{column.title} of {len(mention.rows)} rows"
    return ClaimVerdict("checked", ClaimSource(column=column.name, row=row, how=how))


def _is_name(text: str, known: frozenset[str] | set[str]) -> bool:
    words = _WORD.findall(text)
    if not 1 <= len(words) <= _MOST_WORDS or any(each.isdigit() for each in text):
        return False
    named = [word for word in words if word.lower() not in _SMALL]
    if any(word.lower().endswith("est") for word in named):
        return False
    named = [part for word in named for part in word.split("-") if part]
    return bool(named) and all(
        word[0].isupper() and stem(word) not in known and word.lower() not in known for word in named
    )
