"""Facts of labels ranked by measures: a ranking, a matrix of two labels, or groups over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Literal

from app.core.values.numbers import as_decimal
from app.modules.analysis.facts.entries import Entry, RankedEntries, entries_of
from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.notes import missing_values, partial_notes, unnamed_rows
from app.modules.analysis.facts.statistics import statistics
from app.modules.analysis.facts.table import FactTable, is_named, names
from app.modules.analysis.facts.wording import Amount, Counted, Names, Percent, Points, Slot
from app.modules.analysis.figures import Direction, NumericColumn
from app.modules.analysis.figures.ends import is_against_question
from app.modules.analysis.figures.names import is_calendar_or_key
from app.modules.analysis.figures.requested_measures import names_difference
from app.modules.analysis.words import label

_MEASURES = 4
_SHARES = 3
_ORDERED = 3
_FEW = 5
_SAME = 4
_NEAR = Decimal("0.001")
_MOSTLY = Decimal("0.75")

Proof = Literal["all", "selected", "sorted", "none"]
"""Why an end of the entries is what it is called: `all` entries are at hand, all that the statement
`selected`, or it `sorted` them before its limit; `none` if it holds of the rows shown only."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """The entries of a measure among others: `over` are the periods over which they were summed, `by` names
    the second label of a matrix."""

    table: FactTable
    entries: RankedEntries
    over: Counted | None = None
    by: str | None = None

    @property
    def measure(self) -> NumericColumn:
        return self.entries.measure

    def fact(
        self,
        kind: FactKind,
        template: str,
        named: Sequence[Entry],
        *,
        slots: Mapping[str, Slot],
        how: str,
        counted: int | None = None,
        value: Decimal | None = None,
        key: Sequence[str] = (),
        also: Sequence[int] = (),
    ) -> Fact:
        """Make a fact that names entries. It is computed from all rows with a value, or from those `counted`.

        `also` are further rows that it rests on.
        """
        columns = self.table.rows["columns"]
        return self.table.measure_fact(
            kind,
            template,
            self.measure,
            slots={"over": self.over, **slots},
            rows=[*(row for each in named for row in each.rows), *also],
            how=how,
            counted=len(self.measure.rows) if counted is None else counted,
            value=value,
            key=key,
            columns=[columns[at]["name"] for at in self.entries.by],
            labels=[each.label for each in named],
        )

    def amount(self, value: Decimal) -> Amount:
        return self.table.amount(value, self.measure)

    def pair(self, entry: Entry) -> str:
        """An entry's name with its value."""
        return self.table.wording.say("pair", label=entry.name, value=self.amount(entry.value))


def ranking_facts(table: FactTable, *, course: Sequence[Fact] = (), led: int = 0) -> list[Fact]:
    """The end asked for, the entry next to it and the other end; then figures of all, and other measures.

    `course` are facts on all groups over time, the first of which, `led`, follow the end asked for.
    """
    found = table.found
    if found.main is None or found.ranking is None or found.label is None:
        return []
    by = found.ranking.by
    over = None
    if found.ranking.summed and found.course is not None:
        over = Counted(len(found.course.points), found.course.unit)
    elif found.ranking.summed and not found.statement.grouped:
        over = Counted(len(table.rows["rows"]), "row")
    summed = found.ranking.summed
    main = Ranked(table=table, entries=entries_of(table, found.main, by, summed=summed), over=over)
    if not main.entries.all:
        notes = [*unnamed_rows(table, main.entries), *missing_values(table, found.main)]
        return [*(statistics(table, found.main) if found.whole else []), *notes]
    first, *others = _ends(main)
    facts = [first, *course[:led], *others]
    if found.shape == "matrix" and found.group is not None and found.summed and found.main.additive:
        second = entries_of(table, found.main, [found.group], summed=True)
        crossing = Ranked(table=table, entries=second, by=table.title(found.group))
        facts += _end(crossing, "highest", proof=_proof(table, found.main, "highest"), bold=True)
    facts += course[led:]
    facts += partial_notes(table) if found.course is None else []
    facts += [*unnamed_rows(table, main.entries), *missing_values(table, found.main)]
    if not table.found.bounded:
        figures = statistics(table, found.main, named=_losses(main))
        if figures and figures[-1].kind == "below_zero" and names_difference(found.main.name):
            facts.insert(1, figures.pop())
        rising = _count_rises(main)
        if found.sorted_by in main.entries.by:
            facts[:0] = rising
            rising = []
        facts += [*rising, *figures]
        facts += [*_shares(main), *_gap(main), *_same(main)]
        more = [_ranked_by(table, each, over=over) for each in _others(table)]
        facts += [fact for each in more for fact in _other(each)]
        leader = _leader([main, *more])
        facts = [*leader, *facts] if not found.asked and len(more) > 1 else [*facts, *leader]
    else:
        facts += [_label_fact(main, each) for each in _named(main)]
    facts += _order(main)
    facts += [] if table.found.bounded else _next(main)
    return facts


def _count_rises(ranked: Ranked) -> list[Fact]:
    """How often a measure rises, or falls, from one number of the label to the next, if it mostly does.

    Empty if the statement left groups out, as the steps between are unknown.
    """
    table, entries = ranked.table, ranked.entries
    if table.found.statement.selective:
        return []
    (at, *others) = entries.by
    column = table.rows["columns"][at]
    is_scale = column["type"] in ("integer", "number") and not is_calendar_or_key(column["name"])
    cells = {id(each): as_decimal(table.rows["rows"][each.rows[0]][at]) for each in entries.all}
    if others or not is_scale or table.is_flag(at) or entries.nameless or None in cells.values():
        return []
    way = sorted(entries.all, key=lambda each: cells[id(each)] or Decimal(0))
    if len(set(cells.values())) < len(way) or len(way) <= _ORDERED:
        return []
    rises = sum(after.value > before.value for before, after in pairwise(way))
    falls = sum(after.value < before.value for before, after in pairwise(way))
    first, last = way[0], way[-1]
    count, template = (rises, "scale.rises") if last.value > first.value else (falls, "scale.falls")
    if count < _MOSTLY * (len(way) - 1) or first.value == last.value:
        return []
    slots: dict[str, Slot] = {
        "label": table.title(at),
        "count": count,
        "steps": len(way) - 1,
        "before": label(table.rows["rows"][first.rows[0]][at]),
        "old": ranked.amount(first.value),
        "after": label(table.rows["rows"][last.rows[0]][at]),
        "new": ranked.amount(last.value),
    }
    return [
        ranked.fact(
            "rises",
            template,
            way,
            slots=slots,
            how="values",
            value=Decimal(count),
            key=[ranked.measure.name, column["name"]],
        )
    ]


def begins_low(table: FactTable) -> bool:
    if table.found.direction is not None:
        return table.found.direction == "lowest"
    return table.found.sorted_descending is False


def _proof(table: FactTable, measure: NumericColumn, end: Direction) -> Proof:
    found = table.found
    if not table.found.bounded:
        return "selected" if found.statement.selective or measure.truncated else "all"
    if measure is not found.main or found.sorted_descending is None or found.statement.within is not None:
        return "none"
    sorted_end = "highest" if found.sorted_descending else "lowest"
    return "sorted" if sorted_end == end and not found.statement.selective else "none"


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
    after = _next(ranked) if table.found.bounded else []
    facts += after or _second(ranked, rising=rising, proof=proof)
    if not table.found.bounded:
        facts += _end(ranked, other, proof=proof, bold=False)
    return facts


def _end(ranked: Ranked, end: Direction, *, proof: Proof, bold: bool) -> list[Fact]:
    entries = ranked.entries
    leaders = entries.end(rising=end == "lowest")
    if not leaders or len(leaders) == len(entries.all):
        return []
    share = _share_slots(ranked, leaders[0].value, proof if bold else "none")
    slots: dict[str, Slot] = {
        "scope": _scope(ranked, proof, leaders[-1].value, rising=end == "lowest"),
        "by": ranked.by,
        "leaders": names([each.name for each in leaders], bold=bold),
        "value": ranked.amount(leaders[0].value),
        **share,
    }
    how = "share" if share else f"{end}_sum" if entries.summed else end
    key = [ranked.measure.name, ranked.by] if ranked.by else ()
    also = ranked.measure.rows if share else ()
    template = end_template(ranked.table, ranked.measure, end, value=leaders[0].value, proof=proof)
    return [
        ranked.fact(end, template, leaders, slots=slots, how=how, value=leaders[0].value, key=key, also=also)
    ]


def end_template(
    table: FactTable, measure: NumericColumn, end: Direction, *, value: Decimal, proof: Proof
) -> str:
    """The template of an end; one that says so where the question asks what fell, and all rose.

    A change that is missing may be a fall or a rise, and what was zero has risen by no percentage.
    """
    asked: Direction = "lowest" if value > 0 else "highest"
    against = measure.is_change and end == asked and is_against_question(table.question, value)
    is_known = proof == "all" and not measure.missing
    is_known = is_known or (proof == "sorted" and (end == "lowest" or table.unit(measure) is None))
    return f"{end}.none" if against and is_known else end


def scope(table: FactTable, proof: Proof, count: int, *, summed: bool = False) -> str | None:
    """The phrase that says of which rows an end is meant; None for all."""
    if proof in ("all", "sorted"):
        return None
    count = len(table.rows["rows"]) if summed else count
    return table.wording.say("scope.rows" if summed else "scope.shown", count=count)


def _scope(ranked: Ranked, proof: Proof, value: Decimal, *, rising: bool) -> str | None:
    """The scope of an end; without the rows that have no name, if one of them stands before the value."""
    table, entries = ranked.table, ranked.entries
    shown = scope(table, proof, entries.count, summed=entries.summed)
    if not entries.has_nameless_before(value, rising=rising):
        return shown
    return ", ".join(filter(None, [shown, named_only(table, entries)]))


def named_only(table: FactTable, entries: RankedEntries) -> str:
    """The phrase that leaves out the rows without a name."""
    return table.wording.say(
        "scope.named", label=names([table.title(at) for at in entries.unnamed_by(table)])
    )


def _share_slots(ranked: Ranked, value: Decimal, proof: Proof) -> dict[str, Slot]:
    """The share of a value in all; nothing if it has no meaning, or if the statement left groups out."""
    total = ranked.measure.total
    if total is None or total <= 0 or ranked.measure.minimum < 0 or proof != "all":
        return {}
    return {"share": Percent(value / total), "total": ranked.amount(total)}


def _label_fact(ranked: Ranked, entry: Entry) -> Fact:
    """The value of a label, with its share of all if there are others."""
    alone = len(ranked.entries.all) == 1
    found = _share_slots(ranked, entry.value, "all" if ranked.table.found.whole and not alone else "none")
    every = ranked.measure.rows
    return ranked.fact(
        "share" if found else "value",
        "value.of",
        [entry],
        slots={"label": entry.name, "value": ranked.amount(entry.value), **found},
        how="share" if found else "sum" if len(entry.rows) > 1 else "value",
        counted=len(every) if found else len(entry.rows),
        value=entry.value,
        key=[ranked.measure.name, entry.label],
        also=every if found else (),
    )


def _all_alike(ranked: Ranked, template: str) -> Fact:
    """All entries have the same value, or nearly."""
    table, entries = ranked.table, ranked.entries
    bounded = table.found.bounded or table.found.statement.selective
    slots: dict[str, Slot] = {
        "count": None if bounded else entries.count,
        "shown": entries.count if bounded else None,
        "value": ranked.amount(entries.all[0].value),
        "low": ranked.amount(entries.all[-1].value),
    }
    value = entries.all[0].value
    return ranked.fact("same", template, [], slots=slots, how="values", value=value, also=ranked.measure.rows)


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
    if rising and len(entries.all) <= _ORDERED:
        return []  # of three, the second lowest is the middle
    slots: dict[str, Slot] = {
        "leaders": names([each.name for each in after]),
        "value": ranked.amount(after[0].value),
        "scope": _scope(ranked, proof, after[0].value, rising=rising),
    }
    template = "second.low" if rising else "second"
    return [ranked.fact("second", template, after, slots=slots, how="second", value=after[0].value)]


def _next(ranked: Ranked) -> list[Fact]:
    """All that follow the leaders, in order, of at most five."""
    table, entries = ranked.table, ranked.entries
    rising = begins_low(table)
    leaders = entries.end(rising=rising)
    rest: list[Entry] = []
    while after := entries.next_entries([*leaders, *rest], rising=rising):
        rest += after
    if len(entries.all) > _FEW or len(rest) < (1 if table.found.bounded else 2):
        return []
    proof = _proof(table, ranked.measure, "lowest" if rising else "highest")
    slots: dict[str, Slot] = {
        "leaders": Names(list(map(ranked.pair, rest))),
        "scope": scope(table, proof, entries.count, summed=entries.summed),
    }
    return [ranked.fact("order", "next", rest, slots=slots, how="order", key=[ranked.measure.name, "next"])]


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
        "leaders": Names(list(map(ranked.pair, first))),
        "scope": _scope(ranked, proof, first[-1].value, rising=rising),
    }
    return [ranked.fact("order", "order.low" if rising else "order", first, slots=slots, how="order")]


def _shares(ranked: Ranked) -> list[Fact]:
    """The labels that the question names, and the shares of the first three."""
    if len({each.value for each in ranked.entries.all}) < 2:
        return []
    first = ranked.entries.all[:_SHARES] if ranked.measure.total is not None else []
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
    share = _share_slots(ranked, difference, "all" if table.found.whole else "none")
    points = share.get("share")
    slots: dict[str, Slot] = {
        "label": leaders[0].name,
        "other": after[0].name,
        "difference": table.difference(difference, ranked.measure),
        "points": Points(points.ratio * 100) if isinstance(points, Percent) else None,
    }
    pair = [*leaders, *after]
    counted = sum(len(each.rows) for each in pair)
    template = "gap.low" if rising else "gap"
    return [
        ranked.fact("gap", template, pair, slots=slots, how="difference", counted=counted, value=difference)
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
    slots: dict[str, Slot] = {
        "leaders": names([each.name for each in tie]),
        "value": ranked.amount(tie[0].value),
    }
    return ranked.fact(
        "same",
        "same",
        tie,
        slots=slots,
        how="values",
        counted=sum(len(each.rows) for each in tie),
        value=tie[0].value,
        key=[ranked.measure.name, *(each.label for each in tie)],
    )


def _losses(ranked: Ranked) -> Names | None:
    """The entries below zero with their values, the lowest first; None if an entry adds several rows up."""
    below = [each for each in ranked.entries.all[::-1] if each.value < 0]
    if not below or ranked.entries.summed or ranked.entries.unnamed:
        return None
    listed = list(map(ranked.pair, below))
    return names(listed) if len(listed) > _FEW else Names(listed)


def _others(table: FactTable) -> list[NumericColumn]:
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


def _ranked_by(table: FactTable, measure: NumericColumn, *, over: Counted | None) -> Ranked:
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
