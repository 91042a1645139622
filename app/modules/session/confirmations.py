"""Calls of tools that wait for people, and their decisions.

A decision is a record: of any number of deciders, one changes it. The last decision of a step creates the run
that goes on, whose id follows from the run that waits.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.core.auth.caller import Caller
from app.core.clock import now_ms
from app.core.llm.model import ToolCall
from app.core.storage.port import is_uuid
from app.modules.records.model import Session
from app.modules.records.repository import SessionRepository
from app.modules.records.steps import CallRecord, CallStatus, InvestigationRecords
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.messages import next_run_id
from app.modules.session.errors import (
    ConfirmationOver,
    ConfirmationUnknown,
    DecidedOtherwise,
    EditRefused,
    HashDiffers,
)
from app.modules.tools.parsing import CallRefused, parse_call
from app.modules.tools.registry import ToolRegistry
from app.modules.usage.service import Allowances

Verdict = Literal["approve", "deny"]

_ENDING_SECONDS = 10.0
"""The longest wait for the end of the run that has asked."""
_PAUSES_SECONDS = (0.005, 0.25)


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What was decided, and the run that goes on. `run_id` is None while other calls wait."""

    confirmation_id: str
    status: Literal["approved", "denied"]
    run_id: str | None


class Confirmations:
    """Every method names the owner. It raises `SessionUnknown` for a session of another owner."""

    def __init__(
        self,
        repository: SessionRepository,
        records: InvestigationRecords,
        lifecycle: RunLifecycle,
        *,
        allowances: Allowances,
        tools: ToolRegistry,
    ) -> None:
        self._repository = repository
        self._records = records
        self._lifecycle = lifecycle
        self._allowances = allowances
        self._tools = tools

    async def page(
        self, owner: str, session_id: str, status: CallStatus | None, *, limit: int, cursor: str | None
    ) -> tuple[list[CallRecord], str | None]:
        """Returns a page of the calls that have asked, the first to expire first."""
        session = await self._repository.get(owner, session_id)
        return await self._records.page(session.id, status, limit, cursor=cursor)

    async def has_lately_asked_for_others(self, session: Session, calls: Sequence[CallRecord]) -> bool:
        """True if the session has asked for other calls, decided or not, whose time to approve still runs."""
        return await self._records.has_others(session.id, {call.id for call in calls}, now_ms())

    async def named(self, owner: str, session_id: str, ids: Sequence[str]) -> list[CallRecord]:
        """Returns calls that have asked, whatever became of them. Raises `ConfirmationUnknown`."""
        session = await self._repository.get(owner, session_id)
        return [await self._find(session, each) for each in ids]

    async def note_shown(self, confirmation_id: str, shown: str, *, client: str) -> None:
        """Store what a client was shown: the name of a set of calls, of which this one is the first. Does
        nothing if the call no longer waits.
        """
        call = await self._records.call(confirmation_id)
        if call is not None and call.shown_to.get(client) != shown:
            others = {name: each for name, each in call.shown_to.items() if each == shown}
            await self._records.change_call(call, {"shown_to": {**others, client: shown}}, was=("waiting",))

    async def counts(self, sessions: Sequence[Session]) -> Mapping[str, int]:
        """Returns the number of calls that wait, by session."""
        waiting = [each.id for each in sessions if each.status == "awaiting_approval"]
        return await self._records.waiting_by_session(waiting)

    async def decide(
        self,
        caller: Caller,
        session_id: str,
        confirmation_id: str,
        *,
        verdict: Verdict,
        call_hash: str,
        reason: str | None,
        edited: Mapping[str, JsonValue] | None = None,
    ) -> Decided:
        """Approve or deny a call, and go on with the turn if it was the last one of its step. `edited` are
        all arguments of a call that is approved with other ones than those shown.

        Raises `ConfirmationUnknown`, `HashDiffers`, `ConfirmationOver` if the call has expired or was
        withdrawn, `DecidedOtherwise`, or `TokensSpent` or `EditRefused`: then the call still waits.
        """
        session = await self._repository.get(caller.owner, session_id)
        call = await self._find(session, confirmation_id)
        if call.call_hash != call_hash:
            raise HashDiffers(call_hash=call.call_hash)
        arguments = None if edited is None else await self.read_edit(call, edited)
        if call.status == "waiting":
            await self._change(
                session, call, verdict, by=caller.credential, reason=reason, edited_arguments=arguments
            )
            call = await self._records.call(call.id) or call
        decision = call.decision
        if decision != "approved" and decision != "denied":
            raise ConfirmationOver(decision=call.status)
        if decision != ("approved" if verdict == "approve" else "denied"):
            raise DecidedOtherwise(decision=decision)
        if decision == "approved" and call.edited_arguments != arguments:
            raise DecidedOtherwise(decision=decision)
        return Decided(confirmation_id=call.id, status=decision, run_id=await self._following(session, call))

    async def read_edit(
        self, call: CallRecord, edited: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue] | None:
        """Returns the arguments as they are stored; None if they are those that the call has. They are read
        as strictly as a model's. Raises `EditRefused`.
        """
        run = await self._repository.find_run(call.run_id)
        offered = {} if run is None else self._tools.offered("agent", run.tool_sources)
        try:
            parsed = parse_call(ToolCall("", call.tool, json.dumps(edited, ensure_ascii=False)), offered)
        except CallRefused as refused:
            raise EditRefused(str(refused)) from refused
        return None if parsed.values == call.arguments else parsed.values

    async def _change(
        self,
        session: Session,
        call: CallRecord,
        verdict: Verdict,
        *,
        by: str,
        reason: str | None,
        edited_arguments: dict[str, JsonValue] | None,
    ) -> None:
        if call.expires_at is not None and call.expires_at <= now_ms():
            await self._records.expire(call)
            await self._lifecycle.go_on(session)
        elif verdict == "approve":
            await self._allowances.check_tokens(session.owner)
            await self._records.approve(call, by, reason, edited_arguments=edited_arguments)
        else:
            await self._records.deny(call, by, reason)

    async def _following(self, session: Session, call: CallRecord) -> str | None:
        """Returns the run that goes on with the turn of a call; None while other calls of its step wait.

        The run that has asked may still be ending. If it was interrupted before, it goes on itself.
        """
        if not await self._records.is_decided(call.message_id, call.step):
            return None
        deadline = time.monotonic() + _ENDING_SECONDS
        pause, longest = _PAUSES_SECONDS
        while True:
            now = await self._repository.find(session.id)
            if now is not None:
                await self._lifecycle.go_on(now)
            asked, following = await asyncio.gather(
                self._repository.find_run(call.run_id), self._repository.find_run(next_run_id(call.run_id))
            )
            if following is not None:
                return None if following.is_withdrawn else following.id
            is_ending = asked is not None and asked.status in ("open", "awaiting_approval")
            if not is_ending or time.monotonic() > deadline:
                return call.run_id
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    async def _find(self, session: Session, confirmation_id: str) -> CallRecord:
        call = await self._records.call(confirmation_id) if is_uuid(confirmation_id) else None
        if call is None or call.session_id != session.id or call.expires_at is None:
            raise ConfirmationUnknown
        return call
