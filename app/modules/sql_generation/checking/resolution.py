"""Which column of which table each name in a statement means."""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.resolver import Resolver
from sqlglot.optimizer.scope import Scope, traverse_scope

from app.modules.sql_generation.checking.names import SchemaNames


def base_tables(statement: exp.Expr) -> Iterator[exp.Table]:
    """Tables of the database that are read: no common table expressions, no table functions."""
    for scope in traverse_scope(statement):
        for _, source in scope.selected_sources.values():
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                yield source


class Names:
    """What the names in one scope of a qualified statement may stand for."""

    def __init__(self, scope: Scope, schema: SchemaNames) -> None:
        self._schema = schema
        self.scopes = list(_outwards(scope))
        self.expression = scope.expression

    def columns_of(self, alias: str) -> Sequence[str] | None:
        """Folded names of a source's columns; empty if they are unknown, None if there is no such source."""
        for scope in self.scopes:
            if alias in scope.sources:
                return Resolver(scope, self._schema.mapping).get_source_columns(alias)
        return None

    def visible(self) -> Mapping[str, Sequence[str]]:
        """The columns of all sources in sight, by alias, the innermost first."""
        found: dict[str, Sequence[str]] = {}
        for scope in self.scopes:
            resolver = Resolver(scope, self._schema.mapping)
            for alias in scope.selected_sources:
                found.setdefault(alias, resolver.get_source_columns(alias))
        return found

    def own_sources(self) -> Mapping[str, Sequence[str]]:
        scope = self.scopes[0]
        resolver = Resolver(scope, self._schema.mapping)
        return {alias: resolver.get_source_columns(alias) for alias in scope.selected_sources}

    def base_table(self, alias: str) -> str | None:
        """The folded name of the database's table behind an alias."""
        for scope in self.scopes:
            source = scope.sources.get(alias)
            if isinstance(source, exp.Table):
                return source.name
        return None

    def real(self, alias: str, folded: str) -> str:
        """A column of a source as it is spelled in the database."""
        table = self.base_table(alias)
        spelled = {self._schema.folded(each): each for each in self._schema.columns(table or "")}
        return spelled.get(folded, folded)

    def is_output(self, column: exp.Column) -> bool:
        """Whether a bare name may be one that the scope itself gives to a result."""
        if isinstance(self.expression, exp.SetOperation):
            return column.name in self.expression.named_selects
        if not isinstance(self.expression, exp.Select):
            return False
        orders = isinstance(column.find_ancestor(exp.Order, exp.Select), exp.Order)
        if orders and column.name in self.expression.named_selects:
            return True
        own = column.find_ancestor(exp.Alias, exp.Select)
        if isinstance(own, exp.Alias) and own.alias == column.name:
            return False
        return column.name in self._given_names

    @property
    def _given_names(self) -> set[str]:
        """Not those that qualifying has added, which stand nowhere in the text."""
        selects = self.expression.selects if isinstance(self.expression, exp.Query) else []
        given = (each.args["alias"] for each in selects if isinstance(each, exp.Alias))
        return {alias.name for alias in given if alias.meta.get("start") is not None}


def _outwards(scope: Scope) -> Iterator[Scope]:
    """A scope, and those around it whose sources it may name."""
    current: Scope | None = scope
    while current is not None:
        yield current
        current = current.parent if current.can_be_correlated else None
