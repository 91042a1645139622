"""`kai databases` and `kai scan`: the databases of the configured store. A server may be running."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from getpass import getpass
from pathlib import Path
from typing import TypeVar

import typer
from pydantic import BaseModel, JsonValue, ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from app.bootstrap import OpenedDatabases, open_databases
from app.core.auth.caller import LOCAL_OWNER, checked_owner
from app.core.clock import rfc3339
from app.core.errors import CannotRun, Invalid
from app.core.exclusive import make_folder
from app.modules.database_connection.connection_steps import ConnectionStep
from app.modules.database_connection.engines.kinds import AskedField
from app.modules.database_connection.engines.urls import KINDS
from app.modules.database_connection.lookup import all_connections, find_connection
from app.modules.database_connection.model import Connection, ConnectionEdit
from app.modules.database_connection.schemas import (
    ConnectionBody,
    ConnectionChange,
    DatabaseSchemaBody,
    NewConnection,
)
from app.modules.database_connection.service import DatabaseConnections
from app.modules.policies.model import read_policies
from app.terminal.console import command_settings, database_url, make_inert, say
from app.terminal.tables import print_table

_NONE = "There are no databases. Add one: kai databases add postgresql://user:password@host/database"
_LOOK_SECONDS = 0.2
_SIGNS = {"passed": "ok", "failed": "FAILED", "skipped": "-"}

_Wanted = TypeVar("_Wanted", bound=BaseModel)


@dataclass(frozen=True)
class DatabaseStore:
    """The store of the databases, and their owner."""

    data_dir: Path | None
    owner: str


async def list_databases(store: DatabaseStore, *, as_json: bool) -> None:
    async with _open(store) as databases:
        found = [each async for each in all_connections(databases, store.owner)]
    if as_json:
        say(json.dumps([_json(each) for each in found], ensure_ascii=False, indent=2))
        return
    if not found:
        say(_NONE)
        return
    table = Table("ID", "Name", "Kind", "Address", "Tables", "Scanned", "Schemas")
    for each in found:
        table.add_row(*(Text(cell) for cell in _cells(each)))
    print_table(table)


async def add_database(
    store: DatabaseStore, url: str | None, *, name: str | None, schemas: Sequence[str], shared: bool
) -> int:
    """Ask for what is missing on a terminal, test the database step by step, and register it.

    Returns 1 if a step fails. Raises `Invalid` without a URL where there is no terminal, and for a name or a
    pattern that the API refuses, too.
    """
    if url is None and not sys.stdin.isatty():
        raise Invalid(
            "Give the URL of the database: kai databases add postgresql://user:password@host/database"
        )
    url = database_url(await asyncio.to_thread(_ask_url) if url is None else url)
    async with _open(store) as databases:
        steps = await databases.test_steps(store.owner, url, schemas=schemas)
        if not _show_steps(steps):
            return 1
        shown = steps[0].detail
        own_name = shown.rsplit("/", maxsplit=1)[-1].split(".", maxsplit=1)[0]
        wanted = _read_body(
            NewConnection, {"url": url, "name": name or own_name, "shared": shared, "schemas": [*schemas]}
        )
        connection = await databases.register(
            store.owner, url, wanted.name, description="", shared=shared, schemas=wanted.schemas
        )
    for warning in connection.warnings:
        sys.stderr.write(f"kai: {warning}\n")
    say(
        f"{make_inert(connection.name)} is added: {connection.id}. Its tables are read at the first "
        f"question, or by: kai scan {connection.id}"
    )
    return 0


async def show_database(store: DatabaseStore, name: str, *, as_json: bool) -> None:
    async with _open(store) as databases:
        connection = await find_connection(databases, store.owner, name)
    if as_json:
        say(json.dumps(_json(connection), ensure_ascii=False, indent=2))
        return
    for field, value in _json(connection).items():
        if value not in (None, "", [], False):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            say(f"{field.replace('_', ' ')}: {make_inert(shown)}")


async def try_database(store: DatabaseStore, name: str, *, as_json: bool) -> int:
    """Test a registered database, or a URL, step by step. Returns 1 if a step fails."""
    async with _open(store) as databases:
        if "://" in name:
            steps = await databases.test_steps(store.owner, database_url(name))
        else:
            connection = await find_connection(databases, store.owner, name)
            steps = await databases.test_steps(store.owner, None, connection.id)
    if as_json:
        say(json.dumps([asdict(each) for each in steps], ensure_ascii=False, indent=2))
        return 0 if _are_passed(steps) else 1
    return 0 if _show_steps(steps) else 1


async def change_database(store: DatabaseStore, name: str, edit: ConnectionEdit, *, url: str | None) -> None:
    """Raises `Invalid` if nothing is to be changed, or to something that the API refuses, too."""
    if not edit and url is None:
        raise Invalid(
            "Say what to change: --name, --description, --schema, --all-schemas, --shared, --url, "
            "--ask-above-rows or --refuse-above-rows."
        )
    url = None if url is None else database_url(url)
    given = edit if url is None else {**edit, "url": url}
    edit = _read_body(ConnectionChange, given).edit()
    async with _open(store) as databases:
        connection = await find_connection(databases, store.owner, name)
        changed = await databases.change(store.owner, connection.id, edit, url=url)
    say(f"{make_inert(changed.name)} is changed.")
    if url is not None or "schemas" in edit:
        say(f"Its tables are read at the next question, or by: kai scan {changed.id}")


async def list_schemas(store: DatabaseStore, name: str, *, as_json: bool) -> None:
    async with _open(store) as databases:
        connection = await find_connection(databases, store.owner, name)
        found = await databases.database_schemas(store.owner, connection.id)
    if as_json:
        bodies = [DatabaseSchemaBody.model_validate(each).model_dump(mode="json") for each in found]
        say(json.dumps(bodies, ensure_ascii=False, indent=2))
        return
    if not found:
        say("This database has no schemas that the account may use, or, as SQLite, none at all.")
        return
    table = Table("Schema", "Read", "Tables")
    for each in found:
        count = "not counted yet" if each.table_count is None else f"{each.table_count:,}"
        table.add_row(
            Text(make_inert(each.name)), "yes" if each.is_read else "no", count if each.is_read else "-"
        )
    print_table(table)


async def remove_database(store: DatabaseStore, name: str, *, yes: bool) -> None:
    """Raises `Invalid` where it cannot ask."""
    async with _open(store) as databases:
        connection = await find_connection(databases, store.owner, name)
        if not yes:
            if not sys.stdin.isatty():
                raise Invalid("Removing asks first: add --yes where there is no terminal.")
            question = (
                f"Remove {make_inert(connection.name)} ({connection.masked_url}) with what KAI knows of it?"
            )
            if not await asyncio.to_thread(typer.confirm, question, default=False, err=True):
                return
        await databases.delete(store.owner, connection.id)
    say(f"{make_inert(connection.name)} is removed. The database itself is not touched.")


async def scan_database(store: DatabaseStore, name: str | None) -> None:
    """Scan a database with its progress on standard error. Raises `CannotRun` if the scan fails.

    When it is interrupted, what was read is kept, and the next scan begins with the rest.
    """
    async with open_registered(store) as opened:
        databases = opened.connections
        connection = await find_connection(databases, store.owner, name)
        progress = await databases.start_scan(store.owner, connection.id)
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True)
        ) as bar:
            task = bar.add_task("listing the tables", total=None)
            while progress.state == "running":
                await asyncio.sleep(_LOOK_SECONDS)
                progress = await databases.scan_progress(store.owner, connection.id)
                doing = "listing the tables" if progress.tables_total is None else "reading values"
                bar.update(
                    task, total=progress.tables_total, completed=progress.tables_done, description=doing
                )
        if progress.error is not None:
            raise CannotRun(progress.error)
        await _say_faults(opened, store, connection)
    changes = "" if progress.changes is None else progress.changes.sentence or "Nothing has changed."
    count = "1 table" if progress.tables_total == 1 else f"{progress.tables_total:,} tables"
    say(" ".join(filter(None, [f"{count} of {make_inert(connection.name)}.", changes])))


async def _say_faults(opened: OpenedDatabases, store: DatabaseStore, connection: Connection) -> None:
    """Print the errors that policies have by now to standard error: what they name may be gone."""
    if connection.policies is None or connection.owner != store.owner:
        return
    policies = read_policies(connection.policies)
    for each in await opened.policies.check(store.owner, connection.id, policies):
        if each.kind == "error":
            sys.stderr.write(f"kai: {make_inert(f'{each.place}: {each.detail}')}\n")


@asynccontextmanager
async def open_registered(store: DatabaseStore) -> AsyncGenerator[OpenedDatabases]:
    """Opens the databases of an owner. Raises `Invalid` for a name that no owner can have."""
    if store.owner != LOCAL_OWNER:
        try:
            checked_owner(store.owner)
        except ValueError as error:
            raise Invalid(f"The owner {store.owner!r} cannot have databases: {error}.") from None
    settings = command_settings(store.data_dir)
    make_folder(settings.data_dir)
    async with open_databases(settings) as opened:
        yield opened


@asynccontextmanager
async def _open(store: DatabaseStore) -> AsyncGenerator[DatabaseConnections]:
    async with open_registered(store) as opened:
        yield opened.connections


def _read_body(kind: type[_Wanted], given: Mapping[str, object]) -> _Wanted:
    """Returns the body that the API would read. Raises `Invalid` with the first field that is not valid."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        raise Invalid(f"The database's {first['loc'][0]} is not valid: {said}.") from None


def _ask_url() -> str:
    """Ask for the parts of a URL one by one on the terminal. Secrets are not shown.

    Raises `Invalid` for a kind that KAI does not open, and `UrlNotSupported`.
    """
    kinds = {each.schemes[0]: each for each in KINDS}
    asked: str = typer.prompt(f"Kind ({', '.join(kinds)})", default="postgresql", err=True)
    kind = kinds.get(asked)
    if kind is None:
        raise Invalid(f"KAI opens no {asked}, but {', '.join(kinds)}.")
    return kind.write({each.name: _ask(each) for each in kind.fields})


def _ask(asked: AskedField) -> str:
    if asked.is_secret:
        return getpass(f"{asked.label}: ", stream=sys.stderr)
    answer: str = typer.prompt(asked.label, default=asked.default, show_default=bool(asked.default), err=True)
    return answer


def _show_steps(steps: Sequence[ConnectionStep]) -> bool:
    """Print the steps to standard error. Returns True if all passed."""
    for each in steps:
        sys.stderr.write(
            f"{_SIGNS[each.state]:>6}  {each.name.replace('_', ' '):<10}  {make_inert(each.detail)}\n"
        )
    return _are_passed(steps)


def _are_passed(steps: Sequence[ConnectionStep]) -> bool:
    return all(each.state == "passed" for each in steps)


def _json(connection: Connection) -> dict[str, JsonValue]:
    return ConnectionBody.model_validate(connection).model_dump(mode="json")


def _cells(connection: Connection) -> list[str]:
    scanned = "-" if connection.scanned_at is None else rfc3339(connection.scanned_at)[:16].replace("T", " ")
    count = "-" if connection.table_count is None else f"{connection.table_count:,}"
    schemas = ", ".join(connection.schemas) or "all"
    return [
        connection.id,
        make_inert(connection.name),
        connection.dialect,
        make_inert(connection.masked_url),
        count,
        scanned,
        make_inert(schemas),
    ]
