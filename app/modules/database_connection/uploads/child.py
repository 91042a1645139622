"""Child process that turns an uploaded file into a DuckDB database; `importing.py` starts it.

It reads a request from standard input and writes the result to standard output, as JSON. Its memory and the
files it writes are limited, and DuckDB reaches no file outside of its folder.
"""

# ruff: noqa: S608 - names are quoted, and the database is the uploader's own

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

from app.modules.database_connection.uploads import types
from app.modules.database_connection.uploads.cells import TextTable, Unreadable
from app.modules.database_connection.uploads.delimited import read_delimited
from app.modules.database_connection.uploads.model import (
    MAX_COLUMNS,
    MAX_NAME_CHARACTERS,
    CellOrder,
    ColumnCorrection,
    ImportReport,
    ImportRequest,
    ImportResult,
    TableCorrection,
    UploadedColumn,
    UploadedTable,
)
from app.modules.database_connection.uploads.names import column_names, table_names

_COLUMNS_AT_ONCE = 20
_NICENESS = 10
"""Answers go first: a file may take all of a processor for a minute."""
_SAMPLES = 5
_SAMPLE_ROWS = 200
_SAMPLE_CHARACTERS = 100
_TOO_MUCH = "The file needs more memory or disk than an upload may have. Upload a smaller part of it."


def main() -> None:
    request = _request(sys.stdin.read())
    os.nice(_NICENESS)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead
    for bound, most in (
        (resource.RLIMIT_DATA, request.memory_bytes),
        (resource.RLIMIT_FSIZE, request.max_file_bytes),
    ):
        resource.setrlimit(bound, (most, most))
    json.dump(asdict(result_of(request)), sys.stdout)


def _request(text: str) -> ImportRequest:
    """Returns what `importing.py` has written."""
    read = json.loads(text)
    corrections = [
        TableCorrection(
            name=each["name"],
            has_header=each["has_header"],
            columns=[ColumnCorrection(**column) for column in each["columns"]],
        )
        for each in read.pop("corrections")
    ]
    return ImportRequest(**read, corrections=corrections)


def result_of(request: ImportRequest) -> ImportResult:
    try:
        return ImportResult(reading=_import(request))
    except Unreadable as error:
        return ImportResult(refused=str(error))
    except (MemoryError, OSError, duckdb.OutOfMemoryException, duckdb.IOException):
        return ImportResult(refused=_TOO_MUCH)
    except duckdb.Error:
        return ImportResult(refused="The file's rows cannot be read as a table.")


def _import(request: ImportRequest) -> ImportReport:
    source, folder = Path(request.source), Path(request.folder)
    corrections = {each.name: each for each in request.corrections}
    if request.format == "parquet":
        with _database(request) as connection:
            return _import_parquet(connection, source, request.title, corrections=corrections)
    texts = _text_tables(request, source, folder, corrections=corrections)
    with _database(request) as connection:
        names = table_names([table.title for table in texts])
        tables: list[UploadedTable] = []
        notes: list[str] = []
        for text, name in zip(texts, names, strict=True):
            table, found = _import_text(connection, text, name, correction=corrections.get(name))
            tables.append(table)
            notes += [*text.notes, *found]
            text.path.unlink()
    return ImportReport(tables=tables, notes=notes)


def _text_tables(
    request: ImportRequest, source: Path, folder: Path, *, corrections: Mapping[str, TableCorrection]
) -> list[TextTable]:
    headers = {name: each.has_header for name, each in corrections.items() if each.has_header is not None}
    if request.format == "csv":
        (name,) = table_names([request.title])
        return [read_delimited(source, folder / "0.csv", request.title, has_header=headers.get(name))]
    from app.modules.database_connection.uploads.workbook import read_workbook  # noqa: PLC0415 - slow to load

    return read_workbook(source, folder, request.title, max_bytes=request.max_unpacked_bytes, headers=headers)


@contextmanager
def _database(request: ImportRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    """Opens the database for raw text, with the new one attached as `target`."""
    connection = duckdb.connect(str(Path(request.folder) / "raw.duckdb"))
    for setting in (
        f"temp_directory = {_text(request.folder + '/spilled')}",
        f"allowed_directories = [{_text(request.folder)}]",
        "enable_external_access = false",
        f"memory_limit = '{request.memory_bytes // 2}B'",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "python_enable_replacements = false",
        "threads = 2",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    connection.execute(f"ATTACH {_text(request.target)} AS target")
    try:
        yield connection
        connection.execute("DETACH target")
    finally:
        connection.close()


def _import_text(
    connection: duckdb.DuckDBPyConnection, text: TextTable, name: str, *, correction: TableCorrection | None
) -> tuple[UploadedTable, list[str]]:
    raw = [f"c{number}" for number in range(len(text.headers))]
    declared = ", ".join(f"{_text(column)}: 'VARCHAR'" for column in raw)
    connection.execute(
        f"CREATE OR REPLACE TABLE raw AS FROM read_csv({_text(str(text.path))}, header = false, "
        f"auto_detect = false, columns = {{{declared}}}, delim = ',', quote = '\"', escape = '\"', "
        "new_line = '\\n', max_line_size = 40000000, strict_mode = true)"
    )
    return _typed(connection, raw, text, name=name, correction=correction)


def _typed(
    connection: duckdb.DuckDBPyConnection,
    raw: Sequence[str],
    text: TextTable,
    *,
    name: str,
    correction: TableCorrection | None,
) -> tuple[UploadedTable, list[str]]:
    """Create the table in `target` from the text columns of `raw`."""
    names = column_names(text.headers)
    wanted = _corrections_of(correction, names)
    counts = [
        types.read_counts(values)
        for first in range(0, len(raw), _COLUMNS_AT_ONCE)
        for values in _counts(connection, raw[first : first + _COLUMNS_AT_ONCE])
    ]
    notes: list[str] = []
    casts: list[str] = []
    found: list[types.FoundType] = []
    for column, sql_name, each in zip(raw, names, counts, strict=True):
        asked = wanted.get(sql_name)
        kind = _asked_type(asked) if asked else types.find_type(each, text.prefers_comma)
        if kind.doubt:
            notes.append(f"{name}.{sql_name}: the cells {kind.doubt}.")
        found.append(kind)
        target = types.number_type(each, kind.written) if kind.type == "number" else None
        value = column if kind.type == "text" else f"trim({column})"
        casts.append(types.cast_sql(value, kind.type, kind.written, target=target))
    columns = [
        _Column(column, sql_name, header, kind.type, kind.written, cast)
        for column, sql_name, header, kind, cast in zip(raw, names, text.headers, found, casts, strict=True)
    ]
    return _create(connection, name, text.title, columns=columns, has_header=text.has_header), notes


@dataclass(frozen=True)
class _Column:
    """A column of `raw`, and how it becomes one of `target`. `type` is `CellType`, or DuckDB's own."""

    raw: str
    name: str
    source_name: str
    type: str
    written: CellOrder | None
    cast: str


def _create(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    title: str,
    *,
    columns: Sequence[_Column],
    has_header: bool,
) -> UploadedTable:
    """Create the table in `target`, and count the cells that were lost."""
    selected = ", ".join(f"{each.cast} AS {_name(each.name)}" for each in columns)
    connection.execute(f"CREATE TABLE target.main.{_name(name)} AS SELECT {selected} FROM raw")
    asked = ", ".join(f"count({each.raw}), count({_name(each.name)})" for each in columns)
    joined = f"FROM (SELECT {', '.join(each.raw for each in columns)}, {selected} FROM raw)"
    rows, *counts = connection.execute(f"SELECT count(*), {asked} {joined}").fetchone() or (0,)
    samples = _samples(connection, [each.raw for each in columns])
    made = [
        UploadedColumn(
            name=each.name,
            source_name=each.source_name,
            type=each.type,
            written=each.written,
            cells=cells,
            empty=rows - cells,
            not_fitting=cells - kept,
            not_fitting_samples=_lost(connection, each) if cells > kept else [],
            samples=sample,
        )
        for each, cells, kept, sample in zip(columns, counts[::2], counts[1::2], samples, strict=True)
    ]
    _comment(connection, name, made)
    return UploadedTable(name=name, source_name=title, has_header=has_header, row_count=rows, columns=made)


def _corrections_of(
    correction: TableCorrection | None, names: Sequence[str]
) -> Mapping[str, ColumnCorrection]:
    """Corrections that name no column of the file are refused: they would be lost without a word."""
    wanted = {each.name: each for each in correction.columns} if correction else {}
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise Unreadable(f"The table has no column {unknown[0]}.")
    return wanted


def _asked_type(asked: ColumnCorrection) -> types.FoundType:
    match asked.type:
        case "text" | "boolean":
            return types.FoundType(asked.type, None)
        case "integer" | "number":
            return types.FoundType(asked.type, "comma" if asked.written == "comma" else "point")
    return types.FoundType(asked.type, asked.written if asked.written in ("dmy", "mdy") else "ymd")


def _counts(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> list[list[int]]:
    asked = ", ".join(sql for column in columns for sql in types.counts_sql(column))
    row = connection.execute(f"SELECT {asked} FROM raw").fetchone() or ()
    size = len(row) // len(columns)
    return [list(row[first : first + size]) for first in range(0, len(row), size)]


def _samples(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> list[list[str]]:
    """The first distinct cells of each column."""
    cut = ", ".join(f"left({each}::VARCHAR, {_SAMPLE_CHARACTERS})" for each in columns)
    rows = connection.execute(f"SELECT {cut} FROM raw LIMIT {_SAMPLE_ROWS}").fetchall()
    return [
        [str(cell) for cell in dict.fromkeys(row[number] for row in rows) if cell is not None][:_SAMPLES]
        for number in range(len(columns))
    ]


def _lost(connection: duckdb.DuckDBPyConnection, column: _Column) -> list[str]:
    """Some cells that do not fit the type."""
    found = connection.execute(
        f"SELECT DISTINCT {column.raw}::VARCHAR FROM raw WHERE {column.raw} IS NOT NULL "
        f"AND ({column.cast}) IS NULL ORDER BY 1 LIMIT {_SAMPLES}"
    ).fetchall()
    return [str(cell)[:_SAMPLE_CHARACTERS] for (cell,) in found]


def _comment(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[UploadedColumn]) -> None:
    """The scan reads comments as descriptions, so users and models see other names and lost cells."""
    for column in columns:
        said: list[str] = []
        if column.source_name not in ("", column.name):
            said.append(column.source_name[:_SAMPLE_CHARACTERS])
        if column.not_fitting:
            said.append(f"{column.not_fitting} of {column.cells} cells did not fit and are NULL")
        if said:
            commented = f"target.main.{_name(table)}.{_name(column.name)}"
            connection.execute(f"COMMENT ON COLUMN {commented} IS {_text('; '.join(said))}")


def _import_parquet(
    connection: duckdb.DuckDBPyConnection,
    source: Path,
    title: str,
    *,
    corrections: Mapping[str, TableCorrection],
) -> ImportReport:
    file = f"read_parquet({_text(str(source))})"
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {file}").fetchall()
        if len(described) > MAX_COLUMNS:
            raise Unreadable(
                f"The file has {len(described):,} columns; KAI reads up to {MAX_COLUMNS:,}. Leave some out."
            )
        headers = [str(each[0])[:MAX_NAME_CHARACTERS] for each in described]
        raw = [f"c{number}" for number in range(len(headers))]
        connection.execute(f"CREATE TABLE raw AS FROM {file} AS cells({', '.join(raw)})")
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.NotImplementedException):
        raise Unreadable("The Parquet file is damaged, or of a kind that DuckDB cannot read.") from None
    (name,) = table_names([title])
    names = column_names(headers)
    wanted = _corrections_of(corrections.get(name), names)
    columns: list[_Column] = []
    for column, sql_name, header, (_, native, *_) in zip(raw, names, headers, described, strict=True):
        asked = wanted.get(sql_name)
        if asked is None:
            columns.append(_Column(column, sql_name, header, str(native), None, column))
            continue
        kind = _asked_type(asked)
        cast = types.cast_sql(f"trim({column}::VARCHAR)", kind.type, kind.written)
        columns.append(_Column(column, sql_name, header, kind.type, kind.written, cast))
    return ImportReport(tables=[_create(connection, name, title, columns=columns, has_header=True)], notes=[])


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    main()
