"""Rows that the calls of an investigation have fetched or made."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.modules.records.errors import RowsGone
from app.modules.records.model import HEAD_ROWS, Row, StoredResult
from app.modules.records.rows import RowStore
from app.modules.records.steps import KeptResult, call_id_of
from graph.state import Rows

_NAME = re.compile(r"r(\d{1,3})\.(\d{1,3})")


def result_name(step: int, position: int) -> str:
    """Returns the name by which the model refers to the result of a call. `position` counts from 0."""
    return f"r{step}.{position + 1}"


@dataclass(frozen=True)
class NamedResult:
    """A result with its id and all its rows."""

    id: str
    kept: KeptResult
    rows: Rows


class ResultUnknown(Exception):
    """No call of this turn has returned rows by this name."""


FindResult = Callable[[str], Awaitable[KeptResult | None]]
"""Reads the header of the result of a call by the call's id."""


class TurnResults:
    """The results of one turn."""

    def __init__(
        self, rows: RowStore, find: FindResult, *, owner: str, session_id: str, message_id: str
    ) -> None:
        self._rows = rows
        self._find = find
        self._owner = owner
        self._session_id = session_id
        self._message_id = message_id
        self._heads: dict[str, list[Row]] = {}
        """The first rows of the results that were stored here, by the ids of their calls."""

    def id_of(self, name: str) -> str | None:
        """Returns the id of the call that has this result, whether it exists or not."""
        found = _NAME.fullmatch(name.strip())
        return None if found is None else call_id_of(self._message_id, int(found[1]), int(found[2]) - 1)

    async def keep(self, call_id: str, result: KeptResult, rows: list[Row]) -> None:
        """Store all rows under the call's id."""
        self._heads[call_id] = rows[:HEAD_ROWS]
        await self._rows.keep(self._owner, self._session_id, call_id, rows=rows)

    async def read(self, name: str) -> NamedResult:
        """Returns a result with all its rows. Raises `ResultUnknown`, also if the rows are gone."""
        call_id = self.id_of(name)
        kept = None if call_id is None else await self._find(call_id)
        if call_id is None or kept is None:
            raise ResultUnknown(f"There is no result {name[:40]!r} in this investigation.")
        try:
            return await self.read_kept(call_id, kept)
        except RowsGone:
            raise ResultUnknown(f"The rows of {name} are no longer stored.") from None

    async def read_kept(self, call_id: str, kept: KeptResult) -> NamedResult:
        """Returns the result of a call, which may not have ended, with all its rows. Raises `RowsGone`."""
        rows = [row async for some in self._rows.all(call_id, kept["row_count"]) for row in some]
        return NamedResult(call_id, kept, rows_of(kept, rows))

    async def head(self, call_id: str, result: KeptResult) -> Rows | None:
        """Returns the first rows of a call. Returns None if they are no longer stored."""
        if call_id not in self._heads:
            found = await read_head(self._rows, call_id, result)
            if found is None:
                return None
            self._heads[call_id] = found["rows"]
        return rows_of(result, self._heads[call_id])

    async def adopt(self, found: NamedResult) -> Rows:
        """Store a result as that of the message. Returns its head."""
        stored = StoredResult(
            sql=found.kept["sql"],
            columns=found.kept["columns"],
            row_count=found.kept["row_count"],
            truncated=found.kept["truncated"],
            cut_by=found.kept["cut_by"],
        )
        all_rows = found.rows["rows"]
        await self._rows.keep(self._owner, self._session_id, self._message_id, rows=all_rows, result=stored)
        return rows_of(found.kept, all_rows[:HEAD_ROWS])


async def read_head(rows: RowStore, call_id: str, result: KeptResult) -> Rows | None:
    """Returns the first rows of a call as they are stored. Returns None if they no longer are."""
    try:
        return rows_of(result, await rows.read(call_id, 0, min(HEAD_ROWS, result["row_count"])))
    except RowsGone:
        return None


def rows_of(kept: KeptResult, rows: list[Row]) -> Rows:
    """Returns the rows, or their head, with the columns of the result."""
    return Rows(
        columns=kept["columns"],
        rows=rows,
        row_count=kept["row_count"],
        truncated=kept["truncated"],
        cut_by=kept["cut_by"],
    )
