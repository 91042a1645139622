"""The documentation of a database, as an investigation whose steps are fixed.

Each step profiles and checks some tables by the tools of investigations, and lets a model say what the tables
before them are for. The last one writes the document. Steps and calls are stored like those of any
investigation: after a crash nothing is done twice.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.llm.model import LanguageModel, PromptMessage
from app.core.llm.tokens import approximate_tokens
from app.modules.agent.factory import InvestigatorFactory, SchemaContextOf
from app.modules.agent.step_events import step_events
from app.modules.agent.turn_records import TurnRecords
from app.modules.database_connection.model import Connection
from app.modules.database_connection.schema import Table
from app.modules.generating.markdown import Document, DocumentedTable, Measured, document_text
from app.modules.language_models.errors import model_errors_translated
from app.modules.prompts.sections import sections
from app.modules.records.call_events import called_event
from app.modules.records.model import DocumentationRequest, Run, Session
from app.modules.records.rows import RowStore
from app.modules.records.steps import CallRecord, InvestigationRecords, StepKind, StepRecord, new_step
from app.modules.sql_generation.foreign_keys import inferred_keys
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.tools.results import ResultUnknown, TurnResults, read_head, result_name
from app.modules.usage.service import Allowances
from graph.answer import Analysis, Offer
from graph.errors import ModelCallFailed, ModelCallRejected
from graph.events import Progress, SessionEvent, TextChunk
from graph.ports import Conclusion, Emit, Investigator, NextStep, Question
from graph.state import CallOutcome, Option, Rows, ToolCallRef

logger = logging.getLogger(__name__)

MAX_TABLES = 200
ASKS_FROM = 20
"""Tables that are documented without showing the estimate first, at most."""
_TABLES_A_STEP = 8
_TOOLS = ("profile_table", "check_data")
_MEASURED = ("integer", "number", "date", "datetime")
_PROMPT_TOKENS = 400
_TOKENS_OF_PURPOSE = 60
_NOT_WRITTEN = "The model was unavailable, so some tables have no purpose."
_PURPOSES = (Path(__file__).parent / "prompts" / "purposes.md").read_text(encoding="utf-8").strip()
_LINE = re.compile(r"^[\s*-]*[`\"]?(?P<table>[^:`\"]+?)[`\"]?\s*:\s*(?P<purpose>\S.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?]+[.!?]*\s*")
_MOST_CHARACTERS = 600


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a documentation will cost, about."""

    tables: int
    statements: int
    tokens: int

    @property
    def text(self) -> str:
        """A question to the user."""
        return (
            f"This documents {self.tables:,} tables: about {self.statements:,} statements that read whole "
            f"tables, and about {self.tokens:,} tokens of the model. Go on?"
        )


class DocumentationFactory:
    """Binds the investigator of a documentation to a turn."""

    def __init__(
        self,
        investigators: InvestigatorFactory,
        records: InvestigationRecords,
        rows: RowStore,
        *,
        model: LanguageModel,
        allowances: Allowances,
    ) -> None:
        self._investigators = investigators
        self._records = records
        self._rows = rows
        self._model = model
        self._allowances = allowances

    async def bind(
        self, session: Session, run: Run, main: Connection, *, schema_context_of: SchemaContextOf
    ) -> Investigator | None:
        """Returns None for a question that is not that of a documentation."""
        request = session.documentation
        if request is None or run.question not in (request.question, request.go_on):
            return None
        tools = await self._investigators.bind(session, run, main, schema_context_of=schema_context_of)
        return Documentation(
            tools,
            TurnRecords(self._records, run.message_id),
            self._rows,
            model=self._model,
            allowances=self._allowances,
            request=request,
            connection=main,
            schema_context=schema_context_of(main),
            run_of=run,
        )


class Documentation:
    """Implements `graph.ports.Investigator`. `tools` makes the calls."""

    def __init__(
        self,
        tools: Investigator,
        records: TurnRecords,
        rows: RowStore,
        *,
        model: LanguageModel,
        allowances: Allowances,
        request: DocumentationRequest,
        connection: Connection,
        schema_context: SchemaContext,
        run_of: Run,
    ) -> None:
        self._tools = tools
        self._records = records
        self._rows = rows
        self._results = TurnResults(
            rows,
            records.find_result,
            owner=run_of.owner,
            session_id=run_of.session_id,
            message_id=run_of.message_id,
        )
        self._model = model
        self._allowances = allowances
        self._request = request
        self._connection = connection
        self._schema_context = schema_context
        self._run = run_of

    async def next_step(self, question: Question, plan: str, step: int, *, emit: Emit) -> NextStep:
        if (kept := await self._records.find(step)) is not None:
            for event in await step_events(kept, self._records.calls_of(kept), self._head):
                emit(event)
            return self._as_next(kept)
        index = await self._schema_context.index()
        if step == 1:
            names = chosen_tables(index, self._request.tables)
            await self._records.keep(self._record(0, "opening", plan, tables=names))
            estimate = estimate_of(index, names)
            if self._run.question != self._request.go_on and await self._must_ask(estimate):
                asked = self._record(1, "question", estimate.text, options=[self._request.go_on])
                return self._as_next(await self._records.keep(asked))
        chosen, calls = await self._chosen(index, step, emit)
        kept = await self._records.keep(chosen, calls)
        if kept.kind == "calls":
            emit(TextChunk(content=kept.text, channel="investigation"))
        for call in self._records.calls_of(kept):
            emit(called_event(call))
        return self._as_next(kept)

    async def _chosen(self, index: SchemaIndex, step: int, emit: Emit) -> tuple[StepRecord, list[CallRecord]]:
        """Returns the step that profiles the next tables, or the last one, with the document."""
        steps = await self._records.up_to(step - 1)
        names = steps[0].tables
        before = names[(step - 2) * _TABLES_A_STEP : (step - 1) * _TABLES_A_STEP] if step > 1 else []
        now = names[(step - 1) * _TABLES_A_STEP : step * _TABLES_A_STEP]
        done = min((step - 1) * _TABLES_A_STEP, len(names))
        emit(Progress(message=f"{done} of {len(names)} tables", fraction=done / max(1, len(names))))
        purposes, tokens = await self._purposes(index, before)
        if now:
            text = f"Profiling and checking {', '.join(now)}."
            calls = [
                self._call(tool, table, step, position=position)
                for position, (table, tool) in enumerate((table, tool) for table in now for tool in _TOOLS)
            ]
            record = self._record(
                step,
                "calls",
                text,
                tokens_used=tokens,
                purposes=purposes,
                call_ids=[each.id for each in calls],
            )
            return record, calls
        for each in steps:
            purposes = {**each.purposes, **purposes}
        text = await self._document(index, names, purposes)
        return self._record(step, "answer", text, tokens_used=tokens, purposes=purposes), []

    async def _must_ask(self, estimate: Estimate) -> bool:
        """True for many tables, or a good part of the tokens that are left of the day."""
        if estimate.tables > ASKS_FROM:
            return True
        return await self._allowances.is_much(self._run.owner, estimate.tokens)

    async def _purposes(self, index: SchemaIndex, names: Sequence[str]) -> tuple[dict[str, str], int]:
        """Returns what tables are for, by the model, and its tokens. Described tables need no model."""
        asked = [name for name in names if name in index.tables and not index.tables[name].description]
        if not asked:
            return {}, 0
        messages = purpose_messages(index, asked)
        try:
            with model_errors_translated():
                reply = await self._model.reply(messages, lambda _: None)
        except (ModelCallFailed, ModelCallRejected) as error:
            logger.warning("run %s: the purpose of tables was not written: %s", self._run.id, error.detail)
            return {}, 0
        return read_purposes(reply.text, asked, index), reply.tokens_used

    async def _document(self, index: SchemaIndex, names: Sequence[str], purposes: dict[str, str]) -> str:
        inferred = await asyncio.to_thread(inferred_keys, list(index.tables.values()))
        documented: list[DocumentedTable] = []
        missing = False
        for number, name in enumerate(names):
            table = index.tables.get(name)
            if table is None:
                continue  # dropped since the first step
            step, place = divmod(number, _TABLES_A_STEP)
            purpose = table.description or purposes.get(name, "")
            missing = missing or not purpose
            documented.append(
                DocumentedTable(
                    table=table,
                    purpose=purpose or "Not described.",
                    profile=await self._measured(step + 1, 2 * place),
                    check=await self._measured(step + 1, 2 * place + 1),
                    keys=table.foreign_keys,
                    inferred=() if table.foreign_keys else inferred.get(name, ()),
                )
            )
        document = Document(
            name=self._connection.name,
            dialect=self._connection.dialect,
            day=datetime.now(UTC).date(),
            tables=documented,
            left_out=len(index.tables) - len(documented),
            notes=[_NOT_WRITTEN] if missing else [],
        )
        return await asyncio.to_thread(document_text, document)

    async def _measured(self, step: int, position: int) -> Measured:
        """Returns what a call has found, from its stored rows."""
        name = result_name(step, position)
        call = await self._records.call(self._records.call_id(step, position))
        if call is None or call.is_error or call.result is None:
            return Measured(result=name, error=call.text if call is not None and call.text else "not done")
        try:
            found = await self._results.read(name)
        except ResultUnknown as unknown:
            return Measured(result=name, error=str(unknown))
        notes = [line for line in call.text.splitlines() if line.startswith("Not checked: ")]
        return Measured(result=name, rows=found.rows["rows"], notes=notes)

    # Records

    def _record(
        self,
        step: int,
        kind: StepKind,
        text: str,
        *,
        tables: Sequence[str] = (),
        purposes: dict[str, str] | None = None,
        call_ids: Sequence[str] = (),
        tokens_used: int = 0,
        options: Sequence[str] = (),
    ) -> StepRecord:
        return replace(
            new_step(self._run, step, kind, text=text, model=self._model.name),
            call_ids=list(call_ids),
            tokens_used=tokens_used,
            options=list(options),
            tables=list(tables),
            purposes=purposes or {},
        )

    def _call(self, tool: str, table: str, step: int, *, position: int) -> CallRecord:
        run = self._run
        arguments: dict[str, JsonValue] = {"table": table, "database": None}
        return CallRecord(
            id=self._records.call_id(step, position),
            owner=run.owner,
            session_id=run.session_id,
            message_id=run.message_id,
            run_id=run.id,
            step=step,
            position=position,
            tool=tool,
            category="read",
            arguments=arguments,
            status="proposed",
            created_at=now_ms(),
        )

    def _as_next(self, step: StepRecord) -> NextStep:
        calls = [
            ToolCallRef(id=call.id, tool=call.tool, gate="free") for call in self._records.calls_of(step)
        ]
        if step.kind != "question":
            return NextStep(calls=calls, tokens_used=step.tokens_used, is_last=step.kind == "answer")
        options = [Option(label="Go on", question=option) for option in step.options]
        return NextStep(is_last=True, question_back=Offer(options=options), text=step.text)

    async def _head(self, call: CallRecord) -> Rows | None:
        return None if call.result is None else await read_head(self._rows, call.id, call.result)

    # Acting and concluding

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        """Its calls only read: none asks. One that the policy does not let run is refused, and noted."""
        return ()

    async def use(self, call: ToolCallRef, emit: Emit) -> CallOutcome:
        return await self._tools.use(call, emit)

    async def conclude(self, question: Question, step: int) -> Conclusion:
        """The conversation remembers the document by its beginning."""
        last = (await self._records.up_to(step))[-1]
        return Conclusion(analysis=Analysis(text=last.text), remembered=last.text.partition("\n## ")[0])

    def replay(self, step: int) -> AsyncGenerator[SessionEvent]:
        return self._tools.replay(step)


def chosen_tables(index: SchemaIndex, names: Sequence[str]) -> list[str]:
    """Returns the tables to document, in the schema's order: all, or those that are named."""
    wanted = {name.casefold() for name in names}
    return [name for name in index.tables if not wanted or name.casefold() in wanted][:MAX_TABLES]


def estimate_of(index: SchemaIndex, names: Sequence[str]) -> Estimate:
    """Returns what the documentation of these tables will cost. Described tables need no model."""
    tables = [index.tables[name] for name in names]
    undescribed = [table.name for table in tables if not table.description]
    cards = approximate_tokens("\n".join(index.cards[name] for name in undescribed))
    calls = ceil(len(undescribed) / _TABLES_A_STEP)
    return Estimate(
        tables=len(tables),
        statements=sum(map(_statements, tables)),
        tokens=cards + calls * _PROMPT_TOKENS + len(undescribed) * _TOKENS_OF_PURPOSE,
    )


def _statements(table: Table) -> int:
    """Returns the statements of both tools: eight columns at a time, then keys, dates and numbers."""
    profiles = 2 * ceil(len(table.columns) / 8)
    of_columns = 2 * sum(column.type in _MEASURED for column in table.columns)
    return profiles + 1 + len(table.foreign_keys) + of_columns


def purpose_messages(index: SchemaIndex, names: Sequence[str]) -> list[PromptMessage]:
    """Returns the prompt that asks what tables are for. It shows names, types, keys and comments."""
    cards = "\n\n".join(index.cards[name] for name in names)
    others = ", ".join(name for name in index.tables if name not in names)[:2_000]
    parts = [("Other tables of the database", others), ("Tables to describe", cards)]
    return [PromptMessage("system", _PURPOSES), PromptMessage("user", sections(parts))]


def read_purposes(reply: str, names: Collection[str], index: SchemaIndex) -> dict[str, str]:
    """Returns what a reply says of these tables. Sentences with figures are left out: only tools measure."""
    known = {name.casefold(): name for name in names}
    purposes: dict[str, str] = {}
    for found in _LINE.finditer(reply):
        name = known.get(found["table"].strip().casefold())
        if name is not None:
            said = _without_figures(found["purpose"], index)
            if said:
                purposes[name] = said
    return purposes


def _without_figures(text: str, index: SchemaIndex) -> str:
    words = {each.casefold() for name, table in index.tables.items() for each in (name, *_columns(table))}
    kept = [
        sentence.strip()
        for sentence in _SENTENCE.findall(text)
        if not any(_is_figure(word, words) for word in re.findall(r"\w+", sentence))
    ]
    return " ".join(kept)[:_MOST_CHARACTERS].strip()


def _is_figure(word: str, names: Collection[str]) -> bool:
    """True for a word with digits that is no name of the schema."""
    return any(each.isdigit() for each in word) and word.casefold() not in names


def _columns(table: Table) -> list[str]:
    return [column.name for column in table.columns]
