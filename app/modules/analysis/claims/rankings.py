"""Judge superlatives and ranks: "highest", "second", "followed by"."""

import itertools
import re
from collections.abc import Iterator

import numpy as np

from app.modules.analysis.claims import cues
from app.modules.analysis.claims.context import ClaimVerdict, JudgedSpan, Sentence, grouped
from app.modules.analysis.claims.mentions import TIME, LabelMention
from app.modules.analysis.claims.periods import PartialDate
from app.modules.analysis.claims.table import NO_LABEL, ClaimColumn, Places, figure, stem
from graph.state import ClaimSource

_ORDINALS = {
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "fifth": 5,
    "5th": 5,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "dritt": 3,
    "first": 1,
    "1st": 1,
    "erst": 1,
}
_ORDINAL = r"(?:(?P<at>second|2nd|third|3rd|fourth|4th|fifth|5th|zweit|dritt|viert)[ -]?)?"
_CLAIM = re.compile(
    rf"(?<!\w){_ORDINAL}(?:"
    r"(?P<high>highest|largest|biggest|greatest|most(?! (?:of|likely|notab\w+|"
    r"importan\w+|significan\w+|recent\w*|striking\w*|interest\w+)\b)|"
    r"longest|tallest|heaviest|priciest|oldest|best\b(?! guess)|"
    r"best[- ](?:selling|performing|seller|performer|month|year|day|quarter|result)|"
    r"strongest|top[- ](?:seller|selling|performer|performing|spot|position|place|"
    r"ranked|earner|spender)|"
    r"tops\b(?= the)|leads\b|(?<!a )(?<!the )(?<!its )(?<!in )lead\b(?! to| by| "
    r"time| in )|led\b(?! to)|leader\b|leading\b(?! to)|peaked|peaks?\b|"
    r"(?:hits?|reach(?:ed|es)|at|was) (?:its|a|an|the|their) (?:\w+[- ])?high\b|high point|"
    r"dominat\w+|number one|first place|höchst\w*|größt\w*|meist\w*|stärkst\w*|"
    r"spitzenreiter\w*|angeführt|"
    r"ältest\w*|höchstgelegen\w*|längst(?=e)\w*|schwerst\w*|teuerst\w*|"
    r"führt\b|führend\w*|an der spitze|spitzenwert)"
    r"|(?P<low>shortest|youngest|cheapest|rarest|worst\b|lowest|smallest|fewest|"
    r"least(?<!at least)(?! likely)|weakest|worst[- "
    r"]?(?:performing|performer|month|year|day|quarter|result)?|trough\w*|bottomed|"
    r"(?:hits?|reach(?:ed|es)|at|was) (?:its|a|an|the|their) (?:\w+[- ])?low\b|bottom\b(?! "
    r"line)|last place|low point|"
    r"jüngst\w*|kürzest\w*|leichtest\w*|billigst\w*|niedrigst\w*|kleinst\w*|geringst\w*|wenigst\w*|schwächst\w*|tiefst\w*|schlusslicht)"
    r")",
    re.IGNORECASE,
)
_RANK = re.compile(
    r"(?:rank(?:s|ed|ing)?|comes?|came|coming|finish\w*|in|takes?|took|placed|is|"
    r"was|an|auf|belegt\w*|landet\w*|sits?|holds?)\s+(?:in |the |at |at number |as |"
    r"platz |den |number )?"
    r"(?P<rank>second|third|fourth|fifth|zweiter stelle|dritter stelle|zweiten? "
    r"platz|dritten? platz|2nd|3rd|4th|5th|#\s?\d{1,2}|(?<=platz )(?:\d{1,2}|zwei|drei|vier|fünf)|"
    r"(?<=number )\d{1,2})(?:[ -]?(?:place|position|spot|rank))?(?![\w-]|[ "
    r"-](?:half|quarter|highest|largest|biggest|most|lowest|smallest|best|year|"
    r"month|week|day|category|group|largest))",
    re.IGNORECASE,
)
_FOLLOWED = re.compile(
    r"(?<!\w)(?:followed (?:closely |next )?by|gefolgt von|then comes?|next (?:is|"
    r"comes?|are)|runner-up (?:is|was)|dahinter (?:folgt|liegt)|danach (?:folgt|"
    r"kommt))(?!\w)",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"(?<!\w)(?:follows?|folgt|folgen|is next|comes next|was next|is the runner-up|runner-up)(?!\w)",
    re.IGNORECASE,
)
_CHANGE_NOUN = re.compile(
    r"\s*(?:\w+[ -]){0,3}?(?:increase|growth|drop|decline|gain|rise|fall|jump|"
    r"change|swing|decrease|surge|loss|gap|difference|spike|dip|improvement|"
    r"volatil\w+|anstieg|rückgang|zuwachs|wachstum|veränderung|variation|spread|"
    r"deviation|contrast)\b",
    re.IGNORECASE,
)
_DROP = re.compile(r"drop|decline|fall|decrease|loss|dip|rückgang", re.IGNORECASE)
_LOOSE = re.compile(
    r"\b(?:one of the|among(?:st)? the|some of the|zu den|eine[rs]? der|einer? von)\s*(?:\w+ )?$",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    r"\b(?:single|monthly|daily|weekly|month|day|week|quarter|year|invoice|"
    r"individual|order|einzeln\w*|monat\w*|tag\w*|jahr\w*|peak\w*|spitze\w*|time|"
    r"point)\b",
    re.IGNORECASE,
)
_MIN_TIME = re.compile(r"\b(?:oldest|earliest|älteste\w*|früheste\w*)\b", re.IGNORECASE)


def judge_rankings(sentence: Sentence) -> Iterator[JudgedSpan]:
    """Judge each superlative and rank of the sentence that the rows can decide."""
    if not sentence.columns or not sentence.table.measures:
        return
    for found in _CLAIM.finditer(sentence.text):
        verdict = _superlative(sentence, found)
        if verdict is not None:
            yield sentence.start + found.start(), sentence.start + found.end(), verdict
    for found in _RANK.finditer(sentence.text):
        verdict = _ranked(sentence, found)
        if verdict is not None:
            yield sentence.start + found.start("rank"), sentence.start + found.end(), verdict
    for found in _TOP.finditer(sentence.text):
        yield from _top(sentence, found)
    for found in _FOLLOWED.finditer(sentence.text):
        yield from _followed(sentence, found)
    for found in _FOLLOWS.finditer(sentence.text):
        verdict = _follows(sentence, found)
        if verdict is not None:
            yield sentence.start + found.start(), sentence.start + found.end(), verdict


_TOP = re.compile(
    r"\b(?:(?P<high>top|leading|largest|biggest|highest|best)|(?P<low>bottom|"
    r"smallest|lowest|weakest))[ -](?:performing |selling )?(?P<many>two|three|four|"
    r"five|[2-9])\b"
    r"|\b(?P<many2>two|three|four|five|[2-9]) (?:(?P<high2>largest|biggest|highest|"
    r"leading|best|top|strongest)|(?P<low2>smallest|lowest|weakest))",
    re.IGNORECASE,
)
_NEAR_TOP = 60
_MANY = {"two": 2, "three": 3, "four": 4, "five": 5}


def _top(sentence: Sentence, found: re.Match[str]) -> Iterator[JudgedSpan]:
    """ "The top three, A, B and C": each must be among the first three."""
    word = (found["many"] or found["many2"]).lower()
    many = _MANY.get(word) or int(word)
    at = sentence.start + found.start()
    end = sentence.start + found.end()
    for column, mentions in sentence.columns.items():
        if column == TIME:
            continue
        for side in (
            [each for each in mentions if each.start >= end],
            [each for each in mentions if each.end <= at][-many:],
        ):
            if (
                len(side) < many
                or abs(side[0].start - end) > _NEAR_TOP
                or any(
                    len(sentence.between(one.end, other.start)) > 24
                    for one, other in itertools.pairwise(side)
                )
            ):
                continue
            verdicts = [
                _among(sentence, side[:many], measure, many=many, high=bool(found["high"] or found["high2"]))
                for measure in sentence.ranked
            ]
            known = [each for each in verdicts if each is not None]
            if known:
                yield at, end, next((each for each in known if each.status == "checked"), known[0])
            return


def _among(
    sentence: Sentence, mentions: list[LabelMention], column: ClaimColumn, *, many: int, high: bool
) -> ClaimVerdict | None:
    refuted: ClaimVerdict | None = None
    for within in _withins(sentence, mentions[0]):
        values = {**grouped(sentence.table, mentions[0].column, column, within=within)}
        if all(each.key != NO_LABEL for each in mentions):
            values.pop(NO_LABEL, None)
        ordered = sorted(values.items(), key=lambda each: -each[1] if high else each[1])
        if len(ordered) < many or any(each.key not in values for each in mentions):
            continue
        limit = ordered[many - 1][1]
        if all(values[each.key] >= limit if high else values[each.key] <= limit for each in mentions):
            how = f"the {many} {'highest' if high else 'lowest'} by {column.title}"
            return ClaimVerdict("checked", ClaimSource(column=column.name, row=None, how=how))
        names = ", ".join(_said(sentence, key, mentions[0]) for key, _ in ordered[:many])
        how = f"the {many} {'highest' if high else 'lowest'} by {column.title} are {names}"
        refuted = refuted or ClaimVerdict("contradicted", ClaimSource(column=column.name, row=None, how=how))
    return refuted


def _superlative(sentence: Sentence, found: re.Match[str]) -> ClaimVerdict | None:
    at = sentence.start + found.start()
    end = sentence.start + found.end()
    before = sentence.between(max(sentence.start, at - 30), at)
    if _LOOSE.search(before) or cues.NEGATED.search(before) or cues.HEDGED.search(before):
        return None
    rank = _ORDINALS.get((found["at"] or "first").lower(), 1)
    high = found["high"] is not None
    after = sentence.between(end, min(end + 40, sentence.end))
    change = _CHANGE_NOUN.match(after)
    word = found.group().lower()
    if word in ("oldest", "youngest") and not any("age" in each.words for each in sentence.table.measures):
        return None
    if _ELSEWHERE.search(sentence.text) and _names_elsewhere(sentence):
        return None
    subjects = _subjects(sentence, at, end)
    if not subjects:
        return None
    subjects = _of_the_noun(sentence, subjects, after)
    if change is not None:
        return _greatest_change(sentence, subjects, change.group(), rank=rank) if high else None
    verdicts = [
        verdict
        for mention in subjects
        for column in dict.fromkeys([*_measures_near(sentence, end), *sentence.figured])
        for side in ((high, not high) if word in ("best", "worst") else (high,))
        if (verdict := _is_at(sentence, mention, column, rank=rank, high=side)) is not None
    ]
    if re.search(r"\b(?:common|frequent|often|popular|represented|häufig\w*)\b", after, re.IGNORECASE):
        verdicts += [
            each for mention in subjects if (each := _is_most_frequent(sentence, mention)) is not None
        ]
    return next((each for each in verdicts if each.status == "checked"), verdicts[0] if verdicts else None)


_ELSEWHERE = re.compile(
    r"\b(?:[Ii]n|[Aa]mong|[Ww]ithin|excluding|outside|apart from|other than|besides|"
    r"except(?: for)?|without|innerhalb|unter den|außer)"
    r" (?:the )?(?P<name>[A-ZÄÖÜ]\w+)"
)


def _names_elsewhere(sentence: Sentence) -> bool:
    """Return True for a subset that no column identifies: "In Europe, France leads"."""
    for found in _ELSEWHERE.finditer(sentence.text):
        start = sentence.start + found.start("name")
        if not sentence.mentions.is_taken(start, sentence.start + found.end()):
            return True
    return False


def _is_most_frequent(sentence: Sentence, mention: LabelMention) -> ClaimVerdict | None:
    if mention.column == TIME:
        return None
    column = sentence.table.columns[mention.column]
    codes, _ = column.codes
    counts = np.bincount(codes)
    if len(mention.rows) == counts.max() > 1:
        return ClaimVerdict(
            "checked", ClaimSource(column=column.name, row=None, how=f"{len(mention.rows)} rows")
        )
    return None


def _of_the_noun(sentence: Sentence, subjects: list[LabelMention], after: str) -> list[LabelMention]:
    """ "The largest region": keep only the subject of the column that the noun names."""
    for word in re.findall(r"[^\W\d_]+", after)[:2]:
        base = stem(word)
        for each in subjects:
            if each.column != TIME and base in {
                *sentence.table.columns[each.column].words,
                *sentence.table.columns[each.column].called,
            }:
                return [each]
    return subjects


def _measures_near(sentence: Sentence, end: int) -> list[ClaimColumn]:
    """The measure named right after the superlative, else those that the sentence ranks by."""
    near = sentence.mentions.measures_within(end, min(end + 30, sentence.end))
    if near:
        start = near[0].start
        return [each.column for each in near if each.start == start]
    return sentence.ranked


_LINK = re.compile(
    r":? (?:(?:month|year|quarter|day|monat|jahr|quartal|one|was|is|were|being|der|"
    r"die|das|war|ist|in|im|the) ){0,4}",
    re.IGNORECASE,
)


def _subjects(sentence: Sentence, at: int, end: int) -> list[LabelMention]:
    """The mentions, one or two for each column, that a superlative can be about."""
    start, stop = sentence.clause(at)
    chosen: list[LabelMention] = []
    for mentions in sentence.columns.values():
        inside = [each for each in mentions if start <= each.start < stop]
        pool = inside or mentions
        before = [each for each in pool if each.end <= at]
        after = [each for each in pool if each.start >= end]
        if after and before and _LINK.fullmatch(sentence.between(end, after[0].start)):
            chosen.append(after[0])
        elif before and not _is_against(sentence, before[-1], at):
            chosen.append(before[-1])
            # "In 2025, the highest was March"
            if after and (
                _is_coarser(before[-1], after[0])
                or re.fullmatch(
                    r"[^.;]{0,60}\b(?:was|is|are|were|by|in|war|ist|hatte|bei|von|:)\s*(?:the |in )?",
                    sentence.between(end, after[0].start),
                    re.IGNORECASE,
                )
            ):
                chosen.append(after[0])
        elif after:
            chosen.append(after[0])
        elif before:
            chosen.append(before[-1])
    return chosen


def _is_coarser(one: LabelMention, other: LabelMention) -> bool:
    if one.period is None or other.period is None:
        return False
    return len(one.period.grain()) < len(other.period.grain())


def _is_against(sentence: Sentence, mention: LabelMention, at: int) -> bool:
    """Return True for the other side of a comparison: Tents in "Ahead of Tents, Clothing leads"."""
    return (
        cues.THAN.search(sentence.between(max(sentence.start, mention.start - 26), mention.start)) is not None
        and mention.column != TIME
    )


def _is_at(
    sentence: Sentence, mention: LabelMention, column: ClaimColumn, *, rank: int, high: bool
) -> ClaimVerdict | None:
    leaders: list[tuple[str, float]] = []
    group = _group(sentence, mention)
    for within in _withins(sentence, mention):
        for values, key in _orders(sentence, mention, column, within=within):
            if key not in values or len(values) < 2:
                continue
            if rank > 1 and sum(each == values[key] for each in values.values()) > len(values) / 2:
                continue  # a value that most rows share has no rank
            if min(values.values()) == max(values.values()) and rank == 1:
                continue
            noise = 1e-9 * abs(values[key])
            better = sum(
                (value > values[key] + noise) if high else (value < values[key] - noise)
                for value in values.values()
            )
            if better < max(rank, group) and (
                rank == 1 or better >= rank - group or _tied(values, values[key])
            ):
                row = int(mention.rows[0]) if len(mention.rows) == 1 else None
                how = f"rank {rank} by {'highest' if high else 'lowest'} {column.title} of {len(values)}"
                return ClaimVerdict("checked", ClaimSource(column=column.name, row=row, how=how))
            ordered = sorted(values.items(), key=lambda each: -each[1] if high else each[1])
            leaders.append(
                (
                    _said(sentence, ordered[min(rank, len(ordered)) - 1][0], mention),
                    ordered[min(rank, len(ordered)) - 1][1],
                )
            )
    if not leaders:
        return None
    place = "" if rank == 1 else f"number {rank} by "
    how = (
        f"{place}{'highest' if high else 'lowest'} {column.title} is "
        f"{figure(leaders[0][1])}, of {leaders[0][0]}"
    )
    return ClaimVerdict("contradicted", ClaimSource(column=column.name, row=None, how=how))


def _tied(values: dict[object, float], value: float) -> bool:
    return sum(each == value for each in values.values()) > 1


def _group(sentence: Sentence, mention: LabelMention) -> int:
    """The length of the list with this mention: 2 for A in "A and B are the largest"."""
    mentions = sentence.columns[mention.column]
    at = mentions.index(mention)
    size = 1
    for one, other in zip(mentions[:at][::-1], mentions[1 : at + 1][::-1], strict=False):
        if not cues.LIST_GLUE.fullmatch(sentence.between(one.end, other.start)):
            break
        size += 1
    for one, other in zip(mentions[at:], mentions[at + 1 :], strict=False):
        if not cues.LIST_GLUE.fullmatch(sentence.between(one.end, other.start)):
            break
        size += 1
    return size


def _withins(sentence: Sentence, mention: LabelMention) -> list[Places | None]:
    """The sets of rows to rank within: those of other named columns, then None for all rows."""
    others = [
        each.rows
        for column, mentions in sentence.columns.items()
        if column != mention.column
        for each in mentions[:4]
    ]
    others += [each.rows for column, each in sentence.before.items() if column != mention.column]
    return [*others, None]


def _orders(
    sentence: Sentence, mention: LabelMention, column: ClaimColumn, *, within: Places | None
) -> Iterator[tuple[dict[object, float], object]]:
    """Yield candidate rankings: the values by key, and the mention's own key."""
    if mention.column != TIME:
        values = grouped(sentence.table, mention.column, column, within=within)
        yield values, mention.key
        if NO_LABEL in values and mention.key != NO_LABEL:
            yield {key: value for key, value in values.items() if key != NO_LABEL}, mention.key
        if _SINGLE.search(sentence.text) or not sentence.table.summed:
            yield _best_cells(sentence, mention, column, within=within)
        return
    period = mention.period
    if period is None:
        return
    for values, key in _of_periods(sentence, mention, period, column=column, within=within):
        yield values, key
        if _FULL.search(sentence.text) and len(values) > 2:
            ends = sorted(map(str, values))
            by_name = {str(each): each for each in values}
            first = by_name[ends[0]]
            last = by_name[ends[-1]]
            for left_out in ({first}, {last}, {first, last}):
                if key not in left_out:
                    yield {each: value for each, value in values.items() if each not in left_out}, key


_FULL = re.compile(
    r"\b(?:full|complete|partial|incomplete|excluding|vollständig\w*|unvollständig\w*)\b", re.IGNORECASE
)


def _of_periods(
    sentence: Sentence,
    mention: LabelMention,
    period: PartialDate,
    *,
    column: ClaimColumn,
    within: Places | None,
) -> Iterator[tuple[dict[object, float], object]]:
    if mention.loose is not None:
        period = period._replace(year=None)
    grain = period.grain()
    if "year" not in grain and "year" in next(
        (each.grain() for each in sentence.table.time_rows if each), ()
    ):
        grain_with_year = ("year", *grain)
        sums = grouped(sentence.table, TIME, column, within=within, grain=grain_with_year)
        keys = [
            key
            for key in sums
            if isinstance(key, tuple) and key[1:] == tuple(getattr(period, each) for each in grain)
        ]
        for key in keys:
            yield sums, key
            if isinstance(key, tuple):
                own_year: dict[object, float] = {
                    each: sums[each] for each in sums if isinstance(each, tuple) and each[0] == key[0]
                }
                yield own_year, key
    yield (
        grouped(sentence.table, TIME, column, within=within, grain=grain),
        tuple(getattr(period, each) for each in grain),
    )
    if column.additive is False or re.search(
        r"\b(?:month|day|peak\w*|single)\b", sentence.text, re.IGNORECASE
    ):
        yield _best_cells(sentence, mention, column, within=within)


def _best_cells(
    sentence: Sentence, mention: LabelMention, column: ClaimColumn, *, within: Places | None
) -> tuple[dict[object, float], object]:
    """The values by row, and the mention's best row; lowest counts as best if the sentence says so."""
    rows = np.arange(sentence.table.size) if within is None else within
    own = np.intersect1d(rows, mention.rows)
    values: dict[object, float] = {}
    if not len(own) or np.isnan(column.values[own]).all():
        return values, mention
    least = re.search(
        r"low|small|few|least|weak|worst|trough|niedrig|klein|gering", sentence.text, re.IGNORECASE
    )
    pick = np.nanargmin if least else np.nanargmax
    best = int(own[pick(column.values[own])])
    for row in rows[:20_000].tolist():
        value = float(column.values[row])
        if value == value:
            values[row] = value
    return values, best


def _is_number(sentence: Sentence, mention: LabelMention) -> bool:
    """Return True if the labels of the mention's column are numbers."""
    return mention.column != TIME and sentence.table.columns[mention.column].is_number


def _said(sentence: Sentence, key: object, mention: LabelMention) -> str:
    if isinstance(key, tuple):
        return "-".join(f"{each:02d}" if isinstance(each, int) else str(each) for each in key)
    if isinstance(key, int) and not _is_number(sentence, mention) and 0 <= key < sentence.table.size:
        return sentence.table.described(key)
    if mention.column != TIME:
        for cell in sentence.table.columns[mention.column].cells:
            if isinstance(cell, str) and cell.lower() == key:
                return cell
    return str(key)


def _greatest_change(
    sentence: Sentence, subjects: list[LabelMention], noun: str, *, rank: int
) -> ClaimVerdict | None:
    """ "The largest drop was in May": compare the step into May with all other steps."""
    timed = [each for each in subjects if each.column == TIME]
    if not timed or rank > 1 or not sentence.table.has_time or len(sentence.columns) > 1:
        return None
    mention = timed[-1]
    down = _DROP.search(noun) is not None
    for column in sentence.measures():
        values = column.values
        if len(values) < 3 or mention.period is None:
            return None
        order = sorted(
            range(len(values)), key=lambda at: tuple(each or 0 for each in sentence.table.time_rows[at] or ())
        )
        steps = np.diff(values[order])
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = steps / np.abs(values[order][:-1])
        for series in (steps, relative):
            if np.isnan(series).all():
                continue
            best = int(np.nanargmin(series) if down else np.nanargmax(series))
            if order[best + 1] in mention.rows or order[best] in mention.rows:
                return ClaimVerdict(
                    "checked",
                    ClaimSource(
                        column=column.name, row=int(order[best + 1]), how=f"greatest step of {column.title}"
                    ),
                )
    return ClaimVerdict("not_found")


def _ranked(sentence: Sentence, found: re.Match[str]) -> ClaimVerdict | None:
    word = found["rank"].lower()
    digits = re.search(r"\d+", word)
    rank = (
        int(digits.group())
        if digits
        else next((at for start, at in _ORDINALS.items() if word.startswith(start)), 0)
    )
    if not rank:
        return None
    at = sentence.start + found.start()
    end = sentence.start + found.end()
    subjects = [each for each in _subjects(sentence, at, end) if each.column != TIME]
    verdicts = [
        verdict
        for mention in subjects[:2]
        for column in sentence.ranked
        for high in (True, False)
        if (verdict := _is_at(sentence, mention, column, rank=rank, high=high)) is not None
    ]
    return next((each for each in verdicts if each.status == "checked"), verdicts[0] if verdicts else None)


def _followed(sentence: Sentence, found: re.Match[str]) -> Iterator[JudgedSpan]:
    """ "A, followed by B and C": B and C must come next in order."""
    at = sentence.start + found.start()
    end = sentence.start + found.end()
    for column, mentions in sentence.columns.items():
        before = [each for each in mentions if each.end <= at]
        after = [each for each in mentions if each.start >= end][:4]
        previous = before[-1] if before else sentence.before.get(column)
        if previous is None or not after or (column == TIME and len(sentence.columns) > 1):
            continue
        chain = [previous, after[0]]
        for one, other in itertools.pairwise(after):
            if not re.fullmatch(
                r"[^.;]{0,40}?(?:,|and|then|und|dann)[^.;]{0,12}", sentence.between(one.end, other.start)
            ):
                break
            chain.append(other)
        verdict = _in_order(sentence, chain)
        if verdict is not None:
            yield at, end, verdict


def _follows(sentence: Sentence, found: re.Match[str]) -> ClaimVerdict | None:
    at = sentence.start + found.start()
    end = sentence.start + found.end()
    for column, mentions in sentence.columns.items():
        if column == TIME:
            continue
        before = [each for each in mentions if each.end <= at]
        after = [each for each in mentions if each.start >= end]
        own = before[-1] if before else after[0] if after else None
        if own is None:
            continue
        first = before[-2] if len(before) > 1 else sentence.before.get(column)
        if first is None or first.key == own.key:
            return None
        if _AT_RANK.match(sentence.text[found.end() :]):
            return None
        return _in_order(sentence, [first, own])
    return None


_AT_RANK = re.compile(
    r" (?:\w+ )?(?:auf|an|in|at) (?:platz|stelle|place|number|rank|\w+ (?:place|position))", re.IGNORECASE
)


def _in_order(sentence: Sentence, chain: list[LabelMention]) -> ClaimVerdict | None:
    refuted: ClaimVerdict | None = None
    for column in sentence.ranked:
        for within in _withins(sentence, chain[0]):
            values = {**next(iter(_orders(sentence, chain[0], column, within=within)), ({}, None))[0]}
            if all(each.key != NO_LABEL for each in chain):
                values.pop(NO_LABEL, None)
            keys = [_order_key(sentence, each) for each in chain]
            if any(key not in values for key in keys):
                continue
            for sign in (-1, 1):
                ranks = [sum(sign * value < sign * values[key] for value in values.values()) for key in keys]
                if all(
                    _next(values, sign, one, other=other, key=keys[at], following=keys[at + 1])
                    for at, (one, other) in enumerate(itertools.pairwise(ranks))
                ):
                    how = f"next in order of {column.title}"
                    return ClaimVerdict("checked", ClaimSource(column=column.name, row=None, how=how))
            ordered = [key for key, _ in sorted(values.items(), key=lambda each: -each[1])]
            place = ordered.index(keys[0])
            if refuted is None and place + 1 < len(ordered):
                behind = ordered[place + 1]
                how = (
                    f"after {_said(sentence, keys[0], chain[0])} comes "
                    f"{_said(sentence, behind, chain[0])} with {column.title} "
                    f"{figure(values[behind])}"
                )
                refuted = ClaimVerdict("contradicted", ClaimSource(column=column.name, row=None, how=how))
    return refuted


def _next(
    values: dict[object, float], sign: int, one: int, *, other: int, key: object, following: object
) -> bool:
    if values[key] == values[following]:
        return True
    ties = sum(value == values[key] for value in values.values())
    return one < other <= one + ties


def _order_key(sentence: Sentence, mention: LabelMention) -> object:
    if mention.column != TIME or mention.period is None:
        return mention.key
    return tuple(getattr(mention.period, each) for each in mention.period.grain())
