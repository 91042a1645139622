"""Workers of jobs: repeat what failed, give up in the end, and stop between jobs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from app.core.bus.job_worker import Disposition, JobWorker, Work
from app.core.bus.local import LocalJobs
from app.core.bus.port import BusUnavailable, Kind, LeasedJob, RunRef
from app.core.clock import now_ms
from app.core.follow_up import MAX_TRIES, follow_up
from app.core.storage.port import StorageUnavailable
from tests.support.waiting import until

REF = RunRef("ann", "session 1", "run 3")


@asynccontextmanager
async def working(work: Work, seconds: float = 5, queue: LocalJobs | None = None) -> AsyncIterator[LocalJobs]:
    jobs = queue or LocalJobs()
    worker = JobWorker(jobs, "title", work, concurrency=1, retry_seconds=0.01)
    worker.start()
    yield jobs
    await worker.stop(seconds)


async def test_what_fails_is_tried_five_times_and_then_given_up_with_its_ids(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried: list[RunRef] = []

    async def fail(ref: RunRef) -> None:
        tried.append(ref)
        raise ValueError("a defect")

    def is_given_up(record: logging.LogRecord) -> bool:
        return "given up" in record.message

    async def given_up() -> bool:
        return any(map(is_given_up, caplog.records))

    with caplog.at_level(logging.ERROR):
        async with working(follow_up(fail)) as jobs:
            await jobs.publish_completed(REF)
            await until(given_up)
    assert tried == [REF] * MAX_TRIES
    (record,) = filter(is_given_up, caplog.records)
    assert all(each in record.message for each in ("title", "session 1", "run 3"))


async def test_a_store_that_is_unavailable_is_waited_for_and_counts_no_try() -> None:
    tries = iter([StorageUnavailable("down"), None])
    done = asyncio.Event()

    async def do(_: RunRef) -> None:
        if (failure := next(tries)) is not None:
            raise failure
        done.set()

    async with working(follow_up(do)) as jobs, asyncio.timeout(60):
        await jobs.publish_completed(REF)
        await done.wait()


async def test_a_stop_lets_the_present_job_end_and_takes_no_other() -> None:
    begun, release = asyncio.Event(), asyncio.Event()
    ended: list[RunRef] = []

    async def work(leased: LeasedJob) -> Disposition:
        begun.set()
        await release.wait()
        ended.append(leased.ref)
        return "done"

    async with working(work) as jobs, asyncio.timeout(60):
        await jobs.publish_completed(REF)
        await jobs.publish_completed(REF)
        await begun.wait()
        asyncio.get_running_loop().call_later(0.1, release.set)
    assert ended == [REF]
    assert await jobs.take("title", 1) is not None


async def test_a_stop_does_not_wait_without_end_and_the_job_comes_again() -> None:
    begun = asyncio.Event()

    async def work(_: LeasedJob) -> Disposition:
        begun.set()
        await asyncio.Event().wait()
        return "done"

    async with working(work, seconds=0.05) as jobs, asyncio.timeout(60):
        await jobs.publish_completed(REF)
        await begun.wait()
    again = await jobs.take("title", 5)
    assert again is not None
    assert (again.tries, again.first) == (2, False)


class FaultyJobs(LocalJobs):
    """Fails to deliver twice: by a defect, and because it is unavailable."""

    def __init__(self) -> None:
        super().__init__()
        self.faults = [BusUnavailable("down"), TypeError("a job of another version")]

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        if self.faults:
            raise self.faults.pop()
        return await super().take(kind, patience_seconds, except_owners=except_owners)


async def test_a_worker_goes_on_after_failures_to_take_a_job(caplog: pytest.LogCaptureFixture) -> None:
    done = asyncio.Event()

    async def work(_: LeasedJob) -> Disposition:
        done.set()
        return "done"

    jobs = FaultyJobs()
    await jobs.publish_completed(REF)
    async with working(work, queue=jobs):
        await asyncio.wait_for(done.wait(), 60)
    assert [record.message for record in caplog.records] == [
        "a title job could not be taken",
        "no title jobs are taken: down",
    ]


async def test_owners_take_turns_and_the_runs_of_each_keep_their_order() -> None:
    jobs = LocalJobs()
    for owner, numbers in {"ann": range(3), "bob": range(1), "cid": range(2)}.items():
        for number in numbers:
            await jobs.put(RunRef(owner, "session", str(number)), first=True)
    taken = [await jobs.take("run", 0.1) for _ in range(6)]
    assert [each and (each.ref.owner, each.ref.run_id) for each in taken] == [
        ("ann", "0"),
        ("bob", "0"),
        ("cid", "0"),
        ("ann", "1"),
        ("cid", "1"),
        ("ann", "2"),
    ]


async def test_an_owner_takes_at_most_their_share_of_a_worker() -> None:
    under_way: list[str] = []
    release = asyncio.Event()

    async def work(leased: LeasedJob) -> Disposition:
        under_way.append(leased.ref.owner)
        await release.wait()
        return "done"

    async def is_full() -> bool:
        return len(under_way) == 3

    jobs = LocalJobs()
    for number in range(4):
        await jobs.put(RunRef("ann", f"session {number}", f"run {number}"), first=True)
    worker = JobWorker(jobs, "run", work, concurrency=4, retry_seconds=0.01, most_of_an_owner=2)
    worker.start()
    await jobs.put(RunRef("bob", "session", "run"), first=True)
    await until(is_full)
    assert sorted(under_way) == ["ann", "ann", "bob"]
    release.set()
    await until(lambda: has_done(under_way, 5))
    await worker.stop(5)


async def has_done(jobs: list[str], number: int) -> bool:
    return len(jobs) == number


class WatchedJobs(LocalJobs):
    """Says which jobs are taken and put back."""

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        super().__init__()
        self.clock = clock
        self.taken = asyncio.Event()
        self.requeued: list[LeasedJob] = []

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        job = await super().take(kind, patience_seconds, except_owners=except_owners)
        if job is None:
            return None
        self.taken.set()
        return replace(job, added_at=self.clock())

    async def requeue(self, leased: LeasedJob, *, delay_seconds: float = 0) -> None:
        self.requeued.append(leased)
        await super().requeue(leased, delay_seconds=delay_seconds)


async def test_a_worker_that_stops_in_the_pause_puts_the_job_back_at_once() -> None:
    done: list[RunRef] = []

    async def work(leased: LeasedJob) -> Disposition:
        done.append(leased.ref)
        return "done"

    jobs = WatchedJobs()
    worker = JobWorker(jobs, "title", work, concurrency=1, retry_seconds=0.01, pause_seconds=3_600)
    worker.start()
    await jobs.publish_completed(REF)
    await asyncio.wait_for(jobs.taken.wait(), 60)
    await asyncio.wait_for(worker.stop(3_600), 60)
    assert [job.ref for job in jobs.requeued] == [REF]
    assert done == []


@pytest.mark.parametrize("ago_ms", [3_600_000, 3_599_950])
async def test_a_job_whose_pause_has_passed_while_it_waited_begins(ago_ms: int) -> None:
    done = asyncio.Event()

    async def work(_: LeasedJob) -> Disposition:
        done.set()
        return "done"

    jobs = WatchedJobs(lambda: now_ms() - ago_ms)
    worker = JobWorker(jobs, "title", work, concurrency=1, retry_seconds=0.01, pause_seconds=3_600)
    worker.start()
    await jobs.publish_completed(REF)
    await asyncio.wait_for(done.wait(), 60)
    await worker.stop(5)


@dataclass
class Busy:
    """A worker of one run at a time with a run under way, and one of titles that yields to it."""

    jobs: WatchedJobs
    release: asyncio.Event
    titled: asyncio.Event


@asynccontextmanager
async def busy() -> AsyncIterator[Busy]:
    here = Busy(WatchedJobs(), asyncio.Event(), asyncio.Event())
    begun = asyncio.Event()

    async def answer(_: LeasedJob) -> Disposition:
        begun.set()
        await here.release.wait()
        return "done"

    async def title(_: LeasedJob) -> Disposition:
        here.titled.set()
        return "done"

    runs = JobWorker(here.jobs, "run", answer, concurrency=1, retry_seconds=0.01)
    titles = JobWorker(here.jobs, "title", title, concurrency=1, retry_seconds=0.01, yield_to=runs)
    runs.start()
    await here.jobs.put(REF, first=True)
    await asyncio.wait_for(begun.wait(), 60)
    here.jobs.taken.clear()
    titles.start()
    await here.jobs.publish_completed(REF)
    await asyncio.wait_for(here.jobs.taken.wait(), 60)
    yield here
    here.release.set()
    await titles.stop(5)
    await runs.stop(5)


async def test_a_job_that_follows_an_answer_begins_when_there_is_room_for_another_run() -> None:
    async with busy() as here:
        for _ in range(100):
            await asyncio.sleep(0)
        assert not here.titled.is_set()
        here.release.set()
        await asyncio.wait_for(here.titled.wait(), 60)


async def test_a_job_that_follows_an_answer_does_not_wait_for_room_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.core.bus.job_worker.MAX_YIELD_SECONDS", 0.05)
    async with busy() as here:
        await asyncio.wait_for(here.titled.wait(), 60)
        assert not here.release.is_set()
