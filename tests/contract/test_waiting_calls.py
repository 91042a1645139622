"""Calls of tools that wait for people, in every store: what a sweep finds of them, and what it reads."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import cast

import pytest

from app.core.ids import new_id
from app.core.storage.port import Document, Page, Query, Storage
from app.modules.records.steps import CallRecord, CallStatus, InvestigationRecords
from migrations import m0002_investigations, m0004_approvals
from tests.support.stores import ADAPTERS

NOW = 1_800_000_000_000
MINUTE = 60_000


async def _no_progress(done: int, of: int) -> None:
    """Not shown."""


@pytest.fixture(params=["sqlite", "typesense"])
async def storage(request: pytest.FixtureRequest) -> AsyncIterator[Storage]:
    async with ADAPTERS[request.param](request)() as opened:
        await m0002_investigations.migrate(opened, _no_progress)
        await m0004_approvals.migrate(opened, _no_progress)
        yield opened


def call(status: CallStatus, expires_at: int) -> CallRecord:
    return CallRecord(
        id=new_id(),
        owner="ada",
        session_id=new_id(),
        message_id=new_id(),
        run_id=new_id(),
        step=1,
        position=0,
        tool="book",
        category="write",
        arguments={},
        status=status,
        created_at=NOW,
        gate="asks",
        asked_at=NOW,
        expires_at=expires_at,
    )


@pytest.fixture
def read(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> list[Document]:
    """The documents that queries have returned."""
    documents: list[Document] = []
    query = storage.query

    async def noted(collection: str, asked: Query) -> Page:
        page = await query(collection, asked)
        documents.extend(page.items)
        return page

    monkeypatch.setattr(storage, "query", noted)
    return documents


async def keep(storage: Storage, calls: Sequence[CallRecord]) -> None:
    await storage.put("tool_calls", [cast("Document", asdict(each)) for each in calls])


async def test_of_many_calls_that_wait_only_those_are_read_whose_time_is_over(
    storage: Storage, read: list[Document]
) -> None:
    due = [call("waiting", NOW - 1), call("waiting", NOW - 9 * MINUTE)]
    others = [call("waiting", NOW), call("done", NOW - 1), call("denied", NOW - 1)]
    await keep(storage, [*due, *others, *(call("waiting", NOW + MINUTE) for _ in range(250))])
    records = InvestigationRecords(storage)
    assert await records.expire_all(NOW) == {each.session_id for each in due}
    assert {each["id"] for each in read} == {each.id for each in due}
    assert await records.expire_all(NOW) == set()
    assert [found.status for each in due if (found := await records.call(each.id))] == ["expired"] * 2


async def test_a_sweep_reads_what_was_decided_lately_and_nothing_that_waits(
    storage: Storage, read: list[Document]
) -> None:
    decided: list[CallStatus] = ["approved", "denied", "expired", "withdrawn"]
    lately = [call(status, NOW) for status in decided]
    earlier = [call(status, NOW - 1) for status in decided]
    over = [call(status, NOW) for status in ("done", "failed", "unknown")]
    await keep(storage, [*lately, *earlier, *over, *(call("waiting", NOW + MINUTE) for _ in range(250))])
    found = await InvestigationRecords(storage).sessions_decided_since(NOW)
    assert found == {each.session_id for each in lately}
    assert {each["id"] for each in read} == {each.id for each in lately}


async def test_of_several_deciders_and_the_expiry_at_once_one_decides(storage: Storage) -> None:
    records = InvestigationRecords(storage)
    for _ in range(5):
        asked = call("waiting", 2 * NOW)
        await keep(storage, [asked])
        decided = await asyncio.gather(
            records.expire(asked),
            records.approve(asked, "first", None),
            records.deny(asked, "second", None),
            records.approve(asked, "third", None),
        )
        (winner,) = [each for each in decided if each is not None]
        assert await records.call(asked.id) == winner
