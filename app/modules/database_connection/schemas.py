"""Bodies of the connection routes. A URL is received, but never returned."""

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    StringConstraints,
    model_validator,
)

from app.core.settings import MAX_STATEMENT_CHARACTERS
from app.http.routes import Body, ResponseBody, Text, Time, storable
from app.modules.database_connection.roles import Roles, checked_role
from app.modules.database_connection.scan.progress import ScanState
from app.modules.database_connection.schema import ColumnType, ForeignKey, TableColumn

Description = Annotated[Text, Field(max_length=2_000)]


def _storable(secret: SecretStr) -> SecretStr:
    storable(secret.get_secret_value())
    return secret


RoleName = Annotated[Text, Field(min_length=1), AfterValidator(checked_role)]
Person = Annotated[Text, Field(min_length=1, max_length=255)]


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


class NewConnection(Body):
    """A database to register. It is tested before its URL is stored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "postgresql://analyst:secret@db.example.com:5432/shop", "name": "Shop"}]
        }
    )

    url: Annotated[SecretStr, Field(min_length=1, max_length=2_000), AfterValidator(_storable)]
    """SQLAlchemy URL of the database, with credentials. It is stored encrypted and never returned."""
    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
    ]
    """Name for users."""
    description: Description = ""
    """Description for users."""
    shared: bool = False
    """All users may see and ask about the database."""
    roles: RolesBody | None = None
    """PostgreSQL roles that statements run as, one for each user; null for the account of the URL."""


class ConnectionChange(Body):
    """A change of who may use a connection; a field that is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"shared": True}]})

    shared: bool | None = None
    """All users may see and ask about the database."""
    roles: RolesBody | None = None
    """The new roles, all of them, of a connection that was registered with roles."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.shared is None and self.roles is None:
            raise ValueError("give at least one field: shared or roles")
        return self


class TableChange(Body):
    """A new description of a table."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"description": "One row a shipped order"}]})

    description: Description
    """The new description, for users and the model. Empty removes it."""


class NewStatement(Body):
    """A statement to check."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM orders"}]})

    sql: Annotated[Text, Field(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)]
    """The statement, in the dialect of the database."""


class TableReadBody(ResponseBody):
    """A table that a statement reads."""

    name: str
    """Name of the table."""
    columns: list[str]
    """Names of the columns that the statement reads, as far as they can be determined."""


class InspectedStatementBody(ResponseBody):
    """A statement that passes the guard."""

    sql: str
    """The statement, formatted."""
    tables: list[TableReadBody]
    """Tables that the statement reads."""


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


class ConnectionBody(ResponseBody):
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
    per_user_roles: bool
    """Statements run as a role of the person who asks."""


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


class TableBody(ResponseBody):
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
