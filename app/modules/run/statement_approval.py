"""Approvals of statements that the database expects to go through many rows for.

They are calls of tools in the records, so that every way of deciding on calls decides on them, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import digest
from app.modules.database_connection.model import Connection
from app.modules.records.call_events import (
    called_event,
    confirmation_events,
    decision_events,
    returned_event,
)
from app.modules.records.model import Run
from app.modules.records.steps import CallRecord, InvestigationRecords, call_id_of, cut_text, new_step
from graph.errors import StatementNotApproved, TurnError
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
    others: Sequence[Connection] = ()
    """The session's further databases, which a statement may read, too."""

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
            destination=f"database {', '.join(each.name for each in (self.connection, *self.others))}",
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
        others: dict[str, JsonValue] = {each.id: digest(each.encrypted_url) for each in self.others}
        return digest(
            {
                **({"others": others} if others else {}),
                "tool": TOOL,
                "arguments": call.arguments,
                "connection": {"id": self.connection.id, "url": url},
                "session": call.session_id,
                "message": call.message_id,
            }
        )

    async def run(self, call: ToolCallRef, sql: str, emit: Emit) -> Rows:
        """An attempt whose process died may have begun or ended the call: then the statement runs again."""
        known = await self.approvals.records.call(call["id"])
        if known is None or known.arguments != {"sql": sql} or known.decision != "approved":
            why = "" if known is None else _NOT_RUN.get(known.status, "")
            raise StatementNotApproved(f"The statement was not run. {why}".strip())
        if known.call_hash != self._hash_of(known):
            raise StatementNotApproved(
                "The statement was not run: the database has another address than when it was approved."
            )
        begun = await self.approvals.records.change_call(
            known, {"status": "begun", "begun_at": now_ms()}, was=("approved", "begun")
        )
        if begun is None and not known.has_ended:
            raise StatementNotApproved(f"The statement was not run. {_NOT_RUN['withdrawn']}")
        try:
            rows = await self.runner.run(sql, is_approved=True)
        except TurnError as error:
            failed: dict[str, JsonValue] = {"status": "failed", "text": cut_text(error.detail)}
            await self._end(begun, {**failed, "is_error": True}, emit)
            raise
        count = rows["row_count"]
        said = "1 row." if count == 1 else f"{count:,} rows."
        await self._end(begun, {"status": "done", "text": said}, emit)
        return rows

    async def _end(self, begun: CallRecord | None, changes: Mapping[str, JsonValue], emit: Emit) -> None:
        """Store how the statement ended. Does nothing for a call that had ended before."""
        if begun is None:
            return
        ended = await self.approvals.records.end_call(begun, changes, was=("begun",))
        if ended is not None:
            emit(returned_event(ended))
