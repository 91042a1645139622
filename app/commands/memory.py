"""`kai memory`: facts of the configured store. A server may be running."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from pydantic import ValidationError
from rich.table import Table
from rich.text import Text

from app.bootstrap import OpenedFacts, open_facts
from app.core.auth.caller import SCOPES_OF_ROLE, Caller
from app.core.clock import rfc3339
from app.core.errors import Invalid, file_error_text
from app.core.storage.documents import read_pages
from app.core.storage.listing import ListRequest
from app.modules.memory.fact_import import import_facts
from app.modules.memory.fact_reading import FactFilter
from app.modules.memory.fact_schemas import FactImport
from app.modules.memory.model import FactKind, StoredFact
from app.modules.memory.scopes import Scope
from app.terminal.console import check_store_exists, command_settings, make_inert, say
from app.terminal.tables import print_table

_PAGE = 100


async def show_all(data_dir: Path | None, *, owner: str, scope: Scope | None, words: str | None) -> None:
    table = Table("ID", "Scope", "Kind", "Status", "Changed", "Used", "Text")
    wanted = FactFilter(scope=scope, words=words)
    async with _opened(data_dir) as opened:
        read = partial(opened.facts.page, owner, wanted)
        async for fact in read_pages(read, ListRequest(order_by="updated_at", limit=_PAGE)):
            table.add_row(*(Text(cell) for cell in _cells(fact)))
    if not table.row_count:
        say(f"Nothing like this is remembered of {owner}.")
        return
    print_table(table)


async def forget(data_dir: Path | None, fact_id: str, *, owner: str) -> None:
    """Raises `FactUnknown` or `NotTheOwner`."""
    async with _opened(data_dir) as opened:
        await opened.facts.forget(owner, fact_id)
    say("The fact is forgotten, and with it all that it had superseded.")


async def export(data_dir: Path | None, out: Path | None, *, owner: str) -> None:
    """Raises `Invalid` if the file cannot be written."""
    async with _opened(data_dir) as opened:
        exported = (await opened.exports.export(owner)).model_dump_json(indent=2)
    if out is None:
        say(exported)
        return
    _write(out, f"{exported}\n")
    say(f"Everything that is remembered of {owner} is in {out}.")


async def import_file(
    data_dir: Path | None,
    file: Path,
    *,
    owner: str,
    kind: FactKind,
    scope: Scope,
    connection_id: str | None,
    confirm: bool,
) -> None:
    """Import an export, or the lists of a Markdown file. Raises `Invalid` if the file cannot be read."""
    given = {"kind": kind, "scope": scope, "db_connection_id": connection_id, "confirm": confirm}
    wanted = _read(file, given)
    caller = Caller(owner=owner, role="admin", scopes=SCOPES_OF_ROLE["admin"], signed_in_by="local")
    async with _opened(data_dir) as opened:
        done = await import_facts(opened.facts, caller, wanted)
    for each in done.refused:
        say(f"Number {each.number} is not remembered. {each.reason}")
    counts = f"{done.kept} new, {done.known} known already, {done.left_out} outdated"
    say(f"{counts}, {len(done.refused)} refused.")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(file_error_text(error)) from error


def _read(file: Path, given: Mapping[str, object]) -> FactImport:
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix.lower() in (".md", ".markdown"):
            return FactImport.model_validate({**given, "markdown": text})
        read = json.loads(text)
        return FactImport.model_validate({**given, "facts": read["facts"]})
    except OSError as error:
        raise Invalid(file_error_text(error)) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(f"{file} cannot be imported: {first['loc'][0]}: {first['msg']}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise Invalid(
            f"{file} cannot be imported: it is no export of kai memory export, and no Markdown (.md)."
        ) from error


@asynccontextmanager
async def _opened(data_dir: Path | None) -> AsyncGenerator[OpenedFacts]:
    settings = command_settings(data_dir)
    check_store_exists(settings)
    async with open_facts(settings) as opened:
        yield opened


def _cells(fact: StoredFact) -> list[str]:
    times = (rfc3339(each)[:16].replace("T", " ") for each in (fact.updated_at, fact.used_at))
    return [fact.id, fact.scope, fact.kind, fact.status, *times, make_inert(fact.text)]
