"""Which columns of a result are made of columns that are named as secrets, whatever names they have there."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.redaction.names import names_secret
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.provenance.expressions import Reads
from app.modules.sql.provenance.model import (
    OutputColumn,
    QueryDescription,
    StatementDescription,
    TableColumnRef,
)
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.reading import Reader

_TELLS_NO_VALUE = (exp.Predicate, exp.Count, exp.CountIf, exp.ApproxDistinct, exp.Length, exp.BitLength)
"""Whatever they are made of, these tell whether, how many or how long, and no value."""
_LENGTHS = {"octet_length", "strlen"}
"""The same, of functions that sqlglot does not know."""
_GIVES_ROWS = (exp.Values, exp.UDTF, exp.Table, exp.Lateral)


@dataclass(frozen=True)
class SecretOutputs:
    """Which columns of a result are secret, as far as the statement tells."""

    outputs: Sequence[bool] | None
    """For each column, in order. None if they are not all known."""
    plain: Collection[str]
    """Names, in lower case, of columns that are no secrets."""

    def among(self, names: Sequence[str]) -> Sequence[bool]:
        """Returns for each column of the result whether it is secret. `names` are those of the database.

        Where the statement does not tell, all are but those with the name of a column that is no secret.
        """
        if self.outputs is not None and len(self.outputs) == len(names):
            return self.outputs
        return [name.casefold() not in self.plain for name in names]


def secret_outputs(
    tree: exp.Expr,
    names: DeclaredNames,
    *,
    secrets: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> SecretOutputs | None:
    """Reads a statement. `names` are those of the tables that it reads.

    `secrets` are columns, by the name of their table, that are secret though their names do not say so.
    Returns None if no column of the result is secret.
    """
    tree = tree.copy()
    hidden = {(table, column) for table, columns in secrets.items() for column in columns}
    plain = _plain_names(tree, names, hidden)
    for node in list(_without_values(tree)):
        node.replace(exp.Null())
    reader = Reader(names, names.dialect)
    described = _described(reader, tree)
    if described is None or tree.find(exp.Columns) or not described.queries[-1].has_all_columns:
        return SecretOutputs(None, plain)
    unclear = _unclear_queries(described.queries, plain, reader.computed)
    outputs = [
        any(_is_secret(source, hidden) for source in each.sources)
        or _is_unclear(each, unclear, plain, computed=reader.computed)
        for each in described.queries[-1].columns
    ]
    return SecretOutputs(outputs, plain) if any(outputs) else None


def _described(reader: Reader, tree: exp.Expr) -> StatementDescription | None:
    try:
        with sqlglot_errors_only():
            return reader.read(tree)
    except (SqlglotError, RecursionError):
        return None


def _is_secret(source: TableColumnRef, hidden: Collection[tuple[str, str]]) -> bool:
    return names_secret(source.column) or (source.table, source.column) in hidden


def _unclear_queries(
    queries: Sequence[QueryDescription], plain: Collection[str], computed: Mapping[str, Sequence[Reads]]
) -> set[str]:
    """Returns the ids of queries with a column of which it is not known what it is made of."""
    unclear: set[str] = set()
    for query in queries:  # each comes after those that it reads
        is_partial = not query.has_all_columns and bool(query.columns or query.others)
        reads_unclear = any(each in unclear for each in query.branches)
        parts: list[OutputColumn | Reads] = [*query.columns, *computed.get(query.id, ())]
        is_unclear = any(_is_unclear(each, unclear, plain, computed=computed) for each in parts)
        if is_partial or reads_unclear or is_unclear:
            unclear.add(query.id)
    return unclear


def _is_unclear(
    column: OutputColumn | Reads,
    unclear: Collection[str],
    plain: Collection[str],
    *,
    computed: Mapping[str, Sequence[Reads]],
) -> bool:
    """`computed`: what functions and VALUES after FROM make their columns of, by alias."""
    if any(each in unclear for each in column.queries):
        return True
    for each in column.inputs:
        if each.table is not None or (each.query is not None and each.query not in unclear):
            continue
        if each.query is None and each.source in computed:
            # A function's own arguments may be columns of functions, never of one of the same alias.
            others = {alias: reads for alias, reads in computed.items() if alias != each.source}
            if any(_is_unclear(reads, unclear, plain, computed=others) for reads in computed[each.source]):
                return True
        elif each.column.casefold() not in plain:
            return True
    return False


def _without_values(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the outermost expressions that tell no value of what is inside of them."""
    return filter(_tells_no_value, tree.walk(prune=_tells_no_value))


def _tells_no_value(node: exp.Expr) -> bool:
    is_length = isinstance(node, exp.Anonymous) and node.name.lower() in _LENGTHS
    return is_length or isinstance(node, _TELLS_NO_VALUE)


def _plain_names(tree: exp.Expr, declared: DeclaredNames, hidden: Collection[tuple[str, str]]) -> set[str]:
    """Returns names, in lower case, that are no secrets: of columns of tables, and of sources of constants.

    A name that the statement gives to anything else is none.
    """
    plain = {column.casefold() for column in declared.all_columns if not names_secret(column)}
    plain -= {column.casefold() for _, column in hidden}
    # Names that the statement gives, and the columns that they are made of.
    made: list[tuple[set[str], set[str]]] = []
    for node in tree.find_all(*_GIVES_ROWS):
        is_table = isinstance(node, exp.Table) and not isinstance(node.this, exp.Func)
        if not is_table and node.find(exp.Query) is None:
            names = {each.casefold() for each in (node.alias, *node.alias_column_names) if each}
            made.append((names, _columns_in(node)))
            plain |= names
    given: set[str] = set()
    for alias in tree.find_all(exp.Alias):
        if alias.find(exp.Query, exp.Columns):
            given.add(alias.alias.casefold())
        else:
            made.append(({alias.alias.casefold()}, _columns_in(alias)))
    is_complete = False
    while not is_complete:  # what is made of secrets may be taken apart or named again
        before = len(given)
        for names, sources in made:
            if sources - plain or sources & given:
                given |= names
        is_complete = len(given) == before
    return plain - given


def _columns_in(node: exp.Expr) -> set[str]:
    return {each.name.casefold() for each in node.find_all(exp.Column)}
