"""An uploaded file: its tables and columns as they were read, and corrections of them.

The importing child and the server exchange these as JSON. The child imports nothing that takes time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FileFormat = Literal["csv", "xlsx", "parquet"]
CellType = Literal["text", "integer", "number", "boolean", "date", "datetime"]
CellOrder = Literal["point", "comma", "ymd", "dmy", "mdy"]
"""How cells are written: numbers with a decimal point or comma; dates by the order of year, month, day."""

MAX_COLUMNS = 1_000
MAX_TABLES = 50
MAX_CELL_CHARACTERS = 1_000_000
MAX_NAME_CHARACTERS = 300
"""Of a header or a sheet's title; the rest is cut off."""


@dataclass(frozen=True, kw_only=True)
class UploadedColumn:
    """A column of a table that was read from a file."""

    name: str
    """Name in SQL."""
    source_name: str
    """Name as the file has it. Empty if it has none."""
    type: str
    """Type of the values: `text`, `integer`, `number`, `boolean`, `date` or `datetime`; of a Parquet file
    also the type as DuckDB names it.
    """
    written: CellOrder | None = None
    """How the file writes numbers (`point`, `comma`) or dates (`ymd`, `dmy`, `mdy`). Null for other types."""
    cells: int
    """Number of cells that are not empty."""
    empty: int
    """Number of empty cells; they are NULL."""
    not_fitting: int
    """Number of cells that do not fit the type and became NULL."""
    not_fitting_samples: Sequence[str]
    """Some of the cells that do not fit."""
    samples: Sequence[str]
    """Some cells as the file has them."""


@dataclass(frozen=True, kw_only=True)
class UploadedTable:
    """A table that was read from a file."""

    name: str
    """Name in SQL."""
    source_name: str
    """Name of the sheet. Of other files, the file's name."""
    has_header: bool
    """The first row holds the names of the columns."""
    row_count: int
    """Number of rows."""
    columns: Sequence[UploadedColumn]
    """Columns, in order."""


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """Everything that was read from a file."""

    tables: Sequence[UploadedTable]
    """Tables: one of a CSV or Parquet file, one for each sheet with cells of a workbook."""
    notes: Sequence[str]
    """Sentences on how the file was read, where it could have been read differently."""


@dataclass(frozen=True, kw_only=True)
class ColumnCorrection:
    """The right type of a column."""

    name: str
    """Name of the column in SQL."""
    type: CellType
    """The right type."""
    written: CellOrder | None = None
    """How the file writes numbers (`point`, `comma`) or dates (`ymd`, `dmy`, `mdy`). If it is left out, a
    number has a decimal point and a date begins with the year.
    """


@dataclass(frozen=True, kw_only=True)
class TableCorrection:
    """Corrections of a table. What is not named is inferred."""

    name: str
    """Name of the table in SQL."""
    has_header: bool | None = None
    """The first row holds the names of the columns. Null infers it."""
    columns: Sequence[ColumnCorrection] = ()
    """Columns with their right types."""


@dataclass(frozen=True, kw_only=True)
class ImportRequest:
    """What the child is to do."""

    source: str
    """Path of the file."""
    target: str
    """Path of the DuckDB database to write."""
    folder: str
    """Folder for intermediate files. No other path is read or written."""
    title: str
    """The file's name without its ending."""
    format: FileFormat
    max_file_bytes: int
    """Largest file that an import may write."""
    max_unpacked_bytes: int
    """Largest sum of the parts of a workbook."""
    memory_bytes: int
    corrections: Sequence[TableCorrection] = ()


@dataclass(frozen=True, kw_only=True)
class ImportResult:
    """The child's answer: a reading, or a sentence that says why the file cannot be read."""

    reading: ImportReport | None = None
    refused: str | None = None
