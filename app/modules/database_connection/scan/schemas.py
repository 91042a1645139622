"""The schemas of a database: those that KAI's account may use, and which of them a connection reads."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from sqlalchemy import Connection

from app.modules.database_connection.engines.databases import Database
from graph.errors import DatabaseUnavailable

_EXCLUDES = "!"
_SHOWN = 20
_SHOWN_CHARACTERS = 64


def read_schemas(database: Database, connection: Connection, patterns: Sequence[str]) -> list[str]:
    """Returns the schemas of a database that the patterns read: all that the account may use without one.

    Raises `DatabaseUnavailable`, with the cure, for a pattern that no schema fits.
    """
    usable = database.schema_names(connection)
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
