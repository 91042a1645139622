"""How many right statements raise a warning: `python -m tests.bench.result_warnings FOLDER...`.

The folders hold `*.jsonl` files of questions (db, question, gold_sql) and their SQLite databases.
"""

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import TableProfile
from app.modules.database_connection.threads import Stop
from app.modules.sql_generation.result_warnings.empty_joins import join_probes
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.warnings import find_warnings, is_empty
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.state import Column, Rows

_MOST_SHOWN = 60


def warnings_of(gold: str, asked: str, path: Path, index: SchemaIndex) -> list[ResultWarning] | None:
    """None when the statement does not run: it was written for another database."""
    with closing(sqlite3.connect(path)) as database:
        try:
            cursor = database.execute(gold)
            columns = [Column(name=each[0], type="text") for each in cursor.description]
            found = [list(row) for row in cursor.fetchmany(10_000)]
        except sqlite3.Error:
            return None
        rows = Rows(columns=columns, rows=found, row_count=len(found), truncated=False)
        warnings = find_warnings(gold, rows, index, asked=asked)
        for probe in join_probes(gold, index) if is_empty(rows) else ():
            if database.execute(probe.sql).fetchone() is None:
                warnings.append(probe.warning)
        return warnings


def _asked(rows: list[dict[str, object]]) -> Iterator[tuple[str, list[str], str]]:
    """Databases, right statements, and all that was asked up to them."""
    said: dict[object, str] = {}
    for row in rows:
        conversation = row.get("conversation_id") or row["id"]
        said[conversation] = f"{said.get(conversation, '')}\n{row['question']}"
        gold = row["gold_sql"]
        golds = [str(each) for each in gold] if isinstance(gold, list) else []
        yield str(row["db"]), golds, said[conversation]


def _index(path: Path) -> SchemaIndex:
    profiles: list[TableProfile] = []
    schema = scan(SqliteDatabase(path.resolve()), ConnectionLimits(), Stop(), tell=profiles.extend)
    return SchemaIndex(ScannedSchema(schema, {each.table.name: each.texts for each in profiles}))


def main() -> None:
    indexes: dict[Path, SchemaIndex] = {}
    counts = Counter[str]()
    shown: list[str] = []
    for folder in map(Path, sys.argv[1:]):
        for questions in sorted(folder.glob("*.jsonl")):
            for db, golds, asked in _asked([json.loads(line) for line in questions.read_text().splitlines()]):
                path = folder / f"{db}.sqlite"
                for gold in golds:
                    index = indexes.get(path) or indexes.setdefault(path, _index(path))
                    warnings = warnings_of(gold, asked, path, index)
                    if warnings is None:
                        continue
                    counts["right statements"] += 1
                    counts["with a warning"] += bool(warnings)
                    counts["worth a repair"] += any(each.worth_repair for each in warnings)
                    line = f"{db}: {asked.splitlines()[-1]}\n  {' '.join(gold.split())}"
                    shown += [f"{line}\n  {each.text}" for each in warnings]
    print("\n".join(shown[:_MOST_SHOWN]))
    print(dict(counts))


if __name__ == "__main__":
    main()
