"""Joins whose tables nothing connects: every row of one with every row of the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from app.modules.database_connection.schema import Schema, Table
from graph.errors import StatementRefused

_MOST_PAIRS = 50_000_000


@dataclass(frozen=True)
class Joins:
    """Looks at each SELECT by itself. Only tables whose size is known from a scan count as large."""

    tables: Mapping[str, Table]

    @classmethod
    def of(cls, schema: Schema) -> "Joins":
        return cls({table.name.lower(): table for table in schema.tables})

    def check(self, select: exp.Select) -> None:
        """Raises `StatementRefused` when unconnected tables would make too many pairs."""
        sources = self._sources(select)
        if len(sources) < 2:
            return
        groups = _connected(list(sources), self._links(select, sources))
        largest = [max(group, key=lambda name: self._size(sources[name])) for group in groups]
        pairs = prod(self._size(sources[name]) for name in largest)
        if pairs > _MOST_PAIRS:
            names = " and ".join(sorted(largest))
            raise StatementRefused(
                f"Nothing joins {names}: this would make about {pairs:,} pairs of rows. "
                "Add the condition that joins them.",
                "unconnected-join",
            )

    def _sources(self, select: exp.Select) -> dict[str, Table | None]:
        """What stands after FROM and JOIN by its alias; a table of the schema, or None for all else."""
        from_ = select.args.get("from_")
        found = [from_.this] if from_ else []
        found += [join.this for join in select.args.get("joins") or () if not _is_joined(join)]
        return {each.alias_or_name.lower(): self._table(each) for each in found}

    def _table(self, source: exp.Expr) -> Table | None:
        return self.tables.get(source.name.lower()) if isinstance(source, exp.Table) else None

    def _size(self, table: Table | None) -> int:
        return max(table.row_count or 1, 1) if table else 1

    def _links(self, select: exp.Select, sources: Mapping[str, Table | None]) -> Iterator[set[str]]:
        """Names of sources that one condition mentions together."""
        for condition in _conditions(select):
            columns = list(condition.find_all(exp.Column))
            yield {name for each in columns for name in self._homes(each, sources)}

    def _homes(self, column: exp.Column, sources: Mapping[str, Table | None]) -> set[str]:
        """The sources a column may belong to: of one that is not known, in favour of the statement, all."""
        if column.table:
            return {column.table.lower()} & set(sources)
        having = {
            name
            for name, table in sources.items()
            if table and any(each.name.lower() == column.name.lower() for each in table.columns)
        }
        return having or set(sources)


def _is_joined(join: exp.Join) -> bool:
    """By USING or NATURAL, or by standing beside what it is computed from."""
    natural = join.method == "NATURAL" or bool(join.args.get("using"))
    return natural or isinstance(join.this, exp.Lateral | exp.Unnest)


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """The conjuncts of WHERE and ON."""
    places = [select.args.get("where"), *(join.args.get("on") for join in select.args.get("joins") or ())]
    for place in filter(None, places):
        condition = place.this if isinstance(place, exp.Where) else place
        yield from condition.flatten() if isinstance(condition, exp.And) else (condition,)


def _connected(names: Sequence[str], links: Iterator[set[str]]) -> list[set[str]]:
    """Groups of names that links lead between."""
    groups = [{name} for name in names]
    for link in links:
        touched = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link]
        groups += [set().union(*touched)] if touched else []
    return groups
