"""Bodies of the routes of uploaded files."""

from typing import Annotated

from pydantic import ConfigDict, Field

from app.http.routes import Body, Text, VersionedBody
from app.modules.database_connection.schemas import ConnectionBody
from app.modules.database_connection.uploads.model import (
    MAX_COLUMNS,
    MAX_TABLES,
    CellOrder,
    CellType,
    ColumnCorrection,
    TableCorrection,
    UploadedColumn,
    UploadedTable,
)
from graph.described import described

described(UploadedColumn)
described(UploadedTable)


class ColumnCorrectionBody(Body):
    """The right type of a column."""

    name: Annotated[Text, Field(min_length=1, max_length=200)]
    """Name of the column in SQL."""
    type: CellType
    """The right type."""
    written: CellOrder | None = None
    """How the file writes numbers (`point`, `comma`: the decimal sign) or dates (`ymd`, `dmy`, `mdy`: the
    order). If it is left out, numbers have a decimal point and dates begin with the year.
    """

    def to_correction(self) -> ColumnCorrection:
        return ColumnCorrection(name=self.name, type=self.type, written=self.written)


class TableCorrectionBody(Body):
    """Corrections of a table. Types of columns that it does not name are inferred."""

    name: Annotated[Text, Field(min_length=1, max_length=200)]
    """Name of the table in SQL."""
    has_header: bool | None = None
    """The first row holds the names of the columns. Null infers it."""
    columns: Annotated[list[ColumnCorrectionBody], Field(default_factory=list, max_length=MAX_COLUMNS)]
    """Columns with their right types."""

    def to_correction(self) -> TableCorrection:
        columns = [each.to_correction() for each in self.columns]
        return TableCorrection(name=self.name, has_header=self.has_header, columns=columns)


class FileCorrection(Body):
    """Corrections of how a file was read."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tables": [
                        {
                            "name": "sales",
                            "columns": [{"name": "order_date", "type": "date", "written": "dmy"}],
                        }
                    ]
                }
            ]
        }
    )

    tables: Annotated[list[TableCorrectionBody], Field(max_length=MAX_TABLES)]
    """Corrections by table; they replace all earlier ones. Tables that are not named are read as at first."""


class FileBody(VersionedBody):
    """A connection that was made of a file, and how the file was read."""

    connection: ConnectionBody
    """The connection."""
    tables: list[UploadedTable]
    """Tables: one of a CSV or Parquet file, one for each sheet with cells of a workbook."""
    notes: list[str]
    """Sentences on how the file was read, where it could have been read differently."""
