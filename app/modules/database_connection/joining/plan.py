"""A statement over tables of several databases: what is fetched from each, and what runs over it.

The statement is written in DuckDB's SQL, and names a table by its database: `shop.orders`, or
`shop.sales.orders` with its schema. The tables of the first database need no name before them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from app.modules.database_connection.guard.check import checked
from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.secrets import find_secret_outputs
from app.modules.database_connection.joining.labels import labels_of
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql.parsing import parsed, tokenized
from app.modules.sql.provenance.secret_outputs import SecretOutputs
from app.modules.sql.table_names import TableName
from graph.errors import StatementRefused

DIALECT = "duckdb"
MOST_PARTS = 8
"""Most tables of a statement over several databases."""

_COMPARED_IN_ORDER = frozenset({"integer", "number", "date"})
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SINGLE = re.compile(r"\b(?:real|float|float32)\b", re.IGNORECASE)
_WITHOUT_SINGLE = ("snowflake", "sqlite")
"""Databases whose floats have 64 bits whatever they are called."""
_OF_THE_NAME = frozenset({"this", "db", "catalog", "alias"})
_QUALIFIERS = (("this", "table"), ("db", "db"), ("catalog", "catalog"))
_TURNED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}


@dataclass(frozen=True)
class NamedSchema:
    """The schema of a database that a person knows, and the name of the database in statements."""

    label: str
    schema: Schema


@dataclass(frozen=True, kw_only=True)
class Part:
    """The part of a table that a statement needs. `sql` reads it, in the SQL of its database."""

    database: int
    """Position of the database."""
    table: str
    """Name of the table in the statement that runs over the parts."""
    columns: Sequence[TableColumn]
    sql: str


@dataclass(frozen=True)
class TextKeys:
    """Columns of text of two parts that a statement holds against each other."""

    left: tuple[str, str]
    """Table and column."""
    right: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class JoinPlan:
    """A statement over parts of several databases. `sql` is checked, against the schema of the parts."""

    sql: str
    schema: Schema
    parts: Sequence[Part]
    keys: Sequence[TextKeys]
    secret: SecretOutputs | None


@dataclass(frozen=True)
class MovedStatement:
    """A statement that names one database alone, in the SQL of that database."""

    database: int
    sql: str


def labelled_tables(sql: str, labels: Sequence[str]) -> Sequence[exp.Table]:
    """Returns the sources of a statement that have the name of one of these databases before theirs.

    Raises `StatementRefused` for a statement that cannot be parsed.
    """
    written = sql.casefold().replace('""', '"')
    if not any(label.casefold() in written for label in labels):
        return []
    tables = _read(sql).find_all(exp.Table)
    return [each for each in tables if position_of(each, labels) is not None]


def position_of(table: exp.Table, labels: Sequence[str]) -> int | None:
    """Returns the position of the database that a source may be named by, None if it is named by none."""
    label = (table.catalog or table.db).casefold()
    folded = [each.casefold() for each in labels]
    return folded.index(label) if label in folded else None


def meanings_of(table: exp.Table, schema: Schema) -> Sequence[str]:
    """Returns the tables of a database that a source named by it may mean."""
    rest = [part.name for part in table.parts[1:]]
    return schema.names.read(rest[0] if len(rest) == 1 else TableName("", *rest).text)


def plan_join(
    sql: str, databases: Sequence[NamedSchema], max_characters: int = STATEMENT_CHARACTERS
) -> JoinPlan | MovedStatement | None:
    """Returns None for a statement that names no database: it is the first one's own.

    Raises `StatementRefused` for a statement that the guard refuses, and for tables that no database has.
    """
    tree = _read(sql)
    found = _tables(tree, databases)
    _check_qualifiers(tree, found, databases)
    read = {each.database for each in found}
    if not any(each.is_labelled for each in found):
        return None
    if len(read) == 1:
        return _moved(tree, found, databases[read.pop()].schema)
    return _planned(tree, found, databases, max_characters=max_characters)


@dataclass(frozen=True)
class _Source:
    """A source of a statement, with the database and the table that it means."""

    node: exp.Table
    database: int
    table: Table
    is_labelled: bool


def _read(sql: str) -> exp.Expr:
    """Returns the tree of the only statement in a text. Raises `StatementRefused`."""
    try:
        trees = [each for each in parsed(tokenized(sql, DIALECT), sql, DIALECT) if each is not None]
    except SqlglotError:
        raise StatementRefused(
            "A statement over several databases is one SELECT in DuckDB's SQL; this one cannot be parsed.",
            "syntax",
        ) from None
    if len(trees) != 1:
        raise StatementRefused(f"Send exactly one statement; these are {len(trees)}.", "one-statement")
    return trees[0]


def _tables(tree: exp.Expr, databases: Sequence[NamedSchema]) -> list[_Source]:
    """Raises `StatementRefused` for a table that is not known, or has several meanings."""
    common = CommonTables(DIALECT)
    nodes = [
        node
        for node in tree.find_all(exp.Table)
        if isinstance(node.this, exp.Identifier) and (node.db or not common.are_named_by(node))
    ]
    return [_source(node, databases) for node in nodes]


def _source(node: exp.Table, databases: Sequence[NamedSchema]) -> _Source:
    first = databases[0]
    own = first.schema.names.find(node)
    at = position_of(node, [each.label for each in databases])
    meant = [] if at is None else meanings_of(node, databases[at].schema)
    if own is not None and not (at and meant):
        return _Source(node, 0, first.schema.by_name[own], is_labelled=False)
    name = ".".join(part.name for part in node.parts)
    if at is None:
        if len(same := first.schema.names.read(name)) == 1:
            return _Source(node, 0, first.schema.by_name[same[0]], is_labelled=False)
        named = ", ".join(each.label for each in databases)
        raise StatementRefused(
            f"There is no table {name}. Name a table of another database by that database, as in "
            f"other.orders. The databases are: {named}.",
            "table",
        )
    label, schema = databases[at].label, databases[at].schema
    if own is not None:
        full = schema.names.full(meant[0])
        example = TableName(label, full.schema, full.name).sql(DIALECT)
        raise StatementRefused(
            f"{name} may be a table of {first.label} or of the database {label}. Name its database and its "
            f"schema, as in {example}.",
            "table",
        )
    if len(meant) == 1:
        return _Source(node, at, schema.by_name[meant[0]], is_labelled=True)
    why = f"may be {' or '.join(meant)}: name its schema" if meant else "is not in that database"
    raise StatementRefused(f"The table {'.'.join(p.name for p in node.parts[1:])} of {label} {why}.", "table")


def _check_qualifiers(tree: exp.Expr, found: Sequence[_Source], databases: Sequence[NamedSchema]) -> None:
    """Columns are read by the name of their table alone. Refuse those that name more where that has other
    meanings: `shop.orders.id` beside a source `crm.orders`.
    """
    meant = {id(each.node): (each.database, each.table.name) for each in found}
    sources: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
    for node in tree.find_all(exp.Table, exp.Subquery):
        name = node.alias_or_name.casefold()
        sources[name].add(meant.get(id(node), (-1, name)))
    for column in tree.find_all(exp.Column):
        read = sources.get(column.table.casefold())
        is_field = not column.catalog and column.db.casefold() in sources
        if not column.db or is_field or not read:
            continue
        parts = {key: column.args.get(at) for key, at in _QUALIFIERS}
        table = exp.Table(**{key: part.copy() for key, part in parts.items() if part is not None})
        of = _source(table, databases)
        if read != {(of.database, of.table.name)}:
            name = ".".join(part.name for part in table.parts)
            raise StatementRefused(
                f"Give the table {name}, and those of the same name, an alias each (AS), and name columns by "
                "it.",
                "table",
            )


def _moved(tree: exp.Expr, found: Sequence[_Source], schema: Schema) -> MovedStatement:
    _strip_columns(tree)
    common = {each.alias.casefold() for each in tree.find_all(exp.CTE)}
    for each in found:
        is_hidden = each.table.short_name.text.casefold() in common
        _rename(each.node, schema.names.full(each.table.name) if is_hidden else each.table.short_name)
    return MovedStatement(found[0].database, tree.sql(schema.dialect))


def _rename(node: exp.Table, name: TableName) -> None:
    """Give a source its name, and keep the one that columns are read by."""
    before = node.this
    node.set("this", exp.to_identifier(name.name, quoted=True))
    node.set("db", None)
    node.set("catalog", None)
    name.qualify(node)
    if not node.alias:
        node.set("alias", exp.TableAlias(this=before.copy()))


def _strip_columns(tree: exp.Expr) -> None:
    """Name columns by their table alone: `shop.orders.id` is `orders.id`."""
    for column in tree.find_all(exp.Column):
        column.set("db", None)
        column.set("catalog", None)


def _planned(
    tree: exp.Expr, found: Sequence[_Source], databases: Sequence[NamedSchema], *, max_characters: int
) -> JoinPlan:
    _strip_columns(tree)
    by_part: defaultdict[tuple[int, str], list[_Source]] = defaultdict(list)
    for each in found:
        by_part[each.database, each.table.name].append(each)
    if len(by_part) > MOST_PARTS:
        raise StatementRefused(
            f"The statement reads {len(by_part)} tables of several databases; at most {MOST_PARTS} are "
            "fetched. Ask in several statements.",
            "length",
        )
    words = None if _reads_unnamed_columns(tree) else _words(tree)
    tables: dict[str, Table] = {}
    of_node: dict[int, str] = {}
    common = [each.alias for each in tree.find_all(exp.CTE)]
    names = [f"{databases[at].label}.{table}" for at, table in by_part]
    for name, sources in zip(labels_of([*common, *names])[len(common) :], by_part.values(), strict=True):
        tables[name] = _read_columns(sources[0].table, name, words)
        for each in sources:
            _rename(each.node, TableName("", "", name))
            of_node[id(each.node)] = name
    scopes = _scopes(tree)
    columns = _Columns(scopes, of_node, tables)
    parts = [
        _part(at, tables[of_node[id(sources[0].node)]], sources, columns=columns, schema=databases[at].schema)
        for (at, _), sources in by_part.items()
    ]
    combined = Schema(DIALECT, list(tables.values()))
    sql = tree.sql(DIALECT)
    to_run = checked(sql, combined, max_characters).sql
    secret = find_secret_outputs(sql, combined)
    return JoinPlan(sql=to_run, schema=combined, parts=parts, keys=columns.text_keys(), secret=secret)


def _scopes(tree: exp.Expr) -> Sequence[Scope]:
    try:
        return traverse_scope(tree)
    except SqlglotError:
        raise StatementRefused(
            "The statement cannot be read as a query of named tables. Give each table of a FROM an alias.",
            "construct",
        ) from None


def _reads_unnamed_columns(tree: exp.Expr) -> bool:
    """True for `*` but that of COUNT, for NATURAL, for a row as a whole, and for what chooses columns."""
    sources = {table.alias_or_name.casefold() for table in tree.find_all(exp.Table)}
    return any(
        (isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count))
        or (isinstance(node, exp.Join) and node.method == "NATURAL")
        or (isinstance(node, exp.Column) and node.name.casefold() in sources)
        or isinstance(node, exp.Columns | exp.Pivot)
        for node in tree.walk()
    )


def _words(tree: exp.Expr) -> frozenset[str]:
    return frozenset(node.name.casefold() for node in tree.find_all(exp.Identifier))


def _read_columns(table: Table, name: str, words: frozenset[str] | None) -> Table:
    """Returns the table with the columns that a statement with these words may read."""
    named = [each for each in table.columns if words is None or each.name.casefold() in words]
    columns = named or list(table.columns[:1])
    folded = [each.name.casefold() for each in columns]
    if doubled := next((each.name for each in columns if folded.count(each.name.casefold()) > 1), None):
        raise StatementRefused(
            f"{name} has two columns of the name {doubled} that differ in case alone. It cannot be joined "
            "with another database.",
            "table",
        )
    if not columns:
        raise StatementRefused(f"{name} has no column that can be read.", "table")
    return replace(table, name=name, full_name=None, columns=columns, foreign_keys=(), hides=[])


def _part(
    database: int, table: Table, sources: Sequence[_Source], *, columns: "_Columns", schema: Schema
) -> Part:
    """A table that the statement reads at several places is fetched once, whole."""
    origin = sources[0].table
    query = exp.select(*(exp.column(exp.to_identifier(each.name, quoted=True)) for each in table.columns))
    query = query.from_(origin.short_name.node())
    if len(sources) == 1:
        for condition in columns.filters_of(sources[0].node, schema.dialect):
            query = query.where(condition, copy=False)
    sql = query.sql(schema.dialect, identify=True)
    return Part(database=database, table=table.name, columns=table.columns, sql=sql)


class _Columns:
    """The columns that the sources of a statement read."""

    def __init__(
        self, scopes: Sequence[Scope], of_node: Mapping[int, str], tables: Mapping[str, Table]
    ) -> None:
        self._scopes = scopes
        self._of_node = of_node
        self._tables = tables

    def filters_of(self, node: exp.Table, dialect: str) -> Iterable[exp.Expr]:
        """Returns conditions that every row of a source has to meet to be in a result.

        The statement checks them again, so a database may keep more rows. None may keep fewer: of texts only
        equality is left to it, which may disregard case, and no test for NULL, which an outer join makes.
        """
        for scope in self._scopes:
            where = scope.expression.args.get("where") if isinstance(scope.expression, exp.Select) else None
            if where is None or not _filters_first(scope.expression, node):
                continue
            if all(source is not node for _, source in scope.selected_sources.values()):
                continue
            conditions = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
            for each in conditions:
                if (pushed := self._pushed(each.unnest(), scope, node, dialect=dialect)) is not None:
                    yield pushed

    def _pushed(self, test: exp.Expr, scope: Scope, node: exp.Table, *, dialect: str) -> exp.Expr | None:
        """Returns a test of a column of the source against plain values, as its database is to make it."""
        if isinstance(test.args.get("expression"), exp.Column) and type(test) in _TURNED:
            test = _TURNED[type(test)](this=test.expression, expression=test.this)
        if not isinstance(test, exp.Between | exp.In | exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
            return None
        if not isinstance(test.this, exp.Column) or test.args.get("query"):
            return None
        found = self._column(test.this, scope, node)
        values = list(test.iter_expressions())[1:]
        if found is None or not values or not all(_is_plain(value, found) for value in values):
            return None
        if found.type not in _COMPARED_IN_ORDER and not isinstance(test, exp.EQ | exp.In):
            return None
        if dialect == "sqlite" and (found.type == "date" or not found.database_type):
            return None  # a text there, which may have a time behind it, or values of any type
        if dialect not in _WITHOUT_SINGLE and _SINGLE.search(found.database_type):
            return None  # 0.1 is stored as another number, which is more than 0.1
        pushed = test.copy()
        pushed.set("this", exp.column(exp.to_identifier(found.name, quoted=True)))
        return pushed

    def _column(self, column: exp.Column, scope: Scope, node: exp.Table) -> TableColumn | None:
        """Returns the column of this very source that a name in the scope means."""
        source = self._source(column, scope)
        if source is not node:
            return None
        return _column_of(self._tables[self._of_node[id(node)]], column.name)

    def _source(self, column: exp.Column, scope: Scope) -> exp.Expr | Scope | None:
        """Returns the source that a column is read from. None if that is not certain."""
        sources = {name.casefold(): source for name, (_, source) in scope.selected_sources.items()}
        if column.table:
            return sources.get(column.table.casefold())
        having = [(source, self._has(source, column.name)) for source in sources.values()]
        if any(has is None for _, has in having):
            return None
        found = [source for source, has in having if has]
        return found[0] if len(found) == 1 else None

    def _has(self, source: exp.Expr | Scope, name: str) -> bool | None:
        """True if a source has a column of a name. None if that is not certain."""
        if isinstance(source, Scope):
            query = source.expression
            if not isinstance(query, exp.Query) or query.is_star:
                return None
            return name.casefold() in {each.casefold() for each in query.named_selects}
        if id(source) not in self._of_node:
            return None
        return _column_of(self._tables[self._of_node[id(source)]], name) is not None

    def text_keys(self) -> Sequence[TextKeys]:
        """Returns the columns of text of two parts that the statement wants to be equal."""
        found: dict[frozenset[tuple[str, str]], TextKeys] = {}
        for scope in self._scopes:
            for left, right in _compared(scope.expression):
                ends = [self._origin(each, scope) for each in (left, right)]
                if ends[0] is None or ends[1] is None or ends[0][0] == ends[1][0]:
                    continue
                found.setdefault(frozenset({ends[0], ends[1]}), TextKeys(ends[0], ends[1]))
            for join in scope.expression.args.get("joins") or ():
                for name in join.args.get("using") or ():
                    ends_of = sorted(self._find_ends(name.name, scope))
                    for one, other in pairwise(ends_of):
                        found.setdefault(frozenset({one, other}), TextKeys(one, other))
        return list(found.values())

    def _find_ends(self, name: str, scope: Scope) -> set[tuple[str, str]]:
        ends = (
            self._end(self._tables[self._of_node[id(source)]], name)
            for _, source in scope.selected_sources.values()
            if id(source) in self._of_node
        )
        return {end for end in ends if end is not None}

    def _origin(self, column: exp.Column, scope: Scope) -> tuple[str, str] | None:
        """Returns the table and column of text that a column is read from, also through subqueries."""
        source = self._source(column, scope)
        if isinstance(source, Scope):
            query = source.expression
            for each in query.selects if isinstance(query, exp.Query) else ():
                if each.alias_or_name.casefold() == column.name.casefold():
                    inner = each.unalias()
                    return self._origin(inner, source) if isinstance(inner, exp.Column) else None
            return None
        if source is None or id(source) not in self._of_node:
            return None
        return self._end(self._tables[self._of_node[id(source)]], column.name)

    def _end(self, table: Table, name: str) -> tuple[str, str] | None:
        column = _column_of(table, name)
        return None if column is None or column.type != "text" else (table.name, column.name)


def _compared(expression: exp.Expr) -> Iterable[tuple[exp.Column, exp.Column]]:
    """Returns the pairs of columns that a query of its own wants to be equal."""
    for node in expression.walk(prune=lambda each: each is not expression and isinstance(each, exp.Query)):
        if (
            isinstance(node, exp.EQ)
            and isinstance(node.this, exp.Column)
            and isinstance(node.expression, exp.Column)
        ):
            yield node.this, node.expression


def _column_of(table: Table, name: str) -> TableColumn | None:
    folded = name.casefold()
    return next((each for each in table.columns if each.name.casefold() == folded), None)


def _is_plain(value: exp.Expr, column: TableColumn) -> bool:
    """True for a value that means the same in every database: a number, or the text of a text or a date."""
    if isinstance(value, exp.Neg):
        value = value.this
    if not isinstance(value, exp.Literal):
        return False
    if column.type in ("integer", "number"):
        return not value.is_string
    if column.type == "date":
        return value.is_string and _DAY.fullmatch(value.name) is not None
    return value.is_string and column.type == "text"


def _filters_first(query: exp.Expr, node: exp.Table) -> bool:
    """True if rows that the WHERE of a query leaves out decide on no other row: they do where rows are
    joined by their place or as the nearest, drawn by chance, or pivoted.
    """
    joins = query.args.get("joins") or ()
    beside = {name for name, value in node.args.items() if value} - _OF_THE_NAME
    is_drawn = query.args.get("sample") is not None
    return not beside and not is_drawn and all(join.method not in ("ASOF", "POSITIONAL") for join in joins)
