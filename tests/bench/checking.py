"""What the check of names costs, passes and catches: `python -m tests.bench.checking FOLDER...`.

Of every right statement about the folders' SQLite databases, one that is wrong is made for each name
in it: a column or a table that is not there.
"""

import json
import sqlite3
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import sqlglot
from sqlglot import exp

from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.threads import Stop
from app.modules.sql_generation.checking.check import Checked, check
from app.modules.sql_generation.checking.names import SchemaNames


class Bench:
    """Counts over all statements of some folders."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self.right = self.accused = self.changed = 0
        self.wrong = {"column": 0, "table": 0}
        self.caught = {"column": 0, "table": 0}

    def measure(self, folder: Path) -> None:
        for questions in sorted(folder.glob("*.jsonl")):
            for line in questions.read_text().splitlines():
                row = json.loads(line)
                path = folder / f"{row['db']}.sqlite"
                for gold in row["gold_sql"]:
                    self._statement(gold, path)

    def _statement(self, gold: str, path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            try:
                rows = database.execute(gold).fetchall()
            except sqlite3.Error:
                return  # written for another database
            names = _names(path)
            checked = self._timed(gold, names)
            self.right += 1
            self.accused += bool(checked.faults)
            self.changed += not checked.faults and database.execute(checked.sql).fetchall() != rows
        for kind, sql in _wrong(gold):
            self.wrong[kind] += 1
            self.caught[kind] += bool(self._timed(sql, names).faults)

    def _timed(self, sql: str, names: SchemaNames) -> Checked:
        begun = time.perf_counter()
        checked = check(sql, names)
        self.milliseconds.append((time.perf_counter() - begun) * 1_000)
        return checked


_known: dict[Path, SchemaNames] = {}


def _names(path: Path) -> SchemaNames:
    if path not in _known:
        _known[path] = SchemaNames(scan(SqliteDatabase(path.resolve()), ConnectionLimits(), Stop()))
    return _known[path]


def _wrong(gold: str) -> Iterator[tuple[str, str]]:
    tree = sqlglot.parse_one(gold, dialect="sqlite")
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    for kind, nodes in (
        ("column", list(tree.find_all(exp.Column))),
        ("table", list(tree.find_all(exp.Table))),
    ):
        for node in nodes:
            name = node.this
            if isinstance(name, exp.Identifier) and not name.quoted and name.name not in own:
                start, end = name.meta["start"], name.meta["end"] + 1
                yield kind, f"{gold[:start]}no_such_{name.name}{gold[end:]}"


def main() -> None:
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    bench = Bench()
    for folder in sys.argv[1:]:
        bench.measure(Path(folder))
    print(f"{bench.right} right statements: {bench.accused} accused, {bench.changed} changed in meaning")
    for kind, count in bench.wrong.items():
        print(f"{count} with a {kind} that is not there: {bench.caught[kind]} caught")
    cuts = statistics.quantiles(bench.milliseconds, n=100)
    print(f"{cuts[49]:.1f} ms a statement in the middle, {cuts[98]:.1f} ms for the slowest in a hundred")


if __name__ == "__main__":
    main()
