"""Refuses large cross joins: tables without a condition that joins them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from app.modules.database_connection.schema import Schema, Table
from graph.errors import StatementRefused

_MOST_PAIRS = 50_000_000
_LARGEST_WRITTEN = 10**15
"""Python writes no number of thousands of digits."""
_NAMES_SHOWN = 20


@dataclass(frozen=True)
class Joins:
    """Check of the joins of single SELECTs. A table without a row count from a scan counts as one row."""

    schema: Schema | None

    def check(self, select: exp.Select) -> None:
        """Raises `StatementRefused` when unconnected tables would make too many pairs."""
        sources = self._sources(select)
        if len(sources) < 2:
            return
        groups = self._connected(select, sources)
        largest = [max(group, key=lambda name: self._size(sources[name])) for group in groups]
        pairs = prod(self._size(sources[name]) for name in largest)
        if pairs > _MOST_PAIRS:
            shown = sorted(largest)[:_NAMES_SHOWN]
            names = " and ".join([*shown, "others"] if len(largest) > _NAMES_SHOWN else shown)
            count = f"about {pairs:,}" if pairs < _LARGEST_WRITTEN else f"more than {_LARGEST_WRITTEN:,}"
            raise StatementRefused(
                f"Nothing joins {names}: this would make {count} pairs of rows. "
                "Add the condition that joins them.",
                "unconnected-join",
            )

    def _sources(self, select: exp.Select) -> dict[str, Table | None]:
        """Returns the sources after FROM and JOIN by alias: a table of the schema, or None for others."""
        from_ = select.args.get("from_")
        found = [from_.this] if from_ else []
        found += [join.this for join in select.args.get("joins") or () if not _is_joined(join)]
        return {each.alias_or_name.lower(): self._table(each) for each in found}

    def _table(self, source: exp.Expr) -> Table | None:
        if self.schema is None or not isinstance(source, exp.Table):
            return None
        return self.schema.by_name.get(self.schema.names.find(source) or "")

    def _size(self, table: Table | None) -> int:
        return max(table.row_count or 1, 1) if table else 1

    def _connected(self, select: exp.Select, sources: Mapping[str, Table | None]) -> list[list[str]]:
        """Returns the sources in groups. Sources that occur in one condition are in one group."""
        groups = _Groups(sources)
        homes = _homes(sources)
        met: set[str] = set()
        for condition in _conditions(select):
            mentioned: list[str] = []
            for column in condition.find_all(exp.Column):
                if column.table:
                    mentioned += {column.table.lower()} & sources.keys()
                    continue
                # The sources that may have the column. An unknown column connects all sources.
                name = column.name.lower()
                having = homes.get(name) or list(sources)
                mentioned += having[:1] if name in met else having
                met.add(name)
            groups.connect(mentioned)
        return groups.all()


class _Groups:
    """Disjoint groups of names (union-find)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._leader = {name: name for name in names}

    def connect(self, names: Sequence[str]) -> None:
        for each in names[1:]:
            self._leader[self._of(each)] = self._of(names[0])

    def all(self) -> list[list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._leader:
            found[self._of(name)].append(name)
        return list(found.values())

    def _of(self, name: str) -> str:
        while (leader := self._leader[name]) != name:
            self._leader[name] = self._leader[leader]
            name = leader
        return name


def _homes(sources: Mapping[str, Table | None]) -> Mapping[str, list[str]]:
    """Returns the sources that have a column, by its name in lower case."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for alias, table in sources.items():
        for name in {each.name.lower() for each in table.columns} if table else ():
            found[name].append(alias)
    return found


def _is_joined(join: exp.Join) -> bool:
    """True for USING, NATURAL, LATERAL and UNNEST, which need no condition."""
    natural = join.method == "NATURAL" or bool(join.args.get("using"))
    return natural or isinstance(join.this, exp.Lateral | exp.Unnest)


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yields the conjuncts of WHERE and ON."""
    places = [select.args.get("where"), *(join.args.get("on") for join in select.args.get("joins") or ())]
    for place in filter(None, places):
        condition = place.this if isinstance(place, exp.Where) else place
        yield from condition.flatten() if isinstance(condition, exp.And) else (condition,)
