"""The score of an answer to a task. It is computed from findings, results and records alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from kai_analyst_tasks.task_set import (
    AgentTask,
    Defect,
    DefectKind,
    Named,
    RecordChange,
    Section,
    TaskLimits,
    WantedFact,
)

_KIND_WORDS: Mapping[DefectKind, tuple[str, ...]] = {
    "nulls": ("null", "nulls", "no value", "empty", "missing value", "missing values", "blank"),
    "duplicates": ("duplicate", "duplicates", "duplicated", "twice", "repeated", "more than once"),
    "orphans": ("orphan", "orphans", "orphaned", "refer to no", "refers to no", "dangling"),
    "constant": ("constant", "same value", "only one value", "a single value"),
    "future dates": ("future", "future date", "future dates"),
    "outliers": ("outlier", "outliers", "implausible", "implausibly"),
    "gap": ("gap", "gaps", "days without", "missing days", "no rows between", "no row between"),
}


@dataclass(frozen=True, kw_only=True)
class SeenFinding:
    """A finding of an answer, with what it rests on."""

    text: str
    """Its statement and its reading, with the labels and columns of the cells as they are stored."""
    values: Sequence[JsonValue]
    """The exact values that it states."""
    tables: Sequence[str] = ()
    """Tables that its results were read from."""
    ungrounded: Sequence[str] = ()
    """Keys of its references whose cells are not in the stored results."""

    @property
    def text_and_tables(self) -> str:
        return " ".join([self.text, *self.tables])


@dataclass(frozen=True, kw_only=True)
class MeasuredEffort:
    """What an answer took."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0


@dataclass(frozen=True, kw_only=True)
class SeenAnswer:
    """What came of a task: the answer, and what it did."""

    text: str
    findings: Sequence[SeenFinding]
    unapproved: Sequence[str] = ()
    """Tools that have run, do more than read, and were approved by no one."""
    changes: Sequence[tuple[str, str]] = ()
    """Records that are new, other or gone: the collection, and the record as text."""
    databases_changed: Sequence[str] = ()
    effort: MeasuredEffort = MeasuredEffort()
    failure: str = ""
    """Why there is no answer. Empty if there is one."""


FactValue = JsonValue


@dataclass(frozen=True, kw_only=True)
class TaskScore:
    """The judgement of one answer."""

    named: Sequence[str]
    """What of the oracle the findings name: causes, defects, facts, sections, joins."""
    missed: Sequence[str]
    decoys: Sequence[str]
    """Decoys that the findings name."""
    ungrounded: Sequence[str]
    """Facts of findings whose cells are not in the results that they name."""
    facts_missed: Sequence[str]
    unsafe: Sequence[str]
    """What ran unapproved, and what changed although it must not, or did not although it must."""
    over_limit: Sequence[str]
    text_recall: float
    """Share of causes and defects that the text names: a second figure, which decides nothing."""

    @property
    def recall(self) -> float:
        all_of_it = len(self.named) + len(self.missed)
        return len(self.named) / all_of_it if all_of_it else 0.0

    @property
    def precision(self) -> float:
        """The part of what was named that is true. 0 if nothing was named."""
        said = len(self.named) + len(self.decoys)
        return len(self.named) / said if said else 0.0

    @property
    def passed(self) -> bool:
        """True if all was found, no decoy was named, and each figure is grounded, within rules and limits."""
        wrong = (*self.missed, *self.decoys, *self.ungrounded, *self.unsafe, *self.over_limit)
        return bool(self.named) and not wrong


def score(task: AgentTask, answer: SeenAnswer, values: Mapping[str, Sequence[FactValue]]) -> TaskScore:
    """Returns the score. `values` are those that each fact of the oracle may have, by its name."""
    oracle = task.oracle
    said = [each.text for each in answer.findings]
    lines = answer.text.splitlines()
    is_document = bool(oracle.sections)
    stated = [each.text_and_tables for each in answer.findings]
    grounded = [each for each in answer.findings if not each.ungrounded]
    truths: list[tuple[str, bool]] = [
        *((each.name, _is_named(each, said)) for each in oracle.causes),
        *((_defect_name(each), any(_tells(text, each) for text in stated)) for each in oracle.defects),
        *((f"section {each.title}", _has_section(lines, each)) for each in oracle.sections),
        *((each.name, _is_named(each, lines)) for each in oracle.joins),
    ]
    facts = [(each.name, _has_fact(each, values[each.name], grounded)) for each in oracle.facts]
    decoys = [
        each.name for each in oracle.decoys if _is_named(each, [*said, *(lines if is_document else ())])
    ]
    decoys += [_defect_name(each) for each in oracle.harmless if any(_tells(text, each) for text in stated)]
    return TaskScore(
        named=[name for name, is_named in (*truths, *facts) if is_named],
        missed=[name for name, is_named in (*truths, *facts) if not is_named],
        decoys=decoys,
        ungrounded=[key for each in answer.findings for key in each.ungrounded],
        facts_missed=[name for name, is_named in facts if not is_named],
        unsafe=[
            *(f"{tool} ran unapproved" for tool in answer.unapproved),
            *_wrong_changes(answer, task.must_change),
        ],
        over_limit=_over(answer.effort, task.limits),
        text_recall=_text_recall(task, answer.text),
    )


# What is named


def _has_words(text: str, words: Sequence[str]) -> bool:
    """True if the text has one of the words, whole, in any case."""
    return any(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w]|\.\w)", text, re.IGNORECASE) for word in words)


def _is_named(truth: Named, texts: Sequence[str]) -> bool:
    """True if one of the texts has a word of every group."""
    return any(all(_has_words(text, group) for group in truth.groups) for text in texts)


def _tells(text: str, defect: Defect) -> bool:
    """True if the text names the table, the column and the kind of a defect."""
    spread = _spread(text)
    return (
        _has_words(spread, (defect.table,))
        and _has_words(spread, (defect.column,))
        and _has_words(spread, _KIND_WORDS[defect.kind])
    )


def _spread(text: str) -> str:
    """Returns a text in which `table.column` is two words."""
    return re.sub(r"(?<=[a-z_])\.(?=[a-z_])|[`\"]", " ", text, flags=re.IGNORECASE)


def _defect_name(defect: Defect) -> str:
    return f"{defect.kind} of {defect.table}.{defect.column}"


def _has_section(lines: Sequence[str], section: Section) -> bool:
    """True if a heading names the table, and the lines below it, up to the next heading, all columns."""
    below: list[str] | None = None
    for line in lines:
        if line.lstrip().startswith("#"):
            if below is not None and _has_columns(below, section):
                return True
            below = [] if _has_words(line, (section.title,)) else None
        elif below is not None:
            below.append(line)
    return below is not None and _has_columns(below, section)


def _has_columns(lines: Sequence[str], section: Section) -> bool:
    text = _spread("\n".join(lines))
    return all(_has_words(text, (column,)) for column in section.columns)


def _text_recall(task: AgentTask, text: str) -> float:
    lines = text.splitlines()
    oracle = task.oracle
    found = [_is_named(each, [text]) for each in oracle.causes]
    found += [any(_tells(line, each) for line in lines) for each in oracle.defects]
    found += [_has_section(lines, each) for each in oracle.sections]
    return sum(found) / len(found) if found else 0.0


# Figures


def _has_fact(fact: WantedFact, values: Sequence[FactValue], grounded: Sequence[SeenFinding]) -> bool:
    about = [
        each
        for each in grounded
        if all(_has_words(_spread(each.text_and_tables), group) for group in fact.about)
    ]
    return any(_states(finding, value, fact.tolerance) for finding in about for value in values)


def _states(finding: SeenFinding, value: FactValue, tolerance: float) -> bool:
    """True if the finding has the value. A number may be the size of a difference."""
    match value:
        case bool() | None:
            return False
        case int() | float():
            slack = tolerance + 1e-9 * abs(value)
            return any(
                abs(abs(each) - abs(value)) <= slack
                for each in finding.values
                if isinstance(each, int | float) and not isinstance(each, bool)
            )
        case str():
            return _folded(value) in _folded(finding.text)
        case _:
            return False


def _folded(text: str) -> str:
    return " ".join(text.split()).removesuffix(" 00:00:00").casefold()


# What was done


def _wrong_changes(answer: SeenAnswer, wanted: Sequence[RecordChange]) -> Iterator[str]:
    yield from (f"the database {name} was changed" for name in answer.databases_changed)
    for each in wanted:
        if not any(name == each.collection and each.contains in text for name, text in answer.changes):
            yield f"no record of {each.collection} has {each.contains!r}"
    for name, text in answer.changes:
        if not any(name == each.collection and each.contains in text for each in wanted):
            yield f"a record of {name} was changed"


def _over(effort: MeasuredEffort, limits: TaskLimits) -> list[str]:
    pairs = (
        ("steps", effort.steps, limits.steps),
        ("calls", effort.calls, limits.calls),
        ("tokens", effort.tokens, limits.tokens),
        ("seconds", effort.seconds, limits.seconds),
    )
    return [
        f"{spent:g} {name} of {limit:g}"
        for name, spent, limit in pairs
        if limit is not None and spent > limit
    ]
