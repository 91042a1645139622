"""What the store keeps of finished turns: the checkpoints of the latest, and runs and rows by their age."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from app.bootstrap import Services, open_services, open_store
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import CheckpointSettings, Settings
from app.core.storage.port import Equals, Query
from app.core.tasks import end_tasks
from app.main import create_app
from app.modules.records.errors import RowsGone
from app.modules.records.model import NewQuestion, Run, Session
from app.modules.run.retention import Age, Retention
from app.modules.session.answers import StoredRows
from graph import Checkpoint, SessionGraph
from graph.errors import CheckpointsUnavailable
from tests.support.shop import make_shop
from tests.support.waiting import until

QUESTION = "How many customers per country?"
KEPT = 2


@pytest.fixture(params=["sqlite", "typesense"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    keeping = Settings(data_dir=tmp_path, checkpoints=CheckpointSettings(keep_turns=KEPT))
    if request.param == "sqlite":
        return keeping
    typesense = request.getfixturevalue("ready_typesense")
    return keeping.model_copy(update={"store": "typesense", "typesense": typesense})


@asynccontextmanager
async def session_of(settings: Settings) -> AsyncGenerator[tuple[Services, str]]:
    async with open_services(settings) as services:
        url = f"sqlite:///{make_shop(settings.data_dir / 'shop.db')}"
        shop = await services.database_connections.register(LOCAL_OWNER, url, "shop", description="")
        session = await services.sessions.create(LOCAL_OWNER, shop.id, None, mode="ask", metadata={})
        yield services, session.id


SESSION = Session(
    id="s", owner="o", db_connection_id="d", title=None, mode="ask", metadata={}, created_at=0, updated_at=0
)


def run_of(run_id: str) -> Run:
    return Run(id=run_id, owner="o", session_id="s", message_id="m", question="q", created_at=0)


class FailsOnce:
    """A store of checkpoints that is unavailable at first."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str | None]] = []

    async def prune_turns(self, session_id: str, *, keep_turns: int, ended_run_id: str | None) -> None:
        self.calls.append((session_id, ended_run_id))
        if len(self.calls) == 1:
            raise CheckpointsUnavailable("The store does not answer.")

    async def has_failed(self) -> bool:
        return len(self.calls) == 1

    async def has_pruned(self) -> bool:
        return len(self.calls) == 2


async def ask(services: Services, session_id: str, question: str = QUESTION) -> Run:
    _, run = await services.sessions.ask(LOCAL_OWNER, session_id, NewQuestion(question))
    said = [entry async for entry in services.sessions.follower.events(run)]
    assert '"complete"' in said[-1].data
    return run


async def checkpoints_of(services: Services, session_id: str) -> list[Checkpoint]:
    return (await services.sessions.copies.checkpoints(LOCAL_OWNER, session_id, 1_000, cursor=None))[0]


def turns_of(checkpoints: list[Checkpoint]) -> list[str | None]:
    """The messages of the ended turns, latest first."""
    return [each.message_id for each in checkpoints if not each.next_steps]


async def until_turns_are(services: Services, session_id: str, messages: list[str]) -> list[Checkpoint]:
    """Returns the checkpoints once they are of these messages only, latest first."""
    found: list[Checkpoint] = []

    async def pruned() -> bool:
        found[:] = await checkpoints_of(services, session_id)
        return turns_of(found) == messages

    await until(pruned)
    return found


async def test_the_checkpoints_of_the_latest_turns_are_kept_and_can_be_forked(settings: Settings) -> None:
    async with session_of(settings) as (services, session_id):
        first = await ask(services, session_id)
        before = await checkpoints_of(services, session_id)
        later = [await ask(services, session_id) for _ in range(KEPT)]
        kept = await until_turns_are(services, session_id, [run.message_id for run in later[:-3:-1]])
        assert len(kept) == KEPT * len(before)
        transport = httpx.ASGITransport(create_app(services, settings))
        base = f"http://127.0.0.1/api/v1/sessions/{session_id}/checkpoints"
        async with httpx.AsyncClient(transport=transport) as client:
            pruned = await client.post(f"{base}/{before[0].id}/fork")
            assert (pruned.status_code, pruned.json()["type"]) == (404, "urn:kai:not-found")
            assert "KAI_CHECKPOINTS__KEEP_TURNS" in pruned.json()["detail"]
            oldest = next(each for each in reversed(kept) if not each.next_steps)
            forked = (await client.post(f"{base}/{oldest.id}/fork")).json()
        session = await services.sessions.repository.get(LOCAL_OWNER, forked["id"])
        messages, _ = await services.sessions.repository.messages(session, 100, None)
        asked = [message.run_id for message in messages if message.role == "human"]
        assert asked == [first.id, later[0].id]
        await ask(services, session.id)


async def test_a_pruned_conversation_keeps_its_messages_and_goes_on(settings: Settings) -> None:
    async with session_of(settings) as (services, session_id):
        runs = [await ask(services, session_id) for _ in range(KEPT + 1)]
        await until_turns_are(services, session_id, [run.message_id for run in runs[:-3:-1]])
        session = await services.sessions.repository.get(LOCAL_OWNER, session_id)
        messages, _ = await services.sessions.repository.messages(session, 100, None)
        assert len(messages) == 2 * len(runs)
        await ask(services, session_id)


async def test_all_turns_are_kept_where_none_is_to_be_deleted(settings: Settings) -> None:
    unlimited = settings.model_copy(update={"checkpoints": CheckpointSettings(keep_turns=0)})
    async with session_of(unlimited) as (services, session_id):
        runs = [await ask(services, session_id) for _ in range(4)]
    async with open_services(unlimited) as services:
        found = await checkpoints_of(services, session_id)
        assert turns_of(found) == [run.message_id for run in reversed(runs)]


async def test_turns_that_end_one_after_another_are_pruned_by_many_at_once(settings: Settings) -> None:
    unlimited = settings.model_copy(update={"checkpoints": CheckpointSettings(keep_turns=0)})
    async with session_of(unlimited) as (services, session_id):
        runs = [await ask(services, session_id) for _ in range(6)]
        async with open_store(settings) as (_, one), open_store(settings) as (_, other):
            graphs = [SessionGraph(one), SessionGraph(other)]

            async def prune(number: int) -> None:
                run_id = runs[number].id
                await graphs[number % 2].prune_turns(session_id, keep_turns=1, ended_run_id=run_id)

            _, during, *_ = await asyncio.gather(
                ask(services, session_id), checkpoints_of(services, session_id), *map(prune, range(6))
            )
            assert during
            await prune(5)
        latest = await services.sessions.repository.get(LOCAL_OWNER, session_id)
        found = await checkpoints_of(services, session_id)
        assert turns_of(found)[1:] == [runs[5].message_id]
        for each in found:
            await services.sessions.copies.fork(LOCAL_OWNER, session_id, each.id)
        assert latest.turns == 7


async def test_runs_that_begin_meanwhile_are_kept_besides(settings: Settings) -> None:
    unlimited = settings.model_copy(update={"checkpoints": CheckpointSettings(keep_turns=0)})
    async with session_of(unlimited) as (services, session_id):
        runs = [await ask(services, session_id) for _ in range(4)]
        async with open_store(settings) as (_, checkpointer):
            await SessionGraph(checkpointer).prune_turns(session_id, keep_turns=1, ended_run_id=runs[2].id)
        found = await checkpoints_of(services, session_id)
        assert turns_of(found) == [runs[3].message_id, runs[2].message_id]


async def test_an_unavailable_store_ends_no_pruning_for_good(settings: Settings) -> None:
    """A later turn of the session makes up for it."""
    session = replace(SESSION, turns=KEPT + 1)
    graph = FailsOnce()
    retention = Retention(graph, KEPT)
    pruning = asyncio.create_task(retention.prune_noted())
    try:
        retention.note(session, run_of("first"))
        await until(graph.has_failed)
        retention.note(replace(session, turns=KEPT), run_of("second"))
        retention.note(replace(session, turns=KEPT + 11), run_of("third"))
        await until(graph.has_pruned)
    finally:
        await end_tasks([pruning])
    assert graph.calls == [(session.id, "first"), (session.id, "third")]


async def test_a_session_is_pruned_after_every_tenth_turn() -> None:
    """The first time after the first turn that is too many."""
    graph = FailsOnce()
    graph.calls.append(("", None))  # it does not fail any more
    retention = Retention(graph, 20)
    pruning = asyncio.create_task(retention.prune_noted())
    try:
        for turn in range(1, 62):
            retention.note(replace(SESSION, id=f"at turn {turn}", turns=turn), run_of("run"))

        async def has_pruned_all() -> bool:
            return "at turn 61" in dict(graph.calls)

        await until(has_pruned_all)
    finally:
        await end_tasks([pruning])
    assert [session_id for session_id, _ in graph.calls[1:]] == [
        f"at turn {turn}" for turn in (21, 31, 41, 51, 61)
    ]


async def test_runs_and_rows_are_deleted_by_their_age_and_answers_stay(settings: Settings) -> None:
    async with session_of(settings) as (services, session_id):
        old = await ask(services, session_id)
        held = await ask(services, session_id)
        new = await ask(services, session_id)
        storage = services.storage
        repository = services.sessions.repository
        rows = services.sessions.rows
        for run in (old, held):
            await storage.patch("runs", run.id, {"created_at": 1})
            for chunk in (
                await storage.query("result_chunks", Query([Equals("message_id", run.message_id)]))
            ).items:
                await storage.patch("result_chunks", str(chunk["id"]), {"created_at": 1})
        await storage.patch("sessions", session_id, {"active_run_id": held.id})
        await Retention(FailsOnce(), 0, [Age("runs", repository, 0), Age("rows", rows, 0)]).sweep()
        assert await repository.find_run(old.id) is not None
        await Retention(FailsOnce(), 0, [Age("runs", repository, 1), Age("rows", rows, 1)]).sweep()
        assert await repository.find_run(old.id) is None
        assert await repository.find_run(held.id) is not None
        assert await repository.find_run(new.id) is not None
        session = await repository.get(LOCAL_OWNER, session_id)
        messages, _ = await repository.messages(session, 100, None)
        answers = [message for message in messages if message.role == "assistant"]
        assert len(answers) == 3
        with pytest.raises(RowsGone):
            await services.sessions.answers.read_rows(StoredRows.of_answer(answers[0]), 10, None)
        assert (await services.sessions.answers.read_rows(StoredRows.of_answer(answers[2]), 10, None))[0]
