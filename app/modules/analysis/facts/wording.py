"""Sentences of one language, made from a table of templates.

A template is plain text with slots:

- `{measure}` is the slot's value, formatted by its type for the language;
- `{month:in}` is a period with its preposition ("on 23 November 2026", "in October 2026"), the form one of
  `the`, `in`, `of`, `from`, `to` and `on`, of which names have `of`; `{months:dative}` is a count in another
  form of its noun, `month.dative`;
- `{leaders|has|share}` chooses a form by the slot's count in the language's plural rules (`one|other`); `#`
  in a form is the count itself;
- `[, {share} of the total]` is left out when a slot within it is None;
- `{measure:highest}` is the phrase `measure.highest` of the table or, for a measure that counts things, the
  phrase `things.highest`.

A headline is the template `NAME.headline` or, without one, the statement without its details; `NAME.short` is
a shorter one.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import NamedTuple, assert_never

from app.core.language import Language, language_of
from app.modules.analysis.facts.languages import TABLES
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.formats import Formats, Unit, rounded_per_cent, unit_of
from app.modules.analysis.words import word_set


class TitledName(str):
    """A label of a row that begins with its column's title, such as "grade 3"."""

    __slots__ = ()


class MeasureName(str):
    """The title of a measure. `things` is the plural of what it counts, such as "orders"; None if it counts
    nothing.
    """

    __slots__ = ("things",)
    things: str | None

    def __new__(cls, name: str, things: str | None) -> "MeasureName":
        made = super().__new__(cls, name)
        made.things = things
        return made


@dataclass(frozen=True)
class Names:
    """Labels of rows as Markdown, or periods: the first of them, and how many more there are."""

    shown: Sequence[str | Period]
    more: int = 0
    bold: bool = False

    @property
    def count(self) -> int:
        return len(self.shown) + self.more


@dataclass(frozen=True)
class Percent:
    """A ratio, shown as per cent; `signed` shows a plus, too."""

    ratio: Decimal
    signed: bool = False


@dataclass(frozen=True)
class Points:
    """A difference of two percentages, in percentage points."""

    value: Decimal


@dataclass(frozen=True)
class Amount:
    """A value of a measure. `measure` is the column's name, which tells per cent and currencies where `unit`,
    by all of the column's values (`unit_of`), is not given. `places` are its decimals, if its values have
    more than two.
    """

    value: Decimal
    measure: str = ""
    unit: Unit | None = None
    places: int | None = None


@dataclass(frozen=True)
class Counted:
    """A number of things: `noun` is a template of the table with the slot `count`, such as `month` or `row`,
    or else the plural of a word of the data.
    """

    count: int
    noun: str


@dataclass(frozen=True)
class PeriodSpan:
    """The periods from first to last, both included."""

    first: Period
    last: Period


Slot = str | int | Decimal | Names | Percent | Points | Amount | Counted | Period | PeriodSpan | date | None

_PIECE = re.compile(
    r"\{(?P<slot>\w+)(?::(?P<form>\w+))?(?:\|(?P<one>[^{}|]*)\|(?P<other>[^{}|]*))?\}"
    r"|(?P<bracket>[\[\]])|(?P<text>[^\[\]{}]+)"
)
_NAME_SLOTS = frozenset({"label"})
_DETAILS = word_set("""
    over share total points average named low_at high_at low first last other error covered
""")
"""Slots that a headline leaves out where they stand in brackets."""
_CONDITIONS = frozenset({"which"})
"""Slots that a headline leaves out, too, if it is too long."""
_MOST_HEADLINE_WORDS = 12
_END = re.compile(r"^(?:lowest|highest)(?= )")
_ENDS = {"lowest": "minimum", "highest": "maximum"}
"""Words of a measure that has an end of the scale itself: "the highest minimum price"."""


class _Piece(NamedTuple):
    """A part of a template: a slot, a bracket or plain text."""

    text: str = ""
    slot: str | None = None
    form: str = ""
    choice: tuple[str, str] | None = None


@dataclass(frozen=True)
class Wording:
    """The sentences of one language."""

    language: Language

    @property
    def formats(self) -> Formats:
        return Formats(self.language)

    def say(self, name: str, **slots: Slot) -> str:
        """Return the text of a template.

        A statement, which ends in a full stop, and a headline begin with a capital unless they begin with a
        name, with a slot of `Names` or one called `label`, that is neither a period nor a `TitledName`. Slots
        that stand in brackets only may be left out. Raises KeyError without such a template or slot, and
        ValueError if a slot outside brackets is None.
        """
        text = self._filled(name, slots)
        if text is None:
            raise ValueError(f"{name} lacks a slot: {TABLES[self.language][name]}")
        return text

    def headline(self, name: str, **slots: Slot) -> str:
        """Return a statement in at most twelve words, without its details, bold names and full stop.

        Of names that are too many, the first stands with the number of the others. What is still too long
        loses what says which periods are meant, then is worded shorter. Then its end is cut, which an
        ellipsis shows; it is empty if the end has numbers.
        """
        short = f"{name}.short"
        own = f"{name}.headline"
        name = own if own in TABLES[self.language] else name
        text = self._filled(name, slots, left_out=_DETAILS) or self.say(name, **slots)
        fewer = {slot: _first_name(value) for slot, value in slots.items()}
        tries = [(name, _DETAILS), (name, _DETAILS | _CONDITIONS), (short, _DETAILS | _CONDITIONS)]
        for template, left_out in tries:
            if not _is_long(text):
                break
            if template in TABLES[self.language]:
                text = self._filled(template, fewer, left_out=left_out) or text
        return _short(text)

    def _filled(self, name: str, slots: Mapping[str, Slot], *, left_out: Collection[str] = ()) -> str | None:
        """Fill a template; None if a slot outside brackets is None. Those `left_out` are so within them."""
        template = TABLES[self.language][name]
        text = ""
        first: _Piece | None = None
        outside: str | None = None  # the text before an open bracket
        is_missing = False
        for piece in _pieces(template):
            if piece.text == "[":
                outside = text
            elif piece.text == "]":
                text = outside or "" if is_missing else text
                outside = None
                is_missing = False
            elif piece.slot is None:
                first = first if text else piece
                text += piece.text
            elif outside is not None and piece.slot in left_out:
                is_missing = True
            elif (value := _value(slots, piece.slot, is_optional=outside is not None)) is not None:
                first = first if text else piece
                text = self.formats.elided(text, self._slot(value, piece))
            elif outside is None:
                return None
            else:
                is_missing = True
        if not (template.endswith(".") or name.endswith(("headline", ".short"))):
            return text
        is_name = _is_name(first, slots) and not self.formats.begins_with_period(text)
        return text if is_name else _capital(text)

    def _slot(self, value: Slot, piece: _Piece) -> str:
        if piece.choice is None:
            return self.format(value, piece.form)
        count = _count(value)
        chosen = piece.choice[0 if self.formats.is_one(count) else 1]
        return chosen.replace("#", self.formats.points(Decimal(count)))

    def format(self, value: Slot, form: str = "") -> str:
        """Format a value by its type."""
        match value:
            case None:
                raise ValueError("a slot without a value has no text")
            case MeasureName() if form:
                name = f"measure.{form}" if value.things is None else f"things.{form}"
                measure = _END.sub(lambda end: _ENDS[end[0]], value) if self.language == "en" else str(value)
                return self.say(name, measure=measure, things=value.things)
            case str():
                return self.formats.name(value, form)
            case int() | Decimal():
                return self.formats.amount(Decimal(value))
            case Names():
                names = [self._name(each, form, is_bold=value.bold) for each in value.shown]
                return self.formats.listed(names, value.more)
            case Percent():
                return self.formats.percent(value.ratio, signed=value.signed)
            case Points():
                rounded = rounded_per_cent(value.value)
                return self._counted(rounded, "point", form)
            case Amount():
                unit = value.unit or unit_of(value.measure, [value.value])
                return self.formats.amount(value.value, unit, value.places)
            case Counted():
                return self._counted(Decimal(value.count), value.noun, form)
            case Period():
                return self.formats.period(value, form)
            case PeriodSpan():
                return self.formats.span(value.first, value.last, form)
            case date():
                return self.formats.period(Period(value, "day"), form)
            case _:
                assert_never(value)

    def _name(self, name: str | Period, form: str, *, is_bold: bool) -> str:
        """Format a name; an article or preposition before it is not bold."""
        text = self.format(name, form)
        bare = self.format(name)
        return f"{text.removesuffix(bare)}**{bare}**" if is_bold else text

    def _counted(self, count: Decimal, noun: str, form: str) -> str:
        name = f"{noun}.{form}" if form else noun
        if name in TABLES[self.language]:
            return self.say(name, count=count)
        return f"{self.formats.amount(count)} {noun}"


def _is_long(text: str) -> bool:
    return len(text.split(" ")) > _MOST_HEADLINE_WORDS


def _short(text: str) -> str:
    """A text without bold names and full stop, cut after twelve words; empty if a number would be cut off."""
    words = text.replace("**", "").removesuffix(".").split(" ")
    if len(words) <= _MOST_HEADLINE_WORDS:
        return " ".join(words)
    if re.search(r"\d", " ".join(words[_MOST_HEADLINE_WORDS:])):
        return ""
    return " ".join(words[:_MOST_HEADLINE_WORDS]).rstrip(",;:(") + "…"


def wording_for(question: str) -> Wording:
    """The sentences of the question's language; English if its words do not decide."""
    return Wording(language_of(question))


@cache
def _pieces(template: str) -> Sequence[_Piece]:
    """Raises ValueError if the template does not follow the syntax."""
    pieces: list[_Piece] = []
    at = 0
    while at < len(template):
        found = _PIECE.match(template, at)
        if found is None:
            raise ValueError(f"no template from character {at} on: {template}")
        slot, form, one, other, bracket, text = found.groups()
        choice = None if one is None else (one, other)
        pieces.append(_Piece(text or bracket or "", slot=slot, form=form or "", choice=choice))
        at = found.end()
    return pieces


def _first_name(value: Slot) -> Slot:
    return Names(value.shown[:1], value.count - 1) if isinstance(value, Names) else value


def _value(slots: Mapping[str, Slot], name: str, *, is_optional: bool) -> Slot:
    return slots.get(name) if is_optional else slots[name]


def _is_name(piece: _Piece | None, slots: Mapping[str, Slot]) -> bool:
    if piece is None or piece.slot is None or piece.choice is not None:
        return False
    value = slots[piece.slot]
    if isinstance(value, Names):
        value = value.shown[0]
    elif piece.slot not in _NAME_SLOTS:
        return False
    return isinstance(value, str) and not isinstance(value, TitledName)


def _capital(text: str) -> str:
    """The text with a capital at its start, also within asterisks."""
    at = len(text) - len(text.lstrip("*"))
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def _count(value: Slot) -> int | Decimal:
    match value:
        case Names() | Counted():
            return value.count
        case Points() | Amount():
            return value.value
        case int() | Decimal():
            return value
        case _:
            raise ValueError(f"{value!r} has no count")
