"""Bodies of the connection routes. A URL is received, but never returned."""

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.core.settings import MAX_STATEMENT_CHARACTERS
from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody, not_null, storable
from app.modules.database_connection.connection_steps import ConnectionStepName, ConnectionStepState
from app.modules.database_connection.model import ConnectionEdit
from app.modules.database_connection.roles import Roles, checked_role
from app.modules.database_connection.scan.progress import ScanState
from app.modules.database_connection.schema import ColumnEdit, ColumnType, ForeignKey, TableColumn
from app.modules.sql.provenance.counting import CountedStep
from app.modules.sql.provenance.model import QueryDescription, TableRead

Description = Annotated[Text, Field(max_length=2_000)]
Starter = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
]


SchemaPattern = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300), AfterValidator(storable)
]
SchemaPatterns = Annotated[list[SchemaPattern], Field(max_length=100)]


def _storable(secret: SecretStr) -> SecretStr:
    storable(secret.get_secret_value())
    return secret


RoleName = Annotated[Text, Field(min_length=1), AfterValidator(checked_role)]
Person = Annotated[Text, Field(min_length=1, max_length=255)]


Url = Annotated[SecretStr, Field(min_length=1, max_length=2_000), AfterValidator(_storable)]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
]


class RolesBody(Body):
    """PostgreSQL roles that people's statements run as, so that row-level security follows the person."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"names": {"ada": "sales_north"}}]})

    by: Literal["owner", "claim"] = "owner"
    """The key that chooses a role: the owner, or the token's claim `KAI_AUTH__OIDC__DATABASE_CLAIM`."""
    names: Annotated[dict[Person, RoleName], Field(default_factory=dict, max_length=1_000)]
    """Roles by owner or by the value of the claim."""
    default: RoleName | None = None
    """Role of all other users. Without it, their questions are refused (403 `database-role`)."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.names and self.default is None:
            raise ValueError("name at least one role")
        return self

    def to_roles(self) -> Roles:
        return Roles(self.by, tuple(self.names.items()), self.default)


RowBound = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class NewConnection(Body):
    """A database to register. It is tested before its URL is stored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "postgresql://analyst:secret@db.example.com:5432/shop", "name": "Shop"}]
        }
    )

    url: Url
    """SQLAlchemy URL of the database, with credentials. It is stored encrypted and never returned."""
    name: Name
    """Name for users."""
    description: Description = ""
    """Description for users."""
    shared: bool = False
    """All users may see and ask about the database."""
    schemas: SchemaPatterns = Field(default_factory=list)
    """Patterns of the schemas to read, such as `sales_*`; one after `!` is left out. On MySQL and MariaDB
    they are databases. Empty reads all that the account may use, but those of the system."""
    roles: RolesBody | None = None
    """PostgreSQL roles that statements run as, one for each user; null for the account of the URL."""


class ConnectionChange(Body):
    """A change of a connection; a field that is left out stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Shop", "shared": True}, {"url": "sqlite:////data/shop.db"}]}
    )

    name: Name | None = None
    """The new name for users."""
    description: Description | None = None
    """The new description for users."""
    url: Url | None = None
    """The new address, of a database with the same dialect. Where it names no parameters, the stored ones are
    kept; the stored password, key or token only with the same server and user, and without a new password."""
    shared: bool | None = None
    """All users may see and ask about the database."""
    external_memory: bool | None = None
    """A memory service outside of KAI may remember questions about the database, of users who consent."""
    roles: RolesBody | None = None
    """The new roles, all of them, of a connection that was registered with roles."""
    schemas: SchemaPatterns | None = None
    """The new patterns of the schemas to read, all of them. Another scan starts."""
    ask_above_rows: RowBound | None = None
    """Rows above which a statement waits for an approval, by the database's own estimate (PostgreSQL, MySQL,
    MariaDB, ClickHouse). 0 asks for none."""
    refuse_above_rows: RowBound | None = None
    """Rows above which a statement is refused, by the same estimate. 0 refuses none."""
    starters: Annotated[list[Starter], Field(max_length=8)] | None = None
    """The new questions to begin with, all of them, in their order. They are shown before generated ones."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.edit() and self.url is None:
            raise ValueError("give at least one field to change")
        return self

    def edit(self) -> ConnectionEdit:
        """Returns the changes but for that of the URL."""
        edit = ConnectionEdit()
        if self.name is not None:
            edit["name"] = self.name
        if self.description is not None:
            edit["description"] = self.description
        if self.shared is not None:
            edit["shared"] = self.shared
        if self.external_memory is not None:
            edit["external_memory"] = self.external_memory
        if self.roles is not None:
            edit["roles"] = self.roles.to_roles()
        if self.schemas is not None:
            edit["schemas"] = self.schemas
        if self.ask_above_rows is not None:
            edit["ask_above_rows"] = self.ask_above_rows or None
        if self.refuse_above_rows is not None:
            edit["refuse_above_rows"] = self.refuse_above_rows or None
        if self.starters is not None:
            edit["starters"] = self.starters
        return edit


class ConnectionTest(Body):
    """A database to open without storing its URL."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "postgresql://analyst:secret@db.example.com:5432/shop"}]}
    )

    url: Url
    """SQLAlchemy URL of the database, with credentials."""
    db_connection_id: Text | None = None
    """A connection of the caller that is to get this address. What the URL leaves out is kept as by a
    change."""


class CheckedDatabaseBody(ResponseBody):
    """A database that could be opened."""

    dialect: str
    """SQL dialect of the database, by sqlglot's name."""
    masked_url: str
    """URL without its secrets."""
    warnings: list[str]
    """Warnings that a connection to it would have."""


class ColumnChange(Body):
    """Changes of a column. Fields that are left out stay unchanged."""

    description: Description | None = None
    """The new description, for users and the model. Empty removes it."""
    unit: Annotated[Text, Field(max_length=40)] | None = None
    """Unit of its numbers, for users and the model. Empty removes it."""
    hidden: bool | None = None
    """`true` hides the column: it is in no prompt, and no statement can read it. `false` shows it again."""

    _given = field_validator("description", "unit", "hidden", mode="before")(not_null)

    def edit(self) -> ColumnEdit:
        edit = ColumnEdit()
        if self.description is not None:
            edit["description"] = self.description
        if self.unit is not None:
            edit["unit"] = self.unit
        if self.hidden is not None:
            edit["hidden"] = self.hidden
        return edit


class TableChange(Body):
    """A new description of a table, or changes of its columns."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"description": "One row a shipped order", "columns": {"total": {"unit": "EUR"}}},
            ]
        }
    )

    description: Description | None = None
    """The new description, for users and the model. Empty removes it."""
    columns: Annotated[dict[str, ColumnChange], Field(max_length=2_000)] = Field(default_factory=dict)
    """Changes of columns, by their names."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.description is None and not self.columns:
            raise ValueError("give at least one field: description or columns")
        return self

    def edits(self) -> dict[str, ColumnEdit]:
        return {name: change.edit() for name, change in self.columns.items()}


class NewStatement(Body):
    """A statement to check."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM orders"}]})

    sql: Annotated[Text, Field(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)]
    """The statement, in the dialect of the database."""


class InspectedStatementBody(ResponseBody):
    """A statement that passes the guard, and what it does."""

    sql: str
    """The statement, formatted."""
    tables: list[TableRead]
    """Tables that the statement reads, by name."""
    queries: list[QueryDescription]
    """Its queries. Each comes after those that it reads; the last gives the result. Empty if only the
    database can read the statement.
    """


class StepCountBody(ResponseBody):
    """Number of rows after a step of a query."""

    query: str
    """Id of the query, as in the statement's `queries`."""
    step: CountedStep
    """The step: a source alone, the sources up to a join, the rows that WHERE keeps, or the groups."""
    at: int
    """Place of the source or the join in its query, from 0. 0 for other steps."""
    row_count: int | None
    """Number of rows. Null if they were not counted."""
    reason: str
    """Reason why they were not counted. Empty if they were."""


class StepCountsBody(ResponseBody):
    """Numbers of rows after the steps of a statement."""

    items: list[StepCountBody]
    """The counts, in the order of the steps. At most 20."""
    is_complete: bool
    """False if the statement has more steps than were counted."""


class ResultColumnBody(ResponseBody):
    """A column of sample rows."""

    name: str
    """Name of the column."""
    type: ColumnType
    """Type of its values."""


class SampleBody(ResponseBody):
    """The first rows of a table."""

    columns: list[ResultColumnBody]
    """Columns of the rows, in order."""
    rows: list[list[JsonValue]]
    """Rows; one list of values each, in the order of the columns."""
    truncated: bool
    """The table has more rows, or long values are cut."""


class ConnectionBody(VersionedBody):
    """A registered database."""

    id: str
    """Id of the connection."""
    name: str
    """Name for users."""
    description: str
    """Description for users."""
    dialect: str
    """SQL dialect of the database, by sqlglot's name."""
    masked_url: str
    """URL without its secrets."""
    created_at: Time
    """Time of registration."""
    scanned_at: Time | None
    """Time at which a scan last read the tables. Null before the first scan."""
    table_count: int | None
    """Number of scanned tables. Null before the first scan."""
    warnings: list[str]
    """Sentences on what the account may do besides reading, and how to prevent it; or that the database has
    no tables. Empty if there is nothing to warn of.
    """
    owner: str
    """Owner of the connection, who alone can change it."""
    shared: bool
    """All users may see and ask about the database."""
    external_memory: bool
    """A memory service outside of KAI may remember questions about the database, of users who consent."""
    per_user_roles: bool
    """Statements run as a role of the person who asks."""
    schemas: list[str]
    """Patterns of the schemas that are read. Empty for all that the account may use."""
    ask_above_rows: int | None
    """Rows above which a statement waits for an approval, by the database's estimate. Null: none waits."""
    refuse_above_rows: int | None
    """Rows above which a statement is refused, by the database's estimate. Null: none is."""
    starters: list[str]
    """Questions to begin with, as the owner wrote them."""
    file_name: str | None
    """Name of the uploaded file whose copy the database is. Null for a database registered by its URL."""


class ConnectionStepBody(ResponseBody):
    """A step of the test of a database."""

    name: ConnectionStepName
    """Name of the step."""
    state: ConnectionStepState
    """State of the step: `skipped` behind one that failed."""
    detail: str
    """What was found: for a step that failed the reason and the cure. Empty if there is nothing to say."""


class ConnectionStepsBody(ResponseBody):
    """Test of a database, step by step."""

    items: list[ConnectionStepBody]
    """The steps, in order."""
    is_usable: bool
    """Every step passed, so the database can be registered."""


class DatabaseSchemaBody(ResponseBody):
    """A schema of a database that the account may use."""

    name: str
    """Name of the schema; of a database on MySQL and MariaDB."""
    is_read: bool
    """The patterns of the connection take it."""
    table_count: int | None
    """Number of its tables at the latest scan. Null if that did not read it."""


class DatabaseSchemasBody(ResponseBody):
    """The schemas of a database."""

    items: list[DatabaseSchemaBody]
    """The schemas, by name. Empty for SQLite, which has none."""


class ScanChangesBody(ResponseBody):
    """Numbers of tables, and of columns of the others, that a scan found otherwise than the one before."""

    tables_new: int
    """Tables that are new."""
    tables_gone: int
    """Tables that are gone."""
    columns_new: int
    """Columns that are new in tables that were there."""
    columns_gone: int
    """Columns that are gone from tables that are still there."""


class ScanBody(ResponseBody):
    """Progress of the latest scan."""

    state: ScanState
    """State of the latest scan: `never` if there was none."""
    started_at: Time | None
    """Time at which the scan started."""
    updated_at: Time | None
    """Time of the latest progress."""
    tables_total: int | None
    """Number of tables. Null until the catalog has been read."""
    tables_done: int
    """Number of tables whose values have been read."""
    error: str | None
    """Reason why the scan failed. Null otherwise."""
    changes: ScanChangesBody | None
    """Changes since the scan before. Null until the catalog has been read, and for a first scan."""


class TableBody(VersionedBody):
    """A table as the latest scan found it."""

    name: str
    """Name of the table."""
    kind: Literal["table", "view"]
    """Table or view."""
    description: str
    """Description, from the database or as a user changed it."""
    row_count: int | None
    """Number of rows at the scan, an estimate for large tables. Null if unknown."""
    columns: list[TableColumn]
    """Columns with their profiles."""
    foreign_keys: list[ForeignKey]
    """Foreign keys of the table."""
