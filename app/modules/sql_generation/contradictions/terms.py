"""Terms of the glossary whose SQL a statement does not use, although the question names them."""

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.context_store.model import Term
from app.modules.sql.parsing import parsed_one
from app.modules.sql_generation.business import mentioned_terms
from app.modules.sql_generation.checking.findings import quoted
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.sentences import WarningPhrase

_NEUTRAL = {"0", "1", "100", "1.0", "100.0"}
"""Numbers that a formula may have or not: flags, and factors of a percentage."""


def find_ignored_terms(
    question: str, tree: exp.Expr, terms: Sequence[Term], *, names: SchemaNames
) -> Iterator[WarningPhrase]:
    """Yields a sentence for each term of the question of whose SQL a column or a value is missing.

    Terms without SQL, or with a column that the schema lacks, are left out, and so are statements that read
    a view: it may hold the definition.
    """
    read = [names.table_of(each) for each in tree.find_all(exp.Table)]
    if any(table is not None and table.kind == "view" for table in read):
        return
    used = _parts(tree)
    for term in mentioned_terms(terms, [question]):
        if term.sql and (needed := _needed(term.sql, names)) and not needed <= used:
            definition = " ".join(term.sql.split())
            yield WarningPhrase("ignored term", (term.term, quoted(definition)))


def _needed(sql: str, names: SchemaNames) -> set[str] | None:
    """Returns the columns and values of a term's SQL. None if the schema lacks one of its columns."""
    is_query = sql.lstrip().lower().startswith(("select", "with"))
    try:
        tree = parsed_one(sql if is_query else f"SELECT {sql}", names.dialect)
    except (SqlglotError, RecursionError):
        return None
    columns = {each.name for each in tree.find_all(exp.Column) if not isinstance(each.this, exp.Star)}
    if not columns or not all(names.places_of(each) for each in columns):
        return None
    return _parts(tree)


def _parts(tree: exp.Expr) -> set[str]:
    columns = {f"column {each.name.casefold()}" for each in tree.find_all(exp.Column)}
    values = {
        f"value {each.this.casefold()}" for each in tree.find_all(exp.Literal) if each.this not in _NEUTRAL
    }
    return columns | values
