"""Investigations whose tools, model, store or worker fail: a real store, and a service that is scripted."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from app.bootstrap import Services, open_services
from app.core.ids import new_id
from app.core.llm.calls import ModelCalls
from app.core.llm.model import LanguageModel
from app.core.llm.settings import ModelSettings
from app.core.settings import Settings
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Amend, Condition, Document, StorageUnavailable
from app.modules.agent.investigation import Investigation
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.sheets import TurnSheets
from app.modules.agent.turn import InvestigatedTurn, InvestigationSettings
from app.modules.agent.turn_records import TurnRecords
from app.modules.records.model import Run
from app.modules.records.rows import RowStore
from app.modules.records.steps import MAX_TEXT, InvestigationRecords
from app.modules.tools.context import SessionDatabases, ToolContext
from app.modules.tools.history import ConversationHistory
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import ToolRegistry
from app.modules.tools.results import TurnResults
from app.modules.tools.tool import Arguments, Category, Tool, ToolResult, tool
from app.modules.tools.toolsets.control import CONTROL
from graph.errors import ModelCallRejected
from graph.events import SessionEvent, TextChunk, ToolReturned
from graph.ports import NextStep, Question
from graph.state import ToolCallRef
from tests.support.model_settings import SCRIPTED
from tests.support.scripted_model import Scripted, ScriptedModel

QUESTION = Question(text="Why did revenue change?")
LIMITS = InvestigationLimits(tool_seconds=20)


async def read_no_background(label: str, sql: str) -> tuple[None, frozenset[str]]:
    """The results here are of no database."""
    return None, frozenset()


class Number(Arguments):
    """A number, so that calls differ."""

    n: int = 0
    """Any number."""


Look = Callable[[Number, ToolContext], Awaitable[ToolResult]]


def made(run: Look, category: Category = "read") -> Tool:
    return tool("look", toolset="set", category=category, description="", arguments=Number, run=run)


async def answer(given: Number, context: ToolContext) -> ToolResult:
    return ToolResult(text=f"found {given.n}")


def looks(*numbers: int, text: str = "", finish_reason: str = "stop") -> Scripted:
    return Scripted(
        text,
        calls=tuple(("look", json.dumps({"n": number})) for number in numbers),
        finish_reason=finish_reason,
    )


class FailingStorage(MeasuredStorage):
    """Is unreachable once, before or after it has done an operation."""

    fails = ""

    def _fail(self, moment: str) -> None:
        if self.fails == moment:
            self.fails = ""
            raise StorageUnavailable(moment)

    async def create(self, collection: str, document: Document) -> None:
        self._fail(f"before {collection} {document['step']}")
        await super().create(collection, document)
        self._fail(f"after {collection} {document['step']}")

    async def create_missing(self, collection: str, documents: Sequence[Document]) -> None:
        self._fail(f"before {collection} {documents[0]['step']}")
        await super().create_missing(collection, documents)
        self._fail(f"after {collection} {documents[0]['step']}")

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
        also: Sequence[tuple[str, Document]] = (),
        amend: Amend | None = None,
    ) -> Document | None:
        self._fail(f"before {changes['status']}")
        changed = await super().patch(collection, document_id, changes, where=where, also=also, amend=amend)
        self._fail(f"after {changes['status']}")
        return changed


class Site:
    """Where the workers of one turn run."""

    def __init__(self, services: Services, settings: ModelSettings) -> None:
        self.storage = FailingStorage(services.storage, CollectorRegistry())
        self.records = InvestigationRecords(self.storage)
        self.events: list[SessionEvent] = []
        self.run = Run(
            id=new_id(),
            owner="ada",
            session_id=new_id(),
            message_id=new_id(),
            question=QUESTION.text,
            created_at=1,
        )
        self._services = services
        self.model_settings = settings
        self.model = LanguageModel(settings, ModelCalls(CollectorRegistry()))

    def worker(self, *tools: Tool, limits: InvestigationLimits = LIMITS) -> Investigation:
        """An investigation as a process begins it or goes on with it: nothing is in memory."""
        settings = InvestigationSettings(
            model=self.model,
            registry=ToolRegistry([*(tools or [made(answer)]), *CONTROL], ToolPolicy()),
            limits=limits,
        )
        records = TurnRecords(self.records, self.run.message_id)
        results = TurnResults(
            RowStore(self.storage),
            records.find_result,
            owner=self.run.owner,
            session_id=self.run.session_id,
            message_id=self.run.message_id,
        )
        return Investigation(
            InvestigatedTurn(
                settings=settings,
                records=records,
                results=results,
                sheets=TurnSheets(results, self.run.question, read_no_background),
                databases=SessionDatabases([]),
                knowledge=self._services.context_store,
                history=ConversationHistory(
                    owner=self.run.owner,
                    session_id=self.run.session_id,
                    message_id=self.run.message_id,
                    answers=self._services.sessions.repository,
                    memories=self._services.memories,
                ),
                run=self.run,
            )
        )

    async def step(self, worker: Investigation, number: int) -> NextStep:
        return await worker.next_step(QUESTION, "1. look", number, emit=self.events.append)

    async def use(self, worker: Investigation, calls: Sequence[ToolCallRef]) -> list[ToolReturned]:
        """Make calls at the same time. Returns what they returned."""
        before = len(self.events)
        await asyncio.gather(*(worker.use(call, self.events.append) for call in calls))
        return [event for event in self.events[before:] if isinstance(event, ToolReturned)]

    async def only(self, run: Look, *, limits: InvestigationLimits = LIMITS) -> ToolReturned:
        """Let the model call this tool. Returns what the call returned."""
        worker = self.worker(made(run), limits=limits)
        (returned,) = await self.use(worker, (await self.step(worker, 1)).calls)
        return returned


@pytest.fixture
async def site(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[Site]:
    settings = replace(SCRIPTED, base_url=model.base_url)
    async with open_services(Settings(data_dir=tmp_path), "once") as services:
        site = Site(services, settings)
        yield site
        await site.model.close()


async def cancelled_within(given: Number, context: ToolContext) -> ToolResult:
    raise asyncio.CancelledError


async def timed_out_within(given: Number, context: ToolContext) -> ToolResult:
    raise TimeoutError


async def group(given: Number, context: ToolContext) -> ToolResult:
    raise ExceptionGroup("away", [ConnectionError("refused"), ValueError("no")])


async def something_else(given: Number, context: ToolContext) -> ToolResult:
    return cast("ToolResult", {"text": "I am no result"})


@pytest.mark.parametrize("run", [cancelled_within, timed_out_within, group, something_else])
async def test_a_tool_with_a_defect_fails_alone_and_the_next_step_follows(
    site: Site, model: ScriptedModel, run: Look
) -> None:
    model.say(looks(1), "It is not known.")
    returned = await site.only(run)
    assert (returned.status, returned.is_error) == ("failed", True)
    assert "defect" in returned.content
    assert (await site.step(site.worker(), 2)).is_last
    assert "defect" in model.requests[-1].text


async def test_a_tool_that_hangs_is_ended_at_its_limit(site: Site, model: ScriptedModel) -> None:
    ended = asyncio.Event()

    async def hang(given: Number, context: ToolContext) -> ToolResult:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    model.say(looks(1))
    returned = await site.only(hang, limits=replace(LIMITS, tool_seconds=0.05))
    assert returned.content == "The call did not end within 0.05 s."
    assert ended.is_set()


async def test_cancelling_the_run_ends_a_tool_and_keeps_its_call_open(
    site: Site, model: ScriptedModel
) -> None:
    begun = asyncio.Event()

    async def hang(given: Number, context: ToolContext) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    model.say(looks(1))
    worker = site.worker(made(hang))
    (call,) = (await site.step(worker, 1)).calls
    using = asyncio.create_task(worker.use(call, site.events.append))
    await begun.wait()
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    kept = await site.records.call(call["id"])
    assert kept is not None
    assert kept.status == "begun"


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "\ud800 half a pair", "\x00\x01"], ids=["5 MB", "half a pair", "controls"]
)
async def test_any_text_of_a_tool_is_stored_and_shown_to_the_model(
    site: Site, model: ScriptedModel, text: str
) -> None:
    async def flood(given: Number, context: ToolContext) -> ToolResult:
        return ToolResult(text=text)

    model.say(looks(1), "Enough.")
    returned = await site.only(flood)
    assert returned.status == "done"
    assert len(returned.content) <= MAX_TEXT
    await site.step(site.worker(), 2)
    assert returned.content in model.requests[-1].text


@pytest.mark.parametrize("category", ["write", "delete", "external", "extension"])
async def test_a_tool_that_may_not_run_is_neither_offered_nor_run_even_from_a_stored_call(
    site: Site, model: ScriptedModel, category: Category
) -> None:
    ran: list[int] = []

    async def act(given: Number, context: ToolContext) -> ToolResult:
        ran.append(given.n)
        return ToolResult(text="done")

    model.say(looks(1), looks(2))
    forbidden = site.worker(made(act, category))
    assert not (await site.step(forbidden, 1)).calls
    assert model.requests[-1].tools == ["ask_user", "finish"]
    # The second lock: the step was chosen while the tool called itself one that reads.
    step = await site.step(site.worker(made(act)), 2)
    (returned,) = await site.use(forbidden, step.calls)
    assert (returned.status, "There is no tool 'look'" in returned.content) == ("failed", True)
    extension = site.worker(replace(made(act), source="extensions"))
    assert await site.use(extension, step.calls) == [returned]  # also reported to a later follower
    assert ran == []


async def test_calls_without_ids_or_with_the_same_id_are_different_calls(
    site: Site, model: ScriptedModel
) -> None:
    model.say(looks(1, 1, 2), "Enough.")
    worker = site.worker()
    step = await site.step(worker, 1)
    returned = await site.use(worker, step.calls)
    assert sorted(each.content for each in returned) == ["found 1", "found 1", "found 2"]
    await site.step(site.worker(), 2)
    messages = cast("list[dict[str, JsonValue]]", model.requests[-1].messages)
    ids = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
    assert ids == ["call_1_1", "call_1_2", "call_1_3"]


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (replace(LIMITS, max_tokens=100), "100 tokens"),
        (replace(LIMITS, max_seconds=0), "0 seconds"),
        (replace(LIMITS, max_calls=2), "2 calls of tools"),
        (replace(LIMITS, max_steps=1), "1 step"),
    ],
)
async def test_each_limit_ends_in_an_answer_without_tools(
    site: Site, model: ScriptedModel, limits: InvestigationLimits, limit: str
) -> None:
    model.say(looks(1, 2), "What I have.")
    worker = site.worker()
    await site.use(worker, (await site.step(worker, 1)).calls)
    last = await site.step(site.worker(limits=limits), 2)
    assert (last.is_last, last.limit_reached) == (True, True)
    text = (await site.worker().conclude(QUESTION, 2)).analysis.text
    assert text.startswith("What I have.")
    assert f"after {limit}" in text
    assert model.requests[-1].tools == []


async def test_calls_beyond_the_limit_of_the_turn_are_not_made(site: Site, model: ScriptedModel) -> None:
    model.say(looks(1, 2, 3))
    step = await site.step(site.worker(limits=replace(LIMITS, max_calls=2)), 1)
    assert len(step.calls) == 2
    assert "This call was not made" in "".join(
        each.content for each in site.events if isinstance(each, ToolReturned)
    )


@pytest.mark.parametrize(
    "moment",
    [
        f"{when} {what}"
        for when in ("before", "after")
        for what in ("agent_steps 0", "agent_steps 1", "tool_calls 1")
    ],
)
async def test_a_store_that_fails_around_a_step_loses_none_and_mixes_no_two(
    site: Site, model: ScriptedModel, moment: str
) -> None:
    model.say(looks(1, 2), looks(7))
    site.storage.fails = moment
    with pytest.raises(StorageUnavailable):
        await site.step(site.worker(), 1)
    again = site.worker()
    step = await site.step(again, 1)
    returned = sorted(each.content for each in await site.use(again, step.calls))
    asks_twice = moment == "before agent_steps 1"
    assert returned == (["found 7"] if asks_twice else ["found 1", "found 2"])
    assert len(model.requests) == (2 if asks_twice else 1)


@pytest.mark.parametrize(
    ("moment", "effects"), [("before begun", 1), ("after begun", 1), ("before done", 2), ("after done", 1)]
)
async def test_a_store_that_fails_around_a_call_ends_it_once(
    site: Site, model: ScriptedModel, moment: str, effects: int
) -> None:
    """A call that reads runs again when its outcome was not stored."""
    ran: list[int] = []

    async def count(given: Number, context: ToolContext) -> ToolResult:
        ran.append(given.n)
        return ToolResult(text=f"found {given.n}")

    model.say(looks(1))
    worker = site.worker(made(count))
    (call,) = (await site.step(worker, 1)).calls
    site.storage.fails = moment
    with pytest.raises(StorageUnavailable):
        await site.use(worker, [call])
    again = site.worker(made(count))
    await site.use(again, (await site.step(again, 1)).calls)
    kept = await site.records.call(call["id"])
    assert kept is not None
    assert (kept.status, kept.text, len(ran)) == ("done", "found 1", effects)


async def test_a_frozen_worker_that_goes_on_late_changes_neither_step_nor_calls(
    site: Site, model: ScriptedModel
) -> None:
    model.say(Scripted("Frozen.", calls=looks(8, 9).calls, hold_after=1), looks(1))
    frozen = asyncio.create_task(site.step(site.worker(), 1))
    await model.until(lambda: model.on_hold == 1)
    other = site.worker()
    step = await site.step(other, 1)
    await site.use(other, step.calls)
    model.release()
    assert (await frozen).calls == step.calls
    ((kept, calls),) = await site.records.of_message(site.run.message_id)
    assert kept.call_ids == [call["id"] for call in step.calls]
    assert [(call.status, call.text) for call in calls] == [("done", "found 1")]


@pytest.mark.parametrize("error", ["temperature must be 1", "this model does not support tools"])
async def test_after_the_first_refusal_of_a_request_with_tools_they_are_described_as_text(
    site: Site, model: ScriptedModel, error: str
) -> None:
    worker = site.worker()
    block = '```tool\n{"name": "look", "arguments": {"n": 7}}\n```'
    model.rule(lambda asked: bool(asked.tools), Scripted(status=400, error=error))
    model.say(f"I look.\n{block}", "Found.")
    (returned,) = await site.use(worker, (await site.step(worker, 1)).calls)
    assert returned.content == "found 7"
    assert (await site.step(worker, 2)).is_last
    assert [bool(asked.tools) for asked in model.requests] == [True, False, False]
    assert block in model.requests[-1].text
    assert "found 7" in model.requests[-1].messages[-1]["content"]
    assert (await site.model.capabilities()).tools_source == "refusal"


async def test_a_refusal_of_both_forms_changes_nothing(site: Site, model: ScriptedModel) -> None:
    model.rule("", Scripted(status=400, error="temperature must be 1"))
    with pytest.raises(ModelCallRejected):
        await site.step(site.worker(), 1)
    assert (await site.model.capabilities()).tools == "native"


async def test_where_native_calls_are_set_a_refusal_ends_the_turn(site: Site, model: ScriptedModel) -> None:
    site.model = LanguageModel(replace(site.model_settings, tools="native"), ModelCalls(CollectorRegistry()))
    model.rule("", Scripted(status=400, error="this model does not support tools"))
    with pytest.raises(ModelCallRejected):
        await site.step(site.worker(), 1)
    assert len(model.requests) == 1
    await site.model.close()


async def test_a_step_whose_calls_were_all_refused_says_the_same_again(
    site: Site, model: ScriptedModel
) -> None:
    model.say(Scripted("I drop it.", calls=(("drop_everything", "{}"),)))
    await site.step(site.worker(), 1)
    said = [event for event in site.events if not isinstance(event, TextChunk)]
    site.events.clear()
    await site.step(site.worker(), 1)
    assert len(model.requests) == 1
    again, *others = site.events
    assert isinstance(again, TextChunk)
    assert (again.content, again.channel) == ("I drop it.", "investigation")
    assert others == said
