"""The schemas of a database: those that KAI's account may use, and which of them a connection reads."""

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from sqlalchemy import Connection, func, inspect, select, table
from sqlalchemy.sql import column, exists

from app.modules.sql.engine_data import SYSTEM_SCHEMAS
from graph.errors import DatabaseUnavailable

_EXCLUDES = "!"
_SHOWN = 20
_SHOWN_CHARACTERS = 64


def own_schema(connection: Connection) -> str:
    """Returns the schema that the database looks for tables in first; empty for SQLite, which has one."""
    if connection.dialect.name == "sqlite":
        return ""
    return str(inspect(connection).default_schema_name or "")


def usable_schemas(connection: Connection) -> list[str]:
    """Returns the names of the schemas that the account, or a role that it may take, may use, in order.

    Without those of the system. On MySQL they are the databases of the server. Empty for SQLite.
    """
    match connection.dialect.name:
        case "sqlite":
            return []
        case "postgresql":
            return list(_of_postgres(connection))
        case _:
            found = inspect(connection).get_schema_names()
            return sorted(name for name in found if name.casefold() not in SYSTEM_SCHEMAS)


def read_schemas(connection: Connection, patterns: Sequence[str]) -> list[str]:
    """Returns the schemas that a connection with these patterns reads: all that it may use without one.

    Raises `DatabaseUnavailable`, with the cure, for a pattern that no schema fits.
    """
    usable = usable_schemas(connection)
    if not patterns:
        return usable
    if missing := [each for each in patterns if not _fitting(usable, each.removeprefix(_EXCLUDES))]:
        raise DatabaseUnavailable(
            f"No schema that KAI's account may use fits {_listed(missing)}. It may use: "
            f"{_listed(usable) or 'none'}. Correct the pattern, or let the account use the schema."
        )
    chosen = chosen_schemas(usable, patterns)
    if not chosen:
        raise DatabaseUnavailable(
            f"The patterns {_listed(patterns)} leave no schema to read. Take out one with {_EXCLUDES}."
        )
    return chosen


def chosen_schemas(names: Collection[str], patterns: Sequence[str]) -> list[str]:
    """Returns the names that fit a pattern, or all where no pattern includes, without those that fit one
    after `!`. Case does not matter.
    """
    included = [each for each in patterns if not each.startswith(_EXCLUDES)]
    excluded = [each.removeprefix(_EXCLUDES) for each in patterns if each.startswith(_EXCLUDES)]
    return [
        name
        for name in names
        if (not included or any(_fits(name, each) for each in included))
        and not any(_fits(name, each) for each in excluded)
    ]


def _listed(names: Sequence[str]) -> str:
    """Returns the first names, shortened, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(name[:_SHOWN_CHARACTERS] for name in names[:_SHOWN]) + more


def _fitting(names: Collection[str], pattern: str) -> list[str]:
    return [name for name in names if _fits(name, pattern)]


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())


def _of_postgres(connection: Connection) -> Iterator[str]:
    schemas = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
    roles = table("pg_roles", column("oid"), schema="pg_catalog")
    is_usable = exists(
        select(roles.c.oid)
        .where(func.pg_has_role(roles.c.oid, "MEMBER"))
        .where(func.has_schema_privilege(roles.c.oid, schemas.c.oid, "USAGE"))
    )
    found = (
        select(schemas.c.nspname)
        .where(~schemas.c.nspname.startswith("pg_", autoescape=True))
        .where(schemas.c.nspname != "information_schema")
        .where(is_usable)
    )
    return (str(name) for name in connection.scalars(found.order_by(schemas.c.nspname)))
