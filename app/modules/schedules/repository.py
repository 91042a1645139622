"""Schedules and notices in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from pydantic import JsonValue, TypeAdapter

from app.core.ids import id_of
from app.core.storage.port import Condition, DocumentExists, Equals, Range, Storage
from app.modules.schedules.errors import NoticeUnknown, ScheduleUnknown
from app.modules.schedules.model import Notice, Schedule

_SCHEDULE = TypeAdapter(Schedule)
_NOTICE = TypeAdapter(Notice)
_MARKS = str(UUID(int=21))


class ScheduleRepository:
    """Schedules, notices and the marks up to which owners have read them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def add(self, schedule: Schedule) -> None:
        await self._storage.create("schedules", asdict(schedule))

    async def count(self, owner: str) -> int:
        return await self._storage.count("schedules", [Equals("owner", owner)])

    async def get(self, owner: str, schedule_id: str) -> Schedule:
        """Raises `ScheduleUnknown`, also for a schedule of another owner."""
        schedule = await self.find(schedule_id)
        if schedule is None or schedule.owner != owner:
            raise ScheduleUnknown
        return schedule

    async def find(self, schedule_id: str) -> Schedule | None:
        found = await self._storage.get("schedules", schedule_id)
        return None if found is None else _SCHEDULE.validate_python(found)

    async def page(
        self, owner: str, board_id: str | None, limit: int, *, cursor: str | None
    ) -> tuple[list[Schedule], str | None]:
        """Newest first."""
        where: list[Condition] = [Equals("owner", owner)]
        if board_id is not None:
            where.append(Equals("board_id", board_id))
        page = await self._storage.query(
            "schedules", where, order_by="created_at", descending=True, limit=limit, cursor=cursor
        )
        return [_SCHEDULE.validate_python(each) for each in page.items], page.next_cursor

    async def due(self, now: int, limit: int) -> list[Schedule]:
        """Those that a worker is to look at by now, the longest due first."""
        page = await self._storage.query(
            "schedules", [Range("due_at", below=now + 1)], order_by="due_at", limit=limit
        )
        return [_SCHEDULE.validate_python(each) for each in page.items]

    async def change(
        self, schedule: Schedule, changes: Mapping[str, JsonValue], *, while_due_at: int | None = None
    ) -> Schedule | None:
        """Returns the changed schedule. Returns None if it is gone, or due at another time than given."""
        where = [] if while_due_at is None else [Equals("due_at", while_due_at)]
        changed = await self._storage.patch("schedules", schedule.id, changes, where=where)
        return None if changed is None else _SCHEDULE.validate_python(changed)

    async def delete(self, schedule: Schedule) -> None:
        await self._storage.delete("schedules", [Equals("id", schedule.id)])

    async def delete_all(self, owner: str) -> None:
        """Delete the schedules, notices and marks of an owner."""
        for collection in ("schedules", "notices", "notice_marks"):
            await self._storage.delete(collection, [Equals("owner", owner)])

    async def forget_connection(self, connection_id: str) -> None:
        """Delete the schedules of pins of a connection with their notices, which name values."""
        for collection in ("schedules", "notices"):
            await self._storage.delete(collection, [Equals("db_connection_id", connection_id)])

    # Notices

    async def tell(self, notice: Notice) -> bool:
        """Store a notice. Returns False if it was stored before."""
        try:
            await self._storage.create("notices", asdict(notice))
        except DocumentExists:
            return False
        return True

    async def withdraw(self, notice_id: str) -> None:
        await self._storage.delete("notices", [Equals("id", notice_id)])

    async def notices(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Notice], str | None]:
        """Newest first."""
        page = await self._storage.query(
            "notices",
            [Equals("owner", owner)],
            order_by="at",
            descending=True,
            limit=limit,
            cursor=cursor,
        )
        return [_NOTICE.validate_python(each) for each in page.items], page.next_cursor

    async def unread(self, owner: str) -> int:
        """The number of notices after the owner's mark."""
        mark = await self._storage.get("notice_marks", id_of(_MARKS, owner))
        read_until = 0 if mark is None else mark["read_until"]
        since = read_until + 1 if isinstance(read_until, int) else 0
        return await self._storage.count("notices", [Equals("owner", owner), Range("at", at_least=since)])

    async def mark_read(self, owner: str, notice_id: str) -> None:
        """Mark a notice and all before it as read. Raises `NoticeUnknown`."""
        found = await self._storage.get("notices", notice_id)
        if found is None or found["owner"] != owner:
            raise NoticeUnknown
        mark_id, at = id_of(_MARKS, owner), found["at"]
        mark = await self._storage.get("notice_marks", mark_id)
        before = None if mark is None else mark["read_until"]
        if not isinstance(before, int) or not isinstance(at, int) or at > before:
            await self._storage.put("notice_marks", [{"id": mark_id, "owner": owner, "read_until": at}])

    async def undelivered(self, now: int, limit: int) -> Sequence[Notice]:
        """Notices whose webhook is to be tried by now, the longest due first."""
        page = await self._storage.query(
            "notices", [Range("webhook_due_at", below=now + 1)], order_by="webhook_due_at", limit=limit
        )
        return [_NOTICE.validate_python(each) for each in page.items]

    async def change_notice(self, notice: Notice, changes: Mapping[str, JsonValue]) -> Notice | None:
        """Returns the changed notice. Returns None if another process has changed it, or it is gone."""
        same = [Equals("webhook_due_at", notice.webhook_due_at)]
        changed = await self._storage.patch("notices", notice.id, changes, where=same)
        return None if changed is None else _NOTICE.validate_python(changed)

    async def delete_old(self, before: int) -> int:
        """Delete notices of before this time."""
        return await self._storage.delete("notices", [Range("at", below=before)])
