"""Judge directions and comparisons: "grew", "fell", "higher than"."""

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from app.modules.analysis.claims import cues
from app.modules.analysis.claims.changes import series_of
from app.modules.analysis.claims.context import ClaimVerdict, JudgedSpan, Sentence
from app.modules.analysis.claims.mentions import TIME, LabelMention
from app.modules.analysis.claims.table import ClaimColumn, Places, figure
from graph.state import ClaimSource

_PAST = re.compile(
    r"(?:grew|rose|fell|dropped|declined|increased|decreased|climbed|jumped|surged|"
    r"shrank|doubled|tripled|halved|plunged|stieg\w*|sank\w*|fiel\w*|gewachsen|"
    r"gestiegen|gesunken|gefallen)\b",
    re.IGNORECASE,
)
_MIXED = re.compile(
    r"\b(?:fluctuat\w*|volatil\w*|mixed|varied|zigzag|except|although|despite|"
    r"obwohl|trotz|schwank\w*|briefly|temporar\w*|zwischenzeitlich|seasonal\w*|each "
    r"(?:spring|summer|autumn|winter|year)|usually|typically|tend\w*)\b",
    re.IGNORECASE,
)
_GLUE = re.compile(
    r"(?:\W|\d|\b(?:to|and|bis|und|until|through|auf|in|im|on|from|at|of|the|[KMk])\b)*", re.IGNORECASE
)
_COMPARED = re.compile(r"\b(?:than|als|that of|those of)\b", re.IGNORECASE)
_OTHER_RATE = re.compile(
    r"\b(?:rate of|pace of|share of|growth rate|slow\w*|growth of|rate|loss\w*|risk)\b", re.IGNORECASE
)


def judge_movements(sentence: Sentence) -> Iterator[JudgedSpan]:
    """Judge each word of direction in the sentence, at most 20."""
    found = sorted(
        [
            *((each, 1) for each in cues.UP.finditer(sentence.text)),
            *((each, -1) for each in cues.DOWN.finditer(sentence.text)),
        ],
        key=lambda each: each[0].start(),
    )
    for at, (word, sign) in enumerate(found[:20]):
        start = found[at - 1][0].end() if at else 0
        stop = found[at + 1][0].start() if at + 1 < len(found) else len(sentence.text)
        if sentence.mentions.is_taken(sentence.start + word.start(), sentence.start + word.end()):
            continue
        verdict = _movement(
            sentence,
            word,
            sign,
            segment=(sentence.start + start, sentence.start + word.start(), sentence.start + stop),
        )
        if verdict is not None:
            yield sentence.start + word.start(), sentence.start + word.end(), verdict


def _movement(
    sentence: Sentence, word: re.Match[str], sign: int, *, segment: tuple[int, int, int]
) -> ClaimVerdict | None:
    before = sentence.text[max(0, word.start() - 30) : word.start()]
    if (
        cues.NEGATED.search(before)
        or cues.HEDGED.search(sentence.text[: word.start()])
        or _MIXED.search(sentence.text)
    ):
        return None
    if re.search(
        r"\b(?:largest|biggest|greatest|strongest|highest|fastest|slowest|steepest|"
        r"smallest|lowest|größte\w*|stärkste\w*)\s+(?:\w+[ -]){0,3}$",
        before,
        re.IGNORECASE,
    ):
        return None
    if re.search(
        r"\b(?:the|any|this|that|der|die|das)\s+(?:\w+[ -])?$", before, re.IGNORECASE
    ) and not _PAST.fullmatch(word.group()):
        return None
    if (
        (numbers := _from_to(sentence, segment)) is not None
        and numbers[0] != numbers[1]
        and (numbers[1] - numbers[0]) * sign < 0
    ):
        how = f"{figure(numbers[0])} to {figure(numbers[1])} goes {'up' if sign < 0 else 'down'}"
        return ClaimVerdict(
            "contradicted",
            ClaimSource(column=sentence.measures()[0].name if sentence.measures() else "", row=None, how=how),
        )
    if not sentence.table.has_time:
        return _outside(sentence, word)
    columns = sentence.measures()
    if not columns:
        return None
    labels = _labels(sentence)
    refuted: ClaimVerdict | None = None
    for base in labels:
        for column in columns:
            for early, late, how in _pairs(sentence, column, base, segment=segment):
                if (late - early) * sign > 0:
                    return ClaimVerdict(
                        "checked",
                        ClaimSource(
                            column=column.name, row=None, how=f"{how}: {figure(early)} to {figure(late)}"
                        ),
                    )
                refuted = refuted or ClaimVerdict(
                    "contradicted",
                    ClaimSource(
                        column=column.name,
                        row=None,
                        how=f"{column.title}, {how}, went from {figure(early)} to {figure(late)}",
                    ),
                )
    return refuted


def _outside(sentence: Sentence, word: re.Match[str]) -> ClaimVerdict | None:
    """The verdict without a time column: "not_found"; None if a column may hold changes."""
    if (
        not _PAST.fullmatch(word.group())
        or len(sentence.table.measures) > 1
        or any(each.is_share for each in sentence.table.measures)
    ):
        return None
    return ClaimVerdict("not_found")


def _from_to(sentence: Sentence, segment: tuple[int, int, int]) -> tuple[float, float] | None:
    """The two numbers of "from 34 in January to 10 in June"."""
    plain = [each for each in sentence.numbers if each.kind == "plain" and not each.spoken]
    for one, other in itertools.pairwise(plain):
        before = sentence.between(max(sentence.start, one.start - 12), one.start)
        between = sentence.between(one.end, other.start)
        if (
            re.search(r"\b(?:from|von)\s*\W?$", before, re.IGNORECASE)
            and re.search(r"\b(?:to|auf)\s*(?:just |only |nur )?\W?$", between, re.IGNORECASE)
            and len(between) < 60
        ):
            return one.value, other.value
    return None


def _labels(sentence: Sentence) -> list[Places | None]:
    named = [mentions[0].rows for column, mentions in sentence.columns.items() if column != TIME]
    named += [
        mentions[-1].rows
        for column, mentions in sentence.columns.items()
        if column != TIME and len(mentions) > 1
    ]
    inherited = [
        each.rows
        for column, each in sentence.before.items()
        if column != TIME and column not in sentence.columns
    ]
    return [*named, *inherited, None] if not named else [*named]


def _pairs(
    sentence: Sentence, column: ClaimColumn, base: Places | None, *, segment: tuple[int, int, int]
) -> Iterator[tuple[float, float, str]]:
    """Yield the pairs that a direction may be about, as (early, late, description).

    They are of the named periods, or of the whole course when none is named.
    """
    mentions = sentence.columns.get(TIME, [])
    left = [each for each in mentions if segment[0] <= each.start < segment[1]]
    right = [each for each in mentions if segment[1] <= each.start < segment[2]]
    if (
        len(right) == 1
        and left
        and left[-1].key != right[0].key
        and _same_grain([(left[-1], left[-1].rows), (right[0], right[0].rows)])
    ):
        early, late = (_within(each.rows, base) for each in (left[-1], right[0]))
        if len(early) and len(late):
            how = f"{_text(sentence, left[-1])} to {_text(sentence, right[0])}"
            yield sentence.value(early, column), sentence.value(late, column), how
    inside = right or left or mentions
    known = sorted({each.key: each for each in inside}.values(), key=lambda each: int(each.rows[0]))
    known = sorted(known, key=lambda each: _when(sentence, each))
    rows = [(each, _within(each.rows, base)) for each in known]
    rows = [(each, own) for each, own in rows if len(own)]
    if (
        len(rows) > 1
        and len(right) > 1
        and not _GLUE.fullmatch(sentence.between(right[0].end, right[1].start))
    ):
        rows = [each for each in rows if each[0] is right[0]]
    if len(rows) > 1 and _same_grain(rows):
        one = rows[0]
        other = rows[-1]
        yield (
            sentence.value(one[1], column),
            sentence.value(other[1], column),
            f"{_text(sentence, one[0])} to {_text(sentence, other[0])}",
        )
        for one, other in itertools.pairwise(rows):
            yield (
                sentence.value(one[1], column),
                sentence.value(other[1], column),
                f"{_text(sentence, one[0])} to {_text(sentence, other[0])}",
            )
        return
    grains = [(grain, series) for grain, series in series_of(sentence, column, base) if len(series) > 1]
    for grain, series in grains:
        keys = [key for key, _ in series]
        values = [value for _, value in series]
        if rows:
            yield from _around(
                sentence,
                column,
                rows,
                grain=grain,
                grains=[each for each, _ in grains],
                keys=keys,
                values=values,
            )
        else:
            yield from _course(sentence, keys, values)


def _around(
    sentence: Sentence,
    column: ClaimColumn,
    rows: Sequence[tuple[LabelMention, Places]],
    *,
    grain: tuple[str, ...],
    grains: Sequence[tuple[str, ...]],
    keys: Sequence[tuple[object, ...]],
    values: Sequence[float],
) -> Iterator[tuple[float, float, str]]:
    for mention, own in rows:
        period = mention.period
        if period is None:
            continue
        finest = period.grain()[-1]
        if finest != grain[-1] and any(each[-1] == finest for each in grains):
            continue
        wanted = tuple(getattr(period, each) for each in grain)
        last = len(keys) - 1
        places = [
            at
            for at, key in enumerate(keys)
            if all(part is None or part == its for part, its in zip(wanted, key, strict=True))
        ]
        if finest != grain[-1] and len(places) > 1:  # "in 2025" of monthly rows: its own course
            yield from _course(sentence, [keys[at] for at in places], [values[at] for at in places])
            continue
        for at in places[:60]:
            since = re.search(
                r"\b(?:since|seit|after|from|nach|ab)\s+\W?$",
                sentence.between(max(sentence.start, mention.start - 8), mention.start),
                re.IGNORECASE,
            )
            until = re.search(
                r"\b(?:until|by|bis|through|to)\s+\W?$",
                sentence.between(max(sentence.start, mention.start - 9), mention.start),
                re.IGNORECASE,
            )
            if since and at != last:
                yield values[at], values[last], f"{_said(keys[at])} to {_said(keys[last])}"
                continue
            if at > 0:
                yield values[at - 1], values[at], f"{_said(keys[at - 1])} to {_said(keys[at])}"
            if (until or at == last) and at > 0:
                yield values[0], values[at], f"{_said(keys[0])} to {_said(keys[at])}"
            before = _year_before(keys, at)
            if before >= 0:
                yield values[before], values[at], f"{_said(keys[before])} to {_said(keys[at])}"
        if len(own) > 1 and period.grain() != grain:
            first = float(column.values[own[0]])
            final = float(column.values[own[-1]])
            yield first, final, f"within {_text(sentence, mention)}"


def _course(
    sentence: Sentence, keys: Sequence[tuple[object, ...]], values: Sequence[float]
) -> Iterator[tuple[float, float, str]]:
    last = len(keys) - 1
    yield values[0], values[last], f"{_said(keys[0])} to {_said(keys[last])}"
    if last > 3:
        half = len(values) // 2
        yield sum(values[:half]) / half, sum(values[-half:]) / half, "first half to second half"
        yield values[1], values[last - 1], f"{_said(keys[1])} to {_said(keys[last - 1])}"
    if re.search(
        r"\b(?:recent\w*|latest|last|zuletzt|letzte\w*|previous|prior)\b", sentence.text, re.IGNORECASE
    ):
        yield values[last - 1], values[last], f"{_said(keys[last - 1])} to {_said(keys[last])}"
    if re.search(
        r"\b(?:then|afterwards?|before|peak\w*|later|danach|trough|low|high|subsequent\w*|between|from)\b",
        sentence.text,
        re.IGNORECASE,
    ):
        high = values.index(max(values))
        low = values.index(min(values))
        yield values[0], values[high], f"{_said(keys[0])} to {_said(keys[high])}"
        yield values[high], values[last], f"{_said(keys[high])} to {_said(keys[last])}"
        yield values[low], values[last], f"{_said(keys[low])} to {_said(keys[last])}"
        yield values[0], values[low], f"{_said(keys[0])} to {_said(keys[low])}"


def judge_comparisons(sentence: Sentence) -> Iterator[JudgedSpan]:
    """Judge comparisons: "X is higher than Y", "X outperformed Y"."""
    if not sentence.table.measures:
        return
    for pattern, sign in ((cues.MORE_THAN, 1), (cues.LESS_THAN, -1)):
        for word in list(pattern.finditer(sentence.text))[:12]:
            verdict = _comparison(sentence, word, sign)
            if verdict is not None:
                yield sentence.start + word.start(), sentence.start + word.end(), verdict


def _comparison(sentence: Sentence, word: re.Match[str], sign: int) -> ClaimVerdict | None:
    at = sentence.start + word.start()
    end = sentence.start + word.end()
    before = sentence.between(max(sentence.start, at - 24), at)
    if cues.NEGATED.search(before) or cues.HEDGED.search(sentence.text[: word.start()]):
        return None
    judged: ClaimVerdict | None = None
    for column, mentions in sentence.columns.items():
        after = [each for each in mentions if each.start >= end]
        preceding = [each for each in mentions if each.end <= at]
        if not after:
            continue
        gap = sentence.between(end, after[0].start)
        compared = _COMPARED.search(gap)
        if (
            len(gap) > 60
            or re.search(r"\d|[.;]", gap)
            or (not compared and len(gap) > 16)
            or (
                compared is None
                and word.group().lower()
                in (
                    "higher",
                    "more",
                    "greater",
                    "larger",
                    "lower",
                    "less",
                    "fewer",
                    "smaller",
                    "mehr",
                    "höher",
                    "weniger",
                    "better",
                    "worse",
                )
            )
        ):
            continue
        own = preceding[-1] if preceding else sentence.before.get(column)
        if own is None or own.key == after[0].key:
            continue
        aside = cues.THAN.search(sentence.between(max(sentence.start, own.start - 26), own.start))
        first = preceding[0] if preceding and aside else own
        if _OTHER_RATE.search(sentence.between(at, after[0].start)):
            return None
        verdict = _is_more(sentence, own, after[0], sign=sign)
        if verdict is not None and verdict.status != "checked" and first is not own:
            other = _is_more(sentence, first, after[0], sign=sign)
            verdict = other if other is not None and other.status == "checked" else verdict
        judged = verdict or judged
        if judged is not None and judged.status == "checked":
            return judged
    return judged


def _is_more(sentence: Sentence, own: LabelMention, other: LabelMention, *, sign: int) -> ClaimVerdict | None:
    withins: list[Places | None] = [
        each.rows
        for column, mentions in sentence.columns.items()
        if column != own.column
        for each in mentions[:3]
    ]
    withins += [
        each.rows
        for column, each in sentence.before.items()
        if column != own.column and column not in sentence.columns
    ]
    refuted: ClaimVerdict | None = None
    main = [sentence.table.main] if sentence.table.main is not None else []
    for column in dict.fromkeys([*sentence.measures(), *main]):
        for within in [*withins, None]:
            mine = _within(own.rows, within)
            its = _within(other.rows, within)
            if not len(mine) or not len(its):
                continue
            pairs = [(sentence.value(mine, column), sentence.value(its, column))]
            if len(mine) != len(its) and all(each == each for each in pairs[0]):
                pairs.append((float(np.nanmean(column.values[mine])), float(np.nanmean(column.values[its]))))
            for value, against in pairs:
                if value != value or against != against:
                    continue
                names = f"{_text(sentence, own)} {figure(value)}, {_text(sentence, other)} {figure(against)}"
                if (value - against) * sign > 0:
                    return ClaimVerdict(
                        "checked", ClaimSource(column=column.name, row=None, how=f"{column.title}: {names}")
                    )
                refuted = refuted or ClaimVerdict(
                    "contradicted", ClaimSource(column=column.name, row=None, how=f"{column.title}: {names}")
                )
    return refuted


def _same_grain(rows: Sequence[tuple[LabelMention, Places]]) -> bool:
    grains = {each.period.grain() for each, _ in rows if each.period is not None}
    return len(grains) == 1


def _when(sentence: Sentence, mention: LabelMention) -> tuple[int, ...]:
    period = sentence.table.time_rows[int(mention.rows[0])]
    return tuple(each or 0 for each in period) if period is not None else ()


def _within(rows: Places, base: Places | None) -> Places:
    return rows if base is None else np.intersect1d(rows, base, assume_unique=True)


def _year_before(keys: Sequence[tuple[object, ...]], at: int) -> int:
    key = keys[at]
    before = (key[0] - 1, *key[1:]) if isinstance(key[0], int) else key
    return keys.index(before) if len(key) > 1 and before in keys else -1


def _text(sentence: Sentence, mention: LabelMention) -> str:
    return sentence.between(mention.start, mention.end)


def _said(key: tuple[object, ...]) -> str:
    return "-".join(f"{each:02d}" if isinstance(each, int) else str(each) for each in key)
