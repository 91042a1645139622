"""The foreign keys of a schema as a graph: which tables a table can be joined to, and over which others."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from app.modules.database_connection.schema import ForeignKey, Table, TableColumn

_LONGEST_WAY = 4
"""Joins between two tables that are shown for each other's sake."""
_MOST_PATHS = 1000
_GENERIC = frozenset({"id", "key", "code", "name", "no", "nr", "number", "title", "type", "date", "year"})
"""Names of key columns that say nothing of the table."""
_NONE_INFERRED: Mapping[str, Sequence[ForeignKey]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Hop:
    """A join along a foreign key, seen from one of its two tables.

    `refers`: the left table has the foreign key. `fans_out`: one row of the left table may meet several of
    the right one. `inferred`: the schema does not declare the key.
    """

    left: str
    left_columns: tuple[str, ...]
    right: str
    right_columns: tuple[str, ...]
    refers: bool
    fans_out: bool
    inferred: bool = False

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The columns that the join makes equal, the left table's first."""
        return list(zip(self.left_columns, self.right_columns, strict=True))

    @property
    def key_column(self) -> tuple[str, str]:
        """The first column of the foreign key, with its table."""
        return (self.left, self.left_columns[0]) if self.refers else (self.right, self.right_columns[0])


Path = tuple[Hop, ...]


class ForeignKeyGraph:
    """Read-only; a foreign key is followed both ways. One that refers outside of the schema is left out."""

    @classmethod
    def inferring(cls, tables: Sequence[Table]) -> "ForeignKeyGraph":
        """Build the graph. Keys are inferred from equal names if the schema declares none."""
        return cls(tables, inferred_keys(tables))

    def __init__(
        self, tables: Sequence[Table], inferred: Mapping[str, Sequence[ForeignKey]] = _NONE_INFERRED
    ) -> None:
        self._hops: dict[str, list[Hop]] = {table.name: [] for table in tables}
        self._paths: dict[tuple[str, str], list[Path]] = {}
        for table in tables:
            for key in table.foreign_keys:
                if key.columns and key.referred_table in self._hops:
                    self._add(table, key, inferred=False)
            for key in inferred.get(table.name, ()):
                self._add(table, key, inferred=True)

    def _add(self, table: Table, key: ForeignKey, *, inferred: bool) -> None:
        here = tuple(key.columns)
        there = tuple(key.referred_columns)
        primary = {column.name for column in table.columns if column.primary_key}
        repeats = not primary or not primary <= set(here)
        self._hops[table.name].append(
            Hop(
                left=table.name,
                left_columns=here,
                right=key.referred_table,
                right_columns=there,
                refers=True,
                fans_out=False,
                inferred=inferred,
            )
        )
        self._hops[key.referred_table].append(
            Hop(
                left=key.referred_table,
                left_columns=there,
                right=table.name,
                right_columns=here,
                refers=False,
                fans_out=repeats,
                inferred=inferred,
            )
        )

    def hops(self, table: str) -> Sequence[Hop]:
        """All joins from a table, also those to itself; none from an unknown one."""
        return self._hops.get(table, ())

    def key_columns(self, table: str) -> set[str]:
        """All columns of a table's foreign keys."""
        return {name for hop in self.hops(table) if hop.refers for name in hop.left_columns}

    def hops_between(self, one: str, other: str) -> list[Hop]:
        """The joins from one table right to another; of a table to itself each key both ways."""
        return [hop for hop in self.hops(one) if hop.right == other]

    def neighbours(self, names: Iterable[str]) -> list[str]:
        """Tables one join away, in the order of those they are beside."""
        return list(dict.fromkeys(each for name in names for each in self._beside(name)))

    def between(self, names: Sequence[str]) -> list[str]:
        """Tables on a shortest way from each table to the nearest of those before it; none of longer ways."""
        found: dict[str, None] = {}
        for position, name in enumerate(names[1:], start=1):
            ways = ([hop.right for hop in path] for path in self._search(name, set(names[:position])))
            nearest = min(ways, default=[])
            if len(nearest) <= _LONGEST_WAY:
                found |= dict.fromkeys(nearest[:-1])
        return [name for name in found if name not in set(names)]

    def shortest(self, start: str, end: str) -> list[Path]:
        """All ways between two tables that take the fewest joins."""
        if (start, end) not in self._paths:
            self._paths[start, end] = list(self._search(start, {end}))
        return self._paths[start, end]

    def _beside(self, table: str) -> list[str]:
        return sorted({hop.right for hop in self.hops(table)} - {table})

    def _search(self, start: str, ends: Collection[str]) -> Iterator[Path]:
        """The shortest ways to the nearest of some tables."""
        frontier: list[tuple[str, Path]] = [(start, ())]
        seen = {start}
        while frontier and not any(name in ends for name, _ in frontier):
            frontier = [
                (hop.right, (*path, hop))
                for name, path in frontier
                for hop in self.hops(name)
                if hop.right not in seen
            ][:_MOST_PATHS]
            seen.update(name for name, _ in frontier)
        yield from (path for name, path in frontier if name in ends)


def inferred_keys(tables: Sequence[Table]) -> Mapping[str, Sequence[ForeignKey]]:
    """Returns inferred foreign keys by table. Empty if the schema declares any foreign key.

    A column refers to another table if it has the name and type of its single primary key, and of no other
    table's: `writes.aid` refers to `author.aid`.
    """
    if any(table.foreign_keys for table in tables):
        return _NONE_INFERRED
    keys: defaultdict[str, list[tuple[Table, TableColumn]]] = defaultdict(list)
    for table in tables:
        primary = [column for column in table.columns if column.primary_key]
        if len(primary) == 1 and primary[0].name.casefold() not in _GENERIC:
            keys[primary[0].name.casefold()].append((table, primary[0]))
    found: dict[str, list[ForeignKey]] = {}
    for table in tables:
        for column in table.columns:
            referred = keys.get(column.name.casefold(), [])
            if len(referred) == 1 and referred[0][0] is not table and referred[0][1].type == column.type:
                [(other, key)] = referred
                found.setdefault(table.name, []).append(ForeignKey([column.name], other.name, [key.name]))
    return found
