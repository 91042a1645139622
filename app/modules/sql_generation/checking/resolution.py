"""Resolution of the names in a statement to tables and columns of the schema."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from sqlglot import exp
from sqlglot.optimizer.resolver import Resolver
from sqlglot.optimizer.scope import Scope

from app.modules.sql_generation.checking.names import SchemaNames, in_one_line


def base_tables(scopes: Iterable[Scope]) -> Iterator[exp.Table]:
    """Yields the tables of the database that scopes read, without CTEs and table functions."""
    for scope in scopes:
        for _, source in scope.selected_sources.values():
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                yield source


class StatementNames:
    """The `ScopeNames` of the scopes of one statement, each built once."""

    def __init__(self, schema: SchemaNames) -> None:
        self._schema = schema
        self._made: dict[int, ScopeNames] = {}

    def of(self, scope: Scope) -> "ScopeNames":
        if id(scope) not in self._made:
            outer = scope.parent if scope.can_be_correlated else None
            around = None if outer is None else self.of(outer)
            sources = [source for _, source in scope.selected_sources.values() if isinstance(source, Scope)]
            has_pivot = (
                (around is not None and around.has_pivot)
                or _reads_pivot(scope)
                or any(self.of(each).has_pivot for each in sources)
            )
            self._made[id(scope)] = ScopeNames(scope, self._schema, around, has_pivot=has_pivot)
        return self._made[id(scope)]


class ScopeNames:
    """The meanings of names in one scope of a qualified statement. Visible sources include outer ones.

    Everything is computed once: a statement of 64 KiB has thousands of columns in one scope.
    """

    def __init__(
        self, scope: Scope, schema: SchemaNames, outer: "ScopeNames | None" = None, *, has_pivot: bool = False
    ) -> None:
        """`outer` belongs to the enclosing scope, if this scope may refer to its sources.

        `has_pivot`: PIVOT or UNPIVOT adds unknown columns.
        """
        self.has_pivot = has_pivot
        self._schema = schema
        self._outer = outer
        self.scope = scope
        self.expression = scope.expression
        self._columns: dict[str, Collection[str]] = {}
        self._by_case: dict[str, Mapping[str, list[str]]] = {}

    def columns_of(self, alias: str) -> Collection[str] | None:
        """Returns folded names of a source's columns; empty if unknown, None if there is no such source."""
        if alias in self.scope.sources:
            return self._columns_in(alias)
        return None if self._outer is None else self._outer.columns_of(alias)

    def is_source(self, alias: str) -> bool:
        """True if a visible source has this alias."""
        return alias in self.own_sources or (self._outer is not None and self._outer.is_source(alias))

    @cached_property
    def are_known(self) -> bool:
        """True if the columns of all visible sources are known."""
        own = all(known and "*" not in known for known in self.own_sources.values())
        return own and (self._outer is None or self._outer.are_known)

    def are_found(self, name: str) -> bool:
        """True if a visible source has a column of this folded name."""
        return name in self._own_names or (self._outer is not None and self._outer.are_found(name))

    def own_sources_with(self, name: str) -> list[str]:
        """Returns the aliases of the scope's own sources that have a column of this folded name."""
        return list(self._own_names.get(name, ()))

    @cached_property
    def visible(self) -> Mapping[str, Collection[str]]:
        """The columns of all visible sources, by alias, the innermost first."""
        return {**self.own_sources, **self._outer_visible}

    @property
    def _outer_visible(self) -> Mapping[str, Collection[str]]:
        outer = {} if self._outer is None else self._outer.visible
        return {alias: known for alias, known in outer.items() if alias not in self.own_sources}

    @cached_property
    def own_sources(self) -> Mapping[str, Collection[str]]:
        return {alias: self._columns_in(alias) for alias in self.scope.selected_sources}

    def base_table(self, alias: str) -> str | None:
        """Returns the folded name of the table that an alias stands for; None if it is not a table."""
        source = self.scope.sources.get(alias)
        if isinstance(source, exp.Table):
            return source.name
        return None if self._outer is None else self._outer.base_table(alias)

    def real(self, alias: str, folded: str) -> str:
        """Returns the real name of a source's column; of a query's column the folded name."""
        table = self._schema.tables.get(self.base_table(alias) or "")
        return folded if table is None else self._schema.real_column(table, folded)

    def in_any_case(self, alias: str, name: str) -> list[str]:
        """Returns the real names of a source's columns that equal `name` except for case and line breaks."""
        if alias not in self._by_case:
            found: defaultdict[str, list[str]] = defaultdict(list)
            for each in self.columns_of(alias) or ():
                spelled = self.real(alias, each)
                found[in_one_line(spelled).casefold()].append(spelled)
            self._by_case[alias] = found
        return self._by_case[alias].get(in_one_line(name).casefold(), [])

    def is_output(self, column: exp.Column) -> bool:
        """True if an unqualified name may be an alias that the scope gives to one of its results."""
        if isinstance(self.expression, exp.SetOperation):
            return column.name in self._named_selects
        if not isinstance(self.expression, exp.Select):
            return False
        if column.name in self._named_selects and id(column) in self._ordering:
            return True
        return column.name in self._given_names and self._aliased.get(id(column)) != column.name

    @cached_property
    def _own_names(self) -> Mapping[str, list[str]]:
        """Aliases of the scope's own sources, by column name."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for alias, known in self.own_sources.items():
            for name in known:
                found[name].append(alias)
        return found

    @cached_property
    def _named_selects(self) -> Collection[str]:
        return frozenset(self.expression.named_selects) if isinstance(self.expression, exp.Query) else ()

    @cached_property
    def _ordering(self) -> Collection[int]:
        """Ids of the columns within an ORDER BY."""
        return {id(column) for order in self.scope.find_all(exp.Order) for column in _columns(order)}

    @cached_property
    def _aliased(self) -> Mapping[int, str]:
        """The innermost alias around each column, by the id of the column node."""
        aliases = self.scope.find_all(exp.Alias)
        return {id(column): each.alias for each in aliases for column in _columns(each)}

    @cached_property
    def _given_names(self) -> Collection[str]:
        """Aliases that the text gives to results, without those that sqlglot added when qualifying."""
        selects = self.expression.selects if isinstance(self.expression, exp.Query) else []
        given = (each.args["alias"] for each in selects if isinstance(each, exp.Alias))
        return {alias.name for alias in given if alias.meta.get("start") is not None}

    def _columns_in(self, alias: str) -> Collection[str]:
        """Returns the columns of a source in order, as a dictionary for fast lookup."""
        if alias not in self._columns:
            resolver = Resolver(self.scope, self._schema.mapping)
            self._columns[alias] = dict.fromkeys(resolver.get_source_columns(alias))
        return self._columns[alias]


def _reads_pivot(scope: Scope) -> bool:
    """True if a table or query that the scope reads is pivoted."""
    return any(pivot.arg_key == "pivots" for pivot in scope.find_all(exp.Pivot))


def _columns(node: exp.Expr) -> Iterator[exp.Column]:
    """Yields the columns within a node, without those of queries within it."""
    left = [node]
    while left:
        current = left.pop()
        if isinstance(current, exp.Column):
            yield current
        left += [each for each in current.iter_expressions() if not isinstance(each, exp.Query)]
