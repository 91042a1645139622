"""Deliveries: notices as messages to people, by mail and in chats.

A worker claims a notice by moving `deliver_due_at` to the end of a lease, and stores the outcome at each
target as it comes. If it dies in between, only targets without a stored outcome may get the notice again.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.ids import new_id
from app.core.secrets import SecretBox, SecretUnreadable
from app.core.storage.port import StorageUnavailable
from app.modules.schedules.chats import Chats
from app.modules.schedules.errors import TargetRefused
from app.modules.schedules.mail import Mail
from app.modules.schedules.messages import NoticeMessage, Picture, message_of, trial_of
from app.modules.schedules.model import Delivery, Notice, Schedule, Target
from app.modules.schedules.repository import ScheduleRepository
from app.modules.webhooks.retries import DeliveryFailed, check_tries, settle_try

logger = logging.getLogger(__name__)

_LEASE_MS = 120_000
_PICTURE_SECONDS = 20.0
_AT_ONCE = 10
_LARGEST_PICTURE = 2_000_000
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, kw_only=True)
class NewTarget:
    """A target as a caller names it: one that is there, the address of a mail, or the URL of a chat."""

    id: str | None = None
    address: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class TargetTest:
    """A test at a target. `error` is None if it was taken."""

    target: Target
    error: str | None


class Deliveries:
    """Makes targets and sends to them. `page` is KAI's own address, for links."""

    def __init__(
        self,
        repository: ScheduleRepository,
        box: SecretBox,
        mail: Mail,
        *,
        chats: Chats,
        picture: Picture,
        page: str | None,
    ) -> None:
        self._repository = repository
        self._box = box
        self._mail = mail
        self._chats = chats
        self._picture = picture
        self._page = page

    async def make(self, new: Sequence[NewTarget], present: Sequence[Target] = ()) -> list[Target]:
        """Returns the targets, those of `present` by their ids. Raises `TargetRefused`."""
        kept = {each.id: each for each in present}
        made: list[Target] = []
        for each in new:
            if each.id is not None:
                if each.id not in kept:
                    raise TargetRefused("The schedule has no target with this id.")
                made.append(kept[each.id])
            elif each.url is not None:
                url = each.url.strip()
                label = await asyncio.to_thread(self._chats.label, url)
                made.append(Target(id=new_id(), kind="chat", label=label, url=self._box.encrypt(url)))
            else:
                made.append(Target(id=new_id(), kind="mail", label=self._mail.check(each.address or "")))
        named = [each.id if each.kind == "chat" else each.label.lower() for each in made]
        if len({*named}) < len(named):
            raise TargetRefused("A target is named twice.")
        return made

    async def deliver_due(self, now: int) -> None:
        """Send the notices that wait. Any number of processes may do so: each claims a notice first."""
        waiting = await self._repository.deliveries.due(now, _AT_ONCE)
        await asyncio.gather(*(self._deliver(notice, now) for notice in waiting))

    async def try_out(self, schedule: Schedule, notice: Notice) -> list[TargetTest]:
        """Send a test to all targets of a schedule. `notice` has its title and ids, and is not stored."""
        message = trial_of(notice, schedule, self._page)
        picture = await self._draw(message)

        async def send(target: Target) -> TargetTest:
            try:
                await self._send(target, message, picture)
            except DeliveryFailed as error:
                return TargetTest(target, str(error))
            return TargetTest(target, None)

        return await asyncio.gather(*(send(each) for each in schedule.targets))

    async def _deliver(self, notice: Notice, now: int) -> None:
        due = [each.due_at is not None and each.due_at <= now for each in notice.deliveries]
        begun = [
            replace(each, tries=each.tries + 1) if is_due else each
            for each, is_due in zip(notice.deliveries, due, strict=True)
        ]
        claimed = await self._repository.change_deliveries(notice, begun, due_at=now + _LEASE_MS)
        if claimed is None:
            return
        try:
            await self._send_all(claimed, due, now)
        except StorageUnavailable as error:
            logger.warning("deliveries of notice %s are tried again: %s", notice.id, error)

    async def _send_all(self, notice: Notice, due: Sequence[bool], now: int) -> None:
        schedule = await self._repository.find(notice.schedule_id or "")
        targets = {} if schedule is None else {each.id: each for each in schedule.targets}
        message = None if schedule is None else message_of(notice, schedule, self._page)
        picture = None if message is None else await self._draw(message)
        deliveries = list(notice.deliveries)
        storing = asyncio.Lock()

        async def deliver(place: int) -> None:
            target = targets.get(deliveries[place].target_id)
            tried = await self._tried(deliveries[place], target, message, picture=picture, now=now)
            async with storing:  # one after the other: each stores all of them
                deliveries[place] = tried
                await self._repository.change_deliveries(notice, deliveries, due_at=notice.deliver_due_at)

        await asyncio.gather(*(deliver(place) for place, is_due in enumerate(due) if is_due))
        waits = [each.due_at for each in deliveries if each.due_at is not None]
        await self._repository.change_deliveries(notice, deliveries, due_at=min(waits, default=None))

    async def _tried(
        self,
        delivery: Delivery,
        target: Target | None,
        message: NoticeMessage | None,
        *,
        picture: bytes | None,
        now: int,
    ) -> Delivery:
        """Returns the delivery after a try."""
        failure: DeliveryFailed | None = None
        try:
            check_tries(delivery.tries)
            await self._send(target, message, picture)
        except DeliveryFailed as error:
            failure = error
        logger.info(
            "delivery to target %s, try %d: %s", delivery.target_id, delivery.tries, failure or "done"
        )
        return replace(delivery, **vars(settle_try(failure, delivery.tries, now)))

    async def _send(
        self, target: Target | None, message: NoticeMessage | None, picture: bytes | None
    ) -> None:
        """Raises `DeliveryFailed`."""
        if target is None or message is None:
            raise DeliveryFailed("The target was removed.", again=False)
        if target.url is None:
            await self._mail.send(target.label, message, picture)
            return
        try:
            url = self._box.decrypt(target.url)
        except SecretUnreadable:
            raise DeliveryFailed("Its URL cannot be read: give the chat again.", again=False) from None
        await self._chats.send(url, message, picture)

    async def _draw(self, message: NoticeMessage) -> bytes | None:
        """A message without its picture is better than none."""
        try:
            async with asyncio.timeout(_PICTURE_SECONDS):
                picture = await self._picture(message)
        except Exception:
            logger.exception("the picture of notice %s could not be drawn", message.notice_id)
            return None
        if picture is None or len(picture) > _LARGEST_PICTURE or not picture.startswith(_PNG):
            return None
        return picture
