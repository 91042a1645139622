"""Schedules and notices in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from pydantic import JsonValue

from app.core.ids import id_of
from app.core.storage.claims import Claims
from app.core.storage.documents import Documents
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Condition, Equals, Query, Range, Storage
from app.modules.schedules.errors import NoticeUnknown, ScheduleUnknown
from app.modules.schedules.model import Delivery, Notice, Schedule

_MARKS = str(UUID(int=21))


class ScheduleRepository:
    """Schedules, notices and the marks up to which owners have read them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._schedules = Documents(storage, "schedules", Schedule)
        self._notices = Documents(storage, "notices", Notice)
        self.schedules = Claims(self._schedules, "due_at")
        self.webhooks = Claims(self._notices, "webhook_due_at")
        """Notices whose webhook is to be tried."""
        self.deliveries = Claims(self._notices, "deliver_due_at")
        """Notices of which a delivery to a target is to be tried."""

    async def add(self, schedule: Schedule) -> Schedule:
        """Returns the schedule that is stored."""
        return await self._schedules.create(schedule)

    async def count(self, owner: str) -> int:
        return await self._schedules.count(Equals("owner", owner))

    async def get(self, owner: str, schedule_id: str) -> Schedule:
        """Raises `ScheduleUnknown`, also for a schedule of another owner."""
        schedule = await self.find(schedule_id)
        if schedule is None or schedule.owner != owner:
            raise ScheduleUnknown
        return schedule

    async def find(self, schedule_id: str) -> Schedule | None:
        return await self._schedules.get(schedule_id)

    async def page(self, owner: str, board_id: str | None, wanted: ListRequest) -> Listed[Schedule]:
        """`board_id` None: of all boards."""
        where: list[Condition] = [Equals("owner", owner)]
        if board_id is not None:
            where.append(Equals("board_id", board_id))
        return await self._schedules.list_page(where, wanted)

    async def edit(self, schedule: Schedule, changes: Mapping[str, JsonValue]) -> Schedule | None:
        """Change a schedule for its owner. Returns the changed schedule, and None if it is gone."""
        return await self._schedules.edit(schedule.id, changes)

    async def note_test(self, schedule: Schedule, at: int) -> None:
        await self._schedules.change(schedule.id, {"tested_at": at})

    async def delete(self, schedule: Schedule) -> None:
        await self._schedules.delete(Equals("id", schedule.id))

    async def delete_all(self, owner: str) -> None:
        """Delete the schedules, notices and marks of an owner, and the notices of their mentions."""
        for collection in ("schedules", "notices", "notice_marks"):
            await self._storage.delete(collection, [Equals("owner", owner)])
        await self._notices.delete(Equals("author", owner))

    async def forget_connection(self, connection_id: str) -> None:
        """Delete the schedules of pins of a connection with their notices, which name values."""
        for collection in ("schedules", "notices"):
            await self._storage.delete(collection, [Equals("db_connection_id", connection_id)])

    # Notices

    async def tell(self, notice: Notice) -> bool:
        """Store a notice. Returns False if it was stored before."""
        return await self._notices.add(notice)

    async def find_notice(self, notice_id: str) -> Notice | None:
        return await self._notices.get(notice_id)

    async def withdraw(self, notice_id: str) -> None:
        await self._notices.delete(Equals("id", notice_id))

    async def notices(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Notice], str | None]:
        """Newest first."""
        own = [Equals("owner", owner)]
        return await self._notices.page(
            Query(own, order_by="at", descending=True, limit=limit, cursor=cursor)
        )

    async def unread(self, owner: str) -> int:
        """The number of notices after the owner's mark."""
        mark = await self._storage.get("notice_marks", id_of(_MARKS, owner))
        read_until = 0 if mark is None else mark["read_until"]
        since = read_until + 1 if isinstance(read_until, int) else 0
        return await self._notices.count(Equals("owner", owner), Range("at", at_least=since))

    async def mark_read(self, owner: str, notice_id: str) -> None:
        """Mark a notice and all before it as read. Raises `NoticeUnknown`."""
        found = await self._notices.get(notice_id)
        if found is None or found.owner != owner:
            raise NoticeUnknown
        mark_id, at = id_of(_MARKS, owner), found.at
        mark = await self._storage.get("notice_marks", mark_id)
        before = None if mark is None else mark["read_until"]
        if not isinstance(before, int) or at > before:
            await self._storage.put("notice_marks", [{"id": mark_id, "owner": owner, "read_until": at}])

    async def change_deliveries(
        self, notice: Notice, deliveries: Sequence[Delivery], *, due_at: int | None
    ) -> Notice | None:
        """Returns the changed notice. Returns None if another process has changed it, or it is gone."""
        stored: list[JsonValue] = [asdict(each) for each in deliveries]
        return await self.deliveries.change(notice, {"deliveries": stored, "deliver_due_at": due_at})

    async def delete_old(self, before: int) -> int:
        """Delete notices of before this time."""
        return await self._notices.delete(Range("at", below=before))
