"""The last step of a turn: a question back, or an answer from facts of the turn's results."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from app.core.llm.model import PromptMessage, Said, ToolCall
from app.modules.agent.conclusion import Concluding, ShownAnswer
from app.modules.agent.findings import FoundFact, findings_in
from app.modules.agent.named_things import NamedThings
from app.modules.agent.quoting import unread_figures
from app.modules.agent.turn import InvestigatedTurn
from app.modules.analysis.facts.wording import Counted
from app.modules.analysis.summary import results_summary
from app.modules.language_models.errors import model_errors_translated
from app.modules.prompts.rows import without_secrets
from app.modules.records.steps import CallRecord, KeptResult, StepRecord, cut_text
from app.modules.run.notices import begin_with, first_line
from app.modules.sql.layout import laid_out
from app.modules.tools.parsing import CallRefused, parse_call
from app.modules.tools.results import NamedResult, ResultUnknown, result_name
from app.modules.tools.toolsets.control import AskUser, Finish
from graph.answer import Analysis, Draft
from graph.errors import ModelCallFailed, ModelCallRejected
from graph.ports import Conclusion, Question

logger = logging.getLogger(__name__)

_EMPTY = "The answer is empty. Name the facts that answer the question, or say why none does."
_UNREAD = "The question has a figure that no result of this turn holds:"
_MOST_PURPOSES = 5


class LastStep:
    def __init__(self, turn: InvestigatedTurn) -> None:
        self._turn = turn

    async def end(
        self, question: Question, steps: Sequence[StepRecord], said: Said
    ) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the last step, or a fault if the end cannot be taken as it was written."""
        number = len(steps)
        call = said.calls[0]
        try:
            parsed = parse_call(call, self._turn.offered())
        except CallRefused as refused:
            return self._fault(number, said, call, fault=str(refused)), []
        match parsed.arguments:
            case AskUser(question=text, options=options):
                offered = [option for option in options if option.strip()]
                asked = "\n".join([text, *offered])
                if why := self._unread(question, steps, asked):
                    return self._fault(number, said, call, fault=why), []
                return (
                    self._turn.record(
                        number, "question", text, options=offered, tokens_used=said.tokens_used
                    ),
                    [],
                )
            case Finish() as finish:
                return await self._finish(question, steps, said, finish=finish), []
            case _:
                raise TypeError(parsed.tool.name)

    def _unread(self, question: Question, steps: Sequence[StepRecord], asked: str) -> str:
        """Returns why a question back is sent back, once: it has a figure that the turn has not read."""
        calls = [call for step in steps for call in self._turn.records.calls_of(step)]
        if not any(call.result for call in calls) or any(each.fault.startswith(_UNREAD) for each in steps):
            return ""
        figures = unread_figures(asked, [question.text, steps[0].text, *(call.text for call in calls)])
        return f"{_UNREAD} {', '.join(figures)}. Ask again without." if figures else ""

    async def _finish(
        self, question: Question, steps: Sequence[StepRecord], said: Said, *, finish: Finish
    ) -> StepRecord:
        """Findings that name no fact are sent back once; those that remain are left out."""
        number = len(steps)
        call = said.calls[0]
        main = finish.main_result
        if main is not None:
            try:
                await self._turn.results.read(main)
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
            return replace(fault, findings=found, left_out=looked_up.left_out(self._turn.sheets.wording))
        shown = await concluding.answer(looked_up, finish.answer, main)
        step = self.answer(number, shown, said.tokens_used)
        things = NamedThings(self._turn.databases, self._turn.results, self._turn.records.find_result)
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

    async def read_answer(self, steps: Sequence[StepRecord], text: str) -> ShownAnswer:
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
            for call in self._turn.records.calls_of(step)
            if call.result is not None
        ]
        return Concluding(self._turn.results, self._turn.sheets, self._turn.databases, fetched)

    async def conclude_early(
        self, steps: Sequence[StepRecord], limit: Counted, messages: Sequence[PromptMessage]
    ) -> StepRecord:
        """Ask once more, without tools. If that fails, the answer names what was looked at."""
        tokens_used = 0
        text = ""
        try:
            with model_errors_translated():
                said = await self._turn.settings.model.converse(messages, (), lambda _: None)
            text = said.text
            tokens_used = said.tokens_used
        except (ModelCallFailed, ModelCallRejected) as error:
            logger.warning("run %s: no conclusion was written: %s", self._turn.run.id, error.detail)
        shown = await self.read_answer(steps, text)
        if not text.strip():
            looked = await self._looked_at(steps)
            shown = replace(shown, text=f"{shown.text}\n\n{looked}".strip())
        note = self._turn.sheets.wording.say("limit_reached", limit=limit)
        shown = replace(shown, text=f"{shown.text}\n\n{note}")
        return replace(self.answer(len(steps), shown, tokens_used), limit_reached=True)

    async def _looked_at(self, steps: Sequence[StepRecord]) -> str:
        """Returns what calls were to show, without purposes that say something of rows."""
        gate = await self._concluding(steps).gate()
        purposes = [
            f"- {purpose} ({result_name(call.step, call.position)})"
            for step in steps
            for call in self._turn.records.calls_of(step)
            if call.status == "done" and (purpose := str(call.arguments.get("purpose") or ""))
            if gate.fault(purpose) is None
        ]
        looked = purposes[-_MOST_PURPOSES:]
        say = self._turn.sheets.wording.say
        return "\n".join([say("no_answer"), *(["", say("looked_at"), *looked] if looked else [])])

    def answer(self, step: int, shown: ShownAnswer, tokens_used: int) -> StepRecord:
        return replace(
            self._turn.record(
                step,
                "answer",
                shown.text or self._turn.sheets.wording.say("no_answer"),
                tokens_used=tokens_used,
            ),
            headline=shown.headline,
            findings=list(shown.findings),
            references=list(shown.references),
            left_out=list(shown.left_out),
        )

    def _fault(self, step: int, said: Said, call: ToolCall, *, fault: str) -> StepRecord:
        """A reply whose only call ends the investigation, and cannot be taken."""
        text = "\n".join(filter(None, [said.text, f"{call.name} {cut_text(call.arguments)}"]))
        return self._turn.record(step, "fault", text, fault=fault, tokens_used=said.tokens_used)

    async def conclude(self, question: Question, step: int) -> Conclusion:
        steps = await self._turn.records.up_to(step)
        last = steps[-1]
        main = None if last.main_result is None else await self._main_result(last.main_result)
        head = None if main is None else await self._turn.results.adopt(main)
        corrections = main.kept.get("corrections", []) if main else []
        charts = [call.chart for each in steps for call in self._turn.records.calls_of(each) if call.chart]
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
            return await self._turn.results.read(name)
        except ResultUnknown:
            return None  # its rows were deleted since the step was stored


async def _draft_of(kept: KeptResult) -> Draft | None:
    """Returns the statement of a result, laid out; None for one that no statement has fetched."""
    if not kept["sql"]:
        return None
    pretty = await asyncio.to_thread(laid_out, kept["sql"], kept["dialect"])
    corrections = kept.get("corrections", [])
    return Draft(sql=kept["sql"], dialect=kept["dialect"], sql_pretty=pretty, corrections=corrections)
