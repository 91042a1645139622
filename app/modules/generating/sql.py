"""SQL for a question, in one shot: linking, prompt, guard and checks of a question, and no session."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from app.core.auth.caller import current_database_claim
from app.core.clock import now_ms
from app.core.ids import new_id
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.model import Run, Session
from app.modules.run.errors import WorkersBusy
from app.modules.run.ports import PortFactory
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.usage.service import Allowances
from graph import Ports
from graph.answer import Interpretation, Repair
from graph.errors import StatementFailed, TurnError
from graph.events import SessionEvent
from graph.ports import Question, Written
from graph.state import Option, Rows

logger = logging.getLogger(__name__)

_NO_ROWS = Rows(columns=[], rows=[], row_count=0, truncated=False)
_A_ROW = Rows(columns=[], rows=[[True]], row_count=1, truncated=False)


@dataclass(frozen=True, kw_only=True)
class GeneratedSql:
    """A statement for a question. Without one, `explanation` is the question back, or the reply."""

    sql: str | None = None
    dialect: str = ""
    explanation: str = ""
    warnings: list[str] = field(default_factory=list)
    corrections: list[str] = field(default_factory=list)
    valid: bool = False
    options: list[Option] = field(default_factory=list)
    rows: Rows | None = None
    tokens_used: int = 0


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """What speaks against a statement. One with an error is not valid; `reasons` are worth a repair."""

    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    rows: Rows | None = None


@dataclass(frozen=True, kw_only=True)
class _Bound:
    """What answers one question."""

    ports: Ports
    connection: Connection
    schema_context: SchemaContext
    runs: bool


class SqlGeneration:
    """Writes statements without sessions. At most `concurrency` at a time, and `max_waiting` that wait."""

    def __init__(
        self,
        ports: PortFactory,
        connections: DatabaseConnections,
        allowances: Allowances,
        *,
        concurrency: int,
        max_waiting: int,
    ) -> None:
        self._ports = ports
        self._connections = connections
        self._allowances = allowances
        self._room = asyncio.Semaphore(concurrency)
        self._max_waiting = max_waiting
        self._waiting = 0

    async def generate(self, owner: str, db_connection_id: str, question: str, *, runs: bool) -> GeneratedSql:
        """Write a statement, check it, have its writer repair it at most once; with `runs`, run it.

        Raises `ConnectionNotFound`, `TokensSpent`, `TooManyRuns`, `WorkersBusy`, or a `TurnError` if the
        database or the model is unavailable.
        """
        connection = await self._connections.repository.get(owner, db_connection_id)
        async with self._allowances.new_run(owner):
            asked = _run_of(owner, question)
        async with self._turn(), self._allowances.charged(owner):
            ports = await self._ports.bind(_session_of(asked, connection.id), asked, investigates=False)
            bound = _Bound(
                ports=ports,
                connection=connection,
                schema_context=self._ports.schema_context(connection),
                runs=runs,
            )
            return await self._answer(bound, Question(text=question))

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        if self._room.locked() and self._waiting >= self._max_waiting:
            raise WorkersBusy
        self._waiting += 1
        try:
            await self._room.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._room.release()

    async def _answer(self, bound: _Bound, asked: Question) -> GeneratedSql:
        question = replace(asked, context=await bound.ports.recall.recall(asked))
        written = await bound.ports.writer.write(question, _ignore)
        if written.route != "sql":
            return GeneratedSql(
                explanation=written.text, options=written.options, tokens_used=written.tokens_used
            )
        checked = await self._check(bound, question, written)
        if checked.error is not None or checked.reasons:
            written, checked = await self._repaired(bound, question, written, first=checked)
        errors = [] if checked.error is None else [checked.error]
        return GeneratedSql(
            sql=written.text,
            dialect=bound.ports.writer.dialect,
            explanation=written.explanation,
            warnings=[*errors, *checked.warnings],
            corrections=written.corrections,
            valid=checked.error is None,
            rows=checked.rows if bound.runs else None,
            tokens_used=written.tokens_used,
        )

    async def _check(self, bound: _Bound, question: Question, written: Written) -> _Checked:
        """Check a statement by guard and names, or by running it. Raises `DatabaseUnavailable`."""
        asked = replace(question, author=written.author)
        try:
            if bound.runs:
                rows = await bound.ports.runner.run(written.text)
            else:
                return await self._check_unrun(bound, asked, written)
        except StatementFailed as failure:
            return _Checked(error=failure.detail)
        reasons = await bound.ports.checker.find_reasons(asked, written.text, rows)
        found = await bound.schema_context.find_warnings(asked, written.text, rows)
        # What is probed is among the reasons if the data bear it out.
        warnings = dict.fromkeys([*(each.text for each in found if not each.probe), *reasons])
        return _Checked(warnings=list(warnings), reasons=_of_model(reasons, written), rows=rows)

    async def _check_unrun(self, bound: _Bound, asked: Question, written: Written) -> _Checked:
        """Nothing of the result is known: it may be empty or not, so the warnings of both count."""
        await bound.schema_context.check(written.text)
        await self._connections.check(bound.connection, written.text)
        found = [
            each
            for rows in (_NO_ROWS, _A_ROW)
            for each in await bound.schema_context.find_warnings(asked, written.text, rows)
        ]
        warnings = dict.fromkeys(each.text for each in found)
        reasons = dict.fromkeys(each.text for each in found if each.worth_repair)
        return _Checked(warnings=list(warnings), reasons=_of_model(list(reasons), written))

    async def _repaired(
        self, bound: _Bound, question: Question, written: Written, *, first: _Checked
    ) -> tuple[Written, _Checked]:
        """Returns another statement if it is better, else the first one."""
        repair = Repair(
            first=written.draft(bound.ports.writer.dialect),
            cause="warnings" if first.error is None else "error",
            reasons=first.reasons if first.error is None else [first.error],
        )
        try:
            other = await bound.ports.writer.write(replace(question, repair=repair), _ignore)
        except TurnError as error:
            logger.info("a generated statement was not repaired: %s", error.detail)
            return written, first
        spent = written.tokens_used + other.tokens_used
        kept = written.model_copy(update={"tokens_used": spent})
        if other.route != "sql" or other.text == written.text:
            return kept, first
        checked = await self._check(bound, question, other)
        if checked.error is not None or not _is_better(checked, first):
            return kept, first
        understood = written.model_dump(include=set(Interpretation.model_fields))
        return other.model_copy(update={**understood, "tokens_used": spent}), checked


def _is_better(checked: _Checked, first: _Checked) -> bool:
    """True if an error is gone; or there are fewer reasons, and rows if there were any."""
    if first.error is not None:
        return True
    had_rows = first.rows is not None and first.rows["row_count"] > 0
    has_rows = checked.rows is not None and checked.rows["row_count"] > 0
    return len(checked.reasons) < len(first.reasons) and (has_rows or not had_rows)


def _of_model(reasons: list[str], written: Written) -> list[str]:
    """Only a model's statement is written again for what speaks against its result."""
    return reasons if written.author == "model" else []


def _ignore(_event: SessionEvent) -> None:
    """Nothing follows the writing of a statement that is returned whole."""


def _run_of(owner: str, question: str) -> Run:
    """A run that is never stored: it names the question in logs and audit lines."""
    return Run(
        id=new_id(),
        owner=owner,
        session_id=new_id(),
        message_id=new_id(),
        question=question,
        created_at=now_ms(),
        database_claim=current_database_claim(),
    )


def _session_of(run: Run, db_connection_id: str) -> Session:
    return Session(
        id=run.session_id,
        owner=run.owner,
        db_connection_id=db_connection_id,
        title=None,
        mode="ask",
        metadata={},
        created_at=run.created_at,
        updated_at=run.created_at,
    )
