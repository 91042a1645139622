"""Workers over a queue that delivers late and twice, and over loops that fail."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry, Gauge
from pydantic import JsonValue

from app.core.bus.local import LocalJobs, LocalLogs
from app.core.bus.nats_server import NatsServer
from app.core.bus.port import FOLLOW_UPS, BusUnavailable, Kind, LeasedJob, RunRef
from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.secrets import ClearCheckpoints
from app.core.storage.port import ChangeNotWritten, Storage, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.modules.records.model import Message, NewQuestion, Run, Session, TakenStep
from app.modules.records.repository import SessionRepository, document
from app.modules.records.steps import InvestigationRecords
from app.modules.run.engine import RunServices
from app.modules.run.errors import NotKeptYet
from app.modules.run.lifecycle import RunLifecycle, ref_of
from app.modules.run.messages import Ending, next_run_id, question_message, question_sequence
from app.modules.run.observer import RunObserver
from app.modules.run.pending_submissions import Arrivals, Turnstiles
from app.modules.run.retention import Retention
from app.modules.run.submission import Submissions
from app.modules.run.worker import Worker
from app.modules.usage.repository import UsageRepository
from app.modules.usage.service import Allowances, Quotas
from graph import Ports, SessionGraph
from graph.answer import Analysis, TurnAnswer
from graph.checkpoints import sqlite_checkpointer
from graph.errors import Replaced
from graph.ports import Analysed, Emit, Question, Written
from graph.state import Rows
from migrations.runner import migrate
from tests.fakes import FakeAnalyst, FakeWriter, fake_ports
from tests.support.buses import LEASE_SECONDS, Bus, heard, local_bus, nats_bus, new_prefix
from tests.support.waiting import until
from tests.support.webhooks import events_of

OWNER = "ann"
STORE_PATIENCE_SECONDS = 600
"""Longer than any test waits."""
CIPHER = ClearCheckpoints(Fernet.generate_key())


class SlowWriter(FakeWriter):
    """Takes longer than a lease, and than a worker waits before it asks for the next run."""

    async def write(self, question: Question, emit: Emit) -> Written:
        await asyncio.sleep(6 * LEASE_SECONDS)
        return await super().write(question, emit)


class EndlessWriter(FakeWriter):
    """Writes until its run is stopped."""

    async def write(self, question: Question, emit: Emit) -> Written:
        await asyncio.Event().wait()
        raise AssertionError


class ReplacedOnce(FakeWriter):
    """Learns at its first question that another attempt has begun."""

    async def write(self, question: Question, emit: Emit) -> Written:
        written = await super().write(question, emit)
        if len(self.asked) == 1:
            raise Replaced
        return written


class WrongAnalyst(FakeAnalyst):
    """Draws what a checkpoint can hold and the store of messages cannot."""

    async def analyse(self, question: Question, sql: str, rows: Rows, emit: Emit) -> Analysed:
        analysed = await super().analyse(question, sql, rows, emit)
        chart = cast("dict[str, JsonValue]", {"mark": b"bytes are no JSON"})
        return replace(analysed, analysis=Analysis(text="Three.", chart=chart, suggestions=[]))


class LosingAnswers(RunLifecycle):
    """Over a store that does as it is lines; that it has done so is lost on the way the first time."""

    lost = False

    async def close(
        self, session: Session, run: Run, ending: Ending, *, timeline: Sequence[TakenStep] = ()
    ) -> Run | None:
        ended = await super().close(session, run, ending)
        if not self.lost:
            self.lost = True
            raise StorageUnavailable("no answer")
        return ended


class DecidingOnly(RunLifecycle):
    """Over a store that is unavailable the first time that an end is written, after it was decided."""

    away = True

    async def close(
        self, session: Session, run: Run, ending: Ending, *, timeline: Sequence[TakenStep] = ()
    ) -> Run | None:
        if self.away:
            self.away = False
            await self._repository.change_run(run, ending.of_run())
            raise ChangeNotWritten("away")
        return await super().close(session, run, ending, timeline=timeline)


class StoreAway(RunLifecycle):
    """Over a store that does not answer when a run ends."""

    tries = 0

    async def close(
        self, session: Session, run: Run, ending: Ending, *, timeline: Sequence[TakenStep] = ()
    ) -> Run | None:
        self.tries += 1
        raise StorageUnavailable("away")


class FaultyQueue(LocalJobs):
    """Has a defect that shows once."""

    def __init__(self) -> None:
        super().__init__()
        self.faults = 1

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        if self.faults:
            self.faults -= 1
            raise ValueError("a defect")
        return await super().take(kind, patience_seconds, except_owners=except_owners)


class TakesNoRuns(SessionRepository):
    """Over a store that stops when a run is to be stored."""

    async def add_run(self, run: Run, question: Message) -> None:
        await asyncio.Event().wait()


class AwayOnce(LocalJobs):
    """Cannot be reached the first time that a run is put in."""

    away = True

    async def put(self, ref: RunRef, *, first: bool) -> None:
        if self.away:
            self.away = False
            raise BusUnavailable("away")
        await super().put(ref, first=first)


class Forgetful(LocalJobs):
    """Has lost its jobs each time it is asked."""

    async def emptied_at(self) -> int:
        return now_ms()


class UnreadableOnce(RunLifecycle):
    """Over a store that does not answer the first time that a run is taken."""

    unreadable = True

    async def look_up(self, ref: RunRef) -> tuple[Session, Run] | None:
        if self.unreadable:
            self.unreadable = False
            raise StorageUnavailable("no answer")
        return await super().look_up(ref)


class FenceUnknown(SessionRepository):
    """Over a store whose answer to a raised fence is lost."""

    async def raise_fence(self, session: Session) -> Session | None:
        await super().raise_fence(session)
        raise StorageUnavailable("no answer")


class SlowToReadSessions(SessionRepository):
    """Over a store in which a run is taken up by another worker while its session is read."""

    others: RunLifecycle

    async def find(self, session_id: str) -> Session | None:
        session = await self.others._repository.find(session_id)
        assert session is not None
        run = await self.find_run(str(session.active_run_id))
        assert run is not None
        await self.others.take_up(LeasedJob("run", ref_of(run), False, tries=2), session, run)
        return await super().find(session_id)


@dataclass(frozen=True)
class Process:
    """What a worker stands on, and the worker; it has not started."""

    storage: Storage
    repository: SessionRepository
    turns: RunLifecycle
    bus: Bus
    worker: Worker
    metrics: CollectorRegistry

    def counted(self, outcome: str) -> float:
        """Runs with this outcome, as the metrics count them."""
        return self.metrics.get_sample_value("kai_runs_ended_total", {"outcome": outcome}) or 0

    async def asked(self) -> tuple[Session, Run]:
        """A run that holds its session and has not been put in."""
        session, run = await self.kept()
        held = await self.repository.claim(session, run, awaited=False)
        assert held is not None
        return held, run

    async def kept(self) -> tuple[Session, Run]:
        """A run of an idle session."""
        now = now_ms()
        session = Session(
            id=new_id(),
            owner=OWNER,
            db_connection_id=new_id(),
            title=None,
            mode="ask",
            metadata={},
            created_at=now,
            updated_at=now,
        )
        run = Run(
            id=new_id(),
            owner=OWNER,
            session_id=session.id,
            message_id=new_id(),
            question="How many?",
            created_at=now,
        )
        await self.repository.add(session)
        await self.repository.add_run(run, question_message(run, new_id(now), question_sequence(1)))
        return session, run

    async def taken_up(self, run: Run, *, first: bool) -> tuple[Session, Run] | None:
        """As a worker does it with what the queue has leased to it."""
        found = await self.turns.look_up(ref_of(run))
        assert found is not None
        return await self.turns.take_up(LeasedJob("run", ref_of(run), first, tries=1), *found)

    async def over(self, run: Run) -> Run:
        """The run, once its session is free."""

        async def free() -> bool:
            session = await self.repository.find(run.session_id)
            return session is not None and session.active_run_id is None

        await until(free)
        found = await self.repository.find_run(run.id)
        assert found is not None
        return found


@asynccontextmanager
async def process(
    folder: Path, bus: Bus, ports: Ports, kind: type[RunLifecycle] = RunLifecycle
) -> AsyncGenerator[Process]:
    async with AsyncExitStack() as opened:
        storage = await opened.enter_async_context(open_sqlite(folder / "kai.db"))
        await migrate(storage)
        saver = await opened.enter_async_context(sqlite_checkpointer(folder / "checkpoints.db", CIPHER))
        repository = SessionRepository(storage)
        calls, events = InvestigationRecords(storage), events_of(storage)
        turns = kind(repository, bus.queue, bus.logs, calls=calls, events=events)

        async def bind(session: Session, run: Run) -> Ports:
            return ports

        allowances = Allowances(UsageRepository(storage), Quotas(None, None, None))
        services = RunServices(
            graph=SessionGraph(saver),
            lifecycle=turns,
            repository=repository,
            logs=bus.logs,
            bind=bind,
            allowances=allowances,
            observer=RunObserver(metrics := CollectorRegistry()),
            store_patience_seconds=STORE_PATIENCE_SECONDS,
        )
        waiting = Gauge("waiting", "Runs that wait", registry=CollectorRegistry())
        worker = Worker(services, bus.queue, 4, waiting=waiting, retention=Retention(services.graph, 0))
        yield Process(storage, repository, turns, bus, worker, metrics)


@asynccontextmanager
async def working(worker: Worker) -> AsyncGenerator[None]:
    worker.start()
    try:
        yield
    finally:
        await worker.stop(1)


async def test_a_run_that_comes_back_to_its_own_worker_is_not_begun_a_second_time(
    tmp_path: Path, nats_server: NatsServer
) -> None:
    async with nats_bus(nats_server, new_prefix()) as bus:
        async with process(tmp_path, bus, fake_ports(writer := SlowWriter())) as here, working(here.worker):
            _, run = await here.asked()
            await bus.queue.put(ref_of(run), first=True)
            await asyncio.sleep(2 * LEASE_SECONDS)  # its lease was not renewed by then
            _, other = await here.asked()
            await bus.queue.put(ref_of(other), first=True)
            await here.over(other)
            over = await here.over(run)
        assert (over.status, over.attempt, len(writer.asked)) == ("complete", 1, 2)


async def test_a_delivery_given_back_late_does_not_join_the_attempt_that_has_begun_meanwhile(
    tmp_path: Path,
) -> None:
    async with process(tmp_path, local_bus(), fake_ports()) as here:
        _, run = await here.asked()
        begun = await here.taken_up(run, first=False)
        late = await here.taken_up(run, first=True)
        assert begun is not None
        assert late is not None
        assert (begun[1].attempt, late[1].attempt) == (2, 3)
        assert late[0].fence > begun[0].fence


async def test_a_first_attempt_that_is_overtaken_while_it_is_read_has_no_fence_of_a_later_one(
    tmp_path: Path,
) -> None:
    async with process(tmp_path, local_bus(), fake_ports()) as here:
        _, run = await here.asked()
        slow = SlowToReadSessions(here.storage)
        slow.others = here.turns
        calls, events = InvestigationRecords(here.storage), events_of(here.storage)
        paused = RunLifecycle(slow, here.bus.queue, here.bus.logs, calls=calls, events=events)
        found = await paused.look_up(ref_of(run))
        assert found is not None
        assert (found[0].fence, found[1].attempt) == (2, 1)
        assert not await paused.is_current(found[1])


async def test_an_attempt_that_the_store_did_not_let_begin_does_not_count_against_its_run(
    tmp_path: Path,
) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports()) as here:
        session, run = await here.asked()
        unlucky = FenceUnknown(here.storage)
        calls = InvestigationRecords(here.storage)
        turns = RunLifecycle(unlucky, bus.queue, bus.logs, calls=calls, events=events_of(here.storage))
        with pytest.raises(StorageUnavailable):
            await turns.take_up(LeasedJob("run", ref_of(run), first=False, tries=1), session, run)
        taken = await here.taken_up(run, first=False)
        assert taken is not None
        await turns.begin(taken[1])
        again = await here.taken_up(run, first=False)
        assert again is not None
        assert (taken[1].unclean_ends, again[1].unclean_ends) == (1, 2)


async def test_an_attempt_that_was_replaced_leaves_its_run_to_the_other(tmp_path: Path) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports(ReplacedOnce())) as here, working(here.worker):
        session, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)

        async def left() -> bool:
            return ref_of(run) in await bus.queue.missing([ref_of(run)])

        await until(left)
        found = await here.repository.find_run(run.id)
        assert found is not None
        assert (found.status, found.attempt, found.handovers) == ("open", 1, 0)
        await here.worker.sweep(before=session.updated_at + 1)
        over = await here.over(run)
        assert (over.status, over.attempt, here.counted("failed")) == ("complete", 2, 0)


async def test_a_worker_goes_on_after_a_defect_in_one_of_its_loops(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bus = Bus(FaultyQueue(), LocalLogs())
    async with process(tmp_path, bus, fake_ports()) as here, working(here.worker):
        _, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        assert (await here.over(run)).status == "complete"
    assert [each.message for each in caplog.records if each.exc_info] == ["a run job could not be taken"]


async def test_an_answer_that_cannot_be_kept_ends_its_run_as_failed(tmp_path: Path) -> None:
    ports, bus = fake_ports(analyst=WrongAnalyst()), local_bus()
    async with process(tmp_path, bus, ports) as here, working(here.worker):
        _, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        over = await here.over(run)
        async with bus.logs.follow(run.id) as log:
            *_, (_, done) = await heard(log)
    assert '"status":"failed"' in done
    assert over.error is None or over.error.type == "urn:kai:internal"


async def test_an_answer_is_kept_before_done_also_when_the_store_is_not_heard_to_have_ended_its_run(
    tmp_path: Path,
) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports(), LosingAnswers) as here, working(here.worker):
        session, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        async with bus.logs.follow(run.id) as log:
            await asyncio.wait_for(heard(log), 60)
        answer = await here.repository.get_answer(session, run.message_id)
        assert (answer.status, answer.analysis) == ("complete", "Three.")


async def test_a_run_whose_end_is_decided_is_said_to_have_ended_so_while_the_store_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = local_bus()
    monkeypatch.setattr(f"{__name__}.STORE_PATIENCE_SECONDS", 0)
    async with process(tmp_path, bus, fake_ports(), DecidingOnly) as here, working(here.worker):
        _, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        async with bus.logs.follow(run.id) as log:
            *_, (_, done) = await heard(log)
        assert '"status":"complete"' in done
        assert (await here.over(run)).status == "complete"
        assert here.counted("complete") == 1


async def test_a_run_that_an_early_write_has_opened_again_ends_as_its_answer_says(tmp_path: Path) -> None:
    bus = local_bus()
    ports = fake_ports(writer := FakeWriter())
    async with process(tmp_path, bus, ports) as here, working(here.worker):
        session, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        ended = await here.over(run)
        await here.storage.put("runs", [document(run)])
        await here.storage.put("sessions", [document(session)])
        await here.worker.sweep(before=now_ms() + 1)
        again = await here.over(run)
        assert (again.status, again.tokens_used, again.ended_at) == (
            "complete",
            ended.tokens_used,
            ended.ended_at,
        )
        assert len(writer.asked) == 1
        assert here.counted("complete") == 1


async def test_a_run_that_is_given_its_session_again_after_its_end_keeps_its_answer_and_place(
    tmp_path: Path,
) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports(writer := FakeWriter())) as here, working(here.worker):
        session, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        await here.over(run)
        answer = await here.repository.get_answer(session, run.message_id)
        await here.storage.put("runs", [document(run)])
        await here.turns.start_next(session.id)
        assert (await here.over(run)).status == "complete"
        assert await here.repository.get_answer(session, run.message_id) == answer
        assert len(writer.asked) == 1


async def test_a_worker_can_stop_although_the_end_of_a_cancelled_run_cannot_be_kept(tmp_path: Path) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports(EndlessWriter()), StoreAway) as here:
        turns = here.turns
        assert isinstance(turns, StoreAway)
        here.worker.start()
        _, run = await here.asked()
        await bus.queue.put(ref_of(run), first=True)
        async with bus.logs.follow(run.id) as log:
            await log.news()
        await bus.queue.cancel(run.id)

        async def is_tried() -> bool:
            return turns.tries > 0

        await until(is_tried)
        await asyncio.wait_for(here.worker.stop(0), 60)
        assert await bus.queue.waiting() == 1


async def test_a_run_that_has_its_session_is_answered_although_the_queue_went_away_just_then(
    tmp_path: Path,
) -> None:
    async with process(tmp_path, Bus(AwayOnce(), LocalLogs()), fake_ports()) as here, working(here.worker):
        session, run = await here.kept()
        assert await here.turns.start(session, run, question_sequence(1))
        await here.worker.sweep(before=now_ms() + 1)
        assert (await here.over(run)).status == "complete"


async def test_a_run_that_has_a_log_is_not_begun_as_if_it_were_the_first_time(tmp_path: Path) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports()) as here, working(here.worker):
        _, run = await here.asked()
        bus.logs.writer(run.id, 1).append("status", "{}")
        await bus.queue.put(ref_of(run), first=True)
        assert (await here.over(run)).attempt == 2


async def test_jobs_that_follow_an_answer_are_published_again_when_the_queue_has_lost_them(
    tmp_path: Path,
) -> None:
    queue = Forgetful()
    async with process(tmp_path, Bus(queue, LocalLogs()), fake_ports()) as here, working(here.worker):
        _, run = await here.asked()
        await queue.put(ref_of(run), first=True)
        await here.over(run)
        for kind in FOLLOW_UPS:
            assert await queue.take(kind, 60) is not None
            assert await queue.take(kind, 0.05) is None
        await here.worker.sweep(before=now_ms())
        again = await queue.take("title", 60)
        assert again is not None
        assert again.ref == ref_of(run)


def submissions_over(here: Process) -> Submissions:
    return Submissions(
        here.turns,
        here.repository,
        here.bus.queue,
        logs=here.bus.logs,
        allowances=Allowances(UsageRepository(here.storage), Quotas(None, None, None)),
        max_waiting=10,
        turnstiles=Turnstiles(Arrivals(), 15),
    )


@pytest.mark.parametrize("when", ["before", "between"])
async def test_a_turn_that_is_cancelled_as_its_calls_begin_to_wait_is_over(tmp_path: Path, when: str) -> None:
    """The run is closed, and then its session waits. Who cancels it has read it as open."""
    async with process(tmp_path, local_bus(), fake_ports()) as here:
        session, run = await here.asked()

        async def cancel(now: str) -> None:
            if now == when:
                await submissions_over(here).cancel(session, run)

        await cancel("before")
        ending = Ending("awaiting_approval", now_ms())
        closed = await here.turns.close(session, run, ending)
        assert closed is not None
        await cancel("between")
        await here.turns.keep(session, closed, ending.answer, is_stored=True)
        now = await here.repository.get(OWNER, session.id)
        assert (now.status, now.active_run_id) == ("idle", None)
        assert (await here.repository.get_answer(session, run.message_id)).status == "cancelled"


async def test_a_run_is_cancelled_although_another_attempt_at_it_has_begun_meanwhile(tmp_path: Path) -> None:
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports()) as here:
        session, run = await here.asked()
        await here.taken_up(run, first=False)
        await submissions_over(here).cancel(session, run)
        latest = await here.repository.find_run(run.id)
        assert latest is not None
        assert (latest.attempt, latest.cancel_requested) == (2, True)


async def test_questions_of_one_moment_learn_their_places_at_once(tmp_path: Path) -> None:
    """None of them finds another in the queue as it comes in."""
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports()) as here:
        submissions = submissions_over(here)
        known, _ = await here.kept()
        all_read = asyncio.Barrier(3)

        async def ask() -> Run:
            session = replace(known, id=new_id())
            await here.repository.add(session)

            async def read() -> Session:
                await all_read.wait()
                return session

            _, run = await submissions.submit(OWNER, session.id, NewQuestion("Which?"), read=read)
            return run

        runs = await asyncio.gather(*(ask() for _ in range(3)))
        assert await bus.queue.waiting() == 3
        places: list[int] = []
        for run in runs:
            async with bus.logs.follow(run.id) as log:
                entry = await anext(log.read(0, stop=lambda: False))
                places.append(json.loads(entry.data)["place"])
        assert sorted(places) == [1, 2, 3]


async def test_questions_of_a_session_that_cannot_be_stored_do_not_add_up_their_waits(tmp_path: Path) -> None:
    """The first is named, because it may be stored; the others are refused once their own time is up."""
    bus = local_bus()
    async with process(tmp_path, bus, fake_ports()) as here:
        repository = TakesNoRuns(here.storage)
        submissions = Submissions(
            RunLifecycle(
                repository,
                bus.queue,
                bus.logs,
                calls=InvestigationRecords(here.storage),
                events=events_of(here.storage),
            ),
            repository,
            bus.queue,
            logs=bus.logs,
            allowances=Allowances(UsageRepository(here.storage), Quotas(None, None, None)),
            max_waiting=10,
            turnstiles=Turnstiles(Arrivals(), 0.2),
        )
        session, _ = await here.kept()

        async def read() -> Session:
            return session

        try:
            refusals = await asyncio.gather(
                *(
                    submissions.submit(
                        session.owner,
                        session.id,
                        NewQuestion("Which?", multitask_strategy="enqueue"),
                        read=read,
                    )
                    for _ in range(5)
                ),
                return_exceptions=True,
            )
        finally:
            await submissions.aclose()
        assert [type(each) for each in refusals] == [NotKeptYet, *[StorageUnavailable] * 4]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log of the test, lines of level info included."""
    caplog.set_level(logging.INFO, logger="kai.runs")
    return caplog


def life(log: pytest.LogCaptureFixture, run: Run) -> list[str]:
    """What the log says of a run's life: one line for each action, with the ids of run and session."""
    lines = [vars(line) for line in log.records if line.name == "kai.runs"]
    ids = {"run_id": run.id, "session_id": run.session_id}
    return [line["action"] for line in lines if ids.items() <= line.items()]


async def test_a_run_that_is_answered_is_logged_as_taken_and_finished(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with process(tmp_path, local_bus(), fake_ports()) as here, working(here.worker):
        _, run = await here.asked()
        await here.bus.queue.put(ref_of(run), first=True)
        await here.over(run)
    assert life(log, run) == ["taken", "finished"]


async def test_a_run_that_fails_is_logged_with_the_kind_of_its_problem(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    ports = fake_ports(analyst=WrongAnalyst())
    async with process(tmp_path, local_bus(), ports) as here, working(here.worker):
        _, run = await here.asked()
        await here.bus.queue.put(ref_of(run), first=True)
        await here.over(run)
    assert life(log, run) == ["taken", "failed"]
    assert [vars(line)["problem"] for line in log.records if line.message == "run failed"] == ["internal"]


async def test_a_run_that_is_stopped_is_logged_as_cancelled(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with process(tmp_path, local_bus(), fake_ports(EndlessWriter())) as here, working(here.worker):
        _, run = await here.asked()
        await here.bus.queue.put(ref_of(run), first=True)
        async with here.bus.logs.follow(run.id) as events:
            await events.news()
        await here.bus.queue.cancel(run.id)
        await here.over(run)
    assert life(log, run) == ["taken", "cancelled"]


async def test_a_run_of_a_worker_that_stops_is_logged_as_handed_over(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with process(tmp_path, local_bus(), fake_ports(EndlessWriter())) as here:
        here.worker.start()
        _, run = await here.asked()
        await here.bus.queue.put(ref_of(run), first=True)
        async with here.bus.logs.follow(run.id) as events:
            await events.news()
        await here.worker.stop(0)
    assert life(log, run) == ["taken", "handed_over"]


async def test_a_run_that_waits_for_the_store_is_logged_as_requeued(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    async with process(tmp_path, local_bus(), fake_ports(), UnreadableOnce) as here, working(here.worker):
        _, run = await here.asked()
        await here.bus.queue.put(ref_of(run), first=True)
        await here.over(run)
    assert life(log, run) == ["requeued", "taken", "finished"]


class Crossing(SessionRepository):
    """Over a store in which something happens behind a read of an answer, the first or a later one."""

    def __init__(self, storage: Storage, read: int, happen: Callable[[], Awaitable[object]]) -> None:
        super().__init__(storage)
        self._reads_left = read
        self._happen = happen

    async def find_answer(self, session: Session, message_id: str) -> Message | None:
        found = await super().find_answer(session, message_id)
        self._reads_left -= 1
        if self._reads_left == 0:
            await self._happen()
        return found


async def test_a_cancellation_that_meets_the_end_of_a_resumed_run_keeps_its_answer(tmp_path: Path) -> None:
    """Its turn has asked for approval a second time, and the answer of its first run is still stored."""
    async with process(tmp_path, local_bus(), fake_ports()) as here:
        held, first = await here.asked()
        asks = Ending("awaiting_approval", now_ms(), None, TurnAnswer(tokens_used=10))
        asked = await here.turns.close(held, first, asks)
        assert asked is not None
        assert await here.turns.keep(held, asked, asks.answer, is_stored=True)  # no call waits, so it goes on
        resumed = await here.repository.find_run(next_run_id(first.id))
        handed = await here.repository.find(held.id)
        assert resumed is not None
        assert handed is not None
        asked_again = await here.turns.close(handed, resumed, asks)
        assert asked_again is not None
        crossing = Crossing(here.storage, 2, lambda: here.turns.keep(handed, asked_again, asks.answer))
        calls = InvestigationRecords(here.storage)
        elsewhere = RunLifecycle(
            crossing, here.bus.queue, here.bus.logs, calls=calls, events=events_of(here.storage)
        )
        await elsewhere.withdraw(handed, asked_again)
        await here.over(first)
        answer = await here.repository.find_answer(handed, first.message_id)
        assert answer is not None
        assert (answer.status, answer.tokens_used) == ("cancelled", 20)


async def test_a_run_that_ends_as_another_worker_takes_it_up_frees_its_session(tmp_path: Path) -> None:
    """The attempt that ends it has read its session before, and releases it as it was."""
    async with process(tmp_path, local_bus(), fake_ports()) as here:
        held, run = await here.asked()
        ending = Ending("complete", now_ms(), None, TurnAnswer())
        crossing = Crossing(here.storage, 1, lambda: here.turns.close(held, run, ending))
        calls = InvestigationRecords(here.storage)
        elsewhere = RunLifecycle(
            crossing, here.bus.queue, here.bus.logs, calls=calls, events=events_of(here.storage)
        )
        assert await elsewhere.take_up(LeasedJob("run", ref_of(run), first=False, tries=2), held, run) is None
        ended = await here.repository.find_run(run.id)
        assert ended is not None
        assert await here.turns.keep(held, ended, ending.answer, is_stored=True)
        assert (await here.over(run)).status == "complete"
