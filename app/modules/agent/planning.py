"""The next step of one turn: the prompt, and what the model's reply stands for."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from app.core.clock import now_ms
from app.core.llm.model import OfferedTool, PromptMessage, Said, ToolCall
from app.core.markdown import pieces_without_images
from app.modules.agent.approval import unanswered
from app.modules.agent.estimate import accepting, estimate_text, is_accepted, plan_tokens
from app.modules.agent.last_step import LastStep
from app.modules.agent.step_messages import earlier_steps
from app.modules.agent.transcript import conclusion_request, investigation_messages
from app.modules.agent.turn import InvestigatedTurn, said_before
from app.modules.analysis.facts.wording import Wording
from app.modules.language_models.errors import model_errors_translated
from app.modules.prompts.budget import prompt_room, prompt_tokens
from app.modules.records.steps import CallRecord, StepRecord
from app.modules.tools.choosing import FIND_TOOLS, choose_tools, find_for_model, offer_tokens
from app.modules.tools.context import NoSuchDatabase
from app.modules.tools.parsing import CallRefused, parse_call
from app.modules.tools.tool import Tool
from app.modules.tools.toolsets.control import ASK_USER, FINISH
from app.modules.tools.toolsets.queries import RUN_SQL
from graph.errors import DatabaseUnavailable
from graph.events import TextChunk
from graph.ports import Emit, Question

_CUT = (
    "Your reply was cut off at its longest, so none of its calls was made. Write less, or make fewer and "
    "shorter calls."
)
_ALONE = "This call was not made: {name} has to be the only call of its step."
_TOO_MANY = "This call was not made: a step may have at most {limit} calls, and the turn has no more left."


class Planning:
    def __init__(self, turn: InvestigatedTurn, last: LastStep) -> None:
        self._turn = turn
        self._last = last

    async def choose(
        self, question: Question, steps: Sequence[StepRecord], emit: Emit
    ) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the step after those, and its calls."""
        number = len(steps)
        if number == 1 and (asked := await self.estimate(question, steps)) is not None:
            return asked, []
        if (text := unanswered(self._turn.records.calls_of(steps[-1]))) is not None:
            return self._turn.record(number, "answer", text), []
        limits = self._turn.settings.limits
        if (limit := limits.reached(steps, now_ms(), self._turn.waited_ms(steps))) is not None:
            request = conclusion_request(Wording("en").format(limit))
            taken = prompt_tokens([request])
            messages = await asyncio.to_thread(self._messages, question, steps, taken_tokens=taken)
            return await self._last.conclude_early(steps, limit, [*messages, request]), []
        return await self._choose(question, steps, await self._said(question, steps, emit))

    async def earlier_steps(self, question: Question) -> str:
        """Returns the steps of the investigation without an answer, if there is one."""
        if question.unfinished is None:
            return ""
        return earlier_steps(await self._turn.records.records.whole(question.unfinished["message_id"]))

    async def estimate(self, question: Question, steps: Sequence[StepRecord]) -> StepRecord | None:
        """Returns the question whether to begin, if the plan would use much of the tokens of the day."""
        allowances = self._turn.settings.allowances
        if allowances is None or allowances.quotas.tokens_per_day is None or is_accepted(question.text):
            return None
        messages, tools = await self._prompt(question, steps)
        tokens = plan_tokens(
            steps[0].text,
            prompt_tokens=prompt_tokens(messages) + sum(map(offer_tokens, tools)),
            max_steps=self._turn.settings.limits.max_steps,
            max_tokens=self._turn.settings.limits.max_tokens,
        )
        if not await allowances.is_much(self._turn.run.owner, tokens):
            return None
        text = estimate_text(steps[0].text, tokens)
        return self._turn.record(1, "question", text, options=[accepting(question.text)])

    async def _said(self, question: Question, steps: Sequence[StepRecord], emit: Emit) -> Said:
        messages, tools = await self._prompt(question, steps)
        with model_errors_translated():
            return await self._turn.settings.model.converse(messages, tools, _shower(emit))

    async def _prompt(
        self, question: Question, steps: Sequence[StepRecord]
    ) -> tuple[list[PromptMessage], list[OfferedTool]]:
        model = self._turn.settings.model
        with model_errors_translated():
            if model.known is None:
                await model.capabilities()
        return await asyncio.to_thread(self._written_prompt, question, steps)

    def _written_prompt(
        self, question: Question, steps: Sequence[StepRecord]
    ) -> tuple[list[PromptMessage], list[OfferedTool]]:
        tools = self._offers(question, steps, window_tokens=self._turn.settings.model.known_window)
        return self._messages(question, steps, taken_tokens=sum(map(offer_tokens, tools))), tools

    def _messages(
        self, question: Question, steps: Sequence[StepRecord], *, taken_tokens: int
    ) -> list[PromptMessage]:
        """Returns the prompt. `taken_tokens` are those of what is sent beside it."""
        model = self._turn.settings.model
        window = model.known_window
        room = None
        if window is not None:
            room = prompt_room(window, output_tokens=model.max_output_tokens, tools_tokens=taken_tokens)
        return investigation_messages(
            question,
            steps,
            self._turn.records.calls_of,
            today=datetime.now(UTC).date(),
            limits=self._turn.settings.limits,
            mode=self._turn.mode,
            room=room,
        )

    def _offers(
        self, question: Question, steps: Sequence[StepRecord], *, window_tokens: int | None
    ) -> list[OfferedTool]:
        """Returns the tools of the next step. Those that this turn has called or found stay."""
        offers = [tool.offer for tool in self._turn.offered().values()]
        calls = [call for step in steps for call in self._turn.records.calls_of(step)]
        searches = [str(call.arguments.get("words", "")) for call in calls if call.tool == FIND_TOOLS]
        found = {offer.name for words in searches for offer in find_for_model(offers, words)}
        needed = {ASK_USER, FINISH, *found, *(call.tool for call in calls)}
        said = f"{question.text}\n{steps[0].text}"
        return choose_tools(offers, said, needed=needed, window_tokens=window_tokens)

    async def _choose(
        self, question: Question, steps: Sequence[StepRecord], said: Said
    ) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the step that a reply stands for, and its calls."""
        number = len(steps)
        if fault := _CUT if said.cut else said.fault:
            return self._turn.record(
                number, "fault", said.text, fault=fault, tokens_used=said.tokens_used
            ), []
        if not said.calls:
            return self._last.answer(
                number, await self._last.read_answer(steps, said.text), said.tokens_used
            ), []
        if len(said.calls) == 1 and said.calls[0].name in (ASK_USER, FINISH):
            return await self._last.end(question, steps, said)
        room = self._turn.settings.limits.calls_left(steps)
        calls = [
            self._proposed(call, steps, position, is_within=position < room)
            for position, call in enumerate(said.calls[: 2 * self._turn.settings.limits.max_calls_per_step])
        ]
        calls = [await self._gated(call) for call in calls]
        is_fault = all(call.has_ended for call in calls)
        step = self._turn.record(
            number,
            "fault" if is_fault else "calls",
            said.text,
            call_ids=[call.id for call in calls],
            tokens_used=said.tokens_used,
        )
        return step, calls

    def _proposed(
        self, call: ToolCall, steps: Sequence[StepRecord], position: int, *, is_within: bool
    ) -> CallRecord:
        """Returns the record of a call. One that cannot be made has ended: its text says why.

        KAI alone computes the gate: nothing that a model or a tool says of itself lowers it.
        """
        run = self._turn.run
        step = len(steps)
        now = now_ms()
        offered = self._turn.offered()
        known: Tool | None = offered.get(call.name)
        record = CallRecord(
            id=self._turn.records.call_id(step, position),
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
            gate="asks" if known and self._turn.settings.registry.gate(known) == "asks" else "free",
        )
        refused = replace(record, status="failed", is_error=True, ended_at=now)
        if not is_within:
            return replace(
                refused, text=_TOO_MANY.format(limit=self._turn.settings.limits.max_calls_per_step)
            )
        if call.name in (ASK_USER, FINISH):
            return replace(refused, text=_ALONE.format(name=call.name))
        try:
            proposed = replace(record, arguments=parse_call(call, offered).values)
        except CallRefused as error:
            return replace(refused, text=str(error))
        if proposed.gate == "asks" and (earlier := self._turn.earlier(proposed, steps)) is not None:
            return replace(refused, arguments=proposed.arguments, text=said_before(earlier))
        return proposed

    async def _gated(self, call: CallRecord) -> CallRecord:
        """Returns the call of a statement that would read much as one that asks, with the reason."""
        if call.tool != RUN_SQL or call.has_ended or call.gate != "free":
            return call
        named = call.arguments.get("database")
        with suppress(NoSuchDatabase, DatabaseUnavailable):
            database = self._turn.databases.named(named if isinstance(named, str) else None)
            if why := await database.find_approval(str(call.arguments["sql"])):
                return replace(call, gate="asks", description=why)
        return call


def _shower(emit: Emit) -> Callable[[str], None]:
    """Returns a function that emits the pieces of the model's text."""
    return pieces_without_images(lambda text: emit(TextChunk(content=text, channel="investigation")))
