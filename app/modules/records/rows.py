"""Rows of answers, stored in chunks beside the messages, so that any page is one read."""

from collections.abc import AsyncGenerator, Sequence
from typing import cast

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.port import AnyOf, Document, Query, Range, Storage
from app.modules.records.errors import RowsGone
from app.modules.records.model import HEAD_ROWS, Message, Row, StoredResult
from graph.state import Rows

ROWS_PER_CHUNK = 500
_ROWS_PER_READ = 10 * ROWS_PER_CHUNK
_DELETED_AT_ONCE = 20


class RowStore:
    """Rows by the message they answer, or by another result's id.

    `belongs_to` is the field for the id of the thing that the rows are deleted with.
    """

    def __init__(
        self, storage: Storage, collection: str = "result_chunks", *, belongs_to: str = "session_id"
    ) -> None:
        self._storage = storage
        self._collection = collection
        self._belongs_to = belongs_to

    async def keep(
        self,
        owner: str,
        whole_id: str,
        message_id: str,
        *,
        rows: Sequence[Row],
        result: StoredResult | None = None,
    ) -> None:
        """Store all rows of a message, in place of those stored before. `whole_id`: the session, or what
        else the rows are deleted with. `result` is returned by `kept`.

        The first chunk is written last: if it is there, all are.
        """
        now = now_ms()
        first, *others = [
            cast(
                "Document",
                {
                    "id": id_of(message_id, str(start // ROWS_PER_CHUNK)),
                    "owner": owner,
                    self._belongs_to: whole_id,
                    "message_id": message_id,
                    "created_at": now,
                    "rows": rows[start : start + ROWS_PER_CHUNK],
                },
            )
            for start in range(0, max(1, len(rows)), ROWS_PER_CHUNK)
        ]
        if others:
            await self._storage.put(self._collection, others)
        await self._storage.put(self._collection, [{**first, **cast("Document", result or {})}])

    async def kept(self, message_id: str, sql: str) -> Rows | None:
        """Returns the head of the stored result of this statement. Returns None if there is none."""
        found = await self._storage.get(self._collection, id_of(message_id, "0"))
        if found is None or found.get("sql") != sql:
            return None
        result = cast("StoredResult", found)
        return Rows(
            columns=result["columns"],
            rows=_rows_of(found)[:HEAD_ROWS],
            row_count=result["row_count"],
            truncated=result["truncated"],
            cut_by=result["cut_by"],
        )

    async def read(self, message_id: str, start: int, stop: int) -> list[Row]:
        """Returns the rows from `start` up to, not including, `stop`. Raises `RowsGone` if they are
        not stored.
        """
        if start >= stop:
            return []
        first = start // ROWS_PER_CHUNK
        ids = [id_of(message_id, str(number)) for number in range(first, -(-stop // ROWS_PER_CHUNK))]
        page = await self._storage.query(self._collection, Query([AnyOf("id", ids)], limit=len(ids)))
        chunks = {str(chunk["id"]): _rows_of(chunk) for chunk in page.items}
        if len(chunks) < len(ids):
            raise RowsGone
        rows = [row for each in ids for row in chunks[each]]
        return rows[start - first * ROWS_PER_CHUNK : stop - first * ROWS_PER_CHUNK]

    async def all(self, message_id: str, row_count: int) -> AsyncGenerator[list[Row]]:
        """Yields all rows, some chunks at a time. Raises `RowsGone`."""
        for start in range(0, row_count, _ROWS_PER_READ):
            yield await self.read(message_id, start, min(start + _ROWS_PER_READ, row_count))

    async def delete_old(self, before: int) -> int:
        """Delete rows stored before then (epoch ms); returns the number of chunks. Their answers stay."""
        deleted = 0
        old = Range("created_at", below=before)
        while chunks := (
            await self._storage.query(self._collection, Query([old], limit=_DELETED_AT_ONCE))
        ).items:
            ids = [str(chunk["id"]) for chunk in chunks]
            deleted += await self._storage.delete(self._collection, [AnyOf("id", ids), old])
        return deleted

    async def copy(self, from_id: str, message: Message, *, to_id: str, row_count: int) -> None:
        """Copy rows to another id, for a message that they belong to, if they are still stored."""
        try:
            rows = await self.read(from_id, 0, row_count)
        except RowsGone:
            return
        await self.keep(message.owner, message.session_id, to_id, rows=rows)


def _rows_of(chunk: Document) -> list[Row]:
    return cast("list[Row]", chunk["rows"])  # a check of all values would cost more than the read
