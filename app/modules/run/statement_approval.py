"""Approvals of statements that the database expects to go through many rows for.

They are calls of tools in the records, so that every way of deciding on calls decides on them, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.clock import now_ms
from app.core.ids import digest
from app.modules.database_connection.repository import Connection
from app.modules.records.call_events import (
    called_event,
    confirmation_events,
    decision_events,
    returned_event,
)
from app.modules.records.model import Run
from app.modules.records.steps import CallRecord, InvestigationRecords, call_id_of, new_step
from graph.errors import StatementNotApproved
from graph.ports import Emit
from graph.state import Rows, ToolCallRef

TOOL = "run_statement"
"""Name of the call. No tool has it, so that its arguments cannot be changed."""

_NOT_RUN = {
    "denied": "You have denied it.",
    "expired": "It was not approved in time. Ask again to be asked again.",
    "withdrawn": "It was withdrawn.",
}


@dataclass(frozen=True)
class StatementApprovals:
    """`minutes`: after so many, a statement that waits can no longer be approved."""

    records: InvestigationRecords
    minutes: float


class ApprovedRunner(Protocol):
    """Runs a statement that a person has approved."""

    async def run(self, sql: str, *, is_approved: bool) -> Rows: ...


@dataclass(frozen=True, kw_only=True)
class RunStatementAsker:
    """Implements `graph.ports.StatementAsker` for one run."""

    approvals: StatementApprovals
    connection: Connection
    runner: ApprovedRunner
    run_of: Run

    async def ask(self, sql: str, why: str, step: int, *, emit: Emit) -> ToolCallRef:
        run = self.run_of
        call = CallRecord(
            id=call_id_of(run.message_id, step, 0),
            owner=run.owner,
            session_id=run.session_id,
            message_id=run.message_id,
            run_id=run.id,
            step=step,
            position=0,
            tool=TOOL,
            category="read",
            arguments={"sql": sql},
            status="proposed",
            created_at=now_ms(),
            gate="asks",
            description=f"Run the statement. {why}",
            destination=f"database {self.connection.name}",
        )
        record = replace(new_step(run, step, "calls", text="", model=""), call_ids=[call.id])
        _, calls = await self.approvals.records.keep(record, [call])
        for each in calls:
            emit(called_event(each))
        return ToolCallRef(id=call.id, tool=TOOL, gate="asks")

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        undecided: list[str] = []
        for each in calls:
            call = await self.approvals.records.call(each["id"])
            if call is not None and call.status == "proposed":
                call = await self._let_wait(call, emit)
            if call is not None and call.status == "waiting":
                undecided.append(call.id)
            elif call is not None:
                for event in decision_events(call):
                    emit(event)
        return undecided

    async def _let_wait(self, call: CallRecord, emit: Emit) -> CallRecord | None:
        """Returns the call as it is then."""
        now = now_ms()
        asked = await self.approvals.records.change_call(
            call,
            {
                "status": "waiting",
                "call_hash": self._hash_of(call),
                "asked_at": now,
                "expires_at": now + round(self.approvals.minutes * 60_000),
            },
            was=("proposed",),
        )
        if asked is None:
            return await self.approvals.records.call(call.id)
        for event in confirmation_events(asked):
            emit(event)
        return asked

    def _hash_of(self, call: CallRecord) -> str:
        """Returns the SHA-256 of what runs, and where."""
        url = digest(self.connection.encrypted_url)
        return digest(
            {
                "tool": TOOL,
                "arguments": call.arguments,
                "connection": {"id": self.connection.id, "url": url},
                "session": call.session_id,
                "message": call.message_id,
            }
        )

    async def run(self, call: ToolCallRef, sql: str, emit: Emit) -> Rows:
        known = await self.approvals.records.call(call["id"])
        if known is None or known.arguments != {"sql": sql} or known.status in _NOT_RUN:
            why = "" if known is None else _NOT_RUN.get(known.status, "")
            raise StatementNotApproved(f"The statement was not run. {why}".strip())
        if known.call_hash != self._hash_of(known):
            raise StatementNotApproved(
                "The statement was not run: the database has another address than when it was approved."
            )
        rows = await self.runner.run(sql, is_approved=True)
        ended = await self.approvals.records.end_call(
            known, {"status": "done", "text": f"{rows['row_count']:,} rows."}, was=("approved",)
        )
        if ended is not None:
            emit(returned_event(ended))
        return rows
