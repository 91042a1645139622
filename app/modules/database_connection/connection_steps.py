"""Test of a database step by step, so that people see which step fails and why."""

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.engines.databases import Database, EncryptionRefused, ServerDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.schemas import read_schemas
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

ConnectionStepName = Literal["address", "name", "port", "encryption", "sign_in", "open", "list", "read"]
ConnectionStepState = Literal["passed", "failed", "skipped"]
_Passed: TypeAlias = tuple[ConnectionStepName, str]
"""A step that passed, and what was found."""

_SERVER_STEPS: Sequence[ConnectionStepName] = (
    "address",
    "name",
    "port",
    "encryption",
    "sign_in",
    "list",
    "read",
)
_FILE_STEPS: Sequence[ConnectionStepName] = ("address", "open", "list", "read")
_MOST_ADDRESSES = 4


@dataclass(frozen=True)
class ConnectionStep:
    """A step of a test. `detail` of a step that failed is the reason and the cure."""

    name: ConnectionStepName
    state: ConnectionStepState
    detail: str = ""


def take_steps(
    database: Database, limits: ConnectionLimits, stop: Stop, *, schemas: Sequence[str]
) -> list[ConnectionStep]:
    """Do the steps in order until one fails, and return them all. Blocks the calling thread."""
    names = _SERVER_STEPS if isinstance(database, ServerDatabase) else _FILE_STEPS
    done = [ConnectionStep("address", "passed", database.masked_url)]
    reason = ""
    try:
        for name, detail in _pass_steps(database, limits, stop, schemas=schemas):
            done.append(ConnectionStep(name, "passed", detail))
    except (DatabaseUnavailable, StatementFailed) as error:
        reason = error.detail
    except DBAPIError:
        reason = "The catalog of the database could not be read in time."
    if reason:
        done.append(ConnectionStep(names[len(done)], "failed", reason))
    return [*done, *(ConnectionStep(name, "skipped") for name in names[len(done) :])]


def _pass_steps(
    database: Database, limits: ConnectionLimits, stop: Stop, *, schemas: Sequence[str]
) -> Iterator[_Passed]:
    """Yields each step behind the address once it passed. Raises what the next one fails by."""
    if isinstance(database, ServerDatabase):
        addresses = database.access.addresses(database.host, database.port)
        yield "name", ""
        _knock(addresses[:_MOST_ADDRESSES], database.port, limits.connect_seconds)
        yield "port", ""
    signed_in = False
    try:
        with database.engine(stop, limits.connect_seconds) as engine, engine.connect() as connection:
            signed_in = True
            stop.after(limits.scan_seconds)
            if isinstance(database, ServerDatabase):
                is_encrypted = database.is_encrypted(connection)
                yield "encryption", "encrypted" if is_encrypted else "not encrypted"
                yield "sign_in", database.user
            else:
                yield "open", ""
            names = read_schemas(database, connection, schemas)
            has_tables = database.has_tables(connection, names)
            yield "list", _listed(names, has_tables=has_tables)
            _check_may_read(database, connection)
            yield "read", ""
    except EncryptionRefused:
        raise
    except DatabaseUnavailable:
        if not signed_in and isinstance(database, ServerDatabase):
            yield "encryption", ""
        raise


def _check_may_read(database: Database, connection: Connection) -> None:
    """Raises `DatabaseUnavailable` if the account may read no table, with the cure."""
    if missing := database.missing_right(connection):
        raise DatabaseUnavailable(missing)


def _knock(addresses: Sequence[str], port: int, seconds: float) -> None:
    """Open and close a connection to one of the addresses. Raises `DatabaseUnavailable`."""
    reason = ""
    for address in addresses:
        try:
            socket.create_connection((address, port), timeout=seconds).close()
        except ConnectionRefusedError:
            reason = (
                "Nothing listens at this port. Check the port, and that the server listens to other machines."
            )
        except TimeoutError:
            reason = (
                f"Nothing answered within {seconds:g} s. Check the host; a firewall may stand in between."
            )
        except OSError:
            reason = "There is no way to this host from here. Check the host and the network."
        else:
            return
    raise DatabaseUnavailable(reason)


def _listed(schemas: Sequence[str], *, has_tables: bool) -> str:
    count = f"{len(schemas)} schema{'' if len(schemas) == 1 else 's'}" if schemas else ""
    return ", ".join(filter(None, [count, "" if has_tables else "no tables yet"]))
