"""Examples that answers propose, and how often examples are used."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pydantic import JsonValue

from app.core.storage.listing import ListRequest
from app.core.storage.port import AnyOf, Condition, Equals
from app.modules.context_store.errors import EntryUnknown
from app.modules.context_store.model import Example, new_example
from app.modules.context_store.repository import Entries
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.service import DatabaseConnections

_USES_KNOWN_MS = 3_600_000
_MOST_USES_KNOWN = 100
"""Latest uses of an example, which are not counted again."""


class AnswerProposals:
    """Examples as answers make and use them. Only a person verifies one."""

    def __init__(self, examples: Entries[Example], connections: DatabaseConnections) -> None:
        self._examples = examples
        self._connections = connections

    async def propose(
        self,
        owner: str,
        db_connection_id: str,
        question: str,
        *,
        sql: str,
        answer: str | None,
        message_id: str,
        session_id: str,
    ) -> None:
        """Propose a liked or corrected answer as an example. Nothing uses it before the owner has verified
        it. `answer` is its text, None for a corrected one.

        The text is not stored where rows belong to people: its reviewer may not see what its reader may.
        The latest feedback on an answer replaces its earlier proposal. Does nothing if the connection was
        deleted.
        """
        await self.withdraw(message_id)
        reviewed = await self._of_message(message_id)
        if any(each.sql == sql for each in reviewed):
            return
        with suppress(ConnectionNotFound):
            connection = await self._connections.repository.get(owner, db_connection_id)
            proposed = new_example(connection, question, sql, status="proposed", message_id=message_id)
            shown = None if connection.is_per_person else answer
            await self._examples.save(replace(proposed, session_id=session_id, asked_by=owner, answer=shown))

    async def withdraw(self, message_id: str) -> None:
        """Delete the proposals of an answer, unless they were reviewed."""
        for each in await self._of_message(message_id):
            await self._examples.delete(each, [Equals("status", "proposed")])

    async def note_uses(self, example_id: str, messages: Mapping[str, int]) -> None:
        """Count the answers that an example gave or guided: the times of their messages by id, in ms.

        A repeated call counts nothing twice. Of an answer that ends an hour after the latest use nothing is
        known any more, and it is not counted.
        """
        try:
            example = await self._examples.get(example_id)
        except EntryUnknown:
            return
        since = example.used_at - _USES_KNOWN_MS
        new = {each: at for each, at in messages.items() if at > since and each not in example.used_by}
        if new:
            used_by: list[JsonValue] = [*example.used_by, *new]
            changes: dict[str, JsonValue] = {
                "uses": example.uses + len(new),
                "used_at": max(example.used_at, *new.values()),
                "used_by": used_by[-_MOST_USES_KNOWN:],
            }
            with suppress(EntryUnknown):
                await self._examples.change(example, changes)

    async def forget_sessions(self, session_ids: Sequence[str]) -> None:
        """Delete what answers of these sessions have proposed, unless a person has verified it."""
        not_verified: list[Condition] = [
            AnyOf("session_id", session_ids),
            AnyOf("status", ["proposed", "rejected"]),
        ]
        await self._examples.delete_all(not_verified)

    async def _of_message(self, message_id: str) -> Sequence[Example]:
        return (await self._examples.page([Equals("message_id", message_id)], ListRequest(limit=100))).items
