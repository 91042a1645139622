"""The investigator of one turn: asks the model for the next calls, makes them, and concludes."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from app.modules.agent.calls import TurnCalls
from app.modules.agent.last_step import LastStep
from app.modules.agent.planning import Planning
from app.modules.agent.step_events import step_begun, step_events
from app.modules.agent.turn import InvestigatedTurn
from app.modules.records.call_events import called_event, returned_event
from app.modules.records.steps import StepRecord
from graph.answer import Offer
from graph.events import SessionEvent
from graph.ports import Conclusion, Emit, NextStep, Question
from graph.state import CallOutcome, Option, ToolCallRef


class Investigation:
    """Implements `graph.ports.Investigator` for one turn."""

    def __init__(self, turn: InvestigatedTurn) -> None:
        self._turn = turn
        self._last = LastStep(turn)
        self._planning = Planning(turn, self._last)
        self._calls = TurnCalls(turn)
        self._chosen: int | None = None
        """The step that this attempt has stored last."""

    async def next_step(self, question: Question, plan: str, step: int, *, emit: Emit) -> NextStep:
        # After a step of this attempt none is stored, unless another attempt went on: then that one counts.
        records = self._turn.records
        kept = None if self._chosen == step - 1 else await records.find(step)
        if kept is not None:
            for event in await self._events_of(kept):
                emit(event)
            return self._as_next(kept)
        if step == 1:
            opening = self._turn.record(0, "opening", plan, context=question.context)
            await records.keep(replace(opening, earlier=await self._planning.earlier_steps(question)))
        chosen, calls = await self._planning.choose(question, await records.up_to(step - 1), emit)
        kept = await records.keep(chosen, calls)
        self._chosen = step
        stored = records.calls_of(kept)
        for call in stored:
            emit(called_event(call))
        for call in stored:
            if call.has_ended:  # it cannot be made
                emit(returned_event(call))
        return self._as_next(kept)

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        return await self._calls.find_undecided(calls, emit)

    async def use(self, call: ToolCallRef, emit: Emit) -> CallOutcome:
        return await self._calls.use(call, emit)

    async def conclude(self, question: Question, step: int) -> Conclusion:
        return await self._last.conclude(question, step)

    async def replay(self, step: int) -> AsyncGenerator[SessionEvent]:
        for each in await self._turn.records.up_to(step):
            if each.step > 0:
                yield step_begun(each, self._turn.run)
                for event in await self._events_of(each):
                    yield event

    async def _events_of(self, step: StepRecord) -> list[SessionEvent]:
        """Returns what was emitted of a stored step, to be emitted now."""
        calls = self._turn.records.calls_of(step)
        self._calls.know_said(calls)
        return await step_events(step, calls, self._turn.read_head)

    def _as_next(self, step: StepRecord) -> NextStep:
        calls = [
            ToolCallRef(id=call.id, tool=call.tool, gate=call.gate)
            for call in self._turn.records.calls_of(step)
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
