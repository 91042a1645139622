"""References of a statement to tables, found with the names of its common table expressions in mind.

Every common table expression gets a new name, and its old one becomes the alias. Where this reading of names
differs from the database's, the database then finds no table, in place of a table without its filter.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from app.modules.policies.catalog import DatabaseRelation, RelationCatalog
from graph.errors import StatementRefused

_CTE = "_c"
_ROW_IDS: Mapping[str, frozenset[str]] = {
    "sqlite": frozenset({"rowid", "_rowid_", "oid"}),
    "duckdb": frozenset({"rowid"}),
    "postgres": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
}
"""Columns that every table has beside its own, and a subquery has not. ClickHouse's begin with `_`."""
_QUERIES = (exp.Select, exp.SetOperation)

Visible: TypeAlias = Callable[[DatabaseRelation], Sequence[str] | None]


@dataclass
class RelationReference:
    """A reference to a relation. `query` has it in its FROM; `alias`: one that it needs, if any."""

    node: exp.Table
    relation: DatabaseRelation
    query: exp.Expr | None
    alias: exp.Identifier | None = None

    @property
    def known_as(self) -> exp.Identifier:
        """The name that columns are qualified by."""
        written = self.node.args.get("alias")
        named: exp.Identifier = self.node.this
        if written is not None and written.this:
            named = written.this
        elif self.alias is not None:
            named = self.alias
        return named


class References:
    """The references of one tree, whose names are changed in place.

    Raises `StatementRefused` for what cannot be read with certainty. `schema` is that of a view whose
    definition the tree is; empty for a statement. `visible` returns the columns of a relation that `*` is.
    """

    def __init__(
        self, tree: exp.Expr, catalog: RelationCatalog, visible: Visible, *, schema: str = ""
    ) -> None:
        self.found: list[RelationReference] = []
        self.common: list[exp.Table] = []
        """Tables that are common table expressions."""
        self._catalog = catalog
        self._schema = schema
        self._renamed = 0
        holder = exp.Paren(this=tree)
        self._visit(holder, {})
        self._name_apart()
        for node in holder.find_all(exp.Column):
            self._check_column(node)
        if catalog.dialect == "postgres" and any(map(_is_own_type, holder.find_all(exp.DataType))):
            # The name of a table is the type of its rows, and tells its columns.
            raise StatementRefused("A type of the database's own is not read here.", "policy")
        if catalog.dialect == "postgres":
            for query in {id(each.query): each.query for each in self.found}.values():
                if isinstance(query, exp.Select):
                    own = [each for each in self.found if each.query is query]
                    _keep_dependent_columns(query, own, catalog=catalog, visible=visible)
        self.tree: exp.Expr = holder.this.pop()

    def _visit(self, node: exp.Expr, common: Mapping[str, exp.Identifier]) -> None:
        with_ = node.args.get("with_")
        if with_ is not None:
            common = self._with(with_, common)
        if isinstance(node, exp.In) and node.args.get("field") is not None:
            _write_query(node)
        for child in list(node.iter_expressions()):
            if child is not with_:
                self._visit(child, common)
        if isinstance(node, exp.Table):
            self._table(node, common)

    def _with(self, with_: exp.With, common: Mapping[str, exp.Identifier]) -> Mapping[str, exp.Identifier]:
        around = dict(common)
        new: dict[str, exp.Identifier] = {}
        for each in with_.expressions:
            if each.args.get("scalar"):
                continue  # a name of a value, which no table is found by
            self._renamed += 1
            old = each.args["alias"].this
            name = f"{_CTE}{self._renamed}_{_plain(old.name)}"
            new[self._catalog.fold(old)] = exp.to_identifier(name, quoted=True)
        sees_all = self._catalog.dialect == "sqlite" or bool(with_.recursive)  # those that follow, too
        for each in with_.expressions:
            own = self._catalog.fold(each.args["alias"].this)
            self._visit(each.this, {**around, **new} if sees_all else around)
            if each.args.get("scalar"):
                continue
            each.args["alias"].set("this", new[own].copy())
            around = {**around, own: new[own]}
        return around

    def _table(self, node: exp.Table, common: Mapping[str, exp.Identifier]) -> None:
        if node.args.get("rows_from") or isinstance(node.this, exp.Func):
            return  # the guard has checked the functions
        if not isinstance(node.this, exp.Identifier):
            raise StatementRefused("This form of a table is not read here.", "policy")
        if node.args.get("db") is None:
            if (name := common.get(self._catalog.fold(node.this))) is not None:
                self._rename(node, name)
                return
            if _loose(node.name) in map(_loose, common):  # databases differ in whether they are one name
                raise StatementRefused(f"Write {node.name} as its WITH does.", "policy")
        relation = self._catalog.find(node, self._schema)
        if relation is None:
            raise StatementRefused(f"There is no table {node.name}.", "table")
        self.found.append(RelationReference(node, relation, _query_of(node)))

    def _rename(self, node: exp.Table, name: exp.Identifier) -> None:
        written = node.args.get("alias")
        if written is None or not written.this:
            columns = None if written is None else written.columns
            node.set("alias", exp.TableAlias(this=node.this.copy(), columns=columns))
        node.set("this", name.copy())
        self.common.append(node)

    def _name_apart(self) -> None:
        """Give an alias to tables of two schemas that have one name in one FROM: subqueries have no
        schema.
        """
        named: dict[tuple[int, str], list[RelationReference]] = {}
        for each in self.found:
            written = each.node.args.get("alias")
            if written is None or not written.this:
                key = (id(each.query), self._catalog.fold(each.node.this))
                named.setdefault(key, []).append(each)
        for same in named.values():
            if len({each.relation.shown for each in same}) > 1:
                for at, each in enumerate(same):
                    name = f"_{self._catalog.schema_of(each.relation)}_{each.relation.name.name}_{at}"
                    each.alias = exp.to_identifier(name, quoted=True)

    def _check_column(self, node: exp.Column) -> None:
        if node.args.get("db") is not None:
            self._shorten(node)
        if self.found and self._is_row_id(node.name.lower()):
            known = {name.lower() for each in self.found for name in each.relation.by_name}
            if node.name.lower() not in known | self._outputs(node.root()):
                raise StatementRefused("Name a column of the table: rows have no number here.", "policy")

    def _is_row_id(self, name: str) -> bool:
        dialect = self._catalog.dialect
        return name in _ROW_IDS.get(dialect, ()) or (dialect == "clickhouse" and name.startswith("_"))

    def _outputs(self, tree: exp.Expr) -> set[str]:
        """Returns the names that a statement itself gives to columns."""
        aliases = {each.alias.lower() for each in tree.find_all(exp.Alias)}
        lists = (each.columns for each in tree.find_all(exp.TableAlias))
        return aliases | {column.name.lower() for columns in lists for column in columns}

    def _shorten(self, column: exp.Column) -> None:
        """Take the schema off `schema.table.column`: a subquery is named by its alias alone."""
        table = exp.Table(
            this=column.args["table"].copy(), db=column.args["db"].copy(), catalog=column.args.get("catalog")
        )
        wanted = self._catalog.find(table, self._schema)
        around = column.parent
        while around is not None:
            for each in self.found:
                if each.query is around and self._is_named(each, column, wanted):
                    column.set("db", None)
                    column.set("catalog", None)
                    column.set("table", each.known_as.copy())
                    return
            around = around.parent
        if wanted is not None:
            raise StatementRefused("A column is of no table in its query.", "policy")

    def _is_named(
        self, reference: RelationReference, column: exp.Column, wanted: DatabaseRelation | None
    ) -> bool:
        written = reference.node.args.get("alias")
        if written is None or not written.this:
            return reference.relation is wanted
        if self._catalog.dialect != "mysql":
            return False
        # A schema may stand before an alias there, too.
        if self._catalog.schema_of(reference.relation) != column.text("db"):
            return False
        named: exp.Expr = written.this
        return self._catalog.fold(named) == self._catalog.fold(column.args["table"])


def _write_query(node: exp.In) -> None:
    """SQLite's `x IN t`, where the table is a column in the tree, becomes `x IN (SELECT * FROM t)`."""
    named = node.args["field"]
    if not isinstance(named, exp.Column):
        raise StatementRefused("IN needs a list or a query here.", "policy")
    table = exp.Table(this=named.this.copy(), db=named.args.get("table"), catalog=named.args.get("db"))
    node.set("field", None)
    node.set("query", exp.select("*").from_(table).subquery())


def _is_own_type(node: exp.DataType) -> bool:
    return bool(node.this == exp.DataType.Type.USERDEFINED)


def _query_of(node: exp.Table) -> exp.Expr | None:
    if isinstance(node.parent, exp.Pivot):
        return node.parent
    return node.find_ancestor(*_QUERIES, exp.Pivot)


def _loose(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())[:20]


def _keep_dependent_columns(
    query: exp.Select,
    references: Sequence[RelationReference],
    *,
    catalog: RelationCatalog,
    visible: Visible,
) -> None:
    """PostgreSQL lets columns stand alone that depend on a primary key in GROUP BY. A subquery has no key, so
    they are added to GROUP BY.
    """
    group = query.args.get("group")
    if group is None or any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets", "all")):
        return
    keys = [_projected(each, query) for each in group.expressions]
    places = [*query.expressions, query.args.get("having"), query.args.get("order"), *keys]
    columns = [each for place in places if place is not None for each in place.find_all(exp.Column)]
    for reference in references:
        alias = reference.known_as
        others = {n for each in references if each is not reference for n in each.relation.by_name}
        own = [
            column
            for column in columns
            if (
                catalog.fold(column.args["table"]) == catalog.fold(alias)
                if column.table
                else column.name not in others
            )
        ]
        grouped = {catalog.fold(key.this) for key in keys if any(key is each for each in own)}
        if not reference.relation.key or not set(reference.relation.key) <= grouped:
            continue
        named = {catalog.fold(each.this) for each in own if isinstance(each.this, exp.Identifier)}
        if any(isinstance(each, exp.Star) for each in [*query.expressions, *(each.this for each in own)]):
            named |= set(visible(reference.relation) or ())
        for name in reference.relation.by_name:
            if name in named - grouped:
                added = exp.column(exp.to_identifier(name, quoted=True), table=alias.copy())
                group.append("expressions", added)


def _projected(node: exp.Expr, query: exp.Select) -> exp.Expr:
    """Returns what a key of GROUP BY stands for: a position or an output column may."""
    if isinstance(node, exp.Literal) and not node.is_string and 0 < int(node.name) <= len(query.expressions):
        chosen: exp.Expr = query.expressions[int(node.name) - 1].unalias()
        return chosen
    for each in query.expressions:
        if isinstance(node, exp.Column) and not node.table and each.alias and each.alias == node.name:
            named: exp.Expr = each.unalias()
            return named
    return node
