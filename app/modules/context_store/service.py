"""Examples, glossary terms and instructions of a connection.

The SQL of verified examples is checked by the guard, and the scope of instructions against the schema.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from pydantic import JsonValue

from app.core.auth.caller import current_database_claim
from app.core.clock import now_ms
from app.core.keyed_ids import created_id
from app.core.storage.port import Condition, Equals, Storage
from app.modules.context_store.errors import ExampleNotRunnable, ScopeUnclear, ScopeUnknown
from app.modules.context_store.model import (
    Example,
    ExampleStatus,
    Instruction,
    Knowledge,
    Term,
    known_to_person,
    new_example,
    question_key,
    without_hidden,
)
from app.modules.context_store.proposals import AnswerProposals
from app.modules.context_store.repository import Entries, Entry
from app.modules.database_connection.errors import ConnectionNotFound, NotTheOwner, as_problems
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.sql.layout import laid_out
from graph.errors import StatementFailed

audit = logging.getLogger("kai.audit")


@dataclass(frozen=True)
class ExampleRun:
    """The rows of an example's statement, and the milliseconds that it took."""

    result: ResultSet
    elapsed_ms: int


_VERIFIED = [Equals("status", "verified")]

FindFault: TypeAlias = Callable[[Connection, str], Awaitable[str | None]]
"""Returns why a statement would not run on the scanned schema of a connection, and the cure; else None."""


class ContextStore:
    """Verified examples, glossary and instructions.

    Entries belong to the owner of their connection; only the owner changes them. Every reader of the
    connection can read them, except examples that are not verified: those are questions of single users.
    Methods with an `owner` raise `NotFound` if the caller may not read the entry or connection, and
    `NotTheOwner` if the caller may only read it.
    """

    def __init__(self, storage: Storage, connections: DatabaseConnections, find_fault: FindFault) -> None:
        self.examples = Entries(storage, "examples", Example)
        self.terms = Entries(storage, "glossary", Term)
        self.instructions = Entries(storage, "instructions", Instruction)
        self.proposals = AnswerProposals(self.examples, connections)
        self._connections = connections
        self.find_fault = find_fault

    async def get(self, entries: Entries[Entry], reader: str, entry_id: str) -> Entry:
        """Raises `EntryUnknown` if there is no such entry or the reader may not read it."""
        entry = await entries.get(entry_id)
        if entry.owner != reader:
            try:
                connection = await self._connections.repository.get(reader, entry.db_connection_id)
            except ConnectionNotFound:
                raise entries.unknown() from None
            if not _is_public(entry) or connection.policies is not None:
                raise entries.unknown()
        return entry

    async def own(self, entries: Entries[Entry], owner: str, entry_id: str) -> Entry:
        """Returns an entry that `owner` may change.

        Raises `EntryUnknown` if they may not read it, and `NotTheOwner` if they may only read it.
        """
        entry = await self.get(entries, owner, entry_id)
        if entry.owner != owner:
            raise NotTheOwner
        return entry

    async def listed(
        self, entries: Entries[Entry], reader: str, db_connection_id: str | None
    ) -> list[Condition]:
        """Returns the filter of a list: the reader's own entries, or the readable ones of a connection."""
        if db_connection_id is None:
            return [Equals("owner", reader)]
        try:
            connection = await self._connections.repository.get(reader, db_connection_id)
        except ConnectionNotFound:
            return [Equals("owner", reader), Equals("db_connection_id", db_connection_id)]
        mine = Equals("db_connection_id", connection.id)
        if connection.policies is not None:
            return [mine, Equals("owner", reader)]  # they may name what others may not know of
        only_verified = entries is self.examples and connection.owner != reader
        return [mine, Equals("status", "verified")] if only_verified else [mine]

    async def add_example(
        self,
        owner: str,
        db_connection_id: str,
        question: str,
        *,
        sql: str,
        status: ExampleStatus,
        entry_id: str | None = None,
    ) -> Example:
        """With the same `entry_id` the example is stored once, however often.

        Raises `ExampleNotRunnable` if a verified example's SQL does not pass the guard, and
        `DatabaseDown` if the database is unavailable.
        """
        connection = await self._connections.repository.own(owner, db_connection_id)
        if status == "verified":
            await self.check(connection, sql)
        example = new_example(connection, question, sql, status=status, message_id=None)
        if status == "verified":
            example = replace(example, verified_by=owner, verified_at=example.created_at)
        example = replace(example, id=entry_id or example.id)
        await self.examples.save(example)
        _audit(example, "added")
        return example

    async def change_example(self, owner: str, example_id: str, changes: Mapping[str, JsonValue]) -> Example:
        """Verify, reject or edit an example. Raises what `add_example` raises.

        Editing a verified example verifies it again: the person who edits it stands for the new text.
        """
        example = await self.own(self.examples, owner, example_id)
        sql = changes.get("sql", example.sql)
        status = changes.get("status", example.status)
        if status == "verified":
            connection = await self._connections.repository.get(owner, example.db_connection_id)
            await self.check(connection, str(sql))
        key = question_key(str(changes.get("question", example.question)))
        now = now_ms()
        review: dict[str, JsonValue] = {}
        if changes:
            is_verified = status == "verified"
            review["verified_by"] = owner if is_verified else None
            review["verified_at"] = now if is_verified else None
        if status != "proposed":
            review["answer"] = None
        return await self._change(
            self.examples, example, {**changes, **review, "question_key": key, "updated_at": now}
        )

    async def faults(self, examples: Sequence[Example]) -> list[str | None]:
        """Returns of each example why its SQL would not run on the schema as scanned last, and the cure.

        None for one that would run, or whose database was never scanned. Answers use only those.
        """
        connections: dict[str, Connection] = {}
        for owner, connection_id in {(each.owner, each.db_connection_id) for each in examples}:
            with suppress(ConnectionNotFound):
                connections[connection_id] = await self._connections.repository.get(owner, connection_id)
        return [
            await self.find_fault(connections[each.db_connection_id], each.sql)
            if each.db_connection_id in connections
            else None
            for each in examples
        ]

    async def test_example(self, owner: str, example_id: str, sql: str | None) -> ExampleRun:
        """Run the statement of an example, or this one in its place. Raises `StatementNotRun` and
        `DatabaseDown`.
        """
        example = await self.own(self.examples, owner, example_id)
        connection = await self._connections.repository.get(owner, example.db_connection_id)
        began = time.monotonic()
        with as_problems():
            asker = Asker(owner=owner, purpose="preview", claim=current_database_claim())
            result = await self._connections.run(connection, sql or example.sql, asker)
        return ExampleRun(result, round((time.monotonic() - began) * 1_000))

    async def forget_owner(self, owner: str) -> None:
        """Delete all examples, terms and instructions of an owner."""
        for entries in (self.examples, self.terms, self.instructions):
            await entries.delete_all([Equals("owner", owner)])

    async def add_term(
        self,
        owner: str,
        db_connection_id: str,
        term: str,
        *,
        meaning: str,
        sql: str | None,
        entry_id: str | None = None,
    ) -> Term:
        """With the same `entry_id` the term is stored once, however often."""
        connection = await self._connections.repository.own(owner, db_connection_id)
        now = now_ms()
        added = Term(
            id=entry_id or created_id(),
            owner=owner,
            db_connection_id=connection.id,
            term=term,
            meaning=meaning,
            sql=sql,
            created_at=now,
            updated_at=now,
        )
        await self.terms.save(added)
        _audit(added, "added")
        return added

    async def change_term(self, owner: str, term_id: str, changes: Mapping[str, JsonValue]) -> Term:
        term = await self.own(self.terms, owner, term_id)
        return await self._change(self.terms, term, {**changes, "updated_at": now_ms()})

    async def add_instruction(
        self,
        owner: str,
        db_connection_id: str,
        text: str,
        *,
        scope: str | None,
        entry_id: str | None = None,
    ) -> Instruction:
        """With the same `entry_id` the instruction is stored once, however often.

        Raises `ScopeUnknown` if the schema has no such table, and `DatabaseDown` if a scan fails.
        """
        connection = await self._connections.repository.own(owner, db_connection_id)
        now = now_ms()
        await self._check_scope(connection, scope)
        added = Instruction(
            id=entry_id or created_id(),
            owner=owner,
            db_connection_id=connection.id,
            text=text,
            scope=scope,
            created_at=now,
            updated_at=now,
        )
        await self.instructions.save(added)
        _audit(added, "added")
        return added

    async def change_instruction(
        self, owner: str, instruction_id: str, changes: Mapping[str, JsonValue]
    ) -> Instruction:
        """Raises what `add_instruction` raises."""
        instruction = await self.own(self.instructions, owner, instruction_id)
        if (scope := changes.get("scope")) is not None:
            connection = await self._connections.repository.get(owner, instruction.db_connection_id)
            await self._check_scope(connection, str(scope))
        return await self._change(self.instructions, instruction, {**changes, "updated_at": now_ms()})

    async def delete(self, entries: Entries[Entry], owner: str, entry_id: str) -> None:
        """Delete an entry. Raises what `own` raises."""
        entry = await self.own(entries, owner, entry_id)
        await entries.delete(entry)
        _audit(entry, "deleted")

    async def _change(self, entries: Entries[Entry], entry: Entry, changes: Mapping[str, JsonValue]) -> Entry:
        changed = await entries.edit(entry, changes)
        _audit(changed, "changed")
        return changed

    async def knowledge(self, connection_id: str) -> Knowledge:
        """Returns what a writer of statements may know, newest first, at most a thousand of each kind.

        One request to a remote store. The caller checks who may read the connection.
        """
        return Knowledge(
            *await asyncio.gather(
                self.examples.latest(connection_id, _VERIFIED),
                self.terms.latest(connection_id),
                self.instructions.latest(connection_id),
            )
        )

    async def knowledge_of_person(self, connection: Connection) -> Knowledge:
        """Returns what `knowledge` returns, without what the person who asks may not know of.

        Raises `DatabaseDown` where policies hold and the tables cannot be read.
        """
        schema = await _read_schema(self._connections, connection)
        known = await self.knowledge(connection.id)
        if schema is None:
            return known
        return Knowledge(
            known_to_person(known.examples, schema),
            known_to_person(known.terms, schema),
            known_to_person(known.instructions, schema),
        )

    async def verified_examples(self, connection: Connection) -> list[Example]:
        """Returns the verified examples of a connection that name no hidden column, newest first, at most a
        thousand. Some may have faults. Raises `DatabaseDown` where policies hold and the tables cannot be
        read.
        """
        schema = await _read_schema(self._connections, connection)
        return without_hidden(await self.examples.latest(connection.id, _VERIFIED), schema)

    async def matches(
        self, reader: str, connection_id: str, statements: Sequence[str]
    ) -> list[tuple[int, Example]]:
        """Returns the latest verified example whose SQL is a statement, apart from its layout, with the index
        of the statement. Examples with faults are left out.

        Raises `ConnectionNotFound`, and `StatementFailed` or `DatabaseDown` if comparing takes too long.
        """
        connection = await self._connections.repository.get(reader, connection_id)
        examples = await self.verified_examples(connection)
        longest = max(statements, key=len)
        with as_problems():
            found = await self._connections.examine(
                longest, _matches, statements, connection.dialect, examples
            )
        faults = await self.faults([example for _, example in found])
        return [match for match, fault in zip(found, faults, strict=True) if fault is None]

    async def verified_answer(self, connection: Connection, question: str) -> Example | None:
        """Returns the latest verified example of the same question (see `question_key`), or None."""
        same = [Equals("status", "verified"), Equals("question_key", question_key(question))]
        found = await self.examples.latest(connection.id, same, limit=1)
        return found[0] if found else None

    async def check(self, connection: Connection, sql: str) -> None:
        """Raises `ExampleNotRunnable` for SQL that a verified example may not have, and `DatabaseDown`."""
        with as_problems():
            try:
                await self._connections.check(connection, sql)
            except StatementFailed as error:
                raise ExampleNotRunnable(error.detail) from error
        if (fault := await self.find_fault(connection, sql)) is not None:
            raise ExampleNotRunnable(fault)

    async def _check_scope(self, connection: Connection, scope: str | None) -> None:
        if scope is None:
            return
        with as_problems():
            schema = await self._connections.schema(connection)
        if scope not in schema.names:
            if len(several := schema.names.read(scope)) > 1:
                raise ScopeUnclear(table=scope, tables=" or ".join(several))
            raise ScopeUnknown(table=scope)


_known_layout = lru_cache(maxsize=1_000)(laid_out)


async def _read_schema(connections: DatabaseConnections, connection: Connection) -> Schema | None:
    """Returns the known tables, if any. Where policies hold it waits for them: nothing else tells what a
    person may know of.
    """
    if connection.policies is None:
        return await connections.known_schema(connection)
    with as_problems():
        return await connections.schema(connection)


def _matches(
    statements: Sequence[str], dialect: str, examples: Sequence[Example]
) -> list[tuple[int, Example]]:
    """`examples` are newest first."""
    if not examples:
        return []
    known = {_known_layout(each.sql, dialect): each for each in reversed(examples)}
    found = [(at, known.get(laid_out(each, dialect))) for at, each in enumerate(statements)]
    return [(at, example) for at, example in found if example is not None]


def _is_public(entry: Example | Term | Instruction) -> bool:
    return not isinstance(entry, Example) or entry.status == "verified"


def _audit(entry: Example | Term | Instruction, action: str) -> None:
    """One line for each change by a person, without the texts."""
    audit.info(
        "knowledge",
        extra={
            "owner": entry.owner,
            "connection_id": entry.db_connection_id,
            "kind": type(entry).__name__.lower(),
            "entry_id": entry.id,
            "status": entry.status if isinstance(entry, Example) else None,
            "action": action,
        },
    )
