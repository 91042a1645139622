"""The investigator of one turn: asks the model for the next calls, makes them, and concludes."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import cast

from prometheus_client import Counter
from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.errors import Problem
from app.core.llm.model import LanguageModel, Said, ToolCall
from app.core.storage.port import StorageUnavailable
from app.modules.agent.findings import look_up, objections
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.records import (
    CallRecord,
    InvestigationRecords,
    StepKind,
    StepRecord,
    TurnRecords,
    step_id,
)
from app.modules.agent.transcript import conclusion_request, investigation_messages
from app.modules.analysis.text import results_summary
from app.modules.context_store.service import ContextStore
from app.modules.model_errors import model_errors_translated
from app.modules.session.model import Run
from app.modules.tools.context import DatabaseUnknown, ReportProgress, SessionDatabases, ToolContext
from app.modules.tools.parsing import CallRefused, ParsedCall, parse_call
from app.modules.tools.registry import ToolRegistry
from app.modules.tools.results import NamedResult, ResultUnknown, TurnResults, result_name
from app.modules.tools.tool import Tool, ToolFailed, ToolResult, cut_text
from app.modules.tools.toolsets.control import ASK_USER, FINISH, AskUser, Finish
from graph.answer import Analysis, Offer
from graph.errors import DatabaseUnavailable, ModelCallFailed, ModelCallRejected, StatementFailed
from graph.events import Progress, SessionEvent, Status, TextChunk, ToolCalled, ToolReturned
from graph.ports import Conclusion, Emit, NextStep, Question
from graph.state import Context, Finding, Option, ToolCallRef

logger = logging.getLogger(__name__)
audit = logging.getLogger("kai.audit")

_CUT = (
    "Your reply was cut off at its longest, so none of its calls was made. Write less, or make fewer and "
    "shorter calls."
)
_ALONE = "This call was not made: {name} has to be the only call of its step."
_TOO_MANY = "This call was not made: a step may have at most {limit} calls, and the turn has no more left."
_NO_ANSWER = "The investigation ended before it had an answer."
_PROGRESS_SECONDS = 1.0
_REPEATED = 2
"""A call that was made so often with the same arguments is not made again."""
_MOST_PURPOSES = 5


@dataclass(frozen=True, kw_only=True)
class InvestigationSettings:
    """What all investigations of a process share."""

    model: LanguageModel
    registry: ToolRegistry
    limits: InvestigationLimits
    calls: Counter
    """Calls of tools, by tool and outcome."""


class Investigation:
    """Implements `graph.ports.Investigator` for one turn."""

    def __init__(
        self,
        settings: InvestigationSettings,
        records: TurnRecords,
        results: TurnResults,
        *,
        databases: SessionDatabases,
        knowledge: ContextStore,
        run_of: Run,
    ) -> None:
        self._settings = settings
        self._limits = settings.limits
        self._records = records
        self._results = results
        self._databases = databases
        self._knowledge = knowledge
        self._run = run_of
        self._room = asyncio.Semaphore(settings.limits.parallel_calls)

    # Thinking

    async def next_step(self, question: Question, plan: str, step: int, *, emit: Emit) -> NextStep:
        if (kept := await self._records.find(step)) is not None:
            for event in self._events_of(kept):
                emit(event)
            return self._as_next(kept)
        if step == 1:
            await self._records.keep(self._record(0, "opening", plan, context=question.context))
        steps = await self._records.up_to(step - 1)
        limit = self._limits.reached(steps, now_ms())
        if limit is not None:
            chosen = await self._conclude_early(question, steps, limit, emit=emit)
            calls: list[CallRecord] = []
        else:
            said = await self._ask(question, steps, emit)
            chosen, calls = await self._choose(question, steps, said)
        kept = await self._records.keep(chosen, calls)
        for event in self._calls_said(kept):
            emit(event)
        return self._as_next(kept)

    async def _ask(self, question: Question, steps: Sequence[StepRecord], emit: Emit) -> Said:
        messages = await asyncio.to_thread(
            investigation_messages,
            question,
            steps,
            self._records.calls_of,
            today=datetime.now(UTC).date(),
            limits=self._limits,
        )
        tools = [tool.offer for tool in self._settings.registry.offered.values()]
        with model_errors_translated():
            return await self._settings.model.converse(messages, tools, _shower(emit))

    async def _choose(
        self, question: Question, steps: Sequence[StepRecord], said: Said
    ) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the step that a reply stands for, and its calls."""
        number = len(steps)
        if said.cut:
            return self._record(number, "fault", said.text, fault=_CUT, tokens_used=said.tokens_used), []
        if not said.calls:
            return self._record(number, "answer", said.text.strip(), tokens_used=said.tokens_used), []
        if len(said.calls) == 1 and said.calls[0].name in (ASK_USER, FINISH):
            return await self._end(question, steps, said)
        room = self._limits.calls_left(steps)
        calls = [
            self._proposed(call, number, position, is_within=position < room)
            for position, call in enumerate(said.calls[: 2 * self._limits.max_calls_per_step])
        ]
        is_fault = all(call.has_ended for call in calls)
        step = self._record(
            number,
            "fault" if is_fault else "calls",
            said.text,
            call_ids=[call.id for call in calls],
            tokens_used=said.tokens_used,
        )
        return step, calls

    async def _end(
        self, question: Question, steps: Sequence[StepRecord], said: Said
    ) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the last step, or a fault if the end cannot be taken as it was written."""
        number = len(steps)
        call = said.calls[0]
        try:
            parsed = parse_call(call, self._settings.registry.offered)
        except CallRefused as refused:
            return self._fault(number, said, call, fault=str(refused)), []
        match parsed.arguments:
            case AskUser(question=text, options=options):
                offered = [option for option in options if option.strip()]
                return (
                    self._record(number, "question", text, options=offered, tokens_used=said.tokens_used),
                    [],
                )
            case Finish() as finish:
                return await self._finish(question, steps, said, finish=finish), []
            case _:
                raise TypeError(parsed.tool.name)

    async def _finish(
        self, question: Question, steps: Sequence[StepRecord], said: Said, *, finish: Finish
    ) -> StepRecord:
        """Findings that are not in their results are sent back once; those that remain are marked."""
        number = len(steps)
        call = said.calls[0]
        main = finish.main_result
        if main is not None:
            try:
                await self._results.read(main)
            except ResultUnknown as unknown:
                return self._fault(number, said, call, fault=str(unknown))
        found = await look_up(finish.findings, self._results, question.text)
        was_sent_back = any(each.findings for each in steps)
        if not was_sent_back and (wrong := objections(found)):
            return self._fault(number, said, call, fault=wrong, findings=found)
        return self._record(
            number,
            "answer",
            finish.answer,
            findings=found,
            main_result=main,
            tokens_used=said.tokens_used,
        )

    async def _conclude_early(
        self, question: Question, steps: Sequence[StepRecord], limit: str, *, emit: Emit
    ) -> StepRecord:
        """Ask once more, without tools. If that fails, the answer names what was looked at."""
        messages = await asyncio.to_thread(
            investigation_messages,
            question,
            steps,
            self._records.calls_of,
            today=datetime.now(UTC).date(),
            limits=self._limits,
        )
        tokens_used = 0
        try:
            with model_errors_translated():
                said = await self._settings.model.converse(
                    [*messages, conclusion_request(limit)], (), _shower(emit)
                )
            text = said.text.strip() or self._looked_at(steps)
            tokens_used = said.tokens_used
        except (ModelCallFailed, ModelCallRejected) as error:
            logger.warning("run %s: no conclusion was written: %s", self._run.id, error.detail)
            text = self._looked_at(steps)
        note = f"**Limit reached:** the investigation ended after {limit}. The rest stays open."
        step = self._record(len(steps), "answer", f"{text}\n\n{note}", tokens_used=tokens_used)
        sent_back = next((each.findings for each in steps if each.findings), [])
        return replace(step, limit_reached=True, findings=sent_back)

    def _looked_at(self, steps: Sequence[StepRecord]) -> str:
        purposes = [
            f"- {purpose} ({result_name(call.step, call.position)})"
            for step in steps
            for call in self._records.calls_of(step)
            if call.status == "done" and (purpose := str(call.arguments.get("purpose") or ""))
        ]
        looked = purposes[-_MOST_PURPOSES:]
        return "\n".join([_NO_ANSWER, *(["", "It looked at:", *looked] if looked else [])])

    # Records

    def _record(
        self,
        step: int,
        kind: StepKind,
        text: str,
        *,
        fault: str = "",
        call_ids: Sequence[str] = (),
        tokens_used: int = 0,
        context: Context | None = None,
        findings: Sequence[Finding] = (),
        main_result: str | None = None,
        options: Sequence[str] = (),
    ) -> StepRecord:
        run = self._run
        return StepRecord(
            id=step_id(run.message_id, step),
            owner=run.owner,
            session_id=run.session_id,
            message_id=run.message_id,
            step=step,
            kind=kind,
            text=text,
            fault=fault,
            call_ids=list(call_ids),
            model=self._settings.model.name,
            tokens_used=tokens_used,
            created_at=now_ms(),
            context=context,
            findings=list(findings),
            main_result=main_result,
            options=list(options),
        )

    def _fault(
        self, step: int, said: Said, call: ToolCall, *, fault: str, findings: Sequence[Finding] = ()
    ) -> StepRecord:
        """A reply whose only call ends the investigation, and cannot be taken."""
        text = "\n".join(filter(None, [said.text, f"{call.name} {cut_text(call.arguments)}"]))
        return self._record(step, "fault", text, fault=fault, findings=findings, tokens_used=said.tokens_used)

    def _proposed(self, call: ToolCall, step: int, position: int, *, is_within: bool) -> CallRecord:
        """Returns the record of a call. One that cannot be made has ended: its text says why."""
        run = self._run
        now = now_ms()
        registry = self._settings.registry
        known: Tool | None = registry.offered.get(call.name)
        record = CallRecord(
            id=self._records.call_id(step, position),
            owner=run.owner,
            session_id=run.session_id,
            message_id=run.message_id,
            run_id=run.id,
            step=step,
            position=position,
            tool=known.name if known else "unknown_tool",
            category=known.category if known else "",
            arguments={},
            status="proposed",
            created_at=now,
        )
        refused = replace(record, status="failed", is_error=True, ended_at=now)
        if not is_within:
            return replace(refused, text=_TOO_MANY.format(limit=self._limits.max_calls_per_step))
        if call.name in (ASK_USER, FINISH):
            return replace(refused, text=_ALONE.format(name=call.name))
        try:
            return replace(record, arguments=parse_call(call, registry.offered).values)
        except CallRefused as error:
            return replace(refused, text=str(error))

    def _as_next(self, step: StepRecord) -> NextStep:
        calls = [
            ToolCallRef(id=call.id, tool=call.tool)
            for call in self._records.calls_of(step)
            if not (call.status == "failed" and call.begun_at is None)
        ]
        if step.kind != "question":
            return NextStep(
                calls=calls,
                tokens_used=step.tokens_used,
                is_last=step.kind == "answer",
                limit_reached=step.limit_reached,
            )
        options = [Option(label=option, question=option) for option in step.options]
        return NextStep(
            tokens_used=step.tokens_used,
            is_last=True,
            question_back=Offer(options=options),
            text=step.text,
        )

    # Acting

    async def use(self, call: ToolCallRef, emit: Emit) -> None:
        async with self._room:
            record = await self._records.call(call["id"])
            if record is None or record.has_ended:
                return
            begun = await self._records.change_call(
                record, {"status": "begun", "begun_at": now_ms()}, was=("proposed", "begun")
            )
            if begun is None:
                return
            returned = await self._returned(begun, emit)
        outcome = "failed" if returned.is_error else "done"
        ended = await self._records.change_call(
            begun,
            {
                "status": outcome,
                "text": returned.text,
                "is_error": returned.is_error,
                "result": cast("JsonValue", returned.result),
                "chart": returned.chart,
                "ended_at": now_ms(),
            },
            was=("begun",),
        )
        if ended is None:
            return
        self._settings.calls.labels(ended.tool, outcome).inc()
        _audit(ended)
        emit(_returned_event(ended))

    async def _returned(self, call: CallRecord, emit: Emit) -> ToolResult:
        """Make the call. What goes wrong becomes the result, which the model reads."""
        if (earlier := await self._earlier(call)) is not None:
            text = f"{earlier.text}\n(This call was made before with the same arguments. This is its result.)"
            return ToolResult(text=cut_text(text), is_error=earlier.is_error, chart=earlier.chart)
        seconds = self._limits.tool_seconds
        patience = asyncio.timeout(seconds)
        try:
            parsed = self._parsed(call)
            context = ToolContext(
                call_id=call.id,
                result_name=result_name(call.step, call.position),
                databases=self._databases,
                results=self._results,
                knowledge=self._knowledge,
                progress=_reporter(call.id, emit),
            )
            async with patience:
                return _checked(await parsed.tool.run(parsed.arguments, context))
        except StorageUnavailable:
            raise
        except (CallRefused, ToolFailed, ResultUnknown, DatabaseUnknown) as error:
            return ToolResult(text=cut_text(str(error)), is_error=True)
        except (StatementFailed, DatabaseUnavailable, Problem) as error:
            return ToolResult(text=cut_text(error.detail), is_error=True)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            if isinstance(error, TimeoutError) and patience.expired():
                return ToolResult(text=f"The call did not end within {seconds:g} s.", is_error=True)
            logger.exception("run %s: the tool %s failed", self._run.id, call.tool)
            return ToolResult(text="The tool failed: this is a defect in it.", is_error=True)

    def _parsed(self, call: CallRecord) -> ParsedCall:
        """The second lock: a tool that may no longer be called is refused here. Raises `CallRefused`."""
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        return parse_call(ToolCall("", call.tool, arguments), self._settings.registry.offered)

    async def _earlier(self, call: CallRecord) -> CallRecord | None:
        """Returns the latest of earlier calls with the same arguments, if there were several."""
        steps = await self._records.up_to(call.step - 1)
        same = [
            each
            for step in steps
            for each in self._records.calls_of(step)
            if each.tool == call.tool and each.arguments == call.arguments and each.has_ended
        ]
        return same[-1] if len(same) >= _REPEATED else None

    # Concluding

    async def conclude(self, question: Question, step: int) -> Conclusion:
        steps = await self._records.up_to(step)
        last = steps[-1]
        main = None if last.main_result is None else await self._main_result(last.main_result)
        head = None if main is None else await self._results.adopt(main)
        charts = [call.chart for each in steps for call in self._records.calls_of(each) if call.chart]
        return Conclusion(
            analysis=Analysis(text=last.text, findings=last.findings, chart=charts[-1] if charts else None),
            dialect=main.kept["dialect"] if main else "",
            sql=main.kept["sql"] or None if main else None,
            rows=head,
            results_summary=results_summary(main.rows) if main else None,
        )

    async def _main_result(self, name: str) -> NamedResult | None:
        try:
            return await self._results.read(name)
        except ResultUnknown:
            return None  # its rows were deleted since the step was stored

    async def replay(self, step: int) -> AsyncGenerator[SessionEvent]:
        for each in await self._records.up_to(step):
            if each.step > 0:
                yield _step_begun(each, self._run)
                for event in self._events_of(each):
                    yield event

    def _events_of(self, step: StepRecord) -> list[SessionEvent]:
        """Returns what was emitted of a stored step."""
        return step_events(step, self._records.calls_of(step))

    def _calls_said(self, step: StepRecord) -> list[SessionEvent]:
        return call_events(self._records.calls_of(step))


async def said_in_steps(records: InvestigationRecords, run: Run) -> list[SessionEvent]:
    """Returns what the steps of an ended run have emitted."""
    steps = await records.of_message(run.message_id)
    return [event for step, calls in steps for event in (_step_begun(step, run), *step_events(step, calls))]


def _step_begun(step: StepRecord, run: Run) -> Status:
    return Status(step="investigating", message=f"Investigating, step {step.step}", run_id=run.id)


def step_events(step: StepRecord, calls: Sequence[CallRecord]) -> list[SessionEvent]:
    """Returns the text of a step that chose calls, its calls, and what they returned so far."""
    said = step.text if step.kind == "calls" else ""
    text: list[SessionEvent] = [TextChunk(content=said, channel="investigation")] if said else []
    return [*text, *call_events(calls)]


def call_events(calls: Sequence[CallRecord]) -> list[SessionEvent]:
    events: list[SessionEvent] = [
        ToolCalled(
            tool_call_id=call.id,
            step=call.step,
            name=call.tool,
            category=call.category,
            arguments=call.arguments,
        )
        for call in calls
    ]
    return [*events, *(_returned_event(call) for call in calls if call.has_ended)]


def _returned_event(call: CallRecord) -> ToolReturned:
    return ToolReturned(
        tool_call_id=call.id,
        status="done" if call.status == "done" else "failed",
        content=call.text,
        is_error=call.is_error,
        result_id=call.id if call.result is not None else None,
        elapsed_ms=call.elapsed_ms,
    )


def _checked(returned: object) -> ToolResult:
    """Returns a result that can be stored. Raises `TypeError` if a tool returned something else."""
    if not isinstance(returned, ToolResult):
        raise TypeError(f"the tool returned {type(returned).__name__}")
    return replace(returned, text=cut_text(returned.text).encode(errors="replace").decode())


def _is_cancelled() -> bool:
    """Returns True if the run is cancelled, False if a tool raised the error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _shower(emit: Emit) -> Callable[[str], None]:
    """Returns a function that emits the pieces of the model's text."""
    return lambda token: emit(TextChunk(content=token, channel="investigation"))


def _reporter(call_id: str, emit: Emit) -> ReportProgress:
    """Returns a function that emits progress, at most once a second."""
    last = monotonic() - _PROGRESS_SECONDS

    def report(message: str, fraction: float) -> None:
        nonlocal last
        if monotonic() - last >= _PROGRESS_SECONDS:
            last = monotonic()
            emit(Progress(tool_call_id=call_id, message=message, fraction=fraction))

    return report


def _audit(call: CallRecord) -> None:
    """One line for each call, without its arguments."""
    audit.info(
        "tool call",
        extra={
            "owner": call.owner,
            "session_id": call.session_id,
            "run_id": call.run_id,
            "tool_call_id": call.id,
            "tool": call.tool,
            "category": call.category,
            "duration_ms": call.elapsed_ms,
            "outcome": call.status,
        },
    )
