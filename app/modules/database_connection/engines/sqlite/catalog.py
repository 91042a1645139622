"""SQLite's catalog, by SQLAlchemy's inspector: the file has one schema and is read in this process."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Inspector, inspect, types
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.engines.catalogs import ListedKey, ListedTable, Listing
from app.modules.database_connection.schema import ColumnType, TableColumn
from app.modules.sql.table_names import TableName

_TYPES: Sequence[tuple[type[object], ColumnType]] = (
    (types.Boolean, "boolean"),
    (types.Integer, "integer"),
    (types.Numeric, "number"),
    (types.Float, "number"),  # no Numeric since SQLAlchemy 2.1
    (types.DateTime, "datetime"),
    (types.Date, "date"),
    (types.Time, "time"),
    (types.LargeBinary, "binary"),
    (types.JSON, "json"),
)


def has_tables(connection: Connection) -> bool:
    inspector = inspect(connection)
    return bool(inspector.get_table_names() or inspector.get_view_names())


def list_tables(connection: Connection) -> Listing:
    """Tables that the database itself cannot read are left out."""
    inspector = inspect(connection)
    columns = _columns(inspector)
    if not columns:
        return {}
    tables = set(inspector.get_table_names())
    wanted = list(columns)
    keys = inspector.get_multi_pk_constraint(kind=ObjectKind.ANY, filter_names=wanted)
    references = inspector.get_multi_foreign_keys(kind=ObjectKind.ANY, filter_names=wanted)
    return {
        TableName("", "", name): ListedTable(
            kind="table" if name in tables else "view",
            columns=[_column(each, set(keys[None, name]["constrained_columns"])) for each in reflected],
            keys=[
                ListedKey(
                    each["constrained_columns"],
                    TableName("", "", each["referred_table"]),
                    each["referred_columns"],
                )
                for each in references[None, name]
                if len(each["constrained_columns"]) == len(each["referred_columns"])
            ],
        )
        for name, reflected in columns.items()
    }


def _columns(inspector: Inspector) -> Mapping[str, list[ReflectedColumn]]:
    try:
        found = inspector.get_multi_columns(kind=ObjectKind.ANY)
    except DBAPIError:  # one broken view or missing extension fails all of them
        names = [*inspector.get_table_names(), *inspector.get_view_names()]
        return {name: each for name in names if (each := _columns_of(inspector, name))}
    return {name: each for (_, name), each in found.items() if each}


def _columns_of(inspector: Inspector, name: str) -> list[ReflectedColumn]:
    try:
        return inspector.get_columns(name)
    except DBAPIError:
        return []


def _column(reflected: ReflectedColumn, keys: set[str]) -> TableColumn:
    declared = reflected["type"]
    untyped = isinstance(declared, types.NullType)
    return TableColumn(
        name=reflected["name"],
        type=next((kind for known, kind in _TYPES if isinstance(declared, known)), "text"),
        database_type="" if untyped else str(declared),
        nullable=reflected["nullable"],
        primary_key=reflected["name"] in keys,
    )
