"""What each kind of correction makes of recorded statements of models.

`python -m tests.bench.corrections [--duckdb] QUESTIONS DATABASES RECORDED...`: a question set of `kai eval`,
the folder of its SQLite databases, and files of one JSON object a line with `id` (of the question) and `sql`
(what the model wrote), such as the results of `kai eval --baseline plain`. With `--duckdb` the statements are
those of a DuckDB database with the same rows, which refuses an incomplete GROUP BY; golds run on SQLite.

Of equal statements one counts. It counts for the kind of its corrections, or as `several` if they are of
more than one. One whose rows are the same with and without its corrections counts as without effect.
Precision is the share of right rows among the others that run. Right is what holds the columns of a gold,
with or without others.
"""

import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

import duckdb
from pydantic import BaseModel, JsonValue

from app.evaluation.gold import Gold, ordering_of, tiers
from app.evaluation.question_set import BenchmarkQuestion, QuestionSelection, Split, read_question_set
from app.evaluation.verdict import judge
from app.modules.database_connection.cells import rows_of
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.results import ResultColumn, ResultSet
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Table
from app.modules.database_connection.threads import Stop
from app.modules.sql_generation.checking.correct import correct
from app.modules.sql_generation.checking.names import SchemaNames

Effect = Literal["without effect", "right", "wrong", "error", "wrong, no longer an error", "no longer right"]
"""The last two are among the wrong ones."""

_TYPES = {"integer": "BIGINT", "number": "DOUBLE"}
_MOST_ROWS = 10_000
_MOST_STEPS = 20_000
"""Of a thousand instructions of SQLite each: a statement without a join condition ends."""


class _Recorded(BaseModel):
    """A line of a file. The first line of a results file has no id."""

    id: str | None = None
    sql: str | None = None


class _Database:
    """A database of the set, and what its statements return."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self.schema = scan(SqliteDatabase(self._path), ConnectionLimits(), Stop())
        self.names = SchemaNames(self.schema)
        self._known: dict[str, ResultSet | None] = {}
        self._golds: dict[str, list[Gold]] = {}

    def result(self, sql: str) -> ResultSet | None:
        """Returns the first rows of a gold statement. None if it does not run."""
        if sql not in self._known:
            self._known[sql] = self._run(sql)
        return self._known[sql]

    def ran(self, sql: str) -> ResultSet | None:
        """Returns the first rows of a model's statement. None if it does not run."""
        return self.result(sql)

    def rows(self, table: Table) -> list[list[JsonValue]]:
        columns = ", ".join(f'"{each.name}"' for each in table.columns)
        found = self._run(f'SELECT {columns} FROM "{table.name}"')
        return [] if found is None else found.rows

    def golds(self, question: BenchmarkQuestion) -> list[Gold]:
        if question.id not in self._golds:
            self._golds[question.id] = [each for sql in question.gold_sql for each in self._gold(sql)]
        return self._golds[question.id]

    def _gold(self, sql: str) -> Iterator[Gold]:
        if (result := self.result(sql)) is None:
            return
        ordering = ordering_of(sql, "sqlite", [column.name for column in result.columns])
        keyed = self.result(ordering.keyed_sql) if ordering and ordering.keyed_sql else None
        rows = rows_of(result)
        if ordering is None:
            yield Gold(sql, result)
        elif keyed is None:
            yield Gold(sql, result, [[row] for row in rows])
        else:
            yield Gold(sql, result, tiers(rows_of(keyed), ordering, len(rows), width=len(result.columns)))

    def _run(self, sql: str) -> ResultSet | None:
        steps = 0

        def is_over() -> bool:
            nonlocal steps
            steps += 1
            return steps > _MOST_STEPS

        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as database:
            database.text_factory = lambda stored: stored.decode(errors="replace")
            database.set_progress_handler(is_over, 1_000)
            try:
                cursor = database.execute(sql)
                columns = tuple(ResultColumn(each[0], "text") for each in cursor.description or ())
                rows = [list(row) for row in cursor.fetchmany(_MOST_ROWS)]
            except (sqlite3.Error, sqlite3.Warning):
                return None
        return ResultSet(columns=columns, rows=rows, truncated=False) if columns else None


class _DuckDb(_Database):
    """The same rows in DuckDB; a cell that does not fit its column's type is NULL."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.names = SchemaNames(replace(self.schema, dialect="duckdb"))
        self._known_there: dict[str, ResultSet | None] = {}
        self._there = duckdb.connect()
        for table in self.schema.tables:
            types = [_TYPES.get(each.type, "VARCHAR") for each in table.columns]
            pairs = zip(table.columns, types, strict=True)
            columns = ", ".join(f'"{column.name}" {kind}' for column, kind in pairs)
            self._there.execute(f'CREATE TABLE "{table.name}" ({columns})')
            cells = ", ".join(f"TRY_CAST(CAST(? AS VARCHAR) AS {kind})" for kind in types)
            for row in self.rows(table):
                self._there.execute(f'INSERT INTO "{table.name}" VALUES ({cells})', row)

    def ran(self, sql: str) -> ResultSet | None:
        if sql not in self._known_there:
            self._known_there[sql] = self._run_there(sql)
        return self._known_there[sql]

    def _run_there(self, sql: str) -> ResultSet | None:
        try:
            cursor = self._there.execute(sql)
            columns = tuple(ResultColumn(each[0], "text") for each in cursor.description or ())
            rows = [[_plain(cell) for cell in row] for row in cursor.fetchmany(_MOST_ROWS)]
        except duckdb.Error:
            return None
        return ResultSet(columns=columns, rows=rows, truncated=False)


def _plain(cell: object) -> JsonValue:
    if isinstance(cell, Decimal):
        return float(cell)
    return cell if isinstance(cell, int | float | str) or cell is None else str(cell)


class Bench:
    """Counts effects by half of the set and kind of correction."""

    def __init__(self, questions: Path, folder: Path, open_database: type[_Database]) -> None:
        self._open_database = open_database
        conversations = read_question_set(questions).conversations
        self._folder = folder
        self._questions: dict[str, tuple[Split, BenchmarkQuestion]] = {
            question.id: (half, question)
            for half in get_args(Split)
            for conversation in QuestionSelection(split=half).of(conversations)
            for question in conversation
        }
        self._databases: dict[str, _Database] = {}
        self._read: set[tuple[str, str]] = set()
        self.statements: Counter[Split] = Counter()
        self.effects: defaultdict[tuple[Split, str], Counter[Effect]] = defaultdict(Counter)

    def measure(self, recorded: Path) -> None:
        for line in recorded.read_text(encoding="utf-8").splitlines():
            written = _Recorded.model_validate_json(line)
            if written.id is None or written.sql is None or (written.id, written.sql) in self._read:
                continue
            self._read.add((written.id, written.sql))
            half, question = self._questions[written.id]
            self.statements[half] += 1
            self._count(written.sql, half, question)

    def _count(self, sql: str, half: Split, question: BenchmarkQuestion) -> None:
        database = self._database(question.db or "")
        corrected = correct(sql, database.names)
        golds = database.golds(question)
        if not corrected.corrections or not golds:
            return
        effects = _effects(database.ran(sql), database.ran(corrected.sql), golds)
        kinds = {each.kind for each in corrected.corrections}
        self.effects[half, kinds.pop() if len(kinds) == 1 else "several"].update(effects)

    def _database(self, name: str) -> _Database:
        if name not in self._databases:
            self._databases[name] = self._open_database(self._folder / f"{name}.sqlite")
        return self._databases[name]


def _effects(before: ResultSet | None, after: ResultSet | None, golds: Sequence[Gold]) -> Iterator[Effect]:
    if after is None:
        yield "error"
    elif before is not None and before.rows == after.rows:
        yield "without effect"
    elif _is_right(after, golds):
        yield "right"
    else:
        yield "wrong"
        if before is None:
            yield "wrong, no longer an error"
        elif _is_right(before, golds):
            yield "no longer right"


def _is_right(result: ResultSet, golds: Sequence[Gold]) -> bool:
    return judge(result, golds).kind in ("correct", "extra_columns")


def main() -> None:
    given = [each for each in sys.argv[1:] if each != "--duckdb"]
    if len(given) < 3:
        sys.exit(__doc__)
    questions, folder, *recorded = map(Path, given)
    bench = Bench(questions, folder, _Database if given == sys.argv[1:] else _DuckDb)
    for each in recorded:
        bench.measure(each)
    for half in get_args(Split):
        print(f"{half}: {bench.statements[half]:,} statements")
        print("| kind | made | without effect | right | wrong | error before | right before | precision |")
        print("|---|---|---|---|---|---|---|---|")
        for (of, kind), counts in sorted(bench.effects.items()):
            if of == half:
                print(_row(kind, counts))


def _row(kind: str, counts: Counter[Effect]) -> str:
    ran = counts["right"] + counts["wrong"]
    made = ran + counts["without effect"] + counts["error"]
    precision = f"{100 * counts['right'] / ran:.0f} %" if ran else ""
    cells = [
        kind,
        *map(
            str,
            (
                made,
                counts["without effect"],
                counts["right"],
                counts["wrong"],
                counts["wrong, no longer an error"],
                counts["no longer right"],
            ),
        ),
        precision,
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
