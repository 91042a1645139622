"""Check every claim of an analysis against the rows that it is about."""

from bisect import bisect_left

from app.modules.analysis.claims.amounts import judge
from app.modules.analysis.claims.context import Change, ClaimVerdict, Sentence
from app.modules.analysis.claims.mentions import LabelMention, Mentions
from app.modules.analysis.claims.movements import judge_comparisons, judge_movements
from app.modules.analysis.claims.names import judge_dates, judge_names
from app.modules.analysis.claims.numbers import WrittenNumber, written_numbers
from app.modules.analysis.claims.plain import Plain, plain_text, sentences
from app.modules.analysis.claims.rankings import judge_rankings
from app.modules.analysis.claims.table import ClaimColumn, ClaimTable
from app.modules.analysis.figures import Figures
from graph.state import Claim, Rows

_UNITS = dict.fromkeys(("m", "mio", "mn", "mm", "million"), 1e6) | dict.fromkeys(
    ("k", "tsd", "thousand"), 1e3
)
MAX_CLAIMS = 300
"""The most claims that are checked in a text; later ones are ignored."""


def check_claims(
    text: str, rows: Rows, *, question: str = "", sql: str = "", found: Figures | None = None
) -> list[Claim]:
    """Return the claims of the text in order; empty when there are no rows to check against.

    `found` are the figures of the same rows; they decide which measures may be added up. Spans count Unicode
    code points of `text`. At most 20,000 characters, 600 numbers and 300 claims are read.
    """
    return claims_in(text, ClaimTable(rows, question, sql, found=found))


def claims_in(text: str, table: ClaimTable) -> list[Claim]:
    """Return the claims as `check_claims` does, from a table that several texts can share."""
    if not table.size or not table.columns:
        return []
    plain = plain_text(text)
    mentions = Mentions(plain, table)
    judged: list[tuple[int, int, ClaimVerdict]] = [
        *judge_names(plain, mentions, table),
        *judge_dates(mentions, table),
    ]
    starts = sorted(start for start, _, _ in judged)
    numbers = 0
    for sentence in _sentences(plain, table, mentions):
        for number in sentence.numbers:
            verdict = judge(number, sentence)
            if verdict is not None:
                judged.append((number.start, number.end, verdict))
                numbers += 1
        judged += judge_rankings(sentence)
        judged += judge_movements(sentence)
        judged += judge_comparisons(sentence)
        if numbers + bisect_left(starts, sentence.end) >= MAX_CLAIMS:
            break
    return _claims(text, plain, judged)


def _sentences(plain: Plain, table: ClaimTable, mentions: Mentions) -> list[Sentence]:
    numbers = _numbers(plain.text, mentions, _unit(table))
    found: list[Sentence] = []
    before: dict[int, LabelMention] = {}
    topic: dict[int, LabelMention] = {}
    measured: list[ClaimColumn] = []
    known_changes: dict[object, list[Change]] = {}
    at = 0
    for start, end in sentences(plain.text):
        own: list[WrittenNumber] = []
        while at < len(numbers) and numbers[at].start < end:
            own.append(numbers[at])
            at += 1
        here = mentions.within(start, end)
        found.append(
            Sentence(
                start=start,
                end=end,
                text=plain.text[start:end],
                table=table,
                mentions=mentions,
                here=here,
                before=dict(before),
                topic=dict(topic),
                measured_before=measured,
                numbers=own,
                known_changes=known_changes,
            )
        )
        named = [each for each in here if each.found]
        before |= {each.column: each for each in named}
        topic |= {each.column: each for each in reversed(named)}
        measured = found[-1].measured
    return found


def _unit(table: ClaimTable) -> float | None:
    """The unit that a column's name gives: 1e6 for viewers_m, 1e3 for revenue_k; None if no name does."""
    words = {each.words[-1] for each in table.columns if each.is_number and each.words}
    return next((unit for name, unit in _UNITS.items() if name in words), None)


def _numbers(text: str, mentions: Mentions, unit: float | None) -> list[WrittenNumber]:
    """The numbers of the text, in order, without those within a label or a date."""
    kept: list[WrittenNumber] = []
    free = [each for each in written_numbers(text) if not mentions.is_taken(each.start, each.end)]
    if unit is not None:
        free = [each.in_units(unit) for each in free]
    for number in sorted(free, key=lambda each: (each.start, each.spoken)):
        if not kept or number.start >= kept[-1].end:
            kept.append(number)
        if len(kept) > MAX_CLAIMS:
            break
    return kept


def _claims(text: str, plain: Plain, judged: list[tuple[int, int, ClaimVerdict]]) -> list[Claim]:
    claims: list[Claim] = []
    reached = 0
    for start, end, verdict in sorted(judged, key=lambda each: (each[0], -each[1])):
        if start < reached or len(claims) >= MAX_CLAIMS:
            continue
        reached = end
        first, last = plain.original(start, end)
        claims.append(
            {
                "text": text[first:last],
                "span": [first, last],
                "status": verdict.status,
                "from": verdict.source,
            }
        )
    return claims
