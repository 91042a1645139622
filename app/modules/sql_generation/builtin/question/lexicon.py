"""Lookup of the tables, columns and stored values that the words of a question may mean."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.builtin.plan import Definition, PlanColumn
from app.modules.sql_generation.builtin.question.units import unit_of_column
from app.modules.sql_generation.builtin.question.words import (
    GROUPING,
    ORDERING,
    SELLING,
    WORDS,
    Token,
    synonyms,
    word_set,
    words_of,
)
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from app.modules.sql_generation.linking.words import COMMON, text_key

Phrase = tuple[str, ...]
EXACT_TABLE = 4
EXACT = 3
CLOSE = 2
PARTIAL = 1
_NUMERIC = ("integer", "number")
_LONGEST_TEXT = 8
"""Words of a stored text that a question may name."""
_MARKERS = ("is", "has", "was", "are", "can", "flag", "yn")
_TRUE_AND_FALSE = ({"y", "n"}, {"yes", "no"}, {"true", "false"}, {"t", "f"})


@dataclass(frozen=True, kw_only=True)
class LexiconEntry:
    """One meaning of a phrase: a table, a column of it, or a value stored in that column. Higher scores are
    closer matches.

    `verb`: a participle ("ordered") names what happened. `flag`: the column says yes or no.
    `surname` is the second half of a full name whose first half is `value`. `definition` is what the glossary
    says of the phrase; `field` is then the first of its columns.
    """

    table: str
    score: int
    field: PlanColumn | None = None
    value: str | None = None
    key: bool = False
    verb: bool = False
    flag: bool = False
    surname: tuple[PlanColumn, str] | None = None
    definition: Definition | None = None

    @property
    def is_table(self) -> bool:
        return self.field is None

    @property
    def is_column(self) -> bool:
        return self.field is not None and self.value is None

    @property
    def is_number(self) -> bool:
        return self.field is not None and self.field.type in _NUMERIC and self._is_plain_column

    @property
    def _is_plain_column(self) -> bool:
        return self.is_column and not self.key and not self.flag

    @property
    def is_date(self) -> bool:
        """A date, or a year kept as text or number."""
        if self.field is None or self.value is not None:
            return False
        return self.field.type in ("date", "datetime") or words_of(self.field.column)[-1:] == ("year",)


_REPORTING = word_set(WORDS["reporting"])
_PREPOSITIONS = word_set(WORDS["prepositions"])
ANY_TABLE = frozenset(["data", "info", "table", "tbl", "tab", "list", "master", "dim", "fact", "record"])
_DOERS = {"written": ("writer", "author"), "sung": ("singer",), "taught": ("teacher",)}
_PARTICLES = ("up", "out", "off")
_IRREGULAR = {"birth": "born", "sale": "sold", "payment": "paid"}
_DONE = {"rental": "rented", "booking": "booked", "reservation": "reserved"}
_NUMBERED = ("phone", "telephone", "mobile", "fax")
_FIRST_NAMES = (("first", "name"), ("given", "name"), ("forename",))
_LAST_NAMES = (("last", "name"), ("family", "name"), ("surname",))
_Meanings = dict[tuple[str, str | None], LexiconEntry]


class Lexicon:
    """Index of all phrases that name something in the schema."""

    def __init__(self, schema: Schema, stored: StoredTexts, definitions: Iterable[Definition] = ()) -> None:
        self._stored = stored
        self._definitions = {words_of(each.term): each for each in definitions}
        self._fields = {
            (table.name, column.name): PlanColumn(table.name, column.name, column.type)
            for table in schema.tables
            for column in table.columns
        }
        self._names: defaultdict[Phrase, _Meanings] = defaultdict(dict)
        self._synonyms: defaultdict[Phrase, _Meanings] = defaultdict(dict)
        self._values: defaultdict[Phrase, list[LexiconEntry]] = defaultdict(list)
        self._tables = {words_of(table.name) for table in schema.tables}
        self._spellings: dict[str, str] = {}
        """Values of one word as they are written, by their normal form."""
        for table in schema.tables:
            self._add_table(table)
            for column in table.columns:
                self._add_column(table, column)
        for table in schema.tables:
            self._add_short_name(table)
        self.reporting = any(reporting_keys(table) for table in schema.tables)
        self._joined = _joined(self._names)
        phrases = (*self._names, *self._synonyms, *self._values, *self._definitions)
        self._longest = max((_LONGEST_TEXT, *map(len, phrases)))

    def find(self, tokens: Sequence[Token]) -> tuple[int, tuple[LexiconEntry, ...]]:
        """Returns the length in tokens (0 if none) and meanings of the longest phrase at the start."""
        if tokens and tokens[0].kind == "quoted":
            return 1, self._quoted(tokens[0].text)
        for length in range(min(self._longest, len(tokens)), 0, -1):
            if links := self._links(tokens[:length]) or self._texts(tokens[:length]):
                return length, links
        return 0, ()

    def spellings(self, word: str) -> dict[str, str]:
        """Returns the words of names and values, as they are written, by their normal form.

        Of texts that are not in the schema, only those that are like `word`.
        """
        names = (*self._names.items(), *self._synonyms.items())
        phrases = [phrase for phrase, links in names if not all(link.verb for link in links.values())]
        known = {each: each for phrase in phrases for each in phrase}
        like = {text_key(place.text): place.text for place in self._stored.like(text_key(word), limit=4)}
        return known | self._spellings | like

    def alike(self, noun: str) -> tuple[LexiconEntry, ...]:
        """Returns the values, flags and columns that a noun stands for: cancelled for "cancellation"."""
        stem = _stem(noun)
        values = [
            link
            for (word, *more), links in self._values.items()
            if not more and _stem(word) == stem
            for link in links
        ]
        columns = [
            link
            for (word, *_), meanings in self._names.items()
            if _stem(word) == stem
            for link in meanings.values()
            if link.field and link.is_column and not link.key
            if link.flag or words_of(link.field.column)[0] == word
        ]
        return (*values, *columns)

    def definition(self, tokens: Sequence[Token]) -> tuple[int, Definition] | None:
        """Returns the longest term of the glossary at the start, with its length in tokens; None without one.

        A longer name of the schema comes first.
        """
        for length in range(min(self._longest, len(tokens)), 0, -1):
            phrase = tuple(token.word for token in tokens[:length])
            if (found := self._definitions.get(phrase)) is not None:
                return length, found
            if self._links(tokens[:length]):
                return None
        return None

    def _links(self, tokens: Sequence[Token]) -> tuple[LexiconEntry, ...]:
        phrase = tuple(token.word for token in tokens)
        if any(token.kind in ("sign", "quoted") for token in tokens):
            return ()
        known = self._names.get(phrase) or self._synonyms.get(phrase) or self._joined.get("".join(phrase))
        names = tuple(known.values()) if known else ()
        if len(tokens) == 1 and len(tokens[0].raw) < 3 and not tokens[0].capital:
            return names
        return names + tuple(self._values.get(phrase, ()))

    def _quoted(self, text: str) -> tuple[LexiconEntry, ...]:
        return tuple(self._values.get(words_of(text), ())) or self._places(text_key(text))

    def _texts(self, tokens: Sequence[Token]) -> tuple[LexiconEntry, ...]:
        """Returns where this text is stored, or its two words as a first and a last name.

        Several lower-case words are a text only if none of them has a meaning by itself.
        """
        if any(token.kind in ("sign", "quoted") for token in tokens):
            return ()
        if len(tokens) == 1:
            return self._text(tokens[0])
        if not any(token.capital and token.raw not in COMMON for token in tokens) and any(
            token.raw in COMMON or self._links([token]) for token in tokens
        ):
            return ()
        whole = self._places(text_key(" ".join(token.text for token in tokens)))
        return whole or (self._full_name(*tokens) if len(tokens) == 2 else ())

    def _text(self, token: Token) -> tuple[LexiconEntry, ...]:
        if token.raw in COMMON or token.kind == "number":
            return ()
        found = self._places(text_key(token.text))
        if len(token.text) < 3:
            return tuple(link for link in found if link.value == token.text)
        return found

    def _full_name(self, first: Token, last: Token) -> tuple[LexiconEntry, ...]:
        return tuple(
            replace(one, surname=(two.field, two.value))
            for one in self._text(first)
            for two in self._text(last)
            if one.table == two.table and one.field and two.field and two.value is not None
            if words_of(one.field.column) in _FIRST_NAMES and words_of(two.field.column) in _LAST_NAMES
        )

    def _places(self, key: str) -> tuple[LexiconEntry, ...]:
        return tuple(
            LexiconEntry(
                table=each.table, score=EXACT, field=self._fields[each.table, each.column], value=each.text
            )
            for each in self._stored.of_key(key)
            if (each.table, each.column) in self._fields
        )

    def _add_table(self, table: Table) -> None:
        phrase = words_of(table.name)
        if GROUPING.intersection(phrase[:-1]):
            return  # "orders per country" is no table's name in a question
        self._add(phrase, LexiconEntry(table=table.name, score=EXACT_TABLE))
        if ORDERING.intersection(phrase) and len(phrase) == 1:
            for word in SELLING:
                self._add((word,), LexiconEntry(table=table.name, score=CLOSE, verb=True))
        if len(phrase) == 1:
            done = _DONE.get(phrase[0]) or _participle(phrase[0])
            self._add((done,), LexiconEntry(table=table.name, score=CLOSE, verb=True))

    def _add_short_name(self, table: Table) -> None:
        """Adds a table's name without a word for any table, unless something else has that name:
        `cars_data` gives car. Tables of one name in several schemas have it all.
        """
        phrase = words_of(table.name)
        *schema, name = table.short_name.parts
        if schema:
            self._add(words_of(name), LexiconEntry(table=table.name, score=EXACT_TABLE))
        for short in (
            phrase[:-1] if phrase[-1] in ANY_TABLE else (),
            phrase[1:] if phrase[0] in ANY_TABLE else (),
        ):
            if short and short not in self._names:
                self._add(short, LexiconEntry(table=table.name, score=CLOSE))

    def _add_column(self, table: Table, column: TableColumn) -> None:
        phrase = words_of(column.name)
        if table.kind == "view" and phrase in self._tables:
            return  # a view that counts rows of a table
        field = PlanColumn(table.name, column.name, column.type)
        foreign = table.foreign_key_columns
        score = PARTIAL if column.name in foreign and not _is_copy(table, column) else EXACT
        key = _is_key(column, foreign)
        flag = not key and is_flag(column)
        self._add(phrase, LexiconEntry(table=table.name, score=score, field=field, key=key, flag=flag))
        if column.primary_key and column.name not in foreign:
            self._add(("id",), LexiconEntry(table=table.name, score=EXACT, field=field, key=True))
        elif flag:
            said = tuple(word for word in phrase if word not in _MARKERS)
            self._add(said, LexiconEntry(table=table.name, score=EXACT, field=field, flag=True))
        elif column.name not in foreign:
            self._add_shorter(words_of(table.name), phrase, field)
        for value in column.values:
            self._add_value(table, field, value)

    def _add_shorter(self, table: Phrase, phrase: Phrase, field: PlanColumn) -> None:
        """Adds parts of a column's name, and the name qualified with that of its table."""
        own = phrase[len(table) :] if phrase[: len(table)] == table else phrase
        self._add(own, LexiconEntry(table=field.table, score=EXACT, field=field))
        if own[-1:] != ("by",):  # in "cartoons written by", the cartoons are counted
            self._add((*table, *own), LexiconEntry(table=field.table, score=EXACT_TABLE, field=field))
        if own[-1:] == ("name",):
            self._add(own[:-1], LexiconEntry(table=field.table, score=CLOSE, field=field))
        if unit_of_column(field.column) is not None:
            self._add(own[:-1], LexiconEntry(table=field.table, score=CLOSE, field=field))
        if own[:1] in (("number",), ("count",)):
            self._add(("number", "of", *own[1:]), LexiconEntry(table=field.table, score=EXACT, field=field))
        if own[-1:] and own[-1] in _NUMBERED:
            self._add((*own, "number"), LexiconEntry(table=field.table, score=EXACT, field=field))
        if len(own) == 2 and own[1] == "by":
            for doer in _doers(own[0]):
                self._add((doer,), LexiconEntry(table=field.table, score=CLOSE, field=field))
        if own[-1:] == ("email",):
            self._add((*own, "address"), LexiconEntry(table=field.table, score=EXACT, field=field))
        if own[-1:] in (("number",), ("num",), ("count",)) and own[:-1] not in self._tables:
            self._add(("number", "of", *own[:-1]), LexiconEntry(table=field.table, score=EXACT, field=field))
        if "of" in own:
            at = own.index("of")
            self._add((*own[at + 1 :], *own[:at]), LexiconEntry(table=field.table, score=EXACT, field=field))
        if LexiconEntry(table=field.table, score=CLOSE, field=field).is_date:
            for verb in {*own, *_phrasal(own)} - {"date", "year", "of", "on", "at", "time"}:
                for said in _happened(verb):
                    self._add(said, LexiconEntry(table=field.table, score=CLOSE, field=field, verb=True))
        for start in range(1, len(own)):
            self._add(own[start:], LexiconEntry(table=field.table, score=PARTIAL, field=field))
        for end in range(2, len(own)):
            self._add(own[:end], LexiconEntry(table=field.table, score=PARTIAL, field=field))

    def _add(self, phrase: Phrase, link: LexiconEntry) -> None:
        if not phrase or phrase[0] == "of" or (len(phrase) == 1 and phrase[0] in _PREPOSITIONS):
            return
        _insert(self._names[phrase], link)
        for words in product(*((word, *sorted(synonyms(word))) for word in phrase)):
            if words != phrase:
                _insert(self._synonyms[words], replace(link, score=min(link.score, CLOSE)))

    def _add_value(self, table: Table, field: PlanColumn, value: str) -> None:
        phrase = words_of(value)
        if phrase and not value.strip().isdigit() and len(phrase) <= 8:
            self._values[phrase].append(LexiconEntry(table=table.name, score=EXACT, field=field, value=value))
            if len(phrase) == 1:
                self._spellings.setdefault(phrase[0], value)


def reporting_keys(table: Table) -> list[ForeignKey]:
    """Returns the foreign keys of a table that say who reports to whom."""
    return [
        key
        for key in table.foreign_keys
        if key.referred_table == table.name
        and len(key.columns) == 1
        and not _REPORTING.isdisjoint(words_of(key.columns[0]))
    ]


def is_flag(column: TableColumn) -> bool:
    """True if a column holds yes or no: a boolean, 0 and 1, or two words for them."""
    if column.type == "boolean":
        return True
    if column.type in _NUMERIC:
        words = words_of(column.name)
        marked = words[0] in _MARKERS or words[-1] == "active" or words[-1].endswith(("ed", "able"))
        return marked and (column.minimum, column.maximum) == ("0", "1")
    return {value.casefold() for value in column.values} in _TRUE_AND_FALSE


def _joined(names: Mapping[Phrase, _Meanings]) -> dict[str, _Meanings]:
    """Returns names without spaces, so that "zip code" matches `zipcode`."""
    return {"".join(phrase): meanings for phrase, meanings in names.items()}


def _is_key(column: TableColumn, foreign: Collection[str]) -> bool:
    return column.primary_key or column.name in foreign or words_of(column.name)[-1:] == ("id",)


def _is_copy(table: Table, column: TableColumn) -> bool:
    """True if a foreign key of text has the name of the column it refers to, so that it says the same."""
    return column.type == "text" and any(
        list(key.columns) == [column.name] and words_of(key.referred_columns[0]) == words_of(column.name)
        for key in table.foreign_keys
    )


def _stem(word: str) -> str:
    """Returns a participle or its noun without ending: cancel of cancelled, canceled and cancellation."""
    for ending in ("ation", "ion", "ment", "ing", "ed", "al", "y", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if word[-1:] == word[-2:-1] else word


def _insert(meanings: _Meanings, link: LexiconEntry) -> None:
    """Keeps the best score for each meaning."""
    name = (link.table, link.field.column if link.field else None)
    known = meanings.get(name)
    if known is None or known.score < link.score:
        meanings[name] = link


def _phrasal(words: Phrase) -> list[str]:
    """Returns verbs with their particle: sign_up_date gives "signup"."""
    return [one + two for one, two in pairwise(words) if two in _PARTICLES]


def _happened(verb: str) -> list[Phrase]:
    """Returns the phrases for the event of a date: hired; signed up, sign up; born."""
    said: list[Phrase] = [(_IRREGULAR.get(verb) or _participle(verb),)]
    for particle in _PARTICLES:
        stem = verb.removesuffix(particle)
        if stem != verb and len(stem) > 2:
            said += [(_participle(stem), particle), (stem, particle)]
    return said


def _doers(participle: str) -> Sequence[str]:
    """Returns the nouns for the person of a column such as directed_by: director, directer."""
    stem = participle.removesuffix("ed")
    return _DOERS.get(participle) or ((f"{stem}or", f"{stem}er") if stem != participle else ())


def _participle(verb: str) -> str:
    """Returns the past participle: hire gives hired, order gives ordered, ship gives shipped."""
    if verb.endswith("ed"):
        return verb
    doubled = verb + verb[-1] if len(verb) <= 4 and verb[-1] in "pt" else verb
    return f"{doubled.removesuffix('e')}ed"
