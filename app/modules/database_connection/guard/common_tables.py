"""Common table expressions, and the scope in which a table name can refer to them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect


class _Holder(NamedTuple):
    """The nearest WITH, or query with one, above a node, and its child on the path to that node."""

    node: exp.Expr
    child: exp.Expr


class _Place(NamedTuple):
    """A common table expression's name, and its position in its WITH."""

    position: int
    name: exp.Identifier


class CommonTables:
    """The common table expressions of one tree. The tree must not change meanwhile.

    Looking up all tables of a statement takes linear time: each node is visited once.
    """

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._folds = Dialect.get_or_raise(dialect)
        self._above: dict[int, _Holder | None] = {}
        self._places: dict[int, Mapping[str, list[_Place]]] = {}
        self._positions: dict[int, int] = {}

    def are_named_by(self, table: exp.Table) -> bool:
        """True if the table's name refers to a common table expression in scope."""
        wanted = self._folded(table.this)
        holder = self._holder_above(table)
        while holder is not None:
            if self._has(holder, table, wanted):
                return True
            holder = self._holder_above(holder.node)
        return False

    def _has(self, holder: _Holder, table: exp.Table, wanted: str) -> bool:
        """True if a WITH has the name of a table in scope.

        An expression sees only those before it; in SQLite, and in PostgreSQL's WITH RECURSIVE, it sees all.
        In WITH RECURSIVE of the others it sees itself, too: in DuckDB on the right of its UNION only.
        """
        with_ = holder.node if isinstance(holder.node, exp.With) else holder.node.args["with_"]
        if with_ is holder.child:
            return False  # the WITH itself comes next, with its own rule
        places = self._places_in(with_).get(table.name.lower(), ())
        inside = self._positions.get(id(holder.child))
        sees_all = self._dialect == "sqlite" or (with_.recursive and self._dialect == "postgres")
        if inside is None or sees_all:
            inside = len(with_.expressions)
        elif with_.recursive and (self._dialect != "duckdb" or _is_repeated(table, holder.child)):
            inside += 1
        return any(place.position < inside and self._folded(place.name) == wanted for place in places)

    def _places_in(self, with_: exp.With) -> Mapping[str, list[_Place]]:
        if id(with_) not in self._places:
            places: defaultdict[str, list[_Place]] = defaultdict(list)
            for position, cte in enumerate(with_.expressions):
                name = cte.args["alias"].this
                places[name.name.lower()].append(_Place(position, name))
                self._positions[id(cte)] = position
            self._places[id(with_)] = places
        return self._places[id(with_)]

    def _holder_above(self, node: exp.Expr) -> _Holder | None:
        path: list[exp.Expr] = []
        current = node
        while id(current) not in self._above:
            path.append(current)
            parent = current.parent
            if parent is None or isinstance(parent, exp.With) or parent.args.get("with_") is not None:
                self._above[id(current)] = None if parent is None else _Holder(parent, current)
            else:
                current = parent
        found = self._above[id(current)]
        self._above.update((id(each), found) for each in path)
        return found

    def _folded(self, identifier: exp.Identifier) -> str:
        return self._folds.normalize_identifier(identifier.copy()).name


def _is_repeated(table: exp.Table, expression: exp.Expr) -> bool:
    """True if a table is on the right of the UNION that a common table expression is."""
    union = expression.this
    node: exp.Expr | None = table
    while node is not None and node.parent is not union:
        node = node.parent
    return isinstance(union, exp.Union) and not union.args.get("by_name") and node is union.expression
