"""Approved actions whose worker, store or decision fails at any moment: none runs twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from pydantic import SecretStr

from app.bootstrap import open_services
from app.core.ids import new_id
from app.core.llm.model import ModelSettings
from app.core.settings import Settings
from app.core.storage.port import StorageUnavailable
from app.modules.agent.approval import call_hash
from app.modules.agent.factory import InvestigatorFactory
from app.modules.agent.investigation import Investigation
from app.modules.agent.sheets import TurnSheets
from app.modules.agent.turn import InvestigatedTurn, InvestigationSettings
from app.modules.agent.turn_records import TurnRecords
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.records.model import Mode, Session
from app.modules.records.rows import RowStore
from app.modules.records.steps import CallRecord, CallStatus
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.tools.context import SessionDatabases, ToolContext, ToolDatabase
from app.modules.tools.history import Answers, ConversationHistory
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import ToolRegistry
from app.modules.tools.results import TurnResults
from app.modules.tools.tool import Tool, ToolResult, tool
from app.modules.tools.toolsets.control import CONTROL
from graph.errors import Replaced
from graph.events import Confirmation, ConfirmationDecided, ToolReturned
from graph.ports import Investigator
from graph.state import ToolCallRef
from tests.integration.test_investigation_faults import LIMITS, QUESTION, Number, Site, read_no_background
from tests.support.scripted_model import Scripted, ScriptedModel

CONNECTION = Connection(
    id=new_id(),
    owner="ada",
    name="shop",
    description="",
    dialect="sqlite",
    masked_url="sqlite:///shop.db",
    encrypted_url="sealed",
    created_at=1,
)


class Acting(Site):
    """Where the workers of a turn in agent mode run. `ran` are the effects of its only tool."""

    ran: list[int]
    mode: Mode = "agent"

    def tool(self, *, repeatable: bool = False, description: str = "") -> Tool:
        async def act(given: Number, context: ToolContext) -> ToolResult:
            self.ran.append(given.n)
            return ToolResult(text=f"did {given.n}")

        return tool(
            "act",
            toolset="set",
            category="write",
            description=description,
            arguments=Number,
            run=act,
            repeatable=repeatable,
        )

    def settings(self, made: Tool | None = None) -> InvestigationSettings:
        return InvestigationSettings(
            model=self.model,
            registry=ToolRegistry([made or self.tool(), *CONTROL], ToolPolicy()),
            limits=LIMITS,
        )

    async def begun(self, session: Session) -> Investigator:
        """A worker whose attempt begins with the session as it is."""
        factory = InvestigatorFactory(
            self.settings(),
            self.records,
            RowStore(self.storage),
            connections=cast("DatabaseConnections", None),
            knowledge=self._services.context_store,
            answers=cast("Answers", None),
            memories=cast("ConversationMemories", None),
            find_session=self._services.sessions.repository.find,
        )
        return await factory.bind(
            session, self.run, CONNECTION, schema_context_of=lambda _: cast("SchemaContext", None)
        )

    async def held(self) -> Session:
        """The session of the turn, which its run holds."""
        session = Session(
            id=self.run.session_id,
            owner=self.run.owner,
            db_connection_id=CONNECTION.id,
            title=None,
            mode="agent",
            metadata={},
            created_at=1,
            updated_at=1,
        )
        await self._services.sessions.repository.add(session)
        held = await self._services.sessions.repository.claim(session, self.run, awaited=False)
        assert held is not None
        return held

    async def replace_attempt(self, held: Session) -> None:
        """Begin another attempt at the run of the session, whose fence it raises."""
        assert await self._services.sessions.repository.raise_fence(held) is not None

    def acting(self, made: Tool | None = None, *, connection: Connection = CONNECTION) -> Investigation:
        """A worker as a process begins the turn or goes on with it: nothing is in memory."""
        records = TurnRecords(self.records, self.run.message_id)
        results = TurnResults(
            RowStore(self.storage),
            records.find_result,
            owner=self.run.owner,
            session_id=self.run.session_id,
            message_id=self.run.message_id,
        )
        database = ToolDatabase(
            label="shop",
            connection=connection,
            schema_context=cast("SchemaContext", None),
            connections=cast("DatabaseConnections", None),
            run_of=self.run,
        )

        async def read_mode() -> Mode:
            return self.mode

        return Investigation(
            InvestigatedTurn(
                settings=self.settings(made),
                records=records,
                results=results,
                sheets=TurnSheets(results, self.run.question, read_no_background),
                databases=SessionDatabases([database]),
                knowledge=self._services.context_store,
                history=cast("ConversationHistory", None),
                run=self.run,
                mode="agent",
                read_mode=read_mode,
            )
        )

    async def asked(self, model: ScriptedModel, made: Tool | None = None) -> CallRecord:
        """A call that waits."""
        model.say(Scripted(calls=(("act", json.dumps({"n": 1})),)))
        worker = self.acting(made)
        step = await self.step(worker, 1)
        (waiting,) = await worker.find_undecided(step.calls, self.events.append)
        call = await self.records.call(waiting)
        assert call is not None
        return call

    async def done(self, worker: Investigator, call: CallRecord) -> CallRecord:
        await worker.use(ToolCallRef(id=call.id, tool="act", gate="asks"), self.events.append)
        found = await self.records.call(call.id)
        assert found is not None
        return found


@pytest.fixture
async def site(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[Acting]:
    settings = ModelSettings(
        model="scripted",
        base_url=model.base_url,
        api_key=SecretStr("sk-none"),
        connect_timeout_seconds=20,
        first_token_timeout_seconds=20,
        total_timeout_seconds=30,
        max_retries=0,
        max_output_tokens=500,
        temperature=None,
    )
    async with open_services(Settings(data_dir=tmp_path), "once") as services:
        acting = Acting(services, settings)
        acting.ran = []
        yield acting
        await acting.model.close()


async def test_nothing_runs_without_a_decision(site: Acting, model: ScriptedModel) -> None:
    call = await site.asked(model)
    assert (call.status, call.gate, site.ran) == ("waiting", "asks", [])
    used = await site.done(site.acting(), call)
    assert (used.status, site.ran) == ("waiting", [])


async def test_a_call_that_waits_is_asked_for_once_however_often_the_step_runs(
    site: Acting, model: ScriptedModel
) -> None:
    call = await site.asked(model)
    reference = ToolCallRef(id=call.id, tool="act", gate="asks")
    assert await site.acting().find_undecided([reference], site.events.append) == [call.id]
    assert len([each for each in site.events if isinstance(each, Confirmation)]) == 1
    await site.records.approve(call, "key", None)
    worker = site.acting()
    for _ in range(2):
        assert await worker.find_undecided([reference], site.events.append) == []
    assert [each.decision for each in site.events if isinstance(each, ConfirmationDecided)] == ["approved"]


@pytest.mark.parametrize("repetition", range(20))
async def test_of_several_deciders_at_once_one_decides(
    site: Acting, model: ScriptedModel, repetition: int
) -> None:
    call = await site.asked(model)
    decided = await asyncio.gather(
        site.records.approve(call, "first", None),
        site.records.deny(call, "second", None),
        site.records.expire(call),
        site.records.approve(call, "third", None),
    )
    (winner,) = [each for each in decided if each is not None]
    found = await site.records.call(call.id)
    assert found == winner


@pytest.mark.parametrize(
    ("moment", "status", "effects"),
    [
        ("before begun", "done", 1),
        ("after begun", "unknown", 0),
        ("before done", "unknown", 1),
        ("after done", "done", 1),
    ],
)
async def test_a_process_that_dies_at_an_action_leaves_it_done_or_unknown_and_never_repeats_it(
    site: Acting, model: ScriptedModel, moment: str, status: str, effects: int
) -> None:
    call = await site.asked(model)
    await site.records.approve(call, "key", None)
    site.storage.fails = moment
    with pytest.raises(StorageUnavailable):
        await site.done(site.acting(), call)
    found = await site.done(site.acting(), call)
    assert (found.status, len(site.ran)) == (status, effects)
    assert ("look before you repeat it" in found.text.lower()) == (status == "unknown")


@pytest.mark.parametrize("status", ["approved", "begun"])
async def test_an_attempt_that_was_replaced_leaves_a_call_to_the_other(
    site: Acting, model: ScriptedModel, status: CallStatus
) -> None:
    site.run = replace(site.run, mode="agent")
    held = await site.held()
    frozen = await site.begun(held)
    call = await site.asked(model)
    await site.replace_attempt(held)
    await site.records.approve(call, "key", None)
    await site.records.change_call(call, {"status": status}, was=("approved",))
    with pytest.raises(Replaced):
        await site.done(frozen, call)
    found = await site.records.call(call.id)
    assert found is not None
    assert (found.status, site.ran) == (status, [])


@pytest.mark.parametrize("moment", ["before begun", "after begun", "before done", "after done"])
async def test_a_store_that_is_back_before_the_process_dies_loses_nothing(
    site: Acting, model: ScriptedModel, moment: str
) -> None:
    call = await site.asked(model)
    await site.records.approve(call, "key", None)
    worker = site.acting()
    site.storage.fails = moment
    with pytest.raises(StorageUnavailable):
        await site.done(worker, call)
    found = await site.done(worker, call)
    assert (found.status, found.text, len(site.ran)) == ("done", "did 1", 1)


async def test_a_repeatable_action_runs_again_under_the_same_id(site: Acting, model: ScriptedModel) -> None:
    made = site.tool(repeatable=True)
    call = await site.asked(model, made)
    await site.records.approve(call, "key", None)
    site.storage.fails = "before done"
    with pytest.raises(StorageUnavailable):
        await site.done(site.acting(made), call)
    assert (await site.done(site.acting(made), call)).status == "done"
    assert len(site.ran) == 2


@pytest.mark.parametrize("repetition", range(20))
async def test_two_workers_at_once_make_an_approved_call_once(
    site: Acting, model: ScriptedModel, repetition: int
) -> None:
    call = await site.asked(model)
    await site.records.approve(call, "key", None)
    await asyncio.gather(*(site.done(site.acting(), call) for _ in range(3)))
    assert len(site.ran) == 1


async def test_what_differs_from_the_approved_call_is_refused(site: Acting, model: ScriptedModel) -> None:
    for changed in (
        site.acting(site.tool(description="Deletes everything.")),
        site.acting(connection=replace(CONNECTION, encrypted_url="another")),
    ):
        call = await site.asked(model)
        await site.records.approve(call, "key", None)
        found = await site.done(changed, call)
        assert (found.status, "changed since it was approved" in found.text) == ("failed", True)
        site.run = replace(site.run, message_id=new_id())
    call = await site.asked(model)
    await site.records.approve(call, "key", None)
    site.mode = "ask"
    assert (await site.done(site.acting(), call)).status == "failed"
    assert site.ran == []


async def test_an_action_that_is_cancelled_under_way_is_unknown(site: Acting, model: ScriptedModel) -> None:
    begun = asyncio.Event()

    async def hang(given: Number, context: ToolContext) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    made = tool("act", toolset="set", category="write", description="", arguments=Number, run=hang)
    call = await site.asked(model, made)
    await site.records.approve(call, "key", None)
    using = asyncio.create_task(site.done(site.acting(made), call))
    await begun.wait()
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    found = await site.records.call(call.id)
    assert found is not None
    assert found.status == "unknown"


async def test_settling_a_turn_withdraws_what_waits_and_loses_what_has_begun(
    site: Acting, model: ScriptedModel
) -> None:
    call = await site.asked(model)
    await site.records.settle(call.message_id, call.step)
    assert [each.status for _, calls in await site.records.of_message(call.message_id) for each in calls] == [
        "withdrawn"
    ]
    assert (await site.done(site.acting(), call)).status == "withdrawn"
    (returned,) = [each for each in site.events if isinstance(each, ToolReturned)]
    assert returned.status == "withdrawn"
    assert (await site.step(site.acting(), 2)).is_last
    conclusion = await site.acting().conclude(QUESTION, 2)
    assert "withdrawn" in conclusion.analysis.text
    assert len(model.requests) == 1


def test_the_hash_changes_with_each_ingredient() -> None:
    made = tool("act", toolset="set", category="write", description="", arguments=Number, run=_never)
    ids = {"session_id": "s", "message_id": "m"}
    first = call_hash(made, {"n": 1}, CONNECTION, **ids)
    others = [
        call_hash(replace(made, name="other"), {"n": 1}, CONNECTION, **ids),
        call_hash(replace(made, description="more"), {"n": 1}, CONNECTION, **ids),
        call_hash(replace(made, server="https://far.example"), {"n": 1}, CONNECTION, **ids),
        call_hash(made, {"n": 2}, CONNECTION, **ids),
        call_hash(made, {"n": 1}, replace(CONNECTION, id="other"), **ids),
        call_hash(made, {"n": 1}, replace(CONNECTION, encrypted_url="other"), **ids),
        call_hash(made, {"n": 1}, CONNECTION, session_id="t", message_id="m"),
        call_hash(made, {"n": 1}, CONNECTION, session_id="s", message_id="n"),
    ]
    assert len({first, *others}) == 1 + len(others)
    assert call_hash(made, {"n": 1}, CONNECTION, **ids) == first


async def _never(given: Number, context: ToolContext) -> ToolResult:
    raise AssertionError
