"""Reads the form's words. What is not understood is named, and never guessed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from app.modules.analysis.chart.choice import MAX_LIMIT, MAX_WINDOW, ChartChoice, ChosenValue
from app.modules.analysis.chart.stored import read_choice
from app.modules.analysis.chart.words.phrases import (
    AGGREGATES,
    AVERAGE,
    COLOUR,
    FILLERS,
    HEX,
    LIMITS,
    NEGATION,
    PHRASES,
    RESET,
    SORTED,
    TITLE,
    UNIT,
    hue_of,
    number_of,
)
from app.modules.analysis.words import title
from graph.state import Column

_CLAUSES = re.compile(r"[;\n]|[,.!](?:\s|$)|\s(?:and|und|then|dann)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;.!?:\"“”„']+")
_ACROSS = r"(?:across|x(?:[\s-]axis)?\s*[:=]?|by|per|over|nach|je|pro|über|achse\s*[:=]?)\s+"
_SERIES = (
    r"(?:(?:split|colou?red|grouped|stacked|series|aufgeteilt|gefärbt|gruppiert|gestapelt|reihen?)"
    r"\s*[:=]?\s*(?:by|nach|je)?\s+|(?P<lines>(?:a|one|eine)\s+(?:line|linie)\s+(?:per|je|pro)\s+))"
)
_CALENDAR = ("day", "week", "month", "quarter", "year", "date", "tag", "woche", "monat", "quartal", "jahr")
_NUMERIC = ("integer", "number")
_VALUES = r"(?:(?:values?|y(?:[\s-]axis)?|werte?)\s*[:=]?\s+)"


@dataclass(frozen=True)
class ReadWords:
    """The choice that words make of another one, None for the proposed chart, and what is not understood."""

    choice: ChartChoice | None
    not_understood: Sequence[str] = ()


@dataclass
class _Reading:
    """A clause at a time: each phrase that is understood is taken out of the rest."""

    columns: Sequence[Column]
    shown: Sequence[ChosenValue]
    fields: dict[str, JsonValue] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def read(self, words: str) -> None:
        rest = self._titled(words)
        for clause in _CLAUSES.split(rest):
            before = dict(self.fields)
            left = self._columns(self._hues(self._numbers(clause)))
            for phrase in PHRASES:
                found = phrase.pattern.search(left)
                if found is not None:
                    self.fields |= phrase.fields
                    left = _cut_out(left, found)
            left = self._aggregates(left)
            if NEGATION.search(left) is not None:
                self.fields = before  # "not as a pie" is no pie
                self.unknown.append(_trimmed(clause))
            elif unknown := _unknown(left):
                self.unknown.append(unknown)

    def _titled(self, words: str) -> str:
        found = TITLE.search(words)
        if found is None:
            return words
        text = found["quoted"] if found["quoted"] is not None else found["plain"]
        self.fields["title"] = text.strip()[:200]
        return _cut_out(words, found)

    def _numbers(self, clause: str) -> str:
        if (found := UNIT.search(clause)) is not None:
            self.fields["unit"] = found["unit"]
            clause = _cut_out(clause, found)
        if (found := AVERAGE.search(clause)) is not None and not _is_taken_back(clause, found):
            window = None if found["window"] is None else int(found["window"])
            if window is None or 2 <= window <= MAX_WINDOW:
                self.fields["computed"] = {"kind": "moving_average", "window": window}
            else:
                self.unknown.append(_trimmed(found[0]))
            clause = _cut_out(clause, found)
        for limit in LIMITS:
            found = limit.search(clause)
            if found is not None and 1 <= number_of(found["number"]) <= MAX_LIMIT:
                self.fields |= {"limit": number_of(found["number"]), "sort": "value"}
                return _cut_out(clause, found)
        return clause

    def _hues(self, clause: str) -> str:
        if (found := HEX.search(clause)) is not None:
            self.fields["color"] = found[0].lower()
            return _cut_out(clause, found)
        if (found := COLOUR.search(clause)) is not None:
            self.fields["color"] = hue_of(found["name"])
            return _cut_out(clause, found)
        return clause

    def _columns(self, clause: str) -> str:
        """Columns by their names, longest first, with what they are wanted for."""
        named = sorted(((title(each["name"]), at) for at, each in enumerate(self.columns)), reverse=True)
        named.sort(key=lambda each: -len(each[0]))
        how = rf"(?P<how>{'|'.join(AGGREGATES)})\s+(?:of\s+|von\s+|der\s+|des\s+)?(?:the\s+)?"
        for name, at in named:
            pattern = re.escape(name).replace(r"\ ", r"[\s_]+")
            is_calendar = name in _CALENDAR
            if (found := _search(rf"{SORTED}{pattern}", clause)) is not None:
                self.fields["sort"] = "value" if self.columns[at]["type"] in _NUMERIC else "name"
            elif not is_calendar and (
                found := _search(rf"{_SERIES}(?:the\s+|der\s+|dem\s+)?{pattern}", clause)
            ):
                self.fields |= {"series": at, **({"mark": "line"} if found["lines"] else {})}
            elif (found := _search(rf"(?:{_VALUES})?{how}{pattern}", clause)) is not None:
                self.fields["values"] = [{"column": at, "how": AGGREGATES[found["how"].lower()]}]
            elif (found := _search(rf"{_VALUES}(?:the\s+)?{pattern}", clause)) is not None:
                self.fields["values"] = [{"column": at}]
            elif not is_calendar and (
                found := _search(rf"{_ACROSS}(?:the\s+|der\s+|dem\s+)?{pattern}", clause)
            ):
                self.fields["across"] = at
            elif self.columns[at]["type"] in _NUMERIC and (found := _search(pattern, clause)) is not None:
                self.fields["values"] = [{"column": at}]
            if found is not None:
                clause = _cut_out(clause, found)
        return clause

    def _aggregates(self, clause: str) -> str:
        """A way of putting the values together, without a column: for those that are shown."""
        found = _search(rf"(?P<how>{'|'.join(AGGREGATES)})", clause)
        if found is None or not self.shown:
            return clause
        how = AGGREGATES[found["how"].lower()]
        self.fields["values"] = [{"column": each.column, "how": how} for each in self.shown]
        return _cut_out(clause, found)


def read_words(
    words: str,
    columns: Sequence[Column],
    *,
    present: ChartChoice | None,
    shown: Mapping[str, JsonValue],
) -> ReadWords:
    """Read a change of a chart. `present` is the choice before; `shown` is the note of the chart as it is."""
    if RESET.fullmatch(words):
        return ReadWords(None)
    drawn = read_choice({"values": shown.get("values")}) or ChartChoice()
    reading = _Reading(columns, drawn.values or ())
    reading.read(words)
    return ReadWords(set_fields(present, reading.fields), reading.unknown)


def set_fields(present: ChartChoice | None, fields: dict[str, JsonValue]) -> ChartChoice | None:
    """A choice with other fields; None takes one back. A specification ends with any other field."""
    before = {} if present is None else present.model_dump(mode="json")
    if fields and "specification" not in fields:
        before.pop("specification", None)
    changed = {name: value for name, value in {**before, **fields}.items() if value is not None}
    try:
        choice = ChartChoice.model_validate(changed)
    except ValidationError:
        return present
    return choice if choice.is_given else None


def _search(pattern: str, clause: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", clause, re.IGNORECASE)


def _is_taken_back(clause: str, found: re.Match[str]) -> bool:
    before = clause[: found.start()]
    return re.search(r"(?:without|no|ohne|keinen?)\s+(?:the\s+|den\s+)?$", before, re.IGNORECASE) is not None


def _unknown(text: str) -> str:
    """What is left of a clause, without words that say nothing at its ends. Empty if there is no more."""
    words = _WORD.findall(text)
    while words and words[0].lower() in FILLERS:
        words.pop(0)
    while words and words[-1].lower() in FILLERS:
        words.pop()
    return " ".join(words)


def _trimmed(text: str) -> str:
    return " ".join(text.split()).strip(" ,.;:!?")


def _cut_out(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"
