"""Database connections on the wire; a URL comes in and never goes out."""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    StringConstraints,
)

from app.http.routes import Body, Text, Time, storable
from app.modules.database_connection.scan.progress import ScanState
from app.modules.database_connection.schema import ColumnType, ForeignKey, TableColumn

Description = Annotated[Text, Field(max_length=2_000)]


def _storable(secret: SecretStr) -> SecretStr:
    storable(secret.get_secret_value())
    return secret


class NewConnection(Body):
    """A database to ask about; it is tried before it is kept."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "postgresql://analyst:secret@db.example.com:5432/shop", "name": "Shop"}]
        }
    )

    url: Annotated[SecretStr, Field(min_length=1, max_length=2_000), AfterValidator(_storable)]
    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
    ]
    description: Description = ""
    shared: bool = False


class ConnectionChange(Body):
    """Whether everybody may see and ask it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"shared": True}]})

    shared: bool


class TableChange(Body):
    """What people should know of a table; also told to the model."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"description": "One row a shipped order"}]})

    description: Description


class NewStatement(Body):
    """A statement to look at."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM orders"}]})

    sql: Annotated[Text, Field(min_length=1, max_length=64 * 1024)]


class TableReadBody(BaseModel):
    """A table that a statement reads, and which of its columns as far as they can be told."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    columns: list[str]


class InspectedStatementBody(BaseModel):
    """A statement that the guard would run; `sql` is the same statement, laid out for reading."""

    model_config = ConfigDict(from_attributes=True)

    sql: str
    tables: list[TableReadBody]


class ResultColumnBody(BaseModel):
    """A column of rows."""

    name: str
    type: ColumnType


class SampleBody(BaseModel):
    """The first rows of a table; `truncated`: it has more, or values are cut."""

    columns: list[ResultColumnBody]
    rows: list[list[JsonValue]]
    truncated: bool


class ConnectionBody(BaseModel):
    """A database connection; `masked_url` holds no secret.

    `warnings`: what the account may do beyond reading, with the cure, and that there are no tables; empty
    if there is nothing to warn of.
    """

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    description: str
    dialect: str
    masked_url: str
    created_at: Time
    scanned_at: Time | None
    table_count: int | None
    warnings: list[str]
    owner: str
    shared: bool


class ScanBody(BaseModel):
    """How far the latest scan is; `tables_total` is null until all tables are known."""

    model_config = ConfigDict(from_attributes=True)

    state: ScanState
    started_at: Time | None
    updated_at: Time | None
    tables_total: int | None
    tables_done: int
    error: str | None


class TableBody(BaseModel):
    """A table as it was scanned."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    kind: Literal["table", "view"]
    description: str
    row_count: int | None
    columns: list[TableColumn]
    foreign_keys: list[ForeignKey]
