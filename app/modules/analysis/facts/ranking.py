"""Facts of labels ranked by measures: a ranking, a matrix of two labels, or groups over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Literal

from app.modules.analysis.facts.entries import Entries, Entry, entries_of
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import missing_values, partial_notes, unnamed_rows
from app.modules.analysis.facts.statistics import statistics
from app.modules.analysis.facts.table import Table, is_named, names
from app.modules.analysis.facts.wording import Counted, Names, Percent, Points, Slot
from app.modules.analysis.figures import Direction, NumericColumn

_MEASURES = 4
_SHARES = 3
_ORDERED = 3
_FEW = 5
_SAME = 4
_NEAR = Decimal("0.001")

Proof = Literal["all", "selected", "sorted", "none"]
"""Why an end of the entries is what it is called: `all` entries are at hand, all that the statement
`selected`, or it `sorted` them before its limit; `none` if it holds of the rows shown only."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """The entries of a measure among others: `over` are the periods over which they were summed, `by` names
    the second label of a matrix."""

    table: Table
    entries: Entries
    over: Counted | None = None
    by: str | None = None

    @property
    def measure(self) -> NumericColumn:
        return self.entries.measure

    @property
    def name(self) -> str:
        return self.table.measure(self.measure)

    @property
    def columns(self) -> list[str]:
        columns = self.table.rows["columns"]
        return [self.measure.name, *(columns[at]["name"] for at in self.entries.by)]


def ranking_facts(table: Table, *, course: Sequence[Fact] = ()) -> list[Fact]:
    """The end asked for, the entry next to it and the other end; then figures of all, and other measures.

    `course` are facts on all groups over time.
    """
    found = table.found
    if found.main is None or found.ranking is None or found.label is None:
        return []
    by = found.ranking.by
    over = None
    if found.ranking.summed and found.course is not None:
        over = Counted(len(found.course.points), found.course.unit)
    elif found.ranking.summed and not found.grouped:
        over = Counted(len(table.rows["rows"]), "row")
    summed = found.ranking.summed
    main = Ranked(table=table, entries=entries_of(table, found.main, by, summed=summed), over=over)
    if not main.entries.all:
        notes = [*unnamed_rows(table, main.entries), *missing_values(table, found.main)]
        return [*(statistics(table, found.main) if found.whole else []), *notes]
    first, *others = _ends(main)
    facts = [first, *course[:1], *others]
    if found.second is not None and found.group is not None and len(found.second) > 1:
        second = entries_of(table, found.main, [found.group], summed=True)
        crossing = Ranked(table=table, entries=second, by=table.title(found.group))
        facts += _end(crossing, "highest", proof=_proof(table, found.main, "highest"), bold=True)
    facts += course[1:]
    facts += partial_notes(table) if found.course is None else []
    facts += [*unnamed_rows(table, main.entries), *missing_values(table, found.main)]
    if not is_bounded(table):
        facts += [*statistics(table, found.main, named=_losses(main))]
        facts += [*_shares(main), *_gap(main), *_same(main)]
        more = [_ranked_by(table, each, over=over) for each in _others(table)]
        facts += [fact for each in more for fact in _other(each)]
        facts += _leader([main, *more])
    else:
        facts += [_label_fact(main, each) for each in _named(main)]
    facts += _order(main)
    facts += [] if is_bounded(table) else _next(main)
    return facts


def is_bounded(table: Table) -> bool:
    """Return True if a limit may have cut rows off."""
    return table.found.limit is not None or not table.found.complete


def begins_low(table: Table) -> bool:
    if table.found.direction is not None:
        return table.found.direction == "lowest"
    return table.found.sorted_descending is False


def _proof(table: Table, measure: NumericColumn, end: Direction) -> Proof:
    found = table.found
    if not is_bounded(table):
        return "selected" if found.selective else "all"
    if measure is not found.main or found.sorted_descending is None or found.within is not None:
        return "none"
    sorted_end = "highest" if found.sorted_descending else "lowest"
    return "sorted" if sorted_end == end and not found.selective else "none"


def _ends(ranked: Ranked) -> list[Fact]:
    table, every = ranked.table, ranked.entries.all
    if len(every) == 1:
        return [_label_fact(ranked, every[0])]
    if every[0].value == every[-1].value:
        of_all = all(each == every[0].value for each in ranked.entries.nameless)
        return [_all_alike(ranked, "same.all") if of_all else _tie(ranked, every)]
    rising = begins_low(table)
    end: Direction = "lowest" if rising else "highest"
    other: Direction = "highest" if rising else "lowest"
    proof = _proof(table, ranked.measure, end)
    facts = _end(ranked, end, proof=proof, bold=True)
    if (
        abs(every[0].value - every[-1].value) <= _NEAR * abs(every[0].value)
        and proof in ("all", "selected")
        and not ranked.entries.nameless
    ):
        facts = [_all_alike(ranked, "same.nearly"), *facts]
    after = _next(ranked) if is_bounded(table) else []
    facts += after or _second(ranked, rising=rising, proof=proof)
    if not is_bounded(table):
        facts += _end(ranked, other, proof=proof, bold=False)
    return facts


def _end(ranked: Ranked, end: Direction, *, proof: Proof, bold: bool) -> list[Fact]:
    table, entries = ranked.table, ranked.entries
    leaders = entries.end(rising=end == "lowest")
    if not leaders or len(leaders) == len(entries.all):
        return []
    things = table.things(ranked.measure)
    template = end if things is None else {"highest": "most", "lowest": "fewest"}[end]
    share = _share_slots(ranked, leaders[0].value, proof if bold else "none")
    slots: dict[str, Slot] = {
        "scope": _scope(ranked, proof, leaders[-1].value, rising=end == "lowest"),
        "by": ranked.by,
        "leaders": names([each.name for each in leaders], bold=bold),
        "measure": ranked.name,
        "things": things,
        "over": ranked.over,
        "value": table.amount(leaders[0].value, ranked.measure),
        **share,
    }
    rows = [row for each in leaders for row in each.rows]
    how = "share" if share else f"{end}_sum" if entries.summed else end
    return [
        table.fact(
            end,
            template,
            slots,
            key=[ranked.measure.name, *([ranked.by] if ranked.by else [])],
            how=table.how(how, ranked.name, len(entries.rows)),
            value=leaders[0].value,
            cells=table.cells([*rows, *entries.rows] if share else rows, ranked.measure),
            columns=ranked.columns,
            labels=[each.label for each in leaders],
        )
    ]


def scope(table: Table, proof: Proof, count: int, *, summed: bool = False) -> str | None:
    """The phrase that says of which rows an end is meant; None for all."""
    if proof in ("all", "sorted"):
        return None
    count = len(table.rows["rows"]) if summed else count
    return table.wording.say("scope.rows" if summed else "scope.shown", count=count)


def _scope(ranked: Ranked, proof: Proof, value: Decimal, *, rising: bool) -> str | None:
    """The scope of an end; without the rows that have no name, if one of them stands before the value."""
    table, entries = ranked.table, ranked.entries
    shown = scope(table, proof, len(entries.all), summed=entries.summed)
    if not entries.has_nameless_before(value, rising=rising):
        return shown
    return ", ".join(filter(None, [shown, named_only(table, entries)]))


def named_only(table: Table, entries: Entries) -> str:
    """The phrase that leaves out the rows without a name."""
    return table.wording.say(
        "scope.named", label=names([table.title(at) for at in entries.unnamed_by(table)])
    )


def _share_slots(ranked: Ranked, value: Decimal, proof: Proof) -> dict[str, Slot]:
    """The share of a value in all, or in those that the statement selected; nothing if it has no meaning."""
    total = ranked.entries.total
    positive = total is not None and total > 0 and ranked.measure.minimum >= 0
    if total is None or not positive or proof not in ("all", "selected"):
        return {}
    shown = ranked.table.amount(total, ranked.measure)
    share = Percent(value / total)
    if ranked.table.found.whole:
        return {"share": share, "total": shown}
    return {"share": share, "shown_total": shown, "among": len(ranked.entries.all)}


def _label_fact(ranked: Ranked, entry: Entry) -> Fact:
    """The value of a label, with its share of all if there are others."""
    table = ranked.table
    alone = len(ranked.entries.all) == 1
    found = _share_slots(ranked, entry.value, "none" if alone or is_bounded(table) else "all")
    slots: dict[str, Slot] = {
        "label": entry.name,
        "measure": ranked.name,
        "over": ranked.over,
        "value": table.amount(entry.value, ranked.measure),
        **found,
    }
    rows = [*entry.rows, *ranked.entries.rows] if found else entry.rows
    how = "share" if found else "sum" if len(entry.rows) > 1 else "value"
    return table.fact(
        "share" if found else "value",
        "value.of",
        slots,
        key=[ranked.measure.name, entry.label],
        how=table.how(how, ranked.name, len(ranked.entries.rows) if found else len(entry.rows)),
        value=entry.value,
        cells=table.cells(rows, ranked.measure),
        columns=ranked.columns,
        labels=[entry.label],
    )


def _all_alike(ranked: Ranked, template: str) -> Fact:
    """All entries have the same value, or nearly."""
    table, entries = ranked.table, ranked.entries
    bounded = is_bounded(table) or table.found.selective
    things = table.things(ranked.measure) if template == "same.all" else None
    slots: dict[str, Slot] = {
        "count": None if bounded else len(entries.all),
        "shown": len(entries.all) if bounded else None,
        "measure": ranked.name,
        "things": things,
        "over": ranked.over,
        "value": table.amount(entries.all[0].value, ranked.measure),
        "low": table.amount(entries.all[-1].value, ranked.measure),
    }
    return table.fact(
        "same",
        template if things is None else f"{template}.things",
        slots,
        key=[ranked.measure.name],
        how=table.how("values", ranked.name, len(entries.rows)),
        value=entries.all[0].value,
        cells=table.cells(entries.rows, ranked.measure),
        columns=ranked.columns,
    )


def _second(ranked: Ranked, *, rising: bool, proof: Proof) -> list[Fact]:
    """The entry next to the leader, unless it is at the other end, too, or two lead."""
    table, entries = ranked.table, ranked.entries
    leaders = entries.end(rising=rising)
    after = entries.next_entries(leaders, rising=rising)
    if not after or proof == "none" or len(leaders) > 1:
        return []
    if table.are_written_alike(leaders[0].value, after[0].value, ranked.measure):
        return []
    if after[0].value == entries.end(rising=not rising)[0].value:
        return []  # the other end; of a result that a limit cut, others may share the value
    things = table.things(ranked.measure)
    slots: dict[str, Slot] = {
        "leaders": names([each.name for each in after]),
        "measure": ranked.name,
        "things": things,
        "over": ranked.over,
        "value": table.amount(after[0].value, ranked.measure),
        "scope": _scope(ranked, proof, after[0].value, rising=rising),
    }
    rows = [row for each in after for row in each.rows]
    return [
        table.fact(
            "second",
            "second" if not rising else "second.low" if things is None else "second.few",
            slots,
            key=[ranked.measure.name],
            how=table.how("second", ranked.name, len(entries.rows)),
            value=after[0].value,
            cells=table.cells(rows, ranked.measure),
            columns=ranked.columns,
            labels=[each.label for each in after],
        )
    ]


def _next(ranked: Ranked) -> list[Fact]:
    """All that follow the leaders, in order, of at most five."""
    table, entries = ranked.table, ranked.entries
    rising = begins_low(table)
    leaders = entries.end(rising=rising)
    rest: list[Entry] = []
    while after := entries.next_entries([*leaders, *rest], rising=rising):
        rest += after
    if len(entries.all) > _FEW or len(rest) < (1 if is_bounded(table) else 2):
        return []
    proof = _proof(table, ranked.measure, "lowest" if rising else "highest")
    slots: dict[str, Slot] = {
        "leaders": Names([_pair(ranked, each) for each in rest]),
        "measure": ranked.name,
        "scope": scope(table, proof, len(entries.all), summed=entries.summed),
    }
    return [
        table.fact(
            "order",
            "next",
            slots,
            key=[ranked.measure.name, "next"],
            how=table.how("order", ranked.name, len(entries.rows)),
            cells=table.cells([row for each in rest for row in each.rows], ranked.measure),
            columns=ranked.columns,
            labels=[each.label for each in rest],
        )
    ]


def _pair(ranked: Ranked, entry: Entry) -> str:
    """An entry's name with its value."""
    table = ranked.table
    return table.wording.say("pair", label=entry.name, value=table.amount(entry.value, ranked.measure))


def _order(ranked: Ranked) -> list[Fact]:
    """The first three in order; not if a tie goes through the end of the list or through its middle."""
    table, entries = ranked.table, ranked.entries
    rising = begins_low(table)
    end: Direction = "lowest" if rising else "highest"
    proof = _proof(table, ranked.measure, end)
    way = entries.all[::-1] if rising else entries.all
    first = way[:_ORDERED]
    if (
        len(way) <= _ORDERED
        or proof == "none"
        or len({each.value for each in way[: _ORDERED + 1]}) <= _ORDERED
    ):
        return []
    slots: dict[str, Slot] = {
        "leaders": Names([_pair(ranked, each) for each in first]),
        "measure": ranked.name,
        "scope": _scope(ranked, proof, first[-1].value, rising=rising),
    }
    rows = [row for each in first for row in each.rows]
    return [
        table.fact(
            "order",
            "order.low" if rising else "order",
            slots,
            key=[ranked.measure.name],
            how=table.how("order", ranked.name, len(entries.rows)),
            cells=table.cells(rows, ranked.measure),
            columns=ranked.columns,
            labels=[each.label for each in first],
        )
    ]


def _shares(ranked: Ranked) -> list[Fact]:
    """The labels that the question names, and the shares of the first three."""
    if len({each.value for each in ranked.entries.all}) < 2:
        return []
    first = ranked.entries.all[:_SHARES] if ranked.entries.total is not None else []
    chosen = {each.name: each for each in [*_named(ranked), *first]}
    return [_label_fact(ranked, each) for each in chosen.values()]


def _named(ranked: Ranked) -> list[Entry]:
    """The first entries that the question names."""
    asked = ranked.table.question
    return [each for each in ranked.entries.all if is_named(each.label, asked)][:_SHARES]


def _gap(ranked: Ranked) -> list[Fact]:
    """The distance of the first two, from the end that leads, if one leads."""
    table, entries = ranked.table, ranked.entries
    rising = begins_low(table)
    leaders = entries.end(rising=rising)
    after = entries.next_entries(leaders, rising=rising)
    if len(leaders) != 1 or len(after) != 1:
        return []
    if table.are_written_alike(leaders[0].value, after[0].value, ranked.measure):
        return []
    difference = abs(leaders[0].value - after[0].value)
    share = _share_slots(ranked, difference, "all")
    points = share.get("share")
    slots: dict[str, Slot] = {
        "label": leaders[0].name,
        "other": after[0].name,
        "measure": ranked.name,
        "difference": table.difference(difference, ranked.measure),
        "points": Points(points.ratio * 100) if isinstance(points, Percent) else None,
    }
    rows = [*leaders[0].rows, *after[0].rows]
    return [
        table.fact(
            "gap",
            "gap.low" if rising else "gap",
            slots,
            key=[ranked.measure.name],
            how=table.how("difference", ranked.name, len(rows)),
            value=difference,
            cells=table.cells(rows, ranked.measure),
            columns=ranked.columns,
            labels=[leaders[0].label, after[0].label],
        )
    ]


def _same(ranked: Ranked) -> list[Fact]:
    """The largest few labels that share a value in the middle of the ranking."""
    entries = ranked.entries
    ends = {entries.all[0].value, entries.all[-1].value}
    groups = [list(group) for _, group in groupby(entries.all, key=lambda each: each.value)]
    ties = [group for group in groups if 1 < len(group) <= _SAME and group[0].value not in ends]
    if not ties:
        return []
    return [_tie(ranked, ties[0])]


def _tie(ranked: Ranked, tie: Sequence[Entry]) -> Fact:
    table = ranked.table
    things = table.things(ranked.measure)
    slots: dict[str, Slot] = {
        "leaders": names([each.name for each in tie]),
        "measure": ranked.name,
        "things": things,
        "value": table.amount(tie[0].value, ranked.measure),
    }
    rows = [row for each in tie for row in each.rows]
    return table.fact(
        "same",
        "same" if things is None else "same.things",
        slots,
        key=[ranked.measure.name, *(each.label for each in tie)],
        how=table.how("values", ranked.name, len(rows)),
        value=tie[0].value,
        cells=table.cells(rows, ranked.measure),
        columns=ranked.columns,
        labels=[each.label for each in tie],
    )


def _losses(ranked: Ranked) -> Names | None:
    """The entries below zero with their values, the lowest first; None if an entry adds several rows up."""
    below = [each for each in ranked.entries.all[::-1] if each.value < 0]
    if not below or ranked.entries.summed or ranked.entries.unnamed:
        return None
    listed = [_pair(ranked, each) for each in below]
    return names(listed) if len(listed) > _FEW else Names(listed)


def _others(table: Table) -> list[NumericColumn]:
    """The other measures, without a count of rows that has no name."""
    measures = table.found.measures[1:_MEASURES]
    rows = table.wording.formats.title("count")
    return [each for each in measures if table.measure(each) != rows]


def _other(ranked: Ranked) -> list[Fact]:
    """The highest of another measure, and its total."""
    if len(ranked.entries.all) < 2:
        return []
    proof = _proof(ranked.table, ranked.measure, "highest")
    highest = _end(ranked, "highest", proof=proof, bold=True)
    return [*highest, *statistics(ranked.table, ranked.measure)]


def _ranked_by(table: Table, measure: NumericColumn, *, over: Counted | None) -> Ranked:
    found = table.found
    label = [found.label] if found.label is not None else []
    crossed = [at for at in (found.group, found.time) if at is not None]
    adds = measure.adds_over_time if found.time is not None else measure.additive
    by = label if found.summed and adds else [*label, *crossed]
    entries = entries_of(table, measure, by, summed=found.summed and adds)
    return Ranked(table=table, entries=entries, over=over if entries.summed else None)


def _leader(every: Sequence[Ranked]) -> list[Fact]:
    """The one label that is highest in all measures, of two at least."""
    table = every[0].table
    measures = [each.measure for each in every]
    ends = [each.entries.end(rising=False) for each in every]
    if len(every) < 2 or any(len(end) != 1 for end in ends) or len({end[0].name for end in ends}) > 1:
        return []
    leader = ends[0][0]
    shown = scope(table, _proof(table, measures[0], "highest"), len(table.rows["rows"]))
    hidden = [
        each.entries
        for each, end in zip(every, ends, strict=True)
        if each.entries.has_nameless_before(end[0].value, rising=False)
    ]
    slots: dict[str, Slot] = {
        "label": leader.name,
        "measures": Names([table.measure(each) for each in measures]),
        "scope": ", ".join(filter(None, [shown, *(named_only(table, each) for each in hidden[:1])])) or None,
    }
    return [
        table.fact(
            "leader",
            "leader",
            slots,
            key=[leader.label],
            how=table.how("highest", table.measure(measures[0]), len(table.rows["rows"])),
            cells=[
                cell
                for each, end in zip(measures, ends, strict=True)
                for cell in table.cells(end[0].rows, each)
            ],
            columns=[each.name for each in measures],
            labels=[leader.label],
        )
    ]
