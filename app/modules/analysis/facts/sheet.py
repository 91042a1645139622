"""The fact sheet of a result: at most 24 facts, those that the question asks for first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.modules.analysis.facts.compared import compared_facts, compares
from app.modules.analysis.facts.fact import MOST_FACTS, Fact, FactKind, FactSheet
from app.modules.analysis.facts.groups import group_courses, group_facts
from app.modules.analysis.facts.listing import counted, date_facts, listing_facts, measures_facts
from app.modules.analysis.facts.notes import note, notice_of, partial_notes
from app.modules.analysis.facts.ranking import ranking_facts
from app.modules.analysis.facts.running import group_totals
from app.modules.analysis.facts.single import single_facts
from app.modules.analysis.facts.table import FactTable, is_named
from app.modules.analysis.facts.time import series_facts, together, together_facts
from app.modules.analysis.facts.winners import winners_facts
from app.modules.analysis.figures.requested_measures import naming, without_compared
from app.modules.analysis.words import word_set

_LEAD = 3
_LEAD_NOTES = 2
_NOTES = 4
_NAMED = 0.5
_WORD = re.compile(r"[^\W_]+")
_AND = re.compile(r"\b(?:and|und|y|e|et)\b", re.IGNORECASE)
_SAID_FIRST = ("highest", "lowest", "change", "average", "span", "same", "value")
_ASKED: Mapping[FactKind, frozenset[str]] = {
    "total": frozenset({"total", "sum", "overall", "altogether", "insgesamt", "summe", "suma", "somme"}),
    "average": frozenset({"average", "mean", "durchschnitt", "promedio", "moyenne"}),
    "median": frozenset({"median", "mediana", "médiane"}),
    "share": frozenset({"share", "percent", "percentage", "proportion", "anteil", "porcentaje", "part"}),
    "change": word_set("""
        change changed grow grew growth trend rise rose fall fell
    """),
    "second": frozenset({"second", "zweite", "segundo", "segunda", "deuxième"}),
    "gap": frozenset({"difference", "gap", "ahead", "unterschied", "diferencia", "différence"}),
    "below_zero": word_set("""
        loss losses lose losing negative verlust verluste negativ negativen pérdida pérdidas negativo
        negativa negativos negativas perte pertes négatif négative négatifs négatives
    """),
    "frequent": frozenset({"common", "frequent", "often", "häufigste", "frecuente", "fréquent"}),
}
_BELOW_ZERO = re.compile(r"\b(?:below zero|unter null|bajo cero|sous zéro)\b|< ?0\b", re.IGNORECASE)
_AGAINST_AVERAGE = re.compile(
    r"\b(?:above|below|over|under|than|über|unter|sobre|bajo|debajo|encima|supérieure?s?|inférieure?s?|dessous"
    r"|dessus)\W+(?:\w+\W+){0,2}(?:average|mean|durchschnitt|promedio|media|moyenne)",
    re.IGNORECASE,
)
"""An average with which rows are compared is not asked for."""
_DATES = word_set("""
    when last latest newest recent recently earliest oldest wann zuletzt letzte letzten cuándo última último
    quand dernier dernière
""")
_DEVELOPMENT = re.compile(
    r"\b(?:develop|chang|grow|grew|trend|evol|entwickl|veränder|wachs|wuchs|desarroll|cambi|crec|évol"
    r"|augment)\w*|over time|im zeitverlauf|con el tiempo|au fil",
    re.IGNORECASE,
)
_GROUPING = frozenset({"per", "by", "each", "every", "pro", "je", "por", "cada", "par", "chaque", "nach"})


def fact_sheet(table: FactTable) -> FactSheet:
    """Compute the facts of a result and word them. Secrets must have been removed from the rows."""
    made = _add_comparison(table, _made(table))
    if not made and table.rows["rows"]:
        made = [counted(table)]
    facts = _ordered(table, _distinct_facts(_add_second(table, made)))
    return FactSheet(facts=facts, lead=_lead(facts), notice=notice_of(table), language=table.wording.language)


def _add_second(table: FactTable, made: Sequence[Fact]) -> list[Fact]:
    """The first fact on another measure that the question asks for beside the main one follows the first."""
    main = table.found.main
    if main is None or not made or compares(table) or not _AND.search(table.question):
        return list(made)
    others = [each for each in table.found.measures[1:] if not each.is_change]
    asked = [each for each in others if naming(table.question, each.name) >= 1]
    if not asked and naming(table.question, main.name) > 0:
        further = [each for each in others if each.kind != "count"]
        asked = further if len(further) == 1 else []
    for each in asked[:1]:
        found = [fact for fact in made[1:] if fact.columns[:1] == (each.name,) and fact.kind in _SAID_FIRST]
        if found:
            return [made[0], found[0], *(fact for fact in made[1:] if fact is not found[0])]
    return list(made)


def _add_comparison(table: FactTable, made: Sequence[Fact]) -> list[Fact]:
    """Two measures side by side come first where the question asks for them; no later month is missing."""
    compared = compared_facts(table)
    if compared and table.found.comparison is not None and table.found.comparison.unfinished:
        made = [fact for fact in made if fact.kind != "missing"]
    return [*compared, *made] if compares(table) else [*made, *compared]


def _made(table: FactTable) -> list[Fact]:
    if table.found.roles.winners and table.found.shape in ("ranking", "matrix"):
        return winners_facts(table)
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
            dates = date_facts(table) if table.found.bounded or _asks_for_date(table) else []
            main = table.found.main
            is_cut_by_date = bool(dates) and table.found.bounded
            if is_cut_by_date and main is not None and naming(table.question, main.name) < _NAMED:
                return [*dates, *partial_notes(table)]
            return [*dates, *ranking_facts(table)]
        case "grouped series":
            totals = group_totals(table)
            if totals and table.found.main is not None and not table.found.main.is_level:
                return totals
            over = together(table)
            groups = group_facts(table, over)
            course = together_facts(over) if over is not None else []
            at = 1 if course and course[0].kind == "change" else 0
            course = [*course[:at], *groups, *course[at:]]
            ranked = ranking_facts(table, course=course, led=at + bool(groups))
            courses = group_courses(table) if over is None else []
            is_first = courses and not totals and _DEVELOPMENT.search(table.question)
            return [*courses, *ranked] if is_first else [*totals, *ranked, *courses]


def _asks_for_date(table: FactTable) -> bool:
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


def _ordered(table: FactTable, made: Sequence[Fact]) -> list[Fact]:
    """Those that the question asks for first, else in the order in which they were made.

    Notes follow the facts that lead. Of more than 24, the last are left out.
    """
    ordered = sorted(made, key=lambda fact: -_relevance(table, fact))
    notes = [fact for fact in ordered if fact.kind in ("note", "missing")]
    others = [fact for fact in ordered if fact not in notes]
    notes = notes[:_NOTES]
    return [*others[:_LEAD], *notes, *others[_LEAD:]][:MOST_FACTS]


def _relevance(table: FactTable, fact: Fact) -> int:
    """How much of the fact the question names: its kind and its labels.

    An average or a percentage is no fact asked for where a column is one already.
    """
    question = table.question
    if fact.kind in ("note", "missing"):
        return 0
    words = set(_WORD.findall(without_compared(question).casefold()))
    score = 0
    if fact.kind == "average" and _AGAINST_AVERAGE.search(question):
        return 0
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
    spread = {fact.columns for fact in others if fact.kind == "span"}
    others = [fact for fact in others if fact.kind != "average" or fact.columns not in spread]
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
