"""The investigator of one turn: asks the model for the next calls, makes them, and concludes."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.errors import Problem
from app.core.ids import new_id
from app.core.llm.model import LanguageModel, OfferedTool, PromptMessage, Said, ToolCall
from app.core.markdown import pieces_without_images, without_images
from app.core.storage.port import StorageUnavailable
from app.modules.agent.approval import call_hash, confirmation_events, decision_events, unanswered
from app.modules.agent.call_progress import CallProgress
from app.modules.agent.conclusion import Concluding, ShownAnswer
from app.modules.agent.estimate import accepting, estimate_text, is_accepted, plan_tokens
from app.modules.agent.findings import FoundFact, findings_in
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.named_things import NamedThings
from app.modules.agent.quoting import quotations
from app.modules.agent.records import (
    CallRecord,
    CallStatus,
    InvestigationRecords,
    StepKind,
    StepRecord,
    TurnRecords,
    new_step,
)
from app.modules.agent.sheets import TurnSheets, append_facts
from app.modules.agent.step_messages import earlier_steps
from app.modules.agent.transcript import conclusion_request, investigation_messages
from app.modules.analysis.summary import results_summary
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.repository import Connection
from app.modules.memory.facts import Facts
from app.modules.model_errors import model_errors_translated
from app.modules.prompt_budget import prompt_room, prompt_tokens
from app.modules.prompt_rows import without_secrets
from app.modules.run.actions import ActionsUnderWay
from app.modules.run.notices import begin_with, first_line
from app.modules.run.records import ResultRows
from app.modules.session.model import Mode, Run
from app.modules.sql.layout import laid_out
from app.modules.tools.choosing import FIND_TOOLS, choose_tools, find_for_model, offer_tokens
from app.modules.tools.context import (
    DatabaseUnknown,
    SessionDatabases,
    ToolContext,
    ToolDatabase,
)
from app.modules.tools.history import ConversationHistory
from app.modules.tools.parsing import CallRefused, ParsedCall, parse_call
from app.modules.tools.registry import ToolRegistry
from app.modules.tools.results import (
    KeptResult,
    NamedResult,
    ResultUnknown,
    TurnResults,
    read_head,
    result_name,
)
from app.modules.tools.tool import Tool, ToolFailed, ToolResult, cut_text
from app.modules.tools.toolsets.control import ASK_USER, FINISH, AskUser, Finish
from app.modules.usage.service import Allowances
from graph.answer import Analysis, Draft, Offer
from graph.errors import DatabaseUnavailable, ModelCallFailed, ModelCallRejected, StatementFailed
from graph.events import (
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    Status,
    TextChunk,
    ToolCalled,
    ToolReturned,
)
from graph.ports import Conclusion, Emit, NextStep, Question
from graph.state import CallOutcome, Context, Option, Rows, ToolCallRef

logger = logging.getLogger(__name__)

_CUT = (
    "Your reply was cut off at its longest, so none of its calls was made. Write less, or make fewer and "
    "shorter calls."
)
_ALONE = "This call was not made: {name} has to be the only call of its step."
_TOO_MANY = "This call was not made: a step may have at most {limit} calls, and the turn has no more left."
_NO_ANSWER = "The investigation ended before it had an answer."
_EMPTY = "The answer is empty. Name the facts that answer the question, or say why none does."
_REPEATED = 2
"""A call that was made so often with the same arguments is not made again."""
_MOST_PURPOSES = 5
_MOST_DESCRIPTION = 2_000
_LOSE_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class InvestigationSettings:
    """What all investigations of a process share."""

    model: LanguageModel
    registry: ToolRegistry
    limits: InvestigationLimits
    actions: ActionsUnderWay = field(default_factory=ActionsUnderWay)
    allowances: Allowances | None = None
    """The tokens of owners. None: they are not limited."""
    approval_minutes: float = 30
    """Minutes after which a call that waits can no longer be approved."""
    facts: Facts | None = None
    """None where no facts are kept."""


ReadMode = Callable[[], Awaitable[Mode]]
"""Reads the mode that counts now. Raises `StorageUnavailable`, and `Replaced` in an attempt that another has
replaced: only its successor knows what people decide about the calls.
"""


class Investigation:
    """Implements `graph.ports.Investigator` for one turn."""

    def __init__(
        self,
        settings: InvestigationSettings,
        records: TurnRecords,
        results: TurnResults,
        *,
        sheets: TurnSheets,
        databases: SessionDatabases,
        knowledge: ContextStore,
        history: ConversationHistory,
        run_of: Run,
        mode: Mode = "ask",
        read_mode: ReadMode | None = None,
    ) -> None:
        """`mode` is that of the question; `read_mode` reads what it is now. None: it does not change."""
        self._mode = mode
        self._read_mode = read_mode
        self._attempt = new_id()
        self._chosen: int | None = None
        """The step that this attempt has stored last."""
        self._returned: dict[str, ToolResult] = {}
        """What calls returned that is yet to be stored, because the store was unavailable."""
        self._tried: set[str] = set()
        """Calls that this attempt was asked to make."""
        self._started: set[str] = set()
        """Calls whose effect this attempt has started."""
        self._said: set[tuple[str, str]] = set()
        """Ids of calls, with the names of the events that this attempt has emitted of them."""
        self._settings = settings
        self._limits = settings.limits
        self._records = records
        self._results = results
        self._sheets = sheets
        self._databases = databases
        self._knowledge = knowledge
        self._history = history
        self._run = run_of
        self._room = asyncio.Semaphore(settings.limits.parallel_calls)

    # Thinking

    async def next_step(self, question: Question, plan: str, step: int, *, emit: Emit) -> NextStep:
        # After a step of this attempt none is stored, unless another attempt went on: then that one counts.
        kept = None if self._chosen == step - 1 else await self._records.find(step)
        if kept is not None:
            for event in await self._events_of(kept):
                emit(event)
            return self._as_next(kept)
        if step == 1:
            opening = self._record(0, "opening", plan, context=question.context)
            await self._records.keep(replace(opening, earlier=await self._earlier_steps(question)))
        steps = await self._records.up_to(step - 1)
        calls: list[CallRecord] = []
        if step == 1 and (asked := await self._estimate(question, steps)) is not None:
            return self._as_next(await self._records.keep(asked))
        if (text := unanswered(self._records.calls_of(steps[-1]))) is not None:
            chosen = self._record(step, "answer", text)
        elif (limit := self._limits.reached(steps, now_ms(), self._waited_ms(steps))) is not None:
            chosen = await self._conclude_early(question, steps, limit)
        else:
            said = await self._ask(question, steps, emit)
            chosen, calls = await self._choose(question, steps, said)
        kept = await self._records.keep(chosen, calls)
        self._chosen = step
        for event in self._calls_said(kept):
            emit(event)
        return self._as_next(kept)

    async def _earlier_steps(self, question: Question) -> str:
        """Returns the steps of the investigation without an answer, if there is one."""
        if question.unfinished is None:
            return ""
        return earlier_steps(await self._records.records.whole(question.unfinished["message_id"]))

    async def _estimate(self, question: Question, steps: Sequence[StepRecord]) -> StepRecord | None:
        """Returns the question whether to begin, if the plan would use much of the tokens of the day."""
        allowances = self._settings.allowances
        if allowances is None or allowances.quotas.tokens_per_day is None or is_accepted(question.text):
            return None
        messages, tools = await self._prompt(question, steps)
        tokens = plan_tokens(
            steps[0].text,
            prompt_tokens=prompt_tokens(messages) + sum(map(offer_tokens, tools)),
            max_steps=self._limits.max_steps,
            max_tokens=self._limits.max_tokens,
        )
        if not await allowances.is_much(self._run.owner, tokens):
            return None
        text = estimate_text(steps[0].text, tokens)
        return self._record(1, "question", text, options=[accepting(question.text)])

    async def _ask(self, question: Question, steps: Sequence[StepRecord], emit: Emit) -> Said:
        messages, tools = await self._prompt(question, steps)
        with model_errors_translated():
            return await self._settings.model.converse(messages, tools, _shower(emit))

    async def _prompt(
        self, question: Question, steps: Sequence[StepRecord]
    ) -> tuple[list[PromptMessage], list[OfferedTool]]:
        model = self._settings.model
        with model_errors_translated():
            if model.known is None:
                await model.capabilities()
        return await asyncio.to_thread(self._written_prompt, question, steps)

    def _written_prompt(
        self, question: Question, steps: Sequence[StepRecord]
    ) -> tuple[list[PromptMessage], list[OfferedTool]]:
        tools = self._offers(question, steps, window_tokens=self._settings.model.known_window)
        return self._messages(question, steps, taken_tokens=sum(map(offer_tokens, tools))), tools

    def _messages(
        self, question: Question, steps: Sequence[StepRecord], *, taken_tokens: int
    ) -> list[PromptMessage]:
        """Returns the prompt. `taken_tokens` are those of what is sent beside it."""
        model = self._settings.model
        window = model.known_window
        room = None
        if window is not None:
            room = prompt_room(window, output_tokens=model.max_output_tokens, tools_tokens=taken_tokens)
        return investigation_messages(
            question,
            steps,
            self._records.calls_of,
            today=datetime.now(UTC).date(),
            limits=self._limits,
            mode=self._mode,
            room=room,
        )

    def _offers(
        self, question: Question, steps: Sequence[StepRecord], *, window_tokens: int | None
    ) -> list[OfferedTool]:
        """Returns the tools of the next step. Those that this turn has called or found stay."""
        offers = [tool.offer for tool in self._offered().values()]
        calls = [call for step in steps for call in self._records.calls_of(step)]
        searches = [str(call.arguments.get("words", "")) for call in calls if call.tool == FIND_TOOLS]
        found = {offer.name for words in searches for offer in find_for_model(offers, words)}
        needed = {ASK_USER, FINISH, *found, *(call.tool for call in calls)}
        said = f"{question.text}\n{steps[0].text}"
        return choose_tools(offers, said, needed=needed, window_tokens=window_tokens)

    def _offered(self) -> Mapping[str, Tool]:
        return self._settings.registry.offered(self._mode, self._run.tool_sources)

    def _waited_ms(self, steps: Sequence[StepRecord]) -> int:
        """Returns how long people took, which counts for no limit."""
        waited = 0
        for step in steps:
            asked = [call for call in self._records.calls_of(step) if call.asked_at is not None]
            decided = [call.decided_at for call in asked if call.decided_at is not None]
            if decided:
                waited += max(decided) - min(call.asked_at or 0 for call in asked)
        return waited

    async def _choose(
        self, question: Question, steps: Sequence[StepRecord], said: Said
    ) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the step that a reply stands for, and its calls."""
        number = len(steps)
        if fault := _CUT if said.cut else said.fault:
            return self._record(number, "fault", said.text, fault=fault, tokens_used=said.tokens_used), []
        if not said.calls:
            return self._answer(number, await self._read_answer(steps, said.text), said.tokens_used), []
        if len(said.calls) == 1 and said.calls[0].name in (ASK_USER, FINISH):
            return await self._end(question, steps, said)
        room = self._limits.calls_left(steps)
        calls = [
            self._proposed(call, steps, position, is_within=position < room)
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
            parsed = parse_call(call, self._offered())
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
        """Findings that name no fact are sent back once; those that remain are left out."""
        number = len(steps)
        call = said.calls[0]
        main = finish.main_result
        if main is not None:
            try:
                await self._results.read(main)
            except ResultUnknown as unknown:
                return self._fault(number, said, call, fault=str(unknown))
        if not finish.findings and not finish.answer.strip():
            return self._fault(number, said, call, fault=_EMPTY)
        concluding = self._concluding(steps)
        looked_up = await concluding.look_up(finish.findings)
        was_sent_back = any(each.left_out or each.findings for each in steps)
        if not was_sent_back and looked_up.refused:
            fault = self._fault(number, said, call, fault=looked_up.objections)
            found = [each.finding for each in looked_up.found]
            return replace(fault, findings=found, left_out=looked_up.left_out)
        shown = await concluding.answer(looked_up, finish.answer, main)
        step = self._answer(number, shown, said.tokens_used)
        things = NamedThings(self._databases, self._results, self._records.find_result)
        return replace(
            step,
            main_result=main,
            code=await things.code(finish.code),
            link=await things.links(
                [
                    each.model_copy(update={"label": await concluding.label(each.label, each.name)})
                    for each in finish.links
                ]
            ),
            action=await things.actions(
                [
                    each.model_copy(update={"label": await concluding.label(each.label, each.target)})
                    for each in finish.actions
                ],
                question.text,
            ),
        )

    async def _read_answer(self, steps: Sequence[StepRecord], text: str) -> ShownAnswer:
        """Returns the answer of a reply without a call. It names facts by result and key."""
        given, words = findings_in(text)
        concluding = self._concluding(steps)
        looked_up = await concluding.look_up(given)
        if not looked_up.found:
            sent_back = [finding for step in steps for finding in step.findings if finding["references"]]
            looked_up = replace(looked_up, found=list(map(FoundFact, sent_back)))
        return await concluding.answer(looked_up, words, None)

    def _concluding(self, steps: Sequence[StepRecord]) -> Concluding:
        fetched = [
            result_name(call.step, call.position)
            for step in steps
            for call in self._records.calls_of(step)
            if call.result is not None
        ]
        return Concluding(self._results, self._sheets, self._databases, fetched)

    async def _conclude_early(
        self, question: Question, steps: Sequence[StepRecord], limit: str
    ) -> StepRecord:
        """Ask once more, without tools. If that fails, the answer names what was looked at."""
        request = conclusion_request(limit)
        taken = prompt_tokens([request])
        messages = await asyncio.to_thread(self._messages, question, steps, taken_tokens=taken)
        tokens_used = 0
        text = ""
        try:
            with model_errors_translated():
                said = await self._settings.model.converse([*messages, request], (), lambda _: None)
            text = said.text
            tokens_used = said.tokens_used
        except (ModelCallFailed, ModelCallRejected) as error:
            logger.warning("run %s: no conclusion was written: %s", self._run.id, error.detail)
        shown = await self._read_answer(steps, text)
        if not text.strip():
            looked = await self._looked_at(steps)
            shown = replace(shown, text=f"{shown.text}\n\n{looked}".strip())
        note = f"**Limit reached:** the investigation ended after {limit}. The rest stays open."
        shown = replace(shown, text=f"{shown.text}\n\n{note}")
        return replace(self._answer(len(steps), shown, tokens_used), limit_reached=True)

    async def _looked_at(self, steps: Sequence[StepRecord]) -> str:
        """Returns what calls were to show, without purposes that say something of rows."""
        gate = await self._concluding(steps).gate()
        purposes = [
            f"- {purpose} ({result_name(call.step, call.position)})"
            for step in steps
            for call in self._records.calls_of(step)
            if call.status == "done" and (purpose := str(call.arguments.get("purpose") or ""))
            if gate.fault(purpose) is None
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
        options: Sequence[str] = (),
    ) -> StepRecord:
        return replace(
            new_step(self._run, step, kind, text=without_images(text), model=self._settings.model.name),
            fault=fault,
            call_ids=list(call_ids),
            tokens_used=tokens_used,
            context=context,
            options=list(options),
        )

    def _answer(self, step: int, shown: ShownAnswer, tokens_used: int) -> StepRecord:
        return replace(
            self._record(step, "answer", shown.text or _NO_ANSWER, tokens_used=tokens_used),
            headline=shown.headline,
            findings=list(shown.findings),
            references=list(shown.references),
            left_out=list(shown.left_out),
        )

    def _fault(self, step: int, said: Said, call: ToolCall, *, fault: str) -> StepRecord:
        """A reply whose only call ends the investigation, and cannot be taken."""
        text = "\n".join(filter(None, [said.text, f"{call.name} {cut_text(call.arguments)}"]))
        return self._record(step, "fault", text, fault=fault, tokens_used=said.tokens_used)

    def _proposed(
        self, call: ToolCall, steps: Sequence[StepRecord], position: int, *, is_within: bool
    ) -> CallRecord:
        """Returns the record of a call. One that cannot be made has ended: its text says why.

        KAI alone computes the gate: nothing that a model or a tool says of itself lowers it.
        """
        run = self._run
        step = len(steps)
        now = now_ms()
        offered = self._offered()
        known: Tool | None = offered.get(call.name)
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
            gate="asks" if known and self._settings.registry.gate(known) == "asks" else "free",
        )
        refused = replace(record, status="failed", is_error=True, ended_at=now)
        if not is_within:
            return replace(refused, text=_TOO_MANY.format(limit=self._limits.max_calls_per_step))
        if call.name in (ASK_USER, FINISH):
            return replace(refused, text=_ALONE.format(name=call.name))
        try:
            proposed = replace(record, arguments=parse_call(call, offered).values)
        except CallRefused as error:
            return replace(refused, text=str(error))
        if proposed.gate == "asks" and (earlier := self._earlier(proposed, steps)) is not None:
            return replace(refused, arguments=proposed.arguments, text=_said_before(earlier))
        return proposed

    def _as_next(self, step: StepRecord) -> NextStep:
        calls = [
            ToolCallRef(id=call.id, tool=call.tool, gate=call.gate)
            for call in self._records.calls_of(step)
            if not (call.status == "failed" and call.begun_at is None and call.asked_at is None)
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

    # Asking

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        undecided: list[str] = []
        for each in calls:
            call = await self._records.call(each["id"])
            if call is not None and call.status == "proposed":
                call = await self._ask_for(call, emit)
            if call is not None and call.status == "waiting":
                undecided.append(call.id)
            elif call is not None:
                self._say(call, decision_events(call), emit)
        return undecided

    async def _ask_for(self, call: CallRecord, emit: Emit) -> CallRecord | None:
        """Let a call wait for a person. Returns the call as it is then."""
        try:
            parsed = self._parsed(call, self._mode)
            connection = self._connection_of(parsed)
        except (CallRefused, DatabaseUnknown) as error:
            return await self._refuse(call, str(error))
        now = now_ms()
        asked = await self._records.change_call(
            call,
            {
                "status": "waiting",
                "call_hash": self._hash_of(parsed, connection.connection),
                "description": parsed.tool.described(parsed.arguments)[:_MOST_DESCRIPTION],
                "destination": parsed.tool.server or f"database {connection.label}",
                "warnings": cast(
                    "JsonValue",
                    [
                        *parsed.tool.warnings(parsed.arguments, is_tainted=await self._is_tainted(call.step)),
                        *await self._warnings(call),
                    ],
                ),
                "asked_at": now,
                "expires_at": now + round(self._settings.approval_minutes * 60_000),
            },
            was=("proposed",),
        )
        if asked is None:
            return await self._records.call(call.id)
        for event in confirmation_events(asked):
            emit(event)
        return asked

    async def _refuse(self, call: CallRecord, why: str) -> CallRecord | None:
        """End a call that may not be made. Returns the call as it is then."""
        refused: dict[str, JsonValue] = {"status": "failed", "text": cut_text(why), "is_error": True}
        ended = await self._records.end_call(call, {**refused, "begun_at": now_ms()}, was=(call.status,))
        return ended or await self._records.call(call.id)

    async def _warnings(self, call: CallRecord) -> list[str]:
        """Returns what this turn has read that the arguments hold. Raises `StorageUnavailable`."""
        results: list[tuple[str, NamedResult]] = []
        texts: list[tuple[str, str]] = []
        for step in await self._records.up_to(call.step):
            for each in self._records.calls_of(step):
                name = result_name(each.step, each.position)
                if each.is_of_others and each.has_ended:
                    texts.append((f"{each.tool}, {name}", each.text))
                if each.result is not None:
                    with suppress(ResultUnknown):
                        results.append((name, await self._results.read(name)))
        return await asyncio.to_thread(quotations, call.arguments, results, texts)

    async def _is_tainted(self, step: int) -> bool:
        """True if the turn has read from a tool of others, up to this step."""
        steps = await self._records.up_to(step)
        return any(call.is_of_others for each in steps for call in self._records.calls_of(each))

    def _connection_of(self, parsed: ParsedCall) -> ToolDatabase:
        """Returns the database that a call is about. Raises `DatabaseUnknown`."""
        named = parsed.values.get("database") if parsed.tool.source == "builtin" else None
        return self._databases.named(named if isinstance(named, str) else None)

    def _hash_of(self, parsed: ParsedCall, connection: Connection) -> str:
        return call_hash(
            parsed.tool,
            parsed.values,
            connection,
            session_id=self._run.session_id,
            message_id=self._run.message_id,
        )

    # Acting

    async def use(self, call: ToolCallRef, emit: Emit) -> CallOutcome:
        # A free call begins only if its stored status is still the known one. A decision has to be read, and
        # so has a call that this attempt has tried before.
        is_new = call["gate"] == "free" and call["id"] not in self._tried
        self._tried.add(call["id"])
        known = self._records.known(call["id"]) if is_new else None
        record = known or await self._records.call(call["id"])
        if record is not None and not record.has_ended:
            async with self._room:
                record = await self._act(record, emit)
        if record is None or not record.has_ended:
            return "failed"  # deleted with its session, or another attempt makes it
        if (record.id, "tool_result") not in self._said:
            for event in result_chunks(record, await self._head(record)):
                emit(event)
        self._say(record, [_returned_event(record)], emit)
        return cast("CallOutcome", record.status)

    async def _act(self, call: CallRecord, emit: Emit) -> CallRecord | None:
        """Make a call, at most once if it is not repeatable. Returns the call as it is then."""
        if call.id in self._returned:
            return await self._end_call(call)
        mode = await self._mode_for(call)
        is_mine = call.begun_by == self._attempt and call.id not in self._started
        if call.status == "begun" and not is_mine and not self._is_repeatable(call):
            return await self._records.lose(call) or await self._records.call(call.id)
        if (refusal := self._refusal(call, mode)) is not None:
            return await self._refuse(call, refusal)
        # Only the status that was read may change: of two attempts, one makes the call.
        begin: dict[str, JsonValue] = {"status": "begun", "begun_at": now_ms(), "begun_by": self._attempt}
        ready: CallStatus = "proposed" if call.gate == "free" else "approved"
        was: CallStatus = "begun" if call.status == "begun" else ready
        begun = await self._records.change_call(call, begin, was=(was,))
        if begun is None:
            return await self._records.call(call.id)
        with nullcontext() if call.gate == "free" else self._settings.actions.one_more():
            try:
                returned = await self._run_tool(begun, emit)
            except asyncio.CancelledError:
                await self._lose_cancelled(begun)
                raise
            if returned is None:
                return await self._records.lose(begun) or await self._records.call(call.id)
            self._returned[call.id] = returned
            return await self._end_call(begun)

    async def _end_call(self, call: CallRecord) -> CallRecord | None:
        """Store what a call has returned. If the store is unavailable, it is stored when it is back."""
        returned = self._returned[call.id]
        ended = await self._records.end_call(
            call,
            {
                "status": "failed" if returned.is_error else "done",
                "text": returned.text,
                "is_error": returned.is_error,
                "result": cast("JsonValue", returned.result),
                "chart": returned.chart,
            },
            was=("begun",),
        )
        del self._returned[call.id]
        return ended or await self._records.call(call.id)

    async def _lose_cancelled(self, call: CallRecord) -> None:
        """Store that it is not known how an action ended, which was cancelled under way."""
        if self._is_repeatable(call):
            return
        with suppress(StorageUnavailable, TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(self._records.lose(call)), _LOSE_SECONDS)

    def _is_repeatable(self, call: CallRecord) -> bool:
        """True if a call may run again after its process died: it reads, or a second run changes nothing."""
        if call.gate == "free" and call.category == "read":
            return True
        tool = self._settings.registry.find(call.tool)
        return tool is not None and tool.repeatable

    async def _mode_for(self, call: CallRecord) -> Mode:
        """Returns the mode in which a call is made: for one that acts, that of now."""
        acts = call.gate == "asks" or call.category != "read"
        return await self._read_mode() if acts and self._read_mode is not None else self._mode

    def _refusal(self, call: CallRecord, mode: Mode) -> str | None:
        """The second lock: returns why a call may not be made now, or None.

        Everything is computed again from what was shown; arguments that a person has changed are read when
        the call runs.
        """
        if mode == "ask" and self._mode == "agent":
            return "This call was not made: the session has been changed to ask mode."
        try:
            parsed = self._parsed(call, mode)
            if call.gate == "free":
                must_ask = self._settings.registry.gate(parsed.tool) != "free"
                return "This call was not made: it needs an approval now." if must_ask else None
            hash_now = self._hash_of(parsed, self._connection_of(parsed).connection)
        except (CallRefused, DatabaseUnknown) as error:
            return str(error)
        is_same = hash_now == call.call_hash
        return None if is_same else "This call was not made. Refused: changed since it was approved."

    def _say(self, call: CallRecord, events: Sequence[SessionEvent], emit: Emit) -> None:
        """Emit events of a call, unless this attempt has emitted them."""
        for event in events:
            if (call.id, event.event) not in self._said:
                self._said.add((call.id, event.event))
                emit(event)

    async def _run_tool(self, call: CallRecord, emit: Emit) -> ToolResult | None:
        """Make the call. What goes wrong becomes the result, which the model reads.

        Returns None if an action failed in a way that does not tell whether it has had its effect.
        """
        earlier = self._earlier(call, await self._records.up_to(call.step - 1))
        if call.gate == "free" and earlier is not None:
            return ToolResult(text=_said_before(earlier), is_error=earlier.is_error, chart=earlier.chart)
        seconds = self._limits.tool_seconds
        patience = asyncio.timeout(seconds)
        try:
            parsed = self._parsed(replace(call, arguments=call.used_arguments), self._mode)
            seconds = parsed.tool.timeout_seconds or seconds
            patience = asyncio.timeout(seconds)
            self._started.add(call.id)
            progress = CallProgress(call.id, emit)
            context = ToolContext(
                call_id=call.id,
                owner=self._run.owner,
                result_name=result_name(call.step, call.position),
                databases=self._databases,
                results=self._results,
                knowledge=self._knowledge,
                history=self._history,
                tools=[tool.offer for tool in self._offered().values()],
                progress=progress,
                facts=self._settings.facts,
                is_approved=call.gate == "asks",
                is_tainted=await self._is_tainted(call.step),
            )
            async with patience:
                with progress.of_silent_call():
                    returned = _checked(await parsed.tool.run(parsed.arguments, context))
        except StorageUnavailable:
            raise
        except (CallRefused, ToolFailed, ResultUnknown, DatabaseUnknown) as error:
            return ToolResult(text=cut_text(str(error)), is_error=True)
        except (StatementFailed, DatabaseUnavailable, Problem) as error:
            return ToolResult(text=cut_text(error.detail), is_error=True)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            if not self._is_repeatable(call):
                logger.exception("run %s: how a call of %s ended is not known", self._run.id, call.tool)
                return None
            if isinstance(error, TimeoutError) and patience.expired():
                return ToolResult(text=f"The call did not end within {seconds:g} s.", is_error=True)
            logger.exception("run %s: the tool %s failed", self._run.id, call.tool)
            return ToolResult(text="The tool failed: this is a defect in it.", is_error=True)
        return await self._append_facts(call, returned)

    async def _append_facts(self, call: CallRecord, returned: ToolResult) -> ToolResult:
        """Returns what a tool has returned, with the facts of its rows below its text."""
        if returned.result is None:
            return returned
        of = await self._sheets.read_call(result_name(call.step, call.position), call.id, returned.result)
        return replace(returned, text=append_facts(returned.text, of.sheet))

    def _parsed(self, call: CallRecord, mode: Mode) -> ParsedCall:
        """Raises `CallRefused`, also for a tool that may no longer be called."""
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        offered = self._settings.registry.offered(mode, self._run.tool_sources)
        return parse_call(ToolCall("", call.tool, arguments), offered)

    def _earlier(self, call: CallRecord, steps: Sequence[StepRecord]) -> CallRecord | None:
        """Returns the latest of earlier calls with the same arguments, if there were several."""
        same = [
            each
            for step in steps
            for each in self._records.calls_of(step)
            if each.tool == call.tool and each.used_arguments == call.arguments and each.has_ended
        ]
        return same[-1] if len(same) >= _REPEATED else None

    # Concluding

    async def conclude(self, question: Question, step: int) -> Conclusion:
        steps = await self._records.up_to(step)
        last = steps[-1]
        main = None if last.main_result is None else await self._main_result(last.main_result)
        head = None if main is None else await self._results.adopt(main)
        corrections = main.kept.get("corrections", []) if main else []
        charts = [call.chart for each in steps for call in self._records.calls_of(each) if call.chart]
        analysis = Analysis(
            text=last.text,
            headline=last.headline,
            references=last.references,
            left_out=last.left_out,
            findings=last.findings,
            chart=charts[-1] if charts else None,
            code=last.code,
            link=last.link,
            action=last.action,
        )
        return Conclusion(
            analysis=begin_with(first_line([], corrections, question.text), analysis),
            draft=await _draft_of(main.kept) if main else None,
            rows=head,
            results_summary=results_summary(without_secrets(main.rows)) if main else None,
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
                for event in await self._events_of(each):
                    yield event

    async def _events_of(self, step: StepRecord) -> list[SessionEvent]:
        """Returns what was emitted of a stored step, to be emitted now."""
        calls = self._records.calls_of(step)
        self._said |= {(call.id, "tool_result") for call in calls if call.has_ended}
        self._said |= {(call.id, "confirmation_decided") for call in calls if call.decision is not None}
        return await step_events(step, calls, self._head)

    def _calls_said(self, step: StepRecord) -> list[SessionEvent]:
        """Returns the calls of a step that was just chosen. Those that cannot be made have ended."""
        calls = self._records.calls_of(step)
        return [*map(_called_event, calls), *(_returned_event(call) for call in calls if call.has_ended)]

    async def _head(self, call: CallRecord) -> Rows | None:
        return None if call.result is None else await self._results.head(call.id, call.result)


ReadHead = Callable[[CallRecord], Awaitable[Rows | None]]
"""Reads the first rows of a call. Returns None if it has none."""


async def said_in_steps(records: InvestigationRecords, rows: ResultRows, run: Run) -> list[SessionEvent]:
    """Returns what the steps of an ended run have emitted."""

    async def head(call: CallRecord) -> Rows | None:
        return None if call.result is None else await read_head(rows, call.id, call.result)

    said: list[SessionEvent] = []
    for step, calls in await records.of_message(run.message_id):
        said += [_step_begun(step, run), *await step_events(step, calls, head)]
    return said


async def _draft_of(kept: KeptResult) -> Draft | None:
    """Returns the statement of a result, laid out; None for one that no statement has fetched."""
    if not kept["sql"]:
        return None
    pretty = await asyncio.to_thread(laid_out, kept["sql"], kept["dialect"])
    corrections = kept.get("corrections", [])
    return Draft(sql=kept["sql"], dialect=kept["dialect"], sql_pretty=pretty, corrections=corrections)


def _step_begun(step: StepRecord, run: Run) -> Status:
    return Status(step="investigating", message=f"Investigating, step {step.step}", run_id=run.id)


async def step_events(step: StepRecord, calls: Sequence[CallRecord], head_of: ReadHead) -> list[SessionEvent]:
    """Returns the text of a step with calls, the calls, and what they returned so far. The calls of a fault
    have all been refused.
    """
    said = step.text if calls else ""
    events: list[SessionEvent] = [TextChunk(content=said, channel="investigation")] if said else []
    events += map(_called_event, calls)
    events += [event for call in calls for event in confirmation_events(call)]
    for call in calls:
        if call.has_ended:
            events += result_chunks(call, await head_of(call))
            events.append(_returned_event(call))
    return events


def result_chunks(call: CallRecord, head: Rows | None) -> list[SessionEvent]:
    """Returns the statement of a call that has run one, and its first rows."""
    if call.result is None or not call.result["sql"]:
        return []
    said: list[SessionEvent] = [
        SqlChunk(content=call.result["sql"], dialect=call.result["dialect"], tool_call_id=call.id)
    ]
    return said if head is None else [*said, ResultsChunk(content=head, tool_call_id=call.id)]


def _called_event(call: CallRecord) -> ToolCalled:
    return ToolCalled(
        tool_call_id=call.id,
        step=call.step,
        name=call.tool,
        category=call.category,
        arguments=call.arguments,
        requires_approval=call.gate == "asks",
    )


def _returned_event(call: CallRecord) -> ToolReturned:
    return ToolReturned(
        tool_call_id=call.id,
        status=cast("CallOutcome", call.status),
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
    return pieces_without_images(lambda text: emit(TextChunk(content=text, channel="investigation")))


def _said_before(earlier: CallRecord) -> str:
    return cut_text(
        f"{earlier.text}\n(This call was made before with the same arguments. This is its result.)"
    )
