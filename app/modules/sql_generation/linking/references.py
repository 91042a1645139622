"""The foreign keys of a schema as a graph: which tables are beside a table, and which lie between two."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from app.modules.database_connection.schema import Table

_LONGEST_PATH = 4


class References:
    """Read-only; a reference joins both ways."""

    def __init__(self, tables: Sequence[Table]) -> None:
        names = {table.name for table in tables}
        self._beside: defaultdict[str, set[str]] = defaultdict(set)
        for table in tables:
            for key in table.foreign_keys:
                if key.referred_table in names and key.referred_table != table.name:
                    self._beside[table.name].add(key.referred_table)
                    self._beside[key.referred_table].add(table.name)

    def neighbours(self, names: Iterable[str]) -> list[str]:
        """Tables one reference away, in the order of those they are beside."""
        return list(dict.fromkeys(each for name in names for each in sorted(self._beside.get(name, ()))))

    def between(self, names: Sequence[str]) -> list[str]:
        """Tables on a shortest way from each table to the nearest of those before it."""
        found: dict[str, None] = {}
        for position, name in enumerate(names[1:], start=1):
            found |= dict.fromkeys(self._path(name, set(names[:position])))
        return [name for name in found if name not in set(names)]

    def _path(self, start: str, ends: set[str]) -> list[str]:
        """The tables between, of at most four joins; none when there is no such way."""
        ways: deque[list[str]] = deque([[start]])
        seen = {start}
        while ways:
            way = ways.popleft()
            if way[-1] in ends:
                return way[1:-1]
            if len(way) <= _LONGEST_PATH:
                for beside in sorted(self._beside.get(way[-1], set()) - seen):
                    seen.add(beside)
                    ways.append([*way, beside])
        return []
