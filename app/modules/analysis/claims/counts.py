"""Judge counts: of rows, groups, empty cells, values above a limit, and periods that rose."""

import re
from collections.abc import Iterator

import numpy as np

from app.modules.analysis.claims import cues
from app.modules.analysis.claims.conditions import judge_condition
from app.modules.analysis.claims.context import ClaimVerdict, Sentence, grouped
from app.modules.analysis.claims.mentions import TIME
from app.modules.analysis.claims.numbers import WrittenNumber
from app.modules.analysis.claims.table import ClaimColumn, figure, stem
from graph.state import ClaimSource

_NOUN = re.compile(r"[\s)]*((?:[^\W\d_]+[\s-]){0,3}[^\W\d_]+)")
_OF = re.compile(r"\s*(?:\w+ ){0,1}(?:of|out of|von|der|/|in)\b", re.IGNORECASE)
_STATES = re.compile(
    r"(?:across|all|there are|there were|in total|total of|lists?|listing|show(?:s|"
    r"ing|n)?|contains?|includes?|covers?|covering|return(?:s|ed)|has|have|with|"
    r"over|among|of|"
    r"über|alle|insgesamt|es gibt|gibt es|found|spans?|comprises?|are|sind|umfasst|"
    r"enthält|zeigt)\s+(?:a |the |all |total of |only |just |nur )*$",
    re.IGNORECASE,
)
_MORE = re.compile(r"\s*(?:more|others?|weitere\w*|andere\w*)\b", re.IGNORECASE)
_BREAKS_NOUN = re.compile(
    r"^(?:a|an|the|in|of|for|and|to|by|at|from|with|while|on|or|was|is|were|are|than|as|per|"
    r"und|von|im|für|mit|bei|than|compared|versus)$",
    re.IGNORECASE,
)
_NEAR_CHARACTERS = 16
_PART_OF = re.compile(r"\b(?:of|out of|von|der|/)\s*(?:the |all |den |insgesamt )?$", re.IGNORECASE)
_OF_ALL = re.compile(
    r"\b(?:of|among|all|alle[nr]?|der|unter|out of|across|over)\s(?:the |all |these |den |its |insgesamt )?$",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:the|these|those|other|all|die|der|den|diese[rn]?|beiden|remaining|our|"
    r"its|following|next|last|top|another|only|leading|main|key)\s*$",
    re.IGNORECASE,
)


def judge_count(number: WrittenNumber, sentence: Sentence) -> ClaimVerdict | None:
    """Judge a number as a count; None when it counts nothing that the result has."""
    if (
        sentence.table.size == 1
        or number.kind != "plain"
        or number.currency
        or number.value != int(number.value)
        or number.digits > 6
    ):
        return None
    noun = _counted(number, sentence)
    after_of = _is_whole(number, sentence) or is_of_all(number, sentence)
    before_of = _OF.match(sentence.between(number.end, min(number.end + 16, sentence.end)))
    if not after_of and (noun is not None or before_of or _stands_alone(number, sentence)):
        verdict = judge_condition(number, sentence, noun)
        if verdict is not None:
            return verdict
    if not after_of and (verdict := _of_label(number, sentence, noun)) is not None:
        return verdict
    if noun is None and not after_of and not before_of:
        return None
    idle = re.search(
        r"\b(?:top|bottom|first|last|next|previous|past|ersten|letzten)[ -]$",
        sentence.between(max(sentence.start, number.start - 12), number.start),
        re.IGNORECASE,
    )
    for value, source in _counts(number, sentence, noun):
        if number.fits(value):
            return ClaimVerdict("checked", source)
    states = _STATES.search(sentence.between(max(sentence.start, number.start - 24), number.start))
    more = _MORE.match(sentence.between(number.end, min(number.end + 12, sentence.end)))
    unit = (isinstance(noun, str) and noun != "rows") or (isinstance(noun, ClaimColumn) and noun.is_time)
    spanned = unit and number.value <= sentence.table.size and bool(sentence.columns or sentence.before)
    if noun is None or idle or more or (spanned and (not states or sentence.columns)):
        return None
    if number.spoken and (number.value <= 1 or _is_vague(number, sentence)):
        return None
    if isinstance(noun, ClaimColumn) and noun.is_label and not sentence.columns and states:
        how = (
            f"{noun.title} has {figure(noun.distinct)} different values in {figure(sentence.table.size)} rows"
        )
        return ClaimVerdict("contradicted", ClaimSource(column=noun.name, row=None, how=how))
    return ClaimVerdict("not_found")


def _stands_alone(number: WrittenNumber, sentence: Sentence) -> bool:
    """ "Three exceed 100", "three peaks exceed 100": no column is named for the counted things."""
    after = sentence.between(number.end, min(number.end + 48, sentence.end))
    found = re.match(rf"(?: [^\W\d_]+){{0,2}}?(?P<verb>{_VERB})", after)
    if not number.spoken or found is None or len(sentence.table.labels) > 1:
        return False
    return not sentence.mentions.measures_within(number.end, number.end + found.start("verb"))


_VERB = (
    r" (?:exceed\w*|are|were|have|had|fall|fell|lie|lay|earn\w*|sit|stand|surpass\w*|top|topped|reach\w*|"
    r"offer\w*|drew|got|received|brought|sold|made|liegen|lagen|sind|waren|haben|hatten|erreich\w*)\b"
)
_FROM = re.compile(
    r" (?:[^\W\d_]+ )?(?:are |come |were |came |live |kommen |sind |stammen )?"
    r"(?:from|in|aus|based in|located in) (?:the |den |der )?",
    re.IGNORECASE,
)


def _of_label(
    number: WrittenNumber, sentence: Sentence, noun: "ClaimColumn | str | None"
) -> ClaimVerdict | None:
    """ "Four of them are from the UK": the rows of a label that several rows share."""
    after = next(iter(sentence.mentions.within(number.end, min(number.end + 48, sentence.end))), None)
    if (
        after is None
        or not after.found
        or after.column == TIME
        or len(sentence.columns) > 1
        or (isinstance(noun, ClaimColumn) and noun.index == after.column)
        or number.value < 1
        or number.value > sentence.table.size
        or not _FROM.fullmatch(sentence.between(number.end, after.start))
        or sentence.mentions.measures_within(number.end, after.start)
    ):
        return None
    label = sentence.table.columns[after.column]
    if label.distinct == sentence.table.size or not (noun is not None or number.spoken):
        return None
    many = len(after.rows)
    how = f"{many} rows with {sentence.between(after.start, after.end)}"
    source = ClaimSource(column=label.name, row=None, how=how)
    if number.fits(many):
        return ClaimVerdict("checked", source)
    return ClaimVerdict("contradicted", source) if number.bound == "exact" else None


def _counted(number: WrittenNumber, sentence: Sentence) -> "ClaimColumn | str | None":
    """The column or the unit that is counted ("12 categories", "24 months", "100 rows"), else None."""
    found = _NOUN.match(sentence.between(number.end, min(number.end + 48, sentence.end)))
    if found is None:
        return None
    for word in re.split(r"[\s-]+", found.group(1)):
        if _BREAKS_NOUN.match(word):
            break
        if cues.COUNTED_ROWS.fullmatch(word):
            return "rows"
        base = stem(word)
        if any(base in each.called for each in sentence.table.measures):
            return None
        for column in (*sentence.table.times, *sentence.table.labels):
            if base in column.called or base in column.words:
                return column
        if word.lower() in cues.SPAN_UNITS or base in cues.SPAN_UNITS:
            return cues.SPAN_UNITS.get(word.lower(), cues.SPAN_UNITS.get(base, "")) or "rows"
    first = stem(re.split(r"[\s-]+", found.group(1))[0])
    return "rows" if first in sentence.table.entities else None


def _is_whole(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True for the second number of "four of ten"."""
    return any(
        each.end <= number.start and each.end >= number.start - _NEAR_CHARACTERS and each.kind == "plain"
        for each in sentence.numbers
    ) and _follows(_PART_OF, number, sentence)


def is_of_all(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True for a number of all rows: "the shortest of the 10", "among the 13", "all 24"."""
    return _follows(_OF_ALL, number, sentence)


def _is_vague(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True for a number that only refers back: "the three", "these two"."""
    return _follows(_POINTING, number, sentence)


def _follows(words: re.Pattern[str], number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True if the words stand right before the number, in the same sentence."""
    before = sentence.between(max(sentence.start, number.start - _NEAR_CHARACTERS), number.start)
    return words.search(before) is not None


def _counts(
    number: WrittenNumber, sentence: Sentence, noun: "ClaimColumn | str | None"
) -> Iterator[tuple[float, ClaimSource]]:
    table = sentence.table
    if not table.columns:
        return
    anchor = noun if isinstance(noun, ClaimColumn) else table.columns[0]

    def source(how: str, column: ClaimColumn = anchor) -> ClaimSource:
        return ClaimSource(column=column.name, row=None, how=how)

    for scope in sentence.scopes(number):
        yield len(scope.rows), source("rows that are named")
        if isinstance(noun, ClaimColumn):
            yield (
                len({str(noun.cells[row]) for row in scope.rows}),
                source(f"different {noun.title} of the rows named"),
            )
    bounded = [
        each
        for each in sentence.numbers
        if each is not number
        and each.bound in ("above", "at_least", "at_most", "below")
        and each.kind in ("plain", "percent")
    ]
    others = [index for index in sentence.columns if not isinstance(noun, ClaimColumn) or index != noun.index]
    restricted = bool(others) or bool(bounded)
    if re.search(
        r"\b(?:remaining|other|rest|übrigen|restlichen|weiteren)\s*$",
        sentence.between(max(sentence.start, number.start - 14), number.start),
        re.IGNORECASE,
    ) and isinstance(noun, ClaimColumn):
        yield from (
            (noun.distinct - named, source(f"different {noun.title} less {named}")) for named in range(1, 11)
        )
    if not restricted or _is_whole(number, sentence) or is_of_all(number, sentence):
        yield table.rows["row_count"], source("number of rows")
        columns = [noun] if isinstance(noun, ClaimColumn) else [*table.labels[:3], *table.times[:1]]
        for column in columns:
            yield column.distinct, source(f"different {column.title}", column)
    yield from ((value, source(how)) for value, how in _spans(sentence, noun))
    yield from ((value, source(how)) for value, how in _beyond(sentence, bounded))
    if re.search(
        r"\b(?:null|empty|missing|blank|without|no|unknown|none|fehl\w*|ohne|leer\w*|lack\w*)\b",
        sentence.text,
        re.IGNORECASE,
    ):
        for column in table.columns:
            yield column.nulls, source(f"rows without {column.title}", column)
            yield table.size - column.nulls, source(f"rows with {column.title}", column)
    yield from ((value, source(how)) for value, how in _tallies(number, sentence))


def _spans(sentence: Sentence, noun: "ClaimColumn | str | None") -> Iterator[tuple[float, str]]:
    unit = noun if isinstance(noun, str) else noun.words[-1] if noun is not None and noun.words else ""
    if not sentence.table.has_time or unit not in ("year", "quarter", "month", "day"):
        return
    periods = [each for each in sentence.table.time_rows if each is not None]
    grain = {
        "year": ("year",),
        "quarter": ("year", "quarter"),
        "month": ("year", "month"),
        "day": ("year", "month", "day"),
    }[unit]
    found = {tuple(getattr(each, name) for name in grain) for each in periods}
    found = {each for each in found if None not in each}
    if found:
        yield len(found), f"different {unit}s"
    mentioned = [each.period for each in sentence.columns.get(TIME, ()) if each.period is not None]
    years = [each.year for each in mentioned if each.year]
    if len(years) > 1 and unit == "year":
        yield max(years) - min(years), "years between"
        yield max(years) - min(years) + 1, "years in all"
    if len(mentioned) > 1 and unit == "month":
        at = [each.year * 12 + each.month for each in mentioned if each.year and each.month]
        if len(at) > 1:
            yield max(at) - min(at), "months between"
            yield max(at) - min(at) + 1, "months in all"


def _beyond(sentence: Sentence, bounded: list[WrittenNumber]) -> Iterator[tuple[float, str]]:
    """Counts of rows and groups above or below a limit in the text, the mean or zero."""
    for column in sentence.measures():
        values = column.present
        lines = [(each.value, each.bound) for each in bounded]
        if cues.MEAN.search(sentence.text) and len(values):
            lines += [(float(values.mean()), "above"), (float(values.mean()), "below")]
        if re.search(r"\bnegative|loss|positive|profit|negativ|positiv", sentence.text, re.IGNORECASE):
            lines += [(0.0, "above"), (0.0, "below")]
        groupings = [values]
        groupings += [
            np.array(list(grouped(sentence.table, label.index, column, within=None).values()))
            for label in sentence.table.labels[:2]
            if lines and label.distinct < sentence.table.size
        ]
        for line, bound in lines:
            for grouping in groupings:
                for scaled in (line, line * 100) if column.is_share and abs(line) <= 1 else (line,):
                    if bound in ("above", "at_least"):
                        yield int((grouping > scaled).sum()), f"{column.title} above {figure(scaled)}"
                        yield int((grouping >= scaled).sum()), f"{column.title} of at least {figure(scaled)}"
                    else:
                        yield int((grouping < scaled).sum()), f"{column.title} below {figure(scaled)}"
                        yield int((grouping <= scaled).sum()), f"{column.title} of at most {figure(scaled)}"


def _tallies(number: WrittenNumber, sentence: Sentence) -> Iterator[tuple[float, str]]:
    """Counts of rows with another number's value, of rows that tie, and of periods that rose or fell."""
    for other in sentence.numbers:
        if other is not number and other.kind == "plain" and other.bound == "exact":
            for column in sentence.measures():
                yield (
                    int((column.values == other.value).sum()),
                    f"rows with {column.title} {figure(other.value)}",
                )
    if re.search(r"\b(?:tie\w*|same|equal\w*|each|identical|gleich\w*|je)\b", sentence.text, re.IGNORECASE):
        for column in sentence.measures():
            if len(column.present):
                _, counts = np.unique(column.present, return_counts=True)
                yield from (
                    (int(each), f"rows with the same {column.title}")
                    for each in sorted(set(counts.tolist()))[-5:]
                )
    if sentence.table.has_time and (cues.UP.search(sentence.text) or cues.DOWN.search(sentence.text)):
        for column in sentence.measures():
            steps = np.diff(column.values)
            if cues.UP.search(sentence.text):
                yield int((steps > 0).sum()), f"times that {column.title} rose"
            if cues.DOWN.search(sentence.text):
                yield int((steps < 0).sum()), f"times that {column.title} fell"
