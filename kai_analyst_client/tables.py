"""Rows of a result, also for pandas, Polars and Arrow, which are imported only where they are used."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kai_analyst_client.schema import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Cell = JsonValue | date | datetime | time | Decimal | bytes


@dataclass(frozen=True)
class Table:
    """All kept rows of a result. Dates and large numbers come as text, and bytes as Base64; `python_columns`
    and data frames have them as Python's own types.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[JsonValue]]
    truncated: bool
    """A limit of KAI has cut the result."""
    cut_by: str | None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Sequence[JsonValue]]:
        return iter(self.rows)

    @property
    def names(self) -> list[str]:
        """Names of the columns; the second of a name gets `_2`."""
        names: list[str] = []
        for column in self.columns:
            number, name = 1, column.name
            while name in names:
                number += 1
                name = f"{column.name}_{number}"
            names.append(name)
        return names

    def python_columns(self) -> dict[str, list[Cell]]:
        """Values by column. One with a value that does not fit its type stays as it came."""
        return {
            name: _python_values(column.type, [row[index] for row in self.rows])
            for index, (name, column) in enumerate(zip(self.names, self.columns, strict=True))
        }

    def to_dicts(self) -> list[dict[str, JsonValue]]:
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas  # noqa: PLC0415

        return pandas.DataFrame(self.python_columns(), columns=self.names)

    def to_polars(self) -> "polars.DataFrame":
        import polars  # noqa: PLC0415

        return polars.DataFrame(
            [polars.Series(name, values, strict=False) for name, values in self._flat_columns().items()]
        )

    def to_arrow(self) -> "pyarrow.Table":
        import pyarrow  # noqa: PLC0415

        def array(values: list[Cell]) -> "pyarrow.Array":
            try:
                return pyarrow.array(values)
            except (pyarrow.ArrowException, OverflowError):
                return pyarrow.array([None if value is None else str(value) for value in values])

        columns = self._flat_columns()
        return pyarrow.Table.from_arrays([array(values) for values in columns.values()], names=[*columns])

    def _flat_columns(self) -> dict[str, list[Cell]]:
        """As `python_columns`, with objects and lists as JSON text."""
        return {
            name: [json.dumps(value) if isinstance(value, dict | list) else value for value in values]
            for name, values in self.python_columns().items()
        }


def _number(value: JsonValue) -> Cell:
    return Decimal(str(value))


def _integer(value: JsonValue) -> Cell:
    return int(str(value))


def _text_as(parse: Callable[[str], Cell]) -> Callable[[JsonValue], Cell]:
    return lambda value: parse(str(value))


_PARSERS: dict[str, Callable[[JsonValue], Cell]] = {
    "integer": _integer,
    "date": _text_as(date.fromisoformat),
    "datetime": _text_as(datetime.fromisoformat),
    "time": _text_as(time.fromisoformat),
    "binary": _text_as(b64decode),
}


def _python_values(kind: str, values: list[JsonValue]) -> list[Cell]:
    parse = _PARSERS.get(kind)
    if kind == "number" and any(isinstance(value, str) for value in values):
        parse = _number
    if parse is None:
        return list(values)
    try:
        return [None if value is None else parse(value) for value in values]
    except (ValueError, ArithmeticError):
        return list(values)
