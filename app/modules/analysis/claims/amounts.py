"""Judge the numbers of a text by the rows that they are about."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from app.modules.analysis.claims import cues
from app.modules.analysis.claims.changes import changes, moves, series_of
from app.modules.analysis.claims.conditions import aged_columns, is_difference
from app.modules.analysis.claims.context import Change, ClaimScope, ClaimVerdict, Sentence, grouped, ordered
from app.modules.analysis.claims.counts import is_of_all, judge_count
from app.modules.analysis.claims.mentions import TIME, LabelMention
from app.modules.analysis.claims.numbers import WrittenNumber
from app.modules.analysis.claims.table import ClaimColumn, Places, figure
from graph.state import ClaimSource

Candidate = tuple[float, ClaimSource]

_SPECIFIC = 4
"""The least significant digits for a number to be looked up in all cells: fewer fit by chance."""
_SMALL_TABLE = 12
_TOP = 3
_MANY_MEASURES = 4
_LONGEST_SPAN = 60


def judge(number: WrittenNumber, sentence: Sentence) -> ClaimVerdict | None:
    """Return the verdict on a number; None when it is not a claim."""
    verdict: ClaimVerdict | None
    if number.kind in ("percent", "points"):
        verdict = _judge_percent(number, sentence)
    elif number.kind == "times":
        verdict = _judge_times(number, sentence)
    else:
        verdict = _judge_plain(number, sentence)
    if verdict is not None and verdict.status != "checked" and _is_asked(number, sentence):
        return None
    return verdict


def _is_asked(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True for numbers of the question or of the statement's filters, which are not claims."""
    value = number.value
    if number.kind == "percent":
        return sentence.between(number.start, number.end) in sentence.table.question
    return number.kind == "plain" and value in sentence.table.asked_numbers


def first(candidates: Iterable[Candidate], fits: Callable[[float], bool]) -> ClaimVerdict | None:
    """A "checked" verdict with the source of the first candidate that fits; None if none does."""
    for value, source in candidates:
        if value == value and fits(value):  # NaN equals nothing
            return ClaimVerdict("checked", source)
    return None


def source(column: ClaimColumn, row: int | None, how: str) -> ClaimSource:
    return ClaimSource(column=column.name, row=row, how=how)


# Plain numbers


def _judge_plain(number: WrittenNumber, sentence: Sentence) -> ClaimVerdict | None:
    counted = judge_count(number, sentence)
    if counted is not None and counted.status != "not_found":
        return counted
    columns, close = _columns(number, sentence)
    scopes = sentence.scopes(number)
    if is_of_all(number, sentence) and number.digits > 1:
        whole = first(_totals(columns), number.fits)
        if whole is not None:
            return whole
    if _RANGE.search(sentence.between(max(sentence.start, number.start - 46), number.start)):
        return _end_of_range(number, sentence, scopes, columns=columns)
    if (listed := _listed_beyond(number, sentence, columns)) is not None:
        return listed
    if number.start in sentence.lines:
        return None
    if not sentence.columns and (counted is not None or _is_aggregate(number, sentence)):
        scopes = [each for each in scopes if len(each.rows) > 1]
    found = _in_scopes(number, sentence, scopes, columns=columns)
    if found is None and not sentence.columns and (counted is None or _is_aggregate(number, sentence)):
        found = first(_overall(number, sentence, columns), number.fits)
    if found is None and scopes:
        found = _around(number, sentence, scopes, columns=columns)
    if found is None and counted is None and number.digits >= _SPECIFIC and not sentence.columns:
        found = _any_cell(number, columns) or _any_cell(number, sentence.table.measures)
    if found is None and not close:
        others = [each for each in sentence.table.columns if each.is_number and each not in columns]
        found = _in_scopes(number, sentence, [each for each in scopes if len(each.rows) == 1], columns=others)
    if found is not None:
        return found
    if counted is not None:
        return counted
    if _is_idle(number, sentence):
        return None
    if number.digits <= _SPECIFIC and (absent := first(_missing(sentence), number.fits)) is not None:
        return absent
    return _accused(number, sentence, scopes, columns=columns)


def _columns(number: WrittenNumber, sentence: Sentence) -> tuple[Sequence[ClaimColumn], bool]:
    """The measures that a number may belong to, and True if one is named right beside it."""
    if sentence.table.size == 1:
        return [each for each in sentence.table.columns if each.is_number], True
    if aged := aged_columns(number, sentence):
        return aged, True
    following = sentence.mentions.measures_within(number.end, min(number.end + 22, sentence.end))
    if following and re.fullmatch(
        r"[\s)]*(?:\w+[ -]){0,1}", sentence.between(number.end, following[0].start)
    ):
        beside = [each.column for each in following if each.start == following[0].start]
        return beside, True
    measures = sentence.measures()
    if number.kind != "plain" and not sentence.measured and sentence.figured:
        return list(dict.fromkeys(sentence.figured)), False
    if number.currency and any(each.type != "integer" for each in sentence.table.measures):
        measures = [each for each in measures if each.type != "integer"] or [
            each for each in sentence.table.measures if each.type != "integer"
        ]
    return measures, False


def _in_scopes(
    number: WrittenNumber, sentence: Sentence, scopes: Sequence[ClaimScope], *, columns: Sequence[ClaimColumn]
) -> ClaimVerdict | None:
    for scope in scopes:
        found = first(
            chain.from_iterable(_of_rows(number, sentence, scope, column=each) for each in columns),
            _fitting(number),
        )
        if found is not None:
            return found
    return None


def _fitting(number: WrittenNumber) -> Callable[[float], bool]:
    """The test for a value of named rows, wider than `number.fits`.

    "More than 100" may be far more, and a loss may be written without its sign.
    """

    def fits(value: float) -> bool:
        if number.bound in ("above", "at_least"):
            return value >= number.value * (1 - 1e-9)
        if number.bound == "at_most":
            return value <= number.value * (1 + 1e-9)
        return number.fits(value) or (value < 0 and not number.signed and number.fits(-value))

    return fits


def _of_rows(
    number: WrittenNumber, sentence: Sentence, scope: ClaimScope, *, column: ClaimColumn
) -> Iterator[Candidate]:
    rows = scope.rows
    name = _named(scope, sentence)
    if len(rows) == 1:
        row = int(rows[0])
        yield column.at(row), source(column, row, f"{column.title} of {name}")
        return
    values = column.values[rows]
    present = ~np.isnan(values)
    if not present.any():
        return
    near = _near(number, sentence)
    found = values[present]
    mean = cues.MEAN.search(near)
    median = cues.MEDIAN.search(near)
    if column.additive and not mean and not median:
        yield float(found.sum()), source(column, None, f"sum of {column.title} of {name}, {len(found)} rows")
    if median or not column.additive:
        yield float(np.median(found)), source(column, None, f"median of {column.title} of {name}")
    if mean or not column.additive:
        yield (
            float(found.mean()),
            source(column, None, f"mean of {column.title} of {name}, {len(found)} rows"),
        )
        if column.additive:
            yield from _means_of_groups(sentence, scope, column)
    if mean or median:
        return
    if not sentence.table.summed and len(rows) <= _LONGEST_SPAN:
        for row in rows.tolist():
            yield column.at(row), source(column, row, f"{column.title} of {name}")
    timed = any(each.column == TIME for each in scope.named)
    single = (
        timed
        or not column.additive
        or cues.SINGLE.search(
            sentence.between(max(sentence.start, number.start - 60), min(sentence.end, number.end + 40))
        )
    )
    if single and (
        number.digits >= _SPECIFIC
        or len(rows) <= _TOP * 4
        or cues.MOST.search(near)
        or cues.LEAST.search(near)
    ):
        for at in (int(np.nanargmax(values)), int(np.nanargmin(values)), 0, len(rows) - 1):
            yield (
                float(values[at]),
                source(column, int(rows[at]), f"{column.title} of {sentence.table.described(int(rows[at]))}"),
            )
        if number.digits >= _SPECIFIC and not timed:
            hits = np.flatnonzero(np.abs(found - number.value) <= 0.5 * number.readings[0][1])
            for at in hits[:1]:
                yield float(found[at]), source(column, int(rows[present][at]), f"{column.title} of {name}")


def _means_of_groups(sentence: Sentence, scope: ClaimScope, column: ClaimColumn) -> Iterator[Candidate]:
    """ "4,000 a month on average": the mean of the sums by period."""
    if not sentence.table.has_time:
        return
    for grain in (("year", "month"), ("year",), ("year", "quarter")):
        groups = grouped(sentence.table, TIME, column, within=scope.rows, grain=grain)
        if len(groups) > 1:
            mean = sum(groups.values()) / len(groups)
            yield mean, source(column, None, f"mean of {column.title} per {grain[-1]}, {len(groups)} of them")


def _overall(
    number: WrittenNumber, sentence: Sentence, columns: Sequence[ClaimColumn]
) -> Iterator[Candidate]:
    """Candidate values of the whole result: aggregates, extremes and common values."""
    near = _near(number, sentence)
    for column in columns:
        values = column.present
        if not len(values):
            continue
        mean = cues.MEAN.search(near) or re.search(
            r"\b(?:each|apiece|per|pro|je|jeweils)\b|^ an? \w+", sentence.right(number.end, 14), re.IGNORECASE
        )
        median = cues.MEDIAN.search(near)
        total = cues.TOTAL.search(near)
        most = cues.MOST.search(near)
        least = cues.LEAST.search(near)
        apart = is_difference(number, sentence)
        plain = not (mean or median or total or most or least or apart)
        if (total or plain or mean) and column.additive:
            yield column.total, source(column, None, f"sum of {column.title} over {len(values)} rows")
        if mean or plain:
            yield column.mean, source(column, None, f"mean of {column.title} over {len(values)} rows")
            yield from _means_of_groups(sentence, ClaimScope(np.arange(sentence.table.size)), column)
        if median or plain:
            yield column.median, source(column, None, f"median of {column.title} over {len(values)} rows")
        if (plain or most or least) and not sentence.columns:
            key = column.index, bool(most or plain), bool(least or plain)
            if key not in sentence.table.outstanding:
                sentence.table.outstanding[key] = list(
                    _outstanding(sentence, column, most=key[1], least=key[2])
                )
            yield from sentence.table.outstanding[key]
        if apart or (cues.DIFFERENCE.search(near) and not mean):
            yield (
                float(values.max() - values.min()),
                source(column, None, f"highest less lowest {column.title}"),
            )
            yield from _differences(number, sentence, changes(sentence, column, (), number=number))
        if (plain or mean) and number.bound == "exact":
            yield from _repeated(column)
        if plain and len(values) <= _SMALL_TABLE and not sentence.columns:
            for row, value in enumerate(column.values.tolist()):
                yield value, source(column, row, f"{column.title} of {sentence.table.described(row)}")
        if column.additive:
            yield from _top_sums(column, how_many(sentence.text))


def _repeated(column: ClaimColumn) -> Iterator[Candidate]:
    """The most frequent value, if several rows share it."""
    value, many = column.commonest
    if many > 1:
        yield value, source(column, None, f"{column.title} of {many} rows")


def _missing(sentence: Sentence) -> Iterator[Candidate]:
    """ "2 have no revenue": the rows without a value."""
    if _NO_VALUE.search(sentence.text):
        for column in sentence.table.columns:
            missing = sentence.table.size - len(column.present) if column.is_number else column.nulls
            yield missing, source(column, None, f"rows without {column.title}")


_NO_VALUE = re.compile(
    r"\b(?:no|not|without|missing|empty|null|lack\w*|kein\w*|ohne|fehl\w*)\b", re.IGNORECASE
)


def _top_sums(column: ClaimColumn, numbers: Sequence[int]) -> Iterator[Candidate]:
    values = column.sorted
    for many in numbers:
        if 1 < many < len(values):
            yield (
                float(values[-many:].sum()),
                source(column, None, f"sum of the {many} highest {column.title}"),
            )
            yield float(values[:many].sum()), source(column, None, f"sum of the {many} lowest {column.title}")


_COUNTS = {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10}
_COUNTS |= {"beiden": 2, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "zehn": 10}
_HOW_MANY = re.compile(
    r"\b(?:(?:top|bottom|first|last|leading|largest|biggest|best|these|those|the|"
    r"other|remaining|together,?|ersten|letzten|die|diese|übrigen|next)[ "
    r"-]){1,2}(?:\w+[ ])?"
    rf"(?P<many>{'|'.join(_COUNTS)}|\d{{1,2}})\b|\b(?P<both>both|beiden)\b",
    re.IGNORECASE,
)


def how_many(text: str) -> list[int]:
    """The numbers of "top three", "these four", "the remaining six"."""
    words = [(found["many"] or found["both"]).lower() for found in _HOW_MANY.finditer(text)]
    return [_COUNTS.get(word) or int(word) for word in words]


def _outstanding(sentence: Sentence, column: ClaimColumn, *, most: bool, least: bool) -> Iterator[Candidate]:
    values = column.values
    order = column.order
    picked = [*(order[::-1][:_TOP].tolist() if most else ()), *(order[:_TOP].tolist() if least else ())]
    if most and least and sentence.table.has_time:
        picked += [0, len(values) - 1]
    for row in picked:
        yield float(values[row]), source(column, row, f"{column.title} of {sentence.table.described(row)}")
    for label in sentence.table.labels[:2]:
        if label.distinct < sentence.table.size:
            groups = ordered(sentence.table, label.index, column, within=None)
            for key, value in [*(groups[:_TOP] if most else ()), *(groups[-_TOP:] if least else ())]:
                yield value, source(column, None, f"{column.title} of {key}")
    if sentence.table.has_time and column.additive:
        for grain in (("year",), ("year", "quarter"), ("year", "month")):
            sums = ordered(sentence.table, TIME, column, within=None, grain=grain)
            if 1 < len(sums) < sentence.table.size:
                for key, value in [*(sums[:1] if most else ()), *(sums[-1:] if least else ())]:
                    yield value, source(column, None, f"sum of {column.title} in {key}")


def _around(
    number: WrittenNumber, sentence: Sentence, scopes: Sequence[ClaimScope], *, columns: Sequence[ClaimColumn]
) -> ClaimVerdict | None:
    """Judge a number next to named rows as a difference, sum, mean, ratio or range; None if none fits."""
    left = sentence.left(number.start)
    right = sentence.right(number.end)
    near = f"{left} | {right}"
    if cues.JOINT.search(sentence.text):
        for column in columns:
            found = first(_joint(sentence, column), number.fits)
            if found is not None:
                return found
    if cues.DIFFERENCE.search(near) or cues.MORE_THAN.search(near) or cues.LESS_THAN.search(near):
        for column in columns:
            pairs = chain.from_iterable(
                changes(sentence, column, scope.named, number=number) for scope in scopes[:3]
            )
            found = first(_differences(number, sentence, pairs), number.fits)
            if found is not None:
                return found
    if re.search(r"\b(?:per|pro|je|each)\b", sentence.text, re.IGNORECASE) or cues.MEAN.search(sentence.text):
        found = first(_ratios(sentence, scopes, columns), number.fits)
        if found is not None:
            return found
    if (rolling := first(_rolling(sentence, columns), number.fits)) is not None:
        return rolling
    if (ranged := _ranged(number, sentence, columns)) is not None:
        return ranged
    if (absent := _without_label(number, sentence, columns)) is not None:
        return absent
    named = cues.MEAN.search(near) or cues.MEDIAN.search(near) or cues.TOTAL.search(near)
    moved = cues.UP.search(left) or cues.DOWN.search(left)  # "rose from 34"
    if named or (
        not moved
        and re.search(
            r"\b(?:of|out of|von|compared|versus|vs\.?|against|gegenüber)\s+(?:the |all |a |insgesamt |\W)*$",
            left,
        )
    ):
        found = first(_overall(number, sentence, columns), number.fits)
        if found is not None and (named or number.digits >= _TOP or not sentence.columns):
            return found
    return None


_RANGE = re.compile(
    r"\b(?:rang\w+|var(?:y|ies|ied)|swing\w*|fluctuat\w*|hover\w*|reich\w+|liegen)\b"
    r"(?: \w+){0,2}? (?:from|between|von|zwischen) \W?(?:[\d.,]+\w? ?%?(?: \w+)? (?:to|and|bis|und) \W?)?$",
    re.IGNORECASE,
)


def _end_of_range(
    number: WrittenNumber, sentence: Sentence, scopes: Sequence[ClaimScope], *, columns: Sequence[ClaimColumn]
) -> ClaimVerdict:
    """Judge an end of a range ("from 10 to 34") by the extremes of the named rows, or of all rows."""
    refuted: ClaimVerdict | None = None
    for column in columns:
        for rows in [*(each.rows for each in scopes if len(each.rows) > 1), np.arange(sentence.table.size)]:
            values = column.values[rows]
            if np.isnan(values).all():
                continue
            for at in (int(np.nanargmin(values)), int(np.nanargmax(values))):
                row = int(rows[at])
                if number.fits(float(values[at])):
                    return ClaimVerdict(
                        "checked", source(column, row, f"{column.title} of {sentence.table.described(row)}")
                    )
            ends = f"{figure(float(np.nanmin(values)))} to {figure(float(np.nanmax(values)))}"
            refuted = refuted or ClaimVerdict(
                "contradicted", source(column, None, f"{column.title} goes from {ends}")
            )
    return refuted or ClaimVerdict("not_found")


def _totals(columns: Sequence[ClaimColumn]) -> Iterator[Candidate]:
    for column in columns:
        if column.additive and len(column.present):
            yield column.total, source(column, None, f"sum of {column.title} over {len(column.present)} rows")


def _is_aggregate(number: WrittenNumber, sentence: Sentence) -> bool:
    near = _near(number, sentence)
    return any(cue.search(near) is not None for cue in (cues.MEAN, cues.MEDIAN, cues.TOTAL))


def _listed_beyond(
    number: WrittenNumber, sentence: Sentence, columns: Sequence[ClaimColumn]
) -> ClaimVerdict | None:
    """ "Three have 10,000 or more: A, B and C": every named row must satisfy the bound."""
    if number.bound not in ("above", "at_least", "at_most") and number.start not in sentence.lines:
        return None
    for mentions in sentence.columns.values():
        if (
            not any(each.spoken and each.value == len(mentions) for each in sentence.numbers)
            or len(mentions) < 2
        ):
            continue
        fits = _fitting(number)
        wrong = None
        for column in columns:
            values = [(each, sentence.value(each.rows, column)) for each in mentions]
            wrong = next((each for each in values if not fits(each[1])), None)
            if wrong is None:
                return ClaimVerdict(
                    "checked", source(column, None, f"{column.title} of the {len(mentions)} named")
                )
        if len(columns) == 1 and wrong is not None:
            how = (
                f"{columns[0].title} of {sentence.between(wrong[0].start, wrong[0].end)} is "
                f"{figure(wrong[1])}"
            )
            return ClaimVerdict("contradicted", source(columns[0], None, how))
    return None


def _rolling(sentence: Sentence, columns: Sequence[ClaimColumn]) -> Iterator[Candidate]:
    """ "The 12 months to June sum to ...": sums of the last and of the first 12 rows."""
    if not sentence.table.has_time:
        return
    for count in _spans_named(sentence):
        for column in columns:
            if column.additive and count <= len(column.values):
                yield (
                    float(np.nansum(column.values[-count:])),
                    source(column, None, f"sum of the last {count} rows"),
                )
                yield (
                    float(np.nansum(column.values[:count])),
                    source(column, None, f"sum of the first {count} rows"),
                )


def _rolling_changes(sentence: Sentence, columns: Sequence[ClaimColumn]) -> Iterator[Candidate]:
    for count in _spans_named(sentence):
        for column in columns:
            for skipped in (0, 1):  # the period of the last row may be incomplete
                end = len(column.values) - skipped
                if column.additive and 2 * count <= end:
                    early = float(np.nansum(column.values[end - 2 * count : end - count]))
                    late = float(np.nansum(column.values[end - count : end]))
                    if early:
                        yield (
                            late / early - 1,
                            source(column, None, f"the last {count} rows to the {count} before"),
                        )


def _spans_named(sentence: Sentence) -> list[int]:
    found = [
        int(each.value) for each in sentence.numbers if each.kind == "plain" and each.value == int(each.value)
    ]
    return [each for each in dict.fromkeys(found) if 1 < each <= _LONGEST_SPAN]


def _ranged(number: WrittenNumber, sentence: Sentence, columns: Sequence[ClaimColumn]) -> ClaimVerdict | None:
    """ "between 10 and 34": the lowest and the highest value."""
    before = sentence.between(max(sentence.start, number.start - 70), number.start)
    if not re.search(
        r"\b(?:between|from|zwischen|von)\s*(?:\S+\s*(?:and|to|und|bis|[–-])\s*)?[^\w\s]?$",
        before,
        re.IGNORECASE,
    ):
        return None
    for column in columns:
        if len(column.present):
            for row in (int(np.nanargmin(column.values)), int(np.nanargmax(column.values))):
                if number.fits(float(column.values[row])):
                    return ClaimVerdict(
                        "checked", source(column, row, f"{column.title} of {sentence.table.described(row)}")
                    )
    return None


def _without_label(
    number: WrittenNumber, sentence: Sentence, columns: Sequence[ClaimColumn]
) -> ClaimVerdict | None:
    """ "47 customers have no segment": the row whose label is empty."""
    if not re.search(
        r"\b(?:no|without|unknown|missing|none|null|unassigned|not recorded|blank|empty|"
        r"kein\w*|ohne|unbekannt\w*|fehl\w*)\b",
        sentence.text,
        re.IGNORECASE,
    ):
        return None
    for label in sentence.table.labels:
        if label.nulls:
            for row in [at for at, cell in enumerate(label.cells) if cell is None][:20]:
                for column in columns:
                    if number.fits(float(column.values[row])):
                        return ClaimVerdict(
                            "checked", source(column, row, f"{column.title} without {label.title}")
                        )
    return None


def _joint(sentence: Sentence, column: ClaimColumn) -> Iterator[Candidate]:
    """The sums over the labels that the sentence names."""
    if not column.additive:
        return
    for mentions in sentence.columns.values():
        rows = np.unique(np.concatenate([each.rows for each in mentions]))
        yield (
            float(np.nansum(column.values[rows])),
            source(column, None, f"sum of {column.title} over {len(rows)} rows"),
        )
        others = [mentions for key, mentions in sentence.columns.items() if mentions[0].column != key]
        for other in others:
            both = np.intersect1d(rows, np.concatenate([each.rows for each in other]))
            yield (
                float(np.nansum(column.values[both])),
                source(column, None, f"sum of {column.title} over {len(both)} rows"),
            )
    before = list(sentence.before.values())
    if not sentence.columns and before:
        yield float(np.nansum(column.values[before[-1].rows])), source(column, None, f"sum of {column.title}")


def _differences(number: WrittenNumber, sentence: Sentence, pairs: Iterable[Change]) -> Iterator[Candidate]:
    least, most = number.reach if number.kind == "plain" else (0.0, float("inf"))
    for each in pairs:
        difference = each.end - each.start
        if least <= abs(difference) <= most and _agrees(number, sentence, difference):
            yield (difference if number.signed else abs(difference)), each.source("difference")


def _any_cell(number: WrittenNumber, columns: Sequence[ClaimColumn]) -> ClaimVerdict | None:
    for column in columns:
        for value, step in number.readings:
            half = 0.5 * step + 1e-9 * abs(value)
            at = int(np.searchsorted(column.sorted, value - half))
            if at < len(column.sorted) and number.fits(float(column.sorted[at])):
                row = int(np.flatnonzero(column.values == column.sorted[at])[0])
                return ClaimVerdict("checked", source(column, row, column.title))
    return None


_SPAN = re.compile(
    r" (?:more|others?|before|weitere\w*|andere\w*|(?:(?!an? |per |pro |each |im )\w+ )?(?:years?|quarters?|"
    r"months?|weeks?|days?|hours?|periods?|"
    r"jahren?|quartalen?|monaten?|wochen?|tagen?))\b",
    re.IGNORECASE,
)


def _is_idle(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True for a number that is not a figure: "the two", "top 5", "one", the "1." of a list."""
    before = sentence.between(max(sentence.start, number.start - 24), number.start)
    after = sentence.between(number.end, min(sentence.end, number.end + 3))
    counts = sentence.between(number.end, min(sentence.end, number.end + 24))
    if number.value <= sentence.table.size and _SPAN.match(counts):
        return True
    if not number.spoken:
        listed = not before.strip(" •-\t(#") and re.match(r"[.):] ?", after) is not None
        return (
            listed
            or re.search(
                r"\b(?:top|bottom|first|last|next|previous|past|letzten|ersten|nächsten|top-|no\.|platz|"
                r"nr\.|step|rank|#)[ -]?$",
                before,
                re.IGNORECASE,
            )
            is not None
        )
    if number.value <= 1:
        return True
    return not re.match(
        r"\s*(?:of|out of|von)\b", sentence.between(number.end, min(sentence.end, number.end + 8))
    )


_SPREAD = re.compile(r"[^.\d]{0,20}\b(?:from|between|von|zwischen) \W?$", re.IGNORECASE)


def _near(number: WrittenNumber, sentence: Sentence) -> str:
    """The words around a number, up to an "of" after it: words after "of" belong to the next number.

    "Total revenue goes from 5 to 9" names a column and no sum of it: its name is left out.
    """
    right = re.split(r"\b(?:of|von|out of|aus)\b", sentence.right(number.end))[0]
    left = sentence.left(number.start)
    begin = number.start - len(left)
    names = [each.end for each in sentence.mentions.measures_within(begin, number.start)]
    for column in sentence.table.measures:
        names += [begin + each.end() for each in re.finditer(re.escape(column.title), left, re.IGNORECASE)]
    for end in names:
        if _SPREAD.fullmatch(after := sentence.between(end, number.start)):
            left = after
    return f"{left} | {right}"


def _accused(
    number: WrittenNumber, sentence: Sentence, scopes: Sequence[ClaimScope], *, columns: Sequence[ClaimColumn]
) -> ClaimVerdict | None:
    """The verdict on a number that fits no candidate.

    It is "contradicted" when the text says which value it is and the rows hold another one, None when it is a
    key, and "not_found" otherwise.
    """
    near = _near(number, sentence)
    apart = is_difference(number, sentence)
    if apart and (parted := _other_difference(sentence, scopes, columns, number=number)) is not None:
        return parted
    doubtful = apart or cues.MEAN.search(near) or cues.MEDIAN.search(near)
    known = [each for each in columns if scopes and not np.isnan(sentence.value(scopes[0].rows, each))]
    if sentence.columns and scopes and known and (not doubtful or _is_another(number, known)):
        column = known[0]
        rows = scopes[0].rows
        value = sentence.value(rows, column)
        how = f"{column.title} of {_named(scopes[0], sentence)} is {figure(value)}"
        return ClaimVerdict("contradicted", source(column, int(rows[0]) if len(rows) == 1 else None, how))
    if _is_key(number, sentence):
        return None
    stated = _stated_column(number, sentence, columns) if not scopes or not sentence.columns else None
    if stated is not None and (instead := _stated(near, stated)) is not None:
        value, how = instead
        return ClaimVerdict("contradicted", source(stated, None, f"{how} is {figure(value)}"))
    return ClaimVerdict("not_found")


def _is_key(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True for a value of the numeric column that groups the rows: "6 Zylinder"."""
    keys = [each for each in sentence.table.columns[:1] if each.is_key and each.is_number]
    return number.kind == "plain" and any(bool((each.values == number.value).any()) for each in keys)


def _stated_column(
    number: WrittenNumber, sentence: Sentence, columns: Sequence[ClaimColumn]
) -> ClaimColumn | None:
    """The measure that a number belongs to: the only one, or the one named beside it; None if unclear."""
    start = number.start - len(sentence.left(number.start))
    named = [each.column for each in sentence.mentions.measures_within(start, number.start)]
    if not named:
        end = number.end + len(sentence.right(number.end, 25))
        named = [each.column for each in sentence.mentions.measures_within(number.end, end)]
    if named:
        columns = named[-1:]
    elif len(sentence.table.measures) > 1 and not number.currency:
        return None
    return columns[0] if len(columns) == 1 and len(columns[0].present) else None


def _other_difference(
    sentence: Sentence, scopes: Sequence[ClaimScope], columns: Sequence[ClaimColumn], *, number: WrittenNumber
) -> ClaimVerdict | None:
    """A "contradicted" verdict with the real difference of the two values that the text compares."""
    if len(columns) != 1:
        return None
    pair = _stated_pair(sentence, columns[0], scopes, number=number)
    if pair is None:
        return None
    how = f"difference of {columns[0].title}, {pair.how}, is {figure(abs(pair.end - pair.start))}"
    return ClaimVerdict("contradicted", source(columns[0], None, how))


def _stated_pair(
    sentence: Sentence, column: ClaimColumn, scopes: Sequence[ClaimScope], *, number: WrittenNumber
) -> Change | None:
    """The two values of a comparison when the text names both sides; else None."""
    named = scopes[0].named if scopes else ()
    start, end = sentence.clause(number.start)
    keys = {
        each.key
        for mentions in sentence.columns.values()
        for each in mentions
        if start <= each.start < end or sentence.start <= each.start < number.start
    }
    return next(
        (
            each
            for each in changes(sentence, column, named, number=number)
            if (each.anchored or (each.explicit and {*each.names} <= keys))
            and each.start == each.start
            and each.end == each.end
        ),
        None,
    )


def _stated(near: str, column: ClaimColumn) -> tuple[float, str] | None:
    """The mean, sum or extreme that the words next to a number name, with its description; else None."""
    if cues.SHARE.search(near):
        return None
    if cues.MEDIAN.search(near):
        return column.median, f"the median of {column.title}"
    if cues.MEAN.search(near):
        return column.mean, f"the mean of {column.title}"
    if cues.TOTAL.search(near) and column.additive:
        return column.total, f"the sum of {column.title}"
    if cues.MOST.search(near):
        return float(column.present.max()), f"the highest {column.title}"
    if cues.LEAST.search(near):
        return float(column.present.min()), f"the lowest {column.title}"
    return None


def _is_another(number: WrittenNumber, columns: Sequence[ClaimColumn]) -> bool:
    return number.digits >= _SPECIFIC and _any_cell(number, columns) is not None


def _named(scope: ClaimScope, sentence: Sentence) -> str:
    if not scope.named:
        return "all rows"
    names = [sentence.between(each.start, each.end) for each in scope.named]
    return " in ".join(names[:2]) if len(names) > 1 else names[0]


# Shares and changes in percent


def _judge_percent(number: WrittenNumber, sentence: Sentence) -> ClaimVerdict:
    left = sentence.left(number.start)
    right = sentence.right(number.end)
    near = f"{left} | {right}"
    columns, _ = _columns(number, sentence)
    scopes = sentence.scopes(number)
    share = (
        cues.SHARE.search(near) is not None
        or re.match(r"\s+(?:of|der|des|aller)\b", right, re.IGNORECASE) is not None
    )
    change = cues.CHANGE.search(near) is not None or number.signed != 0
    if (parts := _part_of_named(number, sentence, columns)) is not None:
        return parts
    candidates: list[Iterator[Candidate]] = []
    narrow = columns if sentence.measured or len(columns) < _MANY_MEASURES else columns[:_MANY_MEASURES]
    for column in narrow:
        candidates.append(_as_percent(number, sentence, scopes, column=column))
        if share or not change:
            candidates.append(_shares(number, sentence, scopes, column=column, near=near))
        if (change and not (share and not cues.CHANGE.search(left))) or not share:
            named = scopes[0].named if scopes else ()
            candidates.append(_relative(number, sentence, column, named=named))
    if share or not change:
        candidates.append(_shares_of_rows(sentence, scopes))
        candidates.append(_ratios(sentence, scopes, columns))
    if sentence.table.has_time:
        candidates.append(_rolling_changes(sentence, columns))
    found = first(chain.from_iterable(candidates), _percent_fitting(number))
    if found is not None:
        return found
    if share and narrow and (top := _other_top_share(number, sentence, narrow[0])) is not None:
        return top
    if (
        change
        and narrow
        and not sentence.columns
        and (course := _other_course(sentence, narrow[0])) is not None
    ):
        return course
    most = 1 if is_difference(number, sentence) else _TOP
    if sentence.columns and scopes and narrow and (share or change) and len(sentence.measures()) <= most:
        return _other_percent(number, sentence, scopes, column=narrow[0], share=share)
    return ClaimVerdict("not_found")


_PART_OF = re.compile(
    r"\s*(?:of|der|des|von|as (?:many|much|high|large|big|long|old|heavy|tall)|"
    r"so (?:viel|hoch|groß|alt)\w*)\b"
    r"(?:(?!\b(?:and|und|while|but)\b)[^.;,:\d]){0,40}?$",
    re.IGNORECASE,
)


def _part_of_named(
    number: WrittenNumber, sentence: Sentence, columns: Sequence[ClaimColumn]
) -> ClaimVerdict | None:
    """ "A has 40 % of B's": judge one named value as a share of another; None without such a phrase."""
    for mentions in sentence.columns.values():
        after = next((each for each in mentions if each.start >= number.end), None)
        before = [each for each in mentions if each.end <= number.start]
        if (
            after is None
            or not before
            or after.column == TIME
            or before[-1].key == after.key
            or (
                len(before) > 1
                and cues.LIST_GLUE.fullmatch(sentence.between(before[-2].end, before[-1].start))
            )
            or not _PART_OF.fullmatch(sentence.between(number.end, after.start))
        ):
            continue
        refuted: ClaimVerdict | None = None
        for column in columns:
            whole = sentence.value(after.rows, column)
            part = sentence.value(before[-1].rows, column)
            if not whole or np.isnan(whole) or np.isnan(part):
                continue
            names = [sentence.between(each.start, each.end) for each in (before[-1], after)]
            how = f"{column.title} of {names[0]} in that of {names[1]} is {part / whole:.1%}"
            if number.fits(part / whole):
                return ClaimVerdict("checked", source(column, None, how))
            refuted = refuted or ClaimVerdict("contradicted", source(column, None, how))
        return refuted if len(columns) == 1 else None
    return None


def _percent_fitting(number: WrittenNumber) -> Callable[[float], bool]:
    def fits(value: float) -> bool:
        return number.fits(value) or (not number.signed and value < 0 and number.fits(-value))

    return fits


def _as_percent(
    number: WrittenNumber, sentence: Sentence, scopes: Sequence[ClaimScope], *, column: ClaimColumn
) -> Iterator[Candidate]:
    """Candidates from columns that hold percentages, written 12.34 or 0.1234; values are shares of one."""
    if not (column.is_share or len(column.present) == 0 or float(np.abs(column.present).max()) <= 100):
        return
    fraction = len(column.present) > 0 and float(np.abs(column.present).max()) <= 1.0 + 1e-9
    scale = 1.0 if fraction else 0.01
    if not column.is_share and not fraction and column.additive and column.type == "integer":
        return
    for scope in scopes:
        for found, where in _of_rows(number, sentence, scope, column=column):
            yield found * scale, where
    if not scopes:
        for found, where in _overall(number, sentence, [column]):
            yield found * scale, where


def _shares(
    number: WrittenNumber, sentence: Sentence, scopes: Sequence[ClaimScope], *, column: ClaimColumn, near: str
) -> Iterator[Candidate]:
    """Candidate shares of a total: of named rows, of the leading rows, and of the rest."""
    total = column.total if column.additive and len(column.present) else 0.0
    if total <= 0:
        return
    remaining = re.search(
        r"\b(?:remain\w*|rest\b|others?\b|everything else|übrig\w*|restlich\w*|balance)", near, re.IGNORECASE
    )
    parts = list(_parts(sentence, scopes, column))
    for rows, within, how in parts[:40]:
        part = float(np.nansum(column.values[rows]))
        wholes = [total] if within is None else [float(np.nansum(column.values[within])), total]
        for whole in wholes:
            if whole > 0:
                if remaining:
                    yield 1 - part / whole, source(column, None, f"what {how} leave of all {column.title}")
                yield (
                    part / whole,
                    source(
                        column,
                        int(rows[0]) if len(rows) == 1 else None,
                        f"share of {how} in all {column.title}",
                    ),
                )
    if not sentence.columns or re.search(
        r"\b(?:top|bottom|leading|lead|first|largest|biggest|leader|ersten|größte\w*|"
        r"these|together|remaining|other|both)\b",
        sentence.text,
        re.IGNORECASE,
    ):
        yield from _leading_shares(sentence, column, total, remaining=bool(remaining))


def _parts(
    sentence: Sentence, scopes: Sequence[ClaimScope], column: ClaimColumn
) -> Iterator[tuple[Places, Places | None, str]]:
    for scope in scopes:
        name = _named(scope, sentence)
        timed = [each for each in scope.named if each.column == TIME]
        labels = [each for each in scope.named if each.column != TIME]
        yield scope.rows, timed[0].rows if timed and labels else None, name
        if timed and labels:
            yield scope.rows, labels[0].rows, name
        if len(labels) > 1:
            yield scope.rows, labels[0].rows, name
            yield scope.rows, labels[1].rows, name
    for column_index, mentions in sentence.columns.items():
        if len(mentions) > 1 and (
            cues.JOINT.search(sentence.text)
            or cues.LIST_GLUE.fullmatch(sentence.between(mentions[0].end, mentions[1].start))
        ):
            for listed in sentence.lists(mentions):
                many = len(listed)
                rows = np.unique(np.concatenate([each.rows for each in listed]))
                for other, others in sentence.columns.items():
                    if other != column_index:
                        yield np.intersect1d(rows, others[0].rows), others[0].rows, f"the {many} named"
                yield rows, None, f"the {many} named"


def _leading_shares(
    sentence: Sentence, column: ClaimColumn, total: float, *, remaining: bool
) -> Iterator[Candidate]:
    orders: list[list[float]] = (
        [sorted(column.present.tolist(), reverse=True)] if len(column.present) <= 1_000 else []
    )
    orders += [
        [value for _, value in ordered(sentence.table, label.index, column, within=None)]
        for label in sentence.table.labels[:2]
        if label.distinct < sentence.table.size
    ]
    for order in orders:
        numbers = how_many(sentence.text)
        for top in numbers or [1, 2, 3]:
            part = sum(order[:top])
            yield part / total, source(column, None, f"share of the {top} highest in all {column.title}")
            if remaining:
                yield (
                    1 - part / total,
                    source(column, None, f"what the {top} highest leave of all {column.title}"),
                )
        for low in numbers or [1]:
            yield (
                sum(order[-low:]) / total,
                source(column, None, f"share of the {low} lowest in all {column.title}"),
            )


def _shares_of_rows(sentence: Sentence, scopes: Sequence[ClaimScope]) -> Iterator[Candidate]:
    size = sentence.table.size
    if not size or not sentence.table.columns:
        return
    for scope in scopes:
        label = (
            sentence.table.columns[max(0, scope.named[0].column)]
            if scope.named
            else sentence.table.columns[0]
        )
        if len(scope.rows) > 1 or not sentence.table.measures:
            yield (
                len(scope.rows) / size,
                source(label, None, f"share of the rows with {_named(scope, sentence)}"),
            )
    if cues.EMPTY.search(sentence.text):
        for column in sentence.table.columns:
            if column.nulls:
                yield column.nulls / size, source(column, None, f"share of the rows without {column.title}")
    for at, number in enumerate(sentence.numbers):
        for other in sentence.numbers[at + 1 : at + 3]:
            if (
                number.kind == other.kind == "plain"
                and other.value
                and re.search(r"\bof\b|von|/", sentence.between(number.end, other.start))
            ):
                yield (
                    number.value / other.value,
                    source(sentence.table.columns[0], None, "ratio of the two counts"),
                )


def _ratios(
    sentence: Sentence, scopes: Sequence[ClaimScope], columns: Sequence[ClaimColumn]
) -> Iterator[Candidate]:
    """Candidate ratios of two measures, such as a margin."""
    measures = sentence.table.measures
    if len(measures) < 2 or len(measures) > _MANY_MEASURES:
        return
    for over in measures:
        for under in measures:
            if over is under:
                continue
            for rows, row in [
                (each.rows, int(each.rows[0]) if len(each.rows) == 1 else None) for each in scopes[:2]
            ] or [(np.arange(sentence.table.size), None)]:
                below = sentence.value(rows, under)
                if below:
                    yield (
                        sentence.value(rows, over) / below,
                        source(over, row, f"{over.title} by {under.title}"),
                    )


def _relative(
    number: WrittenNumber, sentence: Sentence, column: ClaimColumn, *, named: tuple[LabelMention, ...]
) -> Iterator[Candidate]:
    """Candidate changes, differences and ratios for a percentage; values are shares of one."""
    for each in changes(sentence, column, named, number=number):
        if not len(column.present):
            return
        if number.kind == "points" or (column.is_share and abs(each.end) <= 100):
            scale = 1.0 if float(np.nanmax(np.abs(column.present))) <= 1.0 else 0.01
            difference = (each.end - each.start) * scale
            if _agrees(number, sentence, difference):
                yield (difference if number.signed else abs(difference)), each.source("difference")
        if (
            each.start > 0
            and number.spoken
            and re.match(r"\s+(?:as|of|so|the)\b", sentence.right(number.end))
        ):
            yield each.end / each.start, each.source("ratio")
        elif each.start and number.kind == "percent":
            relative = (each.end - each.start) / abs(each.start)
            if _agrees(number, sentence, relative):
                yield (relative if number.signed else abs(relative)), each.source("change")
            if (
                cues.MORE_THAN.search(sentence.text) is None
                and re.search(r"\bof\b|von|des|der", sentence.right(number.end))
                and each.start > 0
            ):
                yield each.end / each.start, each.source("ratio")
                if each.end and not each.timed and each.explicit:
                    yield each.start / each.end, each.source("ratio")


def _agrees(number: WrittenNumber, sentence: Sentence, difference: float) -> bool:
    """Return True if the text's direction of a change, if any, is that of the rows."""
    if number.signed:
        return difference * number.signed >= 0
    said = moves(sentence, number)
    return said == 0 or difference * said >= 0


def _other_percent(
    number: WrittenNumber,
    sentence: Sentence,
    scopes: Sequence[ClaimScope],
    *,
    column: ClaimColumn,
    share: bool,
) -> ClaimVerdict:
    """A "contradicted" verdict with the real share or change; "not_found" when the comparison is unclear."""
    if share and column.additive and column.total > 0:
        value = sentence.value(scopes[0].rows, column) / column.total
        how = f"share of {_named(scopes[0], sentence)} in all {column.title} is {value:.1%}"
        return ClaimVerdict("contradicted", source(column, None, how))
    pair = next(
        (each for each in changes(sentence, column, scopes[0].named, number=number) if each.start), None
    )
    if pair is None or not pair.explicit:
        return ClaimVerdict("not_found")
    relative = (pair.end - pair.start) / abs(pair.start)
    return ClaimVerdict(
        "contradicted", source(column, None, f"change of {column.title}, {pair.how}, is {relative:+.1%}")
    )


_TOP_SHARE = re.compile(
    r"\b(?:top|leading|largest|biggest|highest|größten|stärksten|ersten)\b[^.;,\d]{0,60}$", re.IGNORECASE
)


def _other_top_share(number: WrittenNumber, sentence: Sentence, column: ClaimColumn) -> ClaimVerdict | None:
    """ "The top three make up 60 %": "contradicted" with their real share; None if unclear."""
    left = sentence.left(number.start)
    many = how_many(left) or [
        int(each.value)
        for each in sentence.numbers
        if each.end <= number.start <= each.end + _LONGEST_SPAN and each.spoken and each.kind == "plain"
    ]
    before = sentence.between(max(sentence.start, number.start - 80), number.start)
    if len(many) != 1 or not _TOP_SHARE.search(before) or not column.additive or column.total <= 0:
        return None
    if len(column.present) != sentence.table.size or not 0 < many[0] < sentence.table.size:
        return None
    share = float(column.sorted[-many[0] :].sum()) / column.total
    how = f"share of the {many[0]} highest in all {column.title} is {share:.1%}"
    return ClaimVerdict("contradicted", source(column, None, how))


_WHOLE_COURSE = re.compile(
    r"\b(?:over|across|during|throughout) (?:the |this )?(?:whole |entire |full )?(?:year|period|time)\b|"
    r"\b(?:über|im gesamten|während des) (?:das |den )?(?:ganze |gesamte\w* )?(?:jahr|zeitraum)\w*",
    re.IGNORECASE,
)


def _other_course(sentence: Sentence, column: ClaimColumn) -> ClaimVerdict | None:
    """ "Rose by 20 % over the year": "contradicted" with the change from the first to the last period."""
    if (
        not _WHOLE_COURSE.search(sentence.text)
        or len(sentence.table.measures) > 1
        or sentence.table.labels[1:]
    ):
        return None
    series = next((each for _, each in series_of(sentence, column, None) if len(each) > 1), None)
    if series is None or not series[0][1]:
        return None
    (_, start), (_, end) = series[0], series[-1]
    how = f"from {figure(start)} to {figure(end)}, {(end - start) / abs(start):+.1%}"
    return ClaimVerdict("contradicted", source(column, None, f"{column.title} went {how}"))


# Times


def _judge_times(number: WrittenNumber, sentence: Sentence) -> ClaimVerdict | None:
    columns, _ = _columns(number, sentence)
    scopes = sentence.scopes(number)
    named = scopes[0].named if scopes else ()
    candidates = [_multiples(number, sentence, column, named=named) for column in columns]
    candidates.append(_ratios(sentence, scopes, columns))
    found = first(chain.from_iterable(candidates), number.fits)
    if found is None and columns is not sentence.measures():
        found = first(
            chain.from_iterable(
                _multiples(number, sentence, each, named=named) for each in sentence.table.measures
            ),
            number.fits,
        )
    if found is not None:
        return found
    if not number.spoken:
        plain = first(
            chain.from_iterable(
                _of_rows(number, sentence, scope, column=each) for scope in scopes for each in columns
            ),
            number.fits,
        )
        if plain is not None:
            return plain
    pair = _stated_pair(sentence, columns[0], scopes, number=number) if 0 < len(columns) <= _TOP else None
    if pair is not None and pair.start and pair.end / pair.start > 0:
        ratio = pair.end / pair.start
        ratio = 1 / ratio if ratio < 1 < number.value and not pair.timed else ratio
        how = f"ratio of {columns[0].title}, {pair.how}, is {figure(round(ratio, 2))}"
        return ClaimVerdict("contradicted", source(columns[0], None, how))
    return ClaimVerdict("not_found")


def _multiples(
    number: WrittenNumber, sentence: Sentence, column: ClaimColumn, *, named: tuple[LabelMention, ...]
) -> Iterator[Candidate]:
    for each in changes(sentence, column, named, number=number):
        if each.start and each.end and each.end / each.start > 0:
            ratio = each.end / each.start
            yield ratio, each.source("ratio")
            if not each.timed and not each.anchored:
                yield 1 / ratio, each.source("ratio")
