"""The tables of a scan: those that the catalog lists, under the names that they are shown as."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.modules.database_connection.engines.catalogs import ListedTable, Listing
from app.modules.database_connection.schema import ForeignKey, Table
from app.modules.sql.table_names import TableName, shown_names


@dataclass(frozen=True)
class ListedTables:
    """The tables and views of a database, by name, and those that are read most, most first."""

    tables: list[Table]
    most_used: list[str]


def tables_of(listing: Listing, dialect: str) -> ListedTables:
    """Returns the tables of a listing. Keys to tables that are not in it are left out, except in SQLite,
    where a key may come before its table.
    """
    shown = {name: each.text for name, each in shown_names(listing, dialect).items()}
    tables = [
        Table(
            name=shown[name],
            full_name=name if name.schema else None,
            kind=listed.kind,
            columns=listed.columns,
            foreign_keys=list(_foreign_keys(listed, shown)),
            row_count=listed.row_count,
            description=listed.description,
        )
        for name, listed in listing.items()
    ]
    used = [name for name, listed in listing.items() if listed.uses]
    used.sort(key=lambda name: -listing[name].uses)
    return ListedTables(sorted(tables, key=lambda table: table.name), [shown[name] for name in used])


def _foreign_keys(listed: ListedTable, shown: Mapping[TableName, str]) -> Iterator[ForeignKey]:
    for key in listed.keys:
        referred = shown.get(key.referred) or ("" if key.referred.schema else key.referred.name)
        if referred:
            yield ForeignKey(key.columns, referred, key.referred_columns)
