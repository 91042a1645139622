"""The fact sheet of a result: at most 24 facts, those that the question asks for first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.modules.analysis.facts.fact import MOST_FACTS, Fact, FactKind, FactSheet
from app.modules.analysis.facts.listing import counted, date_facts, listing_facts, measures_facts
from app.modules.analysis.facts.notes import note, notice_of
from app.modules.analysis.facts.ranking import ranking_facts
from app.modules.analysis.facts.single import single_facts
from app.modules.analysis.facts.table import Table, is_named
from app.modules.analysis.facts.time import series_facts, together_facts
from app.modules.analysis.figures.asked import naming

_LEAD = 3
_LEAD_NOTES = 2
_NOTES = 4
_WORD = re.compile(r"[^\W_]+")
_ASKED: Mapping[FactKind, frozenset[str]] = {
    "total": frozenset({"total", "sum", "overall", "altogether", "insgesamt", "summe", "suma", "somme"}),
    "average": frozenset({"average", "mean", "durchschnitt", "promedio", "moyenne"}),
    "median": frozenset({"median", "mediana", "médiane"}),
    "share": frozenset({"share", "percent", "percentage", "proportion", "anteil", "porcentaje", "part"}),
    "change": frozenset(
        {"change", "changed", "grow", "grew", "growth", "trend", "rise", "rose", "fall", "fell"}
    ),
    "second": frozenset({"second", "zweite", "segundo", "segunda", "deuxième"}),
    "gap": frozenset({"difference", "gap", "ahead", "unterschied", "diferencia", "différence"}),
    "below_zero": frozenset(
        {
            *("loss", "losses", "lose", "losing", "negative", "verlust", "verluste", "negativ", "negative"),
            *("negativen", "pérdida", "pérdidas", "negativo", "negativa", "negativos", "negativas"),
            *("perte", "pertes", "négatif", "négative", "négatifs", "négatives"),
        }
    ),
    "frequent": frozenset({"common", "frequent", "often", "häufigste", "frecuente", "fréquent"}),
}
_BELOW_ZERO = re.compile(r"\b(?:below zero|unter null|bajo cero|sous zéro)\b|< ?0\b", re.IGNORECASE)
_DATES = frozenset(
    {
        *("when", "last", "latest", "newest", "recent", "recently", "earliest", "oldest", "wann", "zuletzt"),
        *("letzte", "letzten", "cuándo", "última", "último", "quand", "dernier", "dernière"),
    }
)
_GROUPING = frozenset({"per", "by", "each", "every", "pro", "je", "por", "cada", "par", "chaque", "nach"})


def fact_sheet(table: Table) -> FactSheet:
    """Compute the facts of a result and word them. Secrets must have been removed from the rows."""
    made = _made(table)
    if not made and table.rows["rows"]:
        made = [counted(table)]
    facts = _ordered(table, _distinct_facts(made))
    return FactSheet(facts=facts, lead=_lead(facts), notice=notice_of(table), language=table.wording.language)


def _made(table: Table) -> list[Fact]:
    match table.found.shape:
        case "empty":
            return [] if table.found.cut else [note(table, "no_rows", ["no", "rows"], columns=[])]
        case "single":
            return single_facts(table)
        case "list":
            return listing_facts(table)
        case "measures":
            return measures_facts(table)
        case "series":
            return series_facts(table)
        case "ranking" | "matrix":
            return [*(date_facts(table) if _asks_for_date(table) else []), *ranking_facts(table)]
        case "grouped series":
            return ranking_facts(table, course=together_facts(table))


def _asks_for_date(table: Table) -> bool:
    """Return True if the question asks for the date that the statement sorts by."""
    by = table.found.sorted_by
    if by is None:
        return False
    words = set(_WORD.findall(table.question.casefold()))
    return bool(words & _DATES) or naming(table.question, table.rows["columns"][by]["name"]) > 0


def _distinct_facts(made: Sequence[Fact]) -> list[Fact]:
    """Each statement once, and each key once: a key that stands twice gets a number."""
    facts = dict[str, Fact]()
    seen = set[str]()
    for fact in made:
        if fact.statement in seen:
            continue
        seen.add(fact.statement)
        key = fact.key
        number = 2
        while key in facts:
            key = f"{fact.key[:57]}_{number}"
            number += 1
        facts[key] = replace(fact, key=key)
    return list(facts.values())


def _ordered(table: Table, made: Sequence[Fact]) -> list[Fact]:
    """Those that the question asks for first, else in the order in which they were made.

    Notes follow the facts that lead. Of more than 24, the last are left out.
    """
    ordered = sorted(made, key=lambda fact: -_relevance(table, fact))
    notes = [fact for fact in ordered if fact.kind in ("note", "missing")]
    others = [fact for fact in ordered if fact not in notes]
    notes = notes[:_NOTES]
    return [*others[:_LEAD], *notes, *others[_LEAD:]][:MOST_FACTS]


def _relevance(table: Table, fact: Fact) -> int:
    """How much of the fact the question names: its kind and its labels.

    An average or a percentage is no fact asked for where a column is one already.
    """
    question = table.question
    if fact.kind in ("note", "missing"):
        return 0
    words = set(_WORD.findall(question.casefold()))
    score = 0
    if (
        fact.kind in _ASKED
        and words & _ASKED[fact.kind]
        and not (fact.kind in ("total", "average") and words & _GROUPING)
        and not (
            fact.kind in ("average", "median", "share") and any(each.is_rate for each in table.found.measures)
        )
    ):
        score += 2
    if fact.kind == "below_zero" and _BELOW_ZERO.search(question):
        score += 2
    if fact.kind == "below_zero" and score:
        score += 3
    named = [each for each in fact.labels if is_named(each, question)]
    if named and len(named) == len(fact.labels) and fact.kind in ("value", "share", "gap", "change"):
        score += 3
    return score


def _lead(facts: Sequence[Fact]) -> list[Fact]:
    """The first three facts, and the notes that concern their columns; none repeats the names of another."""
    others = [fact for fact in facts if fact.kind not in ("note", "missing")]
    first = others[:_LEAD]
    if any(fact.kind in ("highest", "lowest", "second") for fact in first):
        first = [fact for fact in first if fact.kind != "order" or not _is_repeated(fact, first)]
    columns = {name for fact in first for name in fact.columns}
    notes = [
        fact
        for fact in facts
        if fact.kind in ("note", "missing") and (not first or columns & set(fact.columns))
    ]
    return [*first, *notes[:_LEAD_NOTES]]


def _is_repeated(order: Fact, lead: Sequence[Fact]) -> bool:
    """Return True if an end of the scale in the lead names a label of the order."""
    return any(
        fact.kind in ("highest", "lowest", "second")
        and fact.columns == order.columns
        and set(fact.labels) & set(order.labels)
        for fact in lead
    )
