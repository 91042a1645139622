"""Connections by what their users call them."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial

from pydantic import JsonValue

from app.core.errors import Invalid, NotFound
from app.core.storage.documents import read_pages
from app.core.storage.listing import ListRequest
from app.http.routes import is_storable
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections

ONLY_DATABASE = "kai"
"""Name of the caller's database, if there is exactly one."""

_PAGE = 100
_NAMED = 20


class DatabaseUnknown(NotFound):
    """The caller may use no database of this id or name."""

    def __init__(self, name: str, known: Sequence[Connection]) -> None:
        named = _named(known) or "none"
        super().__init__(f"There is no database {name[:100]!r}. There are: {named}.")


class DatabaseUnclear(Invalid):
    """The name does not say which database. `databases` has some of those that it could be."""

    problem = "database-unclear"
    title = "Which database?"

    def __init__(self, known: Sequence[Connection]) -> None:
        if known:
            detail = f"There are several databases. Give the id of one: {_named(known)}."
        else:
            detail = "There is no database yet. POST /api/v1/database-connections adds one."
        databases: list[JsonValue] = [{"id": each.id, "name": each.name} for each in known[:_NAMED]]
        super().__init__(detail, databases=databases)


def _named(known: Sequence[Connection]) -> str:
    return ", ".join(f"{each.id} ({each.name})" for each in known[:_NAMED])


def all_connections(connections: DatabaseConnections, owner: str) -> AsyncGenerator[Connection]:
    """All connections that the owner may use."""
    return read_pages(partial(connections.page, owner), ListRequest(descending=False, limit=_PAGE))


async def find_connection(connections: DatabaseConnections, owner: str, name: str | None) -> Connection:
    """Returns a connection by its id, or by its name if no other has it. `kai` and None are the only one.

    Raises `DatabaseUnknown` and `DatabaseUnclear`.
    """
    if name is not None and name != ONLY_DATABASE and is_storable(name):
        try:
            return await connections.get(owner, name)
        except ConnectionNotFound:
            pass  # a name
    wanted = (name or ONLY_DATABASE).strip().casefold()
    known = [each async for each in all_connections(connections, owner)]
    found = [each for each in known if each.name.strip().casefold() == wanted]
    if not found and wanted == ONLY_DATABASE:
        found = known
    if len(found) == 1:
        return found[0]
    if not found and wanted != ONLY_DATABASE:
        raise DatabaseUnknown(name or "", known)
    raise DatabaseUnclear(found)
