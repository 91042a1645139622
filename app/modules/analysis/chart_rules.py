"""Rules that say how charts of some results are drawn, in the form's words."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from app.core.language import Language, language_of
from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.chart.specification import mapping, note_of
from app.modules.analysis.chart.words import read_words, set_fields
from app.modules.analysis.figures import Figures
from graph.state import Column, Rows

_SAID: dict[Language, str] = {
    "en": "Drawn as your rule {name} asks.",
    "de": "Gezeichnet, wie Ihre Regel {name} es verlangt.",
    "es": "Dibujado como pide su regla {name}.",
    "fr": "Dessiné comme le demande votre règle {name}.",
}


@dataclass(frozen=True)
class ChartRule:
    """The name of a rule, and its words about charts."""

    name: str
    words: str


class ChartRules(Protocol):
    """The rules of a turn."""

    async def find(self, sql: str, columns: Sequence[Column]) -> ChartRule | None:
        """The first rule in order of priority that is about charts of such a result.

        Returns None if there is none.
        """


def proposed_chart(question: str, rows: Rows, found: Figures, *, rule: ChartRule | None) -> Spec | None:
    """The proposed picture, as a rule asks if there is one that the rows allow and KAI understands."""
    spec = choose_chart(question, rows, found)
    choice = None if rule is None else choice_of(rule, rows["columns"])
    if spec is None or rule is None or choice is None:
        return spec
    with suppress(NotDrawable):
        ruled = choose_chart(question, rows, found, choice=choice)
        if ruled is not None:
            return _add_note(ruled, rule, _SAID[language_of(question)].format(name=rule.name))
    return spec


def choice_of(rule: ChartRule, columns: Sequence[Column]) -> ChartChoice | None:
    """The choice that a rule makes among columns. None if a part of it is not understood."""
    read = read_words(rule.words, columns, present=None, shown={})
    return None if read.not_understood else read.choice


def apply_rule(choice: ChartChoice, rule: ChartRule | None, columns: Sequence[Column]) -> ChartChoice:
    """A reader's choice over what a rule asks for."""
    asked = None if rule is None else choice_of(rule, columns)
    return choice if asked is None else set_fields(asked, choice.model_dump(mode="json")) or choice


def rule_of(spec: Spec | None) -> ChartRule | None:
    """The rule that a proposed picture follows."""
    note = mapping(note_of(spec or {}).get("rule"))
    name, words = note.get("name"), note.get("words")
    return ChartRule(name, words) if isinstance(name, str) and isinstance(words, str) else None


def _add_note(spec: Spec, rule: ChartRule, said: str) -> Spec:
    note = dict(note_of(spec))
    note["how"] = _lines(note.get("how"), said)
    note["rule"] = {"name": rule.name, "words": rule.words}
    heading = spec.get("title")
    if isinstance(heading, dict):
        heading = {**heading, "subtitle": _lines(heading.get("subtitle"), said)}
    return {**spec, "title": heading, "usermeta": {**mapping(spec.get("usermeta")), "kai": note}}


def _lines(known: JsonValue, said: str) -> JsonValue:
    lines = known if isinstance(known, list) else [known] if known else []
    return [*lines, said]
