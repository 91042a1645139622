"""Instructions and terms that the built-in writer, which reads none, did not follow where they apply."""

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.context_store.model import Instruction
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.business import Business, mentioned_terms, one_line
from app.modules.sql_generation.context import tables_read
from app.modules.sql_generation.linking.mentions import mentions
from app.modules.sql_generation.linking.words import telling_words, words_of
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.sentences import WarningPhrase

_MOST_NAMED = 3
_LEAVES_OUT = re.compile(
    r"\b(?:exclud\w*|except|without|ignor\w*|only|never|not|don't|doesn't|omit\w*|skip\w*|remov\w*|filter\w*"
    r"|leave out|left out|keep out|count\w* as|nicht|ohne|nur|außer|ausgenommen|ignorier\w*)\b"
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w|\.\d)")


def find_unheeded(business: Business, asked: str, sql: str, *, index: SchemaIndex) -> ResultWarning | None:
    """Returns a warning that names them; None if there are none.

    An instruction for a table applies to the statements that read it. It also has to be about what the
    question or the statement names, unless it says which rows do not count. A term with SQL is looked for in
    the statement itself (`find_ignored_terms`), so only the others are named here.
    """
    try:
        tree = statement_of(sql, index.names.dialect).tree
    except (SqlglotError, RecursionError):
        return None
    statement = _Statement(asked, tree, tables_read(sql, index), index=index)
    rules = [f"“{one_line(each.text)}”" for each in business.instructions if statement.breaks(each)]
    terms = [f"“{one_line(each.term)}”" for each in mentioned_terms(business.terms, [asked]) if not each.sql]
    if rules and terms:
        return ResultWarning("unheeded instructions and terms", (_few(rules), _few(terms)))
    if rules:
        return ResultWarning("unheeded instructions", (_few(rules),))
    return ResultWarning("unheeded terms", (_few(terms),)) if terms else None


class _Statement:
    """A statement of the built-in writer, and what its question names."""

    def __init__(self, asked: str, tree: exp.Expr, tables: Sequence[str], *, index: SchemaIndex) -> None:
        self._tables = tables
        self._index = index
        self._literals = {each.this.casefold() for each in tree.find_all(exp.Literal)}
        names = (each.name for each in tree.find_all(exp.Column, exp.Literal))
        self._tables_named = {word for each in tables for word in _words_of_name(each)}
        self._parts_named = {word for name in names for word in _words_of_name(name)} | {
            *telling_words(asked)
        }

    def breaks(self, instruction: Instruction) -> bool:
        """True if the instruction applies, and a value or number that it names is not in the statement."""
        return self._is_under(instruction) and not self._holds(list(self._values(instruction.text)))

    def _is_under(self, instruction: Instruction) -> bool:
        about = set(words_of(instruction.text))
        leaves_out = _LEAVES_OUT.search(instruction.text.casefold().replace("’", "'")) is not None
        if instruction.scope is not None:
            return instruction.scope in self._tables and (
                leaves_out or not about.isdisjoint(self._parts_named - self._tables_named)
            )
        if not about.isdisjoint(self._parts_named | self._tables_named):
            return True
        return leaves_out and any(True for _ in self._texts(instruction.text))

    def _holds(self, values: Sequence[str]) -> bool:
        return bool(values) and all(each.casefold() in self._literals for each in values)

    def _values(self, text: str) -> Iterator[str]:
        yield from self._texts(text)
        yield from _NUMBER.findall(text)

    def _texts(self, text: str) -> Iterator[str]:
        """Yields the stored texts of the statement's tables that a text names."""
        for found in mentions([text], self._index.stored, self._index.columns):
            if found.exact and (places := [each.text for each in found.places if each.table in self._tables]):
                yield places[0]


def _words_of_name(name: str) -> list[str]:
    return telling_words(name) or words_of(name)


def _few(texts: Sequence[str]) -> str | WarningPhrase:
    named = ", ".join(texts[:_MOST_NAMED])
    more = len(texts) - _MOST_NAMED
    return WarningPhrase("and more", (named, more)) if more > 0 else named
