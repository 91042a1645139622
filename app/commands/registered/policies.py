"""`kai policies`: the policies of a database of the configured store, as a file. A server may be running."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from difflib import unified_diff
from pathlib import Path

from app.bootstrap import OpenedDatabases
from app.commands.keys import read_attributes
from app.commands.registered.databases import DatabaseStore, open_registered
from app.core.auth.caller import Attributes
from app.core.errors import Invalid, file_error_text
from app.core.storage.edits import ChangedMeanwhile, RecordEdit, edited_by
from app.modules.database_connection.lookup import find_connection
from app.modules.database_connection.model import Connection
from app.modules.policies.files import (
    MAX_BYTES,
    NO_LIMITS,
    PolicyFile,
    PolicyFileFault,
    read_policy_file,
    set_version,
    write_policies,
    write_policy_file,
)
from app.modules.policies.model import Policies, read_policies
from app.modules.policies.rights import Person
from app.terminal.console import make_inert, say

_STDIN = Path("-")


@dataclass(frozen=True)
class _Opened:
    """A database of the store, and the policies that hold there."""

    store: OpenedDatabases
    connection: Connection
    policies: Policies | None


async def pull_policies(
    store: DatabaseStore, database: str | None, file: Path | None, *, force: bool
) -> None:
    """Raises `Invalid` for a file that says something else than what holds."""
    async with _open(store, database) as opened:
        version = opened.connection.version
    text = write_policy_file(opened.policies, version)
    if file is None:
        say(text.rstrip())
        return
    if not force and await asyncio.to_thread(file.exists):
        present = await _read_text(file)
        if _says_same(present, opened.policies):
            text = set_version(present, version)
        else:
            raise Invalid(
                f"{file} says something else than the policies that hold. See it by: kai policies diff {file}"
                " . --force replaces the file."
            )
    await _write(file, text)
    say(f"The policies of {make_inert(opened.connection.name)} are in {file}, as of version {version}.")


async def push_policies(store: DatabaseStore, database: str | None, file: Path, *, force: bool) -> None:
    """Raises `Invalid` if the database was changed after the file was pulled, `PoliciesRefused` and
    `DatabaseDown`.
    """
    text = await _read_text(file)
    read = _parse(file, text)
    async with _open(store, database) as opened:
        expected = read.version
        if force or (expected is None and opened.policies is None):
            expected = opened.connection.version
        if expected is None:
            raise Invalid(
                f"{file} does not say by `version` which policies it replaces. Pull them first: kai policies "
                "pull, or add --force."
            )
        try:
            with edited_by(RecordEdit([expected])):
                changed = await opened.store.policies.change(
                    store.owner, opened.connection.id, _normalize(read.policies)
                )
        except ChangedMeanwhile:
            raise Invalid(
                f"{make_inert(opened.connection.name)} was changed after {file} was pulled: it has version "
                f"{opened.connection.version}, the file {expected}. See what differs by: kai policies diff "
                f"{file} . Then take it over into the file, and write that version into it."
            ) from None
    name, count = make_inert(changed.name), len(read.policies.policies)
    if changed.policies is None:
        said = f"{name} has no policies"
    else:
        said = f"1 policy holds on {name}" if count == 1 else f"{count} policies hold on {name}"
    say(f"{said} from the next statement on (version {changed.version}).")
    if file != _STDIN:
        await _write(file, set_version(text, changed.version))


async def compare_policies(store: DatabaseStore, database: str | None, file: Path) -> int:
    """Returns 1 if the file says something else than what holds."""
    read = _parse(file, await _read_text(file))
    async with _open(store, database) as opened:
        version = opened.connection.version
    if read.version not in (None, version):
        sys.stderr.write(f"kai: {file} was pulled at version {read.version}; the database has {version}.\n")
    before = write_policies(opened.policies).splitlines()
    after = write_policies(read.policies).splitlines()
    lines = list(unified_diff(before, after, f"held (version {version})", str(file), lineterm=""))
    for line in lines:
        say(make_inert(line))
    if not lines:
        say("The file says what holds.")
    return 1 if lines else 0


async def check_policies(
    store: DatabaseStore, database: str | None, file: Path | None, *, as_json: bool
) -> int:
    """Returns 1 if the policies have an error."""
    given = None if file is None else _parse(file, await _read_text(file)).policies
    async with _open(store, database) as opened:
        policies = given or opened.policies or NO_LIMITS
        found = await opened.store.policies.check(store.owner, opened.connection.id, policies)
    if as_json:
        say(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=2))
    else:
        for each in found:
            say(make_inert(f"{each.kind}: {each.place}: {each.detail}"))
        if not found:
            say("The policies have no faults.")
    return 1 if any(each.kind == "error" for each in found) else 0


async def try_policies(
    store: DatabaseStore,
    database: str | None,
    statement: Path,
    *,
    person: str,
    attributes: Sequence[str],
    file: Path | None,
    as_json: bool,
) -> None:
    """Raises `Invalid` if it is not clear what is known of the person, and `StatementNotRun`."""
    policies = None if file is None else _parse(file, await _read_text(file)).policies
    sql = await _read_text(statement)
    async with _open(store, database) as opened:
        known = read_attributes(attributes) if attributes else await _find_attributes(opened.store, person)
        limited = await opened.store.policies.test(
            store.owner, opened.connection.id, Person(person, known), sql=sql, policies=policies
        )
    if as_json:
        say(json.dumps({**asdict(limited), "attributes": known}, ensure_ascii=False, indent=2, default=list))
        return
    said = ", ".join(f"{name}={value}" for name, value in known.items()) or "nothing"
    say(make_inert(f"-- Known of {person}: {said}"))
    for what, names in (
        ("Rows limited", limited.row_policies),
        ("Columns hidden or masked", limited.column_policies),
    ):
        say(make_inert(f"-- {what} by: {', '.join(names) or 'no policy'}"))
    if limited.has_barrier:
        say("-- A condition of the statement can fail, so that it runs only on rows that the person may see.")
    say("\n".join(make_inert(line) for line in limited.sql.splitlines()))


async def _find_attributes(store: OpenedDatabases, person: str) -> Attributes:
    """Returns what the keys of a person say of them. Raises `Invalid` if they say several things."""
    found = await store.keys.attributes_of(person)
    if len(found) > 1:
        raise Invalid(
            f"The keys of {make_inert(person)} differ in their attributes. Give those to try: --attribute "
            "NAME=VALUE"
        )
    return found[0] if found else {}


@asynccontextmanager
async def _open(store: DatabaseStore, database: str | None) -> AsyncGenerator[_Opened]:
    async with open_registered(store) as opened:
        found = await find_connection(opened.connections, store.owner, database)
        connection = await opened.policies.read(store.owner, found.id)
        text = connection.policies
        yield _Opened(opened, connection, None if text is None else read_policies(text))


def _normalize(policies: Policies) -> Policies | None:
    """Returns the policies to store: none in place of those that limit nothing."""
    return None if policies == NO_LIMITS else policies


def _says_same(text: str, policies: Policies | None) -> bool:
    try:
        return _normalize(read_policy_file(text).policies) == policies
    except PolicyFileFault:
        return False


def _parse(file: Path, text: str) -> PolicyFile:
    """Raises `Invalid`."""
    try:
        return read_policy_file(text)
    except PolicyFileFault as fault:
        raise Invalid(make_inert(f"{file} cannot be read as policies: {fault}.")) from None


async def _read_text(file: Path) -> str:
    """Raises `Invalid` for what is no text, or too long."""

    def read() -> bytes:
        if file == _STDIN:
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)

    try:
        content = await asyncio.to_thread(read)
        if len(content) > MAX_BYTES:
            raise Invalid(f"{file} is longer than {MAX_BYTES:,} bytes.")
        return content.decode()
    except OSError as error:
        raise Invalid(file_error_text(error)) from error
    except UnicodeDecodeError:
        raise Invalid(f"{file} is no text in UTF-8.") from None


async def _write(file: Path, text: str) -> None:
    """Write a file at once, so that it is complete at any time. Raises `Invalid`."""

    def write() -> None:
        target = file.resolve()  # a link stays one
        draft = target.with_name(f".{target.name}.draft")
        try:
            draft.write_text(text, encoding="utf-8")
            if target.exists():
                draft.chmod(target.stat().st_mode)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    try:
        await asyncio.to_thread(write)
    except OSError as error:
        raise Invalid(file_error_text(error)) from error
