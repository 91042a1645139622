"""Rows as files: CSV streamed a chunk at a time, Parquet by pyarrow where it is installed."""

import csv
import io
import json
from collections.abc import AsyncGenerator, AsyncIterable, Sequence

from pydantic import JsonValue

from app.modules.session.errors import FormatUnavailable
from app.modules.session.rows import Row
from graph.state import Column

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\x00")


async def csv_file(columns: Sequence[Column], chunks: AsyncIterable[Sequence[Row]]) -> AsyncGenerator[str]:
    """RFC 4180 with a header. Text that a spreadsheet would run as a formula gets an apostrophe before it."""
    yield _csv_lines([[column["name"] for column in columns]])
    async for rows in chunks:
        yield _csv_lines(rows)


async def parquet_file(columns: Sequence[Column], chunks: AsyncIterable[Sequence[Row]]) -> bytes:
    """Whole in memory: results are bounded. Raises `FormatUnavailable` without the `parquet` extra."""
    try:
        import pyarrow  # noqa: PLC0415 - an extra, and slow to load
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise FormatUnavailable from error
    rows = [row async for chunk in chunks for row in chunk]
    arrays = [_arrow_values(index, rows) for index in range(len(columns))]
    table = pyarrow.table(
        {column["name"]: pyarrow.array(values) for column, values in zip(columns, arrays, strict=True)}
    )
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def _csv_lines(rows: Sequence[Sequence[JsonValue]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: JsonValue) -> str | int | float | None:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
        case int() | float() | None:
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)


def _arrow_values(index: int, rows: Sequence[Row]) -> list[JsonValue]:
    """The values of a column; one that mixes types becomes text, for Parquet columns have one type."""
    values = [row[index] for row in rows]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and not kinds & {list, dict}):
        return [
            float(value) if kinds == {int, float} and isinstance(value, int) else value for value in values
        ]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
