"""Rules of rows and columns in the tree of a statement.

Every reference to a table with a rule becomes a subquery of the rows and columns that the person may see. A
reference that stands for something else, or that cannot be replaced, ends in a refusal.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from app.modules.policies.barriers import BARRIERS, IS_LIMITED, needs_barrier
from app.modules.policies.catalog import DatabaseRelation, RelationCatalog
from app.modules.policies.conditions import UnreadableCondition, bound_condition
from app.modules.policies.masks import masked_column
from app.modules.policies.references import References, RelationReference
from app.modules.policies.rights import Rights, TableRule
from app.modules.sql.parsing import parsed_one, sqlglot_errors_only
from app.modules.sql.table_names import TableName
from graph.errors import StatementRefused

BASE = "_p"
"""Alias of a table inside of the subquery that stands for it."""
_LARGEST_CHARACTERS = 1_000_000
_LONGEST_NAME = 60
_NAME = frozenset({"this", "db", "catalog", "alias"})
_OUTSIDE = frozenset({"joins", "laterals", "pivots"})
_INSIDE = frozenset({"only", "sample"})
_FINAL = "final"
_DROPPED = frozenset({"hints"})
"""Hints on indexes change no rows, and would tell which indexes there are."""
_NO_ROWS = exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(0))
_WORD = re.compile(r"\w+")

Write: TypeAlias = Callable[[exp.Expr], str]
"""Writes a tree, which may be changed, as SQL."""


@dataclass(frozen=True, kw_only=True)
class Limited:
    """A statement for one person. `policies` are the names of those that changed it."""

    sql: str
    row_policies: Sequence[str]
    column_policies: Sequence[str]
    has_barrier: bool

    @property
    def policies(self) -> Sequence[str]:
        return sorted({*self.row_policies, *self.column_policies})


@dataclass(frozen=True)
class _Source:
    """What stands for a relation: its SQL, without and with a barrier."""

    sql: str
    with_barrier: str
    limits_rows: bool
    read: frozenset[str]
    """Shown names of the tables that it reads."""
    rules: Sequence[TableRule]


class _Unknown(Exception):
    """A view that the person cannot read."""


class Limiter:
    """The rights of one person on the tables of one catalog. Its work is kept: a statement costs little.

    `key` is that of the connection's hashes.
    """

    def __init__(self, catalog: RelationCatalog, rights: Rights, *, key: str, write: Write) -> None:
        self.catalog = catalog
        self.rights = rights.resolve_names(catalog.meanings)
        schemas = {catalog.schema_of(each) for each in catalog.by_shown.values()}
        self._lacks_names = not rights.hidden_schemas <= schemas or not all(
            catalog.meanings(name) for name in rights.rules
        )
        self._key = key
        self._write = write
        self._sources: dict[str, _Source | None] = {}
        self._views: dict[str, Sequence[str] | None] = {}
        self._rules: dict[str, TableRule] = {}

    def rule(self, relation: DatabaseRelation) -> TableRule:
        """Returns the rule of a relation, with what the owner hides from everyone."""
        if relation.shown not in self._rules:
            rule = self.rights.rules.get(relation.shown) or TableRule()
            rule.hide_columns(relation.hides)
            self._rules[relation.shown] = rule
        return self._rules[relation.shown]

    def visible_columns(self, relation: DatabaseRelation) -> Sequence[str] | None:
        """Returns the names of the columns that the person knows. None if the relation itself is unknown."""
        if self.rights.is_hidden(relation.shown, self.catalog.schema_of(relation)):
            return None
        if self._lacks_names and relation.is_new and relation.shown not in self.rights.rules:
            return None  # it may be what a policy named before
        if not self.rule(relation).masked.keys() <= relation.by_name.keys():
            return None  # a masked column has another name by now, under which it would be shown
        names: Sequence[str] | None = list(relation.by_name)
        if relation.is_view:
            names = self._view_columns(relation)
        if names is None:
            return None
        masks = self.rule(relation).masks
        return [name for name in names if masks.get(name) != "hidden"] or None

    def is_governed(self, relation: DatabaseRelation) -> bool:
        """True if the person sees another relation than the account does."""
        source = self._source(relation, ())
        return source is not None

    def reads(self, relation: DatabaseRelation) -> frozenset[str]:
        """Returns the shown names of all tables that the database reads for a relation, itself among them."""
        source = self._source(relation, ())
        return frozenset({relation.shown}) if source is None else source.read | {relation.shown}

    def is_unknown_in(self, text: str) -> bool:
        """True if a text has a name that only tables and columns have that the person does not know."""
        return not self._unknown_names.isdisjoint(_WORD.findall(text.casefold()))

    @cached_property
    def _unknown_names(self) -> frozenset[str]:
        known: set[str] = set()
        every: set[str] = set()
        for relation in self.catalog.by_shown.values():
            names = [relation.shown, relation.name.name, *relation.by_name]
            columns = self.visible_columns(relation)
            every.update(names)
            known.update(() if columns is None else {relation.shown, relation.name.name, *columns})
        return frozenset(_words(every) - _words(known))

    def limit(self, tree: exp.Expr) -> Limited:
        """Returns a statement that the guard has checked, limited. The tree is changed.

        Raises `StatementRefused`.
        """
        references = References(tree, self.catalog, self.visible_columns)
        for each in references.found:
            if self.visible_columns(each.relation) is None:
                raise StatementRefused(f"There is no table {each.node.name}.", "table")
        _name_outputs(references.tree, self.catalog.dialect)
        replaced, kept, sources = self._replace(references)
        has_barrier = any(each.limits_rows for each in sources) and needs_barrier(
            references.tree, self.catalog.dialect
        )
        if has_barrier:
            for node, source in zip(replaced, sources, strict=True):
                if source.limits_rows:
                    node.set("this", source.with_barrier)
        _check_all_bound(references.tree, [*kept, *references.common])
        sql = self._write(references.tree)
        if len(sql) > _LARGEST_CHARACTERS:
            raise StatementRefused("The statement names limited tables too often; shorten it.", "length")
        rules = [rule for source in sources for rule in source.rules]
        return Limited(
            sql=sql,
            row_policies=sorted({name for rule in rules for name in rule.row_policies if rule.limits_rows}),
            column_policies=sorted({name for rule in rules for name in rule.column_policies}),
            has_barrier=has_barrier,
        )

    # ---- references

    def _replace(
        self, references: References, views: Sequence[str] = ()
    ) -> tuple[list[exp.Var], list[exp.Table], list[_Source]]:
        """Replaces the references to governed relations. Returns the texts, the tables that are left as they
        are, and what each text stands for.
        """
        replaced: list[exp.Var] = []
        kept: list[exp.Table] = []
        sources: list[_Source] = []
        for each in references.found:
            source = self._source(each.relation, views)
            if source is None:
                _keep(each)
                kept.append(each.node)
            else:
                if inside := _take_inside(each, self.catalog.dialect):
                    source = self._make_with(each.relation, inside)
                replaced.append(_put(each, source, self.catalog.dialect))
                sources.append(source)
        return replaced, kept, sources

    def _make_with(self, relation: DatabaseRelation, inside: Mapping[str, object]) -> _Source:
        """Returns what stands for a table with ONLY, FINAL or a sample."""
        parts = [each for each in inside.values() if isinstance(each, exp.Expr)]
        source = None if any(each.find(exp.Query) for each in parts) else self._make(relation, (), inside)
        if source is None:
            raise StatementRefused(f"Read {relation.name.name} without ONLY, FINAL or a sample.", "policy")
        return source

    # ---- what stands for a relation

    def _source(self, relation: DatabaseRelation, views: Sequence[str]) -> _Source | None:
        """Returns what stands for a relation; None if it is read as it is. Raises `_Unknown`."""
        if relation.shown in views:
            raise _Unknown
        if relation.shown not in self._sources:
            self._sources[relation.shown] = self._make(relation, views)
        return self._sources[relation.shown]

    def _make(
        self,
        relation: DatabaseRelation,
        views: Sequence[str],
        inside: Mapping[str, object] = MappingProxyType({}),
    ) -> _Source | None:
        """Returns what stands for a relation. None if it is read as it is, or is a view that has no `inside`:
        what belongs to a table itself.
        """
        rule = self.rule(relation)
        base = _put_inside(self.catalog.base(relation, BASE), inside)
        inner: list[_Source] = []
        read = frozenset({relation.shown})
        plain, barred = "", ""
        if relation.is_view and relation.shown not in self.rights.trusted_views:
            if inside:
                return None
            references = self._expanded(relation)
            replaced, kept, inner = self._replace(references, (*views, relation.shown))
            _check_all_bound(references.tree, [*kept, *references.common])
            read |= {each.relation.shown for each in references.found}
            if inner:
                plain = self._write(references.tree.copy())
                for node, source in zip(replaced, inner, strict=True):
                    node.set("this", source.with_barrier if source.limits_rows else source.sql)
                barred = self._write(references.tree)
        if not inner and not rule.masked and not rule.limits_rows:
            return None
        limits_rows = rule.limits_rows or any(each.limits_rows for each in inner)
        read = read.union(*(each.read for each in inner))
        if rule.masked or rule.limits_rows:
            condition, named = self._condition(relation, rule)
            read |= named
            plain = self._write(self._selection(relation, _derived(base, plain), condition))
            barred = self._write(self._selection(relation, _derived(base, barred), condition))
        barrier = BARRIERS[self.catalog.dialect] if rule.limits_rows else ""
        rules = [each for source in inner for each in source.rules]
        return _Source(plain, barred + barrier, limits_rows, read, [*rules, rule])

    def _selection(
        self, relation: DatabaseRelation, base: exp.Expr, condition: exp.Expr | None
    ) -> exp.Select:
        rule = self.rule(relation)
        columns: list[exp.Expr] = []
        for name in self.visible_columns(relation) or ():
            known = relation.by_name[name]
            mask = rule.masks.get(name, "clear")
            column = exp.column(exp.to_identifier(name, quoted=True), table=BASE)
            if mask != "clear":
                masked = masked_column(
                    column,
                    mask,
                    kind=known.kind,
                    database_type=known.database_type,
                    dialect=self.catalog.dialect,
                    key=self._key,
                )
                columns.append(exp.alias_(masked, exp.to_identifier(name, quoted=True)))
            else:
                columns.append(column)
        select = exp.select(*columns).from_(base.copy())
        return select if condition is None else select.where(condition.copy(), copy=False)

    # ---- conditions

    def _condition(
        self, relation: DatabaseRelation, rule: TableRule
    ) -> tuple[exp.Expr | None, frozenset[str]]:
        """Returns the filter of a relation, and the tables in it. Every name in it is qualified, so that no
        name of a statement can take its place.
        """
        if not rule.limits_rows:
            return None, frozenset()
        parts = [self._bound(each, relation) for each in rule.all_of]
        if rule.is_denied or rule.any_of == [] or None in parts:
            return _NO_ROWS.copy(), frozenset()
        known = [part for part in parts if part is not None]
        if rule.any_of is not None and [] not in rule.any_of:
            ways = [[self._bound(each, relation) for each in conditions] for conditions in rule.any_of]
            open_ways = [exp.and_(*(each for each in way if each)) for way in ways if None not in way]
            if not open_ways:
                return _NO_ROWS.copy(), frozenset()
            known.append(exp.paren(exp.or_(*open_ways), copy=False))
        return self._qualified(relation, known)

    def _bound(self, text: str, relation: DatabaseRelation) -> exp.Expr | None:
        """Returns a condition of the person; None if their attributes do not fit it, so that it denies."""
        try:
            kind_of = partial(self.catalog.kind_of, relation)
            return bound_condition(text, self.rights.person.known, self.catalog.dialect, kind_of=kind_of)
        except UnreadableCondition:
            return None

    def _qualified(
        self, relation: DatabaseRelation, parts: Sequence[exp.Expr]
    ) -> tuple[exp.Expr | None, frozenset[str]]:
        try:
            return qualified_condition(self.catalog, relation, parts)
        except UnreadableCondition:
            return _NO_ROWS.copy(), frozenset()

    # ---- views

    def _expanded(self, view: DatabaseRelation) -> References:
        """Returns the definition of a view, with its references. Raises `_Unknown`."""
        try:
            tree = parsed_one(view.definition, self.catalog.dialect)
            if isinstance(tree, exp.Create):
                if not isinstance(tree.this, exp.Table):  # with names of columns
                    raise _Unknown
                tree = tree.expression
            if not isinstance(tree, exp.Query):
                raise _Unknown
            return References(
                tree.copy(), self.catalog, self.visible_columns, schema=self.catalog.schema_of(view)
            )
        except (SqlglotError, RecursionError, StatementRefused):
            raise _Unknown from None

    def _view_columns(self, view: DatabaseRelation) -> Sequence[str] | None:
        """Returns the columns of a view that are made of what the person knows; None if the view is unknown,
        as one is that names a hidden column, or whose definition is not understood.
        """
        if view.shown in self.rights.trusted_views:
            return list(view.by_name)
        if view.shown not in self._views:
            self._views[view.shown] = None  # of views that read each other, too
            try:
                self._views[view.shown] = self._columns_of(view)
                self._source(view, ())
            except _Unknown:
                self._views[view.shown] = None
        return self._views[view.shown]

    def _columns_of(self, view: DatabaseRelation) -> Sequence[str] | None:
        references = self._expanded(view)
        left_out: dict[str, Sequence[str]] = {}
        for each in references.found:
            relation = each.relation
            columns = self.visible_columns(relation)
            if columns is None:
                raise _Unknown
            left_out[relation.shown] = [name for name in relation.by_name if name not in columns]
        if not any(left_out.values()):
            return list(view.by_name)
        tree = parsed_one(view.definition, self.catalog.dialect)
        query = tree.expression if isinstance(tree, exp.Create) else tree
        schema = self.catalog.schema_of(view) or "main"
        try:
            with sqlglot_errors_only():
                known = self.catalog.map_columns([each.relation for each in references.found], left_out)
                done = qualify(query.copy(), dialect=self.catalog.dialect, db=schema, schema=known)
        except SqlglotError:
            raise _Unknown from None
        if not isinstance(done, exp.Query):
            raise _Unknown
        shown = {self.catalog.fold_name(name) for name in done.named_selects}
        return [name for name in view.by_name if self.catalog.fold_name(name) in shown]


def _keep(reference: RelationReference) -> None:
    reference.relation.name.qualify(reference.node)
    if reference.alias is not None:
        reference.node.set("alias", exp.TableAlias(this=reference.alias.copy()))


def _take_inside(reference: RelationReference, dialect: str) -> Mapping[str, object]:
    """Take what belongs to the table itself off a reference: ONLY and samples of PostgreSQL, which
    samples no subquery, and FINAL of ClickHouse. In DuckDB a sample follows the filter, as it must.
    """
    node = reference.node
    if dialect == "clickhouse":
        _move_conditions(reference)
    if isinstance(node.parent, exp.Final):
        node.parent.replace(node)
        return {_FINAL: True}
    if dialect != "postgres":
        return {}
    return {name: node.args.pop(name) for name in _INSIDE if node.args.get(name)}


def _put_inside(base: exp.Table, inside: Mapping[str, object]) -> exp.Expr:
    """Returns a table with what `_take_inside` has taken off a reference to it."""
    for name, value in inside.items():
        if name == _FINAL:
            return exp.Final(this=base)
        base.set(name, value)
    return base


def _move_conditions(reference: RelationReference) -> None:
    """Writes PREWHERE, which no subquery has, as WHERE, and refuses a sample: it would be of all rows."""
    query = reference.query
    if not isinstance(query, exp.Select):
        return
    if query.args.get("sample"):
        raise StatementRefused("Read the table without SAMPLE.", "policy")
    if (before := query.args.get("prewhere")) is None:
        return
    if query.args.get("joins") or isinstance(reference.node.parent, exp.Final):
        raise StatementRefused("Write WHERE in place of PREWHERE.", "policy")
    query.set("prewhere", None)
    query.where(before.this, copy=False)


def _check_global_names(tree: exp.Expr) -> None:
    """Raises `StatementRefused` for names that reach into the subqueries of tables: in ClickHouse an alias
    holds in the queries within its query, and one of a lambda is a function.
    """
    for each in tree.find_all(exp.Identifier):
        if each.name.partition(".")[0].lower() == BASE:
            raise StatementRefused(f"ClickHouse needs another name than {each.name} here.", "policy")
    for named in tree.find_all(exp.Alias, exp.CTE):
        if isinstance(named.this.unnest(), exp.Lambda):
            raise StatementRefused("A lambda has no name here; write it where it is called.", "policy")


def _put(reference: RelationReference, source: _Source, dialect: str) -> exp.Var:
    """Puts a subquery in the place of a table. What stands after the table stays after the subquery."""
    node = reference.node
    beside = {name: value for name, value in node.args.items() if value and name not in _NAME | _DROPPED}
    outside = _OUTSIDE | {"sample"} if dialect == "duckdb" else _OUTSIDE
    if beside.keys() - outside:
        raise StatementRefused(f"Read the table {node.name} in a plain FROM or JOIN.", "policy")
    written = node.args.get("alias")
    alias = exp.TableAlias(this=reference.known_as.copy(), columns=written and written.columns)
    text = exp.Var(this=source.sql)
    text.meta[IS_LIMITED] = True
    node.replace(exp.Subquery(this=text, alias=alias, **beside))
    return text


def _words(names: Iterable[str]) -> set[str]:
    return {word for name in names for word in _WORD.findall(name.casefold())}


def _name_outputs(tree: exp.Expr, dialect: str) -> None:
    """Name the outputs that have no name and read a table. Databases name them by the text that runs, which
    has the values of filters and the key of hashes; PostgreSQL does not.
    """
    if dialect == "postgres":
        return
    if dialect == "clickhouse":
        _check_global_names(tree)
    for query in tree.find_all(exp.Select):
        for each in query.expressions:
            if not isinstance(each, exp.Alias | exp.Aliases) and each.find(exp.Table) is not None:
                name = each.sql(dialect=dialect, comments=False)[:_LONGEST_NAME]
                each.replace(exp.alias_(each.copy(), exp.to_identifier(name, quoted=True)))


def qualified_condition(
    catalog: RelationCatalog, relation: DatabaseRelation, parts: Sequence[exp.Expr]
) -> tuple[exp.Expr, frozenset[str]]:
    """Returns conditions of a relation as one, every name in it qualified, and the tables that it reads.

    Raises `UnreadableCondition` for a name that is unknown.
    """
    schema = catalog.schema_of(relation) or "main"
    base = TableName("", schema, relation.name.name).node(BASE)
    probe = exp.select(exp.Literal.number(1)).from_(base).where(*parts, copy=False)
    for column in probe.find_all(exp.Column):
        if column.table == relation.name.name and not column.args.get("db"):
            column.set("table", exp.to_identifier(BASE))
    read = {each.shown: each for table in probe.find_all(exp.Table) if (each := catalog.find(table, schema))}
    known = catalog.map_columns(read.values(), {})
    try:
        with sqlglot_errors_only():
            done = qualify(probe, dialect=catalog.dialect, db=schema, schema=known)
    except SqlglotError as error:
        raise UnreadableCondition(f"a name in it is unknown: {str(error)[:200]}") from None
    condition: exp.Expr = done.args["where"].this
    named: set[str] = set()
    for table in condition.find_all(exp.Table):
        found = catalog.find(table, schema)
        if found is None:
            raise UnreadableCondition(f"there is no table {table.name}")
        named.add(found.shown)
    return condition, frozenset(named)


def _derived(base: exp.Expr, text: str) -> exp.Expr:
    """Returns the table, or the subquery of a view's definition."""
    if not text:
        return base
    return exp.Subquery(this=exp.Var(this=text), alias=exp.TableAlias(this=exp.to_identifier(BASE)))


def _check_all_bound(tree: exp.Expr, known: Sequence[exp.Table]) -> None:
    """Raises `StatementRefused` if a table stands in the tree that is not known to be free of rules."""
    bound: Mapping[int, exp.Table] = {id(each): each for each in known}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and id(table) not in bound:
            raise StatementRefused("The statement could not be limited to what you may see.", "policy")
