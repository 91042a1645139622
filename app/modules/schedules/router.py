"""Routes of schedules and notices."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, status

from app.http.callers import ASK, READ, Owner
from app.http.entity_tags import located
from app.http.parameters import ChangedQuery, PageParameters
from app.http.router import Router
from app.http.routes import PageOf, Text
from app.modules.schedules.schemas import (
    NewScheduleBody,
    NoticeBody,
    NoticesPage,
    ReadUntil,
    ScheduleBody,
    ScheduleChange,
    TriedTargetBody,
    TriedTargetsBody,
)
from app.modules.schedules.service import Schedules

router = Router(tags=["schedules"])


async def _schedules(request: Request) -> Schedules:
    schedules: Schedules = request.app.state.services.schedules
    return schedules


Service = Annotated[Schedules, Depends(_schedules)]
ScheduleId = Annotated[str, Path(description="Id of the schedule.")]


class SchedulesQuery(ChangedQuery):
    """Selects a page of schedules."""

    board_id: Annotated[
        Text | None, Query(max_length=100, description="Id of a board. Left out: schedules of all boards.")
    ] = None


@router.post(
    "/schedules",
    summary="Create a schedule",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/schedules/{id}")],
)
async def create_schedule(body: NewScheduleBody, owner: Owner, schedules: Service) -> ScheduleBody:
    """Runs a pin, or all pins of a board, at times. Needs scope `ask`.

    Each run is a refresh, once, with the rights that the owner then has, and no model. Times that no worker
    ran are reported and not made up for. Answers 404 for an unknown board or pin, and 422 for times
    (`schedule-times`), a condition (`schedule-condition`), the address of a webhook (`webhook-address`), or a
    mail address or chat (`schedule-target`) that cannot be used, and beyond 50 schedules
    (`too-many-schedules`).
    """
    return ScheduleBody.made(await schedules.create(owner, body.new()))


@router.get("/schedules", summary="List schedules", dependencies=[READ])
async def list_schedules(
    query: Annotated[SchedulesQuery, Query()], owner: Owner, schedules: Service
) -> PageOf[ScheduleBody]:
    """Lists the caller's schedules, by default newest first. Needs scope `read`."""
    found = await schedules.repository.page(owner, query.board_id, query.wanted())
    return query.page_of([ScheduleBody.of(each) for each in found.items], found)


@router.get("/schedules/{schedule_id}", summary="Get a schedule", dependencies=[READ])
async def read_schedule(schedule_id: ScheduleId, owner: Owner, schedules: Service) -> ScheduleBody:
    """Returns the schedule with its next time and its last run. Needs scope `read`."""
    return ScheduleBody.of(await schedules.repository.get(owner, schedule_id))


@router.patch("/schedules/{schedule_id}", summary="Change a schedule", dependencies=[ASK])
async def change_schedule(
    schedule_id: ScheduleId, body: ScheduleChange, owner: Owner, schedules: Service
) -> ScheduleBody:
    """Changes the fields that the body holds, and no others. Needs scope `ask`. Answers as creating does."""
    changes = body.model_dump(exclude_unset=True)
    return ScheduleBody.made(await schedules.change(owner, schedule_id, changes, parts=body.parts()))


@router.post("/schedules/{schedule_id}/test", summary="Send a test to the targets", dependencies=[ASK])
async def try_targets(schedule_id: ScheduleId, owner: Owner, schedules: Service) -> TriedTargetsBody:
    """Sends a message that says it is a test to the schedule's mail addresses and chats, and answers what
    came of it. Needs scope `ask`. No statement runs, and nothing is tried again. Answers 422
    (`schedule-target`) without a target, and 429 (`tested-before`) within a minute.
    """
    tried = await schedules.try_targets(owner, schedule_id)
    return TriedTargetsBody(items=[TriedTargetBody.tried(each) for each in tried])


@router.delete(
    "/schedules/{schedule_id}",
    summary="Delete a schedule",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def delete_schedule(schedule_id: ScheduleId, owner: Owner, schedules: Service) -> None:
    """Deletes the schedule. Needs scope `ask`. Its notices stay; those that wait are not sent any more."""
    await schedules.delete(owner, schedule_id)


@router.get("/notices", summary="List notices", dependencies=[READ])
async def list_notices(page: PageParameters, owner: Owner, schedules: Service) -> NoticesPage:
    """Lists what happened at the times of the caller's schedules, and comments that mention the caller,
    newest first. Needs scope `read`.

    Notices are kept for 90 days. `unread` counts those after the latest that was marked as read.
    """
    found, next_cursor = await schedules.repository.notices(owner, page.limit, page.cursor)
    unread = await schedules.repository.unread(owner)
    return NoticesPage(items=[NoticeBody.of(each) for each in found], next_cursor=next_cursor, unread=unread)


@router.post(
    "/notices/read",
    summary="Mark notices as read",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def mark_notices_read(body: ReadUntil, owner: Owner, schedules: Service) -> None:
    """Marks a notice and all before it as read. Needs scope `ask`."""
    await schedules.repository.mark_read(owner, body.notice_id)
