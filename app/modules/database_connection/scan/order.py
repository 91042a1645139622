"""The order in which a scan reads the values of tables."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence

from app.modules.database_connection.schema import Table


class ReadingOrder:
    """Tables that questions need come first, then those whose values no scan has read yet; of both groups
    those that the database reads most.

    `read_before` are names of tables with values of an earlier scan. Any thread may call `want`.
    """

    def __init__(self, read_before: Collection[str] = ()) -> None:
        self._read_before = read_before
        self._wanted: deque[str] = deque()

    def want(self, names: Iterable[str]) -> None:
        """Read these tables next."""
        self._wanted.extend(names)

    def tables(self, tables: Sequence[Table], most_used: Sequence[str]) -> Iterator[Table]:
        """Yields each table once."""
        use = {name: place for place, name in enumerate(most_used)}
        waiting = {table.name: table for table in tables}
        rest = iter(
            sorted(waiting, key=lambda name: (name in self._read_before, use.get(name, len(use)), name))
        )
        while waiting:
            name = self._wanted.popleft() if self._wanted else next(rest)
            if (table := waiting.pop(name, None)) is not None:
                yield table
