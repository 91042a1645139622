"""Steps and calls of investigations in the store.

One record serves the next prompt, the stream after a reset, the routes, and a crash: what is stored is not
done again.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NotRequired, cast

from prometheus_client import Counter
from pydantic import JsonValue
from typing_extensions import TypedDict

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.documents import Documents
from app.core.storage.port import AnyOf, Condition, Document, Equals, Query, Range, Storage
from app.modules.records.model import Run
from graph.events import Decision
from graph.state import Action, CallGate, Code, Column, Context, Cut, Link, Reference, StoredFindings

CallStatus = Literal[
    "proposed",
    "waiting",
    "approved",
    "begun",
    "done",
    "failed",
    "denied",
    "expired",
    "withdrawn",
    "unknown",
]
"""A free call: proposed, begun, then done or failed. One that asks: proposed, waiting, then approved and as
above, or denied, expired or withdrawn. `unknown`: it began, and its process died before the end was stored.
"""
ENDED: Sequence[CallStatus] = ("done", "failed", "denied", "expired", "withdrawn", "unknown")
StepKind = Literal["opening", "calls", "fault", "answer", "question"]
MAX_TEXT = 6_000
"""Characters of a tool's result that the model and the user see."""
_MOST_RECORDS = 1_000
_MOST_EDITED = 1_000
"""Characters of changed arguments in the text of their call."""
_PAGE = 200

audit = logging.getLogger("kai.audit")


class KeptResult(TypedDict):
    """The shape of the rows that are stored under a call's id. `sql` is empty for rows that KAI has made."""

    sql: str
    database: str
    dialect: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None
    corrections: NotRequired[list[str]]
    """What KAI has changed of the model's statement. Missing if nothing."""


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """A call of a tool. `text` is what the model reads; `result` is the shape of the rows that are stored
    under the id of the call.

    A confirmation is a call that has asked: `call_hash` is the digest of exactly what was proposed,
    `decided_by` the credential of the person who decided.
    """

    id: str
    owner: str
    session_id: str
    message_id: str
    run_id: str
    step: int
    position: int
    tool: str
    category: str
    arguments: dict[str, JsonValue]
    status: CallStatus
    text: str = ""
    is_error: bool = False
    result: KeptResult | None = None
    chart: dict[str, JsonValue] | None = None
    created_at: int
    begun_at: int | None = None
    begun_by: str | None = None
    """The attempt at the run that makes the call."""
    ended_at: int | None = None
    gate: CallGate = "free"
    call_hash: str = ""
    description: str = ""
    destination: str = ""
    warnings: list[str] = field(default_factory=list)
    asked_at: int | None = None
    expires_at: int | None = None
    decided_at: int | None = None
    decided_by: str | None = None
    reason: str | None = None
    edited_arguments: dict[str, JsonValue] | None = None
    """What a person has approved in place of `arguments`. None if nothing was changed."""
    shown_to: dict[str, str] = field(default_factory=dict)
    """Of the first of the calls that wait: what a client was shown last, by its credential. It names all
    calls that waited then.
    """

    @property
    def used_arguments(self) -> dict[str, JsonValue]:
        """The arguments with which the call runs."""
        return self.arguments if self.edited_arguments is None else self.edited_arguments

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_of_others(self) -> bool:
        """The call has begun, and its tool is outside of KAI."""
        return self.category == "external" and self.begun_at is not None

    @property
    def decision(self) -> Decision | None:
        """What was decided about a call that has asked. None before that."""
        if self.asked_at is None or self.status == "waiting":
            return None
        if self.status == "denied" or self.status == "expired" or self.status == "withdrawn":
            return self.status
        return "approved"

    @property
    def elapsed_ms(self) -> int:
        return max(0, (self.ended_at or 0) - (self.begun_at or self.ended_at or 0))


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A step. Step 0 holds what was found for the question before the first step. Times are epoch
    milliseconds.
    """

    id: str
    owner: str
    session_id: str
    message_id: str
    step: int
    kind: StepKind
    text: str
    """What the model wrote, or the plan. For the last step the answer or the question back."""
    fault: str = ""
    """What was wrong with the reply, in words for the model."""
    call_ids: list[str]
    model: str = ""
    tokens_used: int = 0
    created_at: int
    context: Context | None = None
    earlier: str = ""
    """Of step 0: what an investigation without an answer has said and returned. This one goes on with it."""
    findings: StoredFindings = field(default_factory=list)
    headline: str | None = None
    references: list[Reference] = field(default_factory=list)
    """Of the last step: the sources of the statements in its text."""
    left_out: list[str] = field(default_factory=list)
    """Why parts of the model's answer are not shown, or were sent back."""
    main_result: str | None = None
    code: list[Code] = field(default_factory=list)
    link: list[Link] = field(default_factory=list)
    action: list[Action] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    limit_reached: bool = False
    tables: list[str] = field(default_factory=list)
    """Of step 0 of a documentation: the tables that it is about."""
    purposes: dict[str, str] = field(default_factory=dict)
    """Of a documentation: what the model says tables are for."""
    proposed: list[CallRecord] = field(default_factory=list)
    """The calls as they were when the step was chosen: step and calls are one document, so they are stored
    together or not at all.
    """


DENIED = "The user has denied this call, so it was not made.{reason} Do not make it again."
EDITED = "The user has changed the arguments of this call. The changed arguments: {arguments}"
EXPIRED = "The user did not approve this call in time, so it was not made."
WITHDRAWN = "This call was withdrawn before it was made."
UNKNOWN = (
    "This call began, and it is not known how it ended: it may have happened. KAI does not repeat it. Look "
    "before you repeat it."
)


class InvestigationRecords:
    """Steps and calls of all turns. Every method raises `StorageUnavailable`."""

    def __init__(self, storage: Storage, calls: Counter | None = None) -> None:
        """`calls` counts the calls that ended, by tool and outcome."""
        self._steps = Documents(storage, "agent_steps", StepRecord, write=_document)
        self._calls = Documents(storage, "tool_calls", CallRecord, write=_document)
        self._calls_ended = calls

    async def keep(
        self, step: StepRecord, calls: Sequence[CallRecord] = ()
    ) -> tuple[StepRecord, Sequence[CallRecord]]:
        """Store a step and its calls, unless the step is stored already. Returns what is stored.

        A worker that was frozen may come here after another one went on without it: then its step does not
        count, and changes no call.
        """
        chosen = replace(step, proposed=list(calls))
        if not await self._steps.add(chosen):
            kept = await self.step(step.message_id, step.step)
            return (chosen, calls) if kept is None else (kept, await self.calls_of(kept))
        await self._create(calls)
        return chosen, calls

    async def _create(self, calls: Sequence[CallRecord]) -> None:
        if calls:
            await self._calls.add_missing(calls)

    async def step(self, message_id: str, step: int) -> StepRecord | None:
        return await self._steps.get(step_id(message_id, step))

    async def call(self, call_id: str) -> CallRecord | None:
        return await self._calls.get(call_id)

    async def is_tainted(self, message_id: str) -> bool:
        """True if a turn has read from a tool of others, whose texts may be anyone's."""
        return any([call.is_of_others async for call in self._all([Equals("message_id", message_id)])])

    async def calls_of(self, step: StepRecord) -> list[CallRecord]:
        """Returns the calls of a step, in the model's order. After a crash some may be yet to be stored."""
        found = await asyncio.gather(*map(self.call, step.call_ids))
        if None in found and step.proposed:
            await self._create(step.proposed)
            found = await asyncio.gather(*map(self.call, step.call_ids))
        return [call for call in found if call is not None]

    async def change_call(
        self, call: CallRecord, changes: Mapping[str, JsonValue], was: Sequence[CallStatus]
    ) -> CallRecord | None:
        """Returns the changed call. Returns None if its status is another one by now."""
        return await self._calls.change(call.id, changes, [AnyOf("status", was)])

    async def end_call(
        self, call: CallRecord, changes: Mapping[str, JsonValue], was: Sequence[CallStatus]
    ) -> CallRecord | None:
        """End a call, count it and leave a line of audit. Returns None if its status is another one."""
        if call.edited_arguments is not None:
            changes = {
                **changes,
                "text": _text_of_edited(call.edited_arguments, str(changes.get("text", ""))),
            }
        ended = await self.change_call(call, {"ended_at": now_ms(), **changes}, was)
        if ended is not None:
            if self._calls_ended is not None:
                self._calls_ended.labels(ended.tool, ended.status).inc()
            _audit(ended)
        return ended

    # Calls that wait for people

    async def approve(
        self,
        call: CallRecord,
        by: str,
        reason: str | None,
        *,
        edited_arguments: dict[str, JsonValue] | None = None,
    ) -> CallRecord | None:
        """Returns None if the call does not wait, or has expired. `edited_arguments` run in place of those
        that were proposed.
        """
        now = now_ms()
        changes: dict[str, JsonValue] = {
            "status": "approved",
            "decided_at": now,
            "decided_by": by,
            "reason": reason,
            "edited_arguments": edited_arguments,
        }
        where: list[Condition] = [Equals("status", "waiting"), Range("expires_at", at_least=now)]
        return await self._calls.change(call.id, changes, where)

    async def deny(self, call: CallRecord, by: str, reason: str | None) -> CallRecord | None:
        """Returns None if the call does not wait."""
        words = (reason or "").strip()
        ending = "" if words.endswith((".", "!", "?", "…")) else "."
        said = f" They said: {words}{ending}" if words else ""
        return await self.end_call(
            call,
            {
                "status": "denied",
                "text": DENIED.format(reason=said),
                "is_error": True,
                "decided_at": now_ms(),
                "decided_by": by,
                "reason": reason,
            },
            was=("waiting",),
        )

    async def expire(self, call: CallRecord) -> CallRecord | None:
        """Returns None if the call does not wait."""
        changes: dict[str, JsonValue] = {"status": "expired", "text": EXPIRED, "is_error": True}
        return await self.end_call(call, {**changes, "decided_at": now_ms()}, was=("waiting",))

    async def lose(self, call: CallRecord) -> CallRecord | None:
        """Mark a call of which it is not known how it ended. Returns None if it has ended."""
        return await self.end_call(
            call, {"status": "unknown", "text": UNKNOWN, "is_error": True}, was=("begun",)
        )

    async def expire_all(self, before: int) -> set[str]:
        """Expire the calls that had to be decided before then (epoch ms). Returns their sessions."""
        due: list[Condition] = [Equals("status", "waiting"), Range("expires_at", below=before)]
        return {call.session_id async for call in self._all(due) if await self.expire(call) is not None}

    async def sessions_that_wait(self) -> set[str]:
        """Returns the sessions of all owners in which a call waits."""
        return {call.session_id async for call in self._all([Equals("status", "waiting")])}

    async def sessions_decided_since(self, at: int) -> set[str]:
        """Returns the sessions of all owners with calls that were decided since then (epoch ms) and not made,
        and perhaps others. It reads no call that waits.
        """
        # Calls are decided before they expire, or expire within seconds of their time.
        decided = ["approved", "denied", "expired", "withdrawn"]
        where: list[Condition] = [AnyOf("status", decided), Range("expires_at", at_least=at)]
        return {call.session_id async for call in self._all(where)}

    async def count_waiting(self) -> int:
        """Returns the number of calls of all owners that wait."""
        return await self._calls.count(Equals("status", "waiting"))

    async def waiting_in(self, session_id: str) -> list[str]:
        """Returns the ids of the calls of a session that wait."""
        own: list[Condition] = [Equals("session_id", session_id), Equals("status", "waiting")]
        return [call.id async for call in self._all(own)]

    async def waiting_by_session(self, session_ids: Sequence[str]) -> dict[str, int]:
        """Returns the number of calls that wait, by session."""
        if not session_ids:
            return {}
        own: list[Condition] = [AnyOf("session_id", session_ids), Equals("status", "waiting")]
        counts: dict[str, int] = {}
        async for call in self._all(own):
            counts[call.session_id] = counts.get(call.session_id, 0) + 1
        return counts

    async def page(
        self, session_id: str, status: CallStatus | None, limit: int, *, cursor: str | None
    ) -> tuple[list[CallRecord], str | None]:
        """Returns a page of the calls of a session that have asked, oldest first."""
        where: list[Condition] = [Equals("session_id", session_id), Range("expires_at", at_least=0)]
        if status is not None:
            where.append(Equals("status", status))
        return await self._calls.page(Query(where, order_by="expires_at", limit=limit, cursor=cursor))

    async def has_others(self, session_id: str, ids: Collection[str], at: int) -> bool:
        """True if a session has asked for calls other than these that expire after then (epoch ms)."""
        open_then: list[Condition] = [Equals("session_id", session_id), Range("expires_at", at_least=at + 1)]
        found = await self._calls.first(Query(open_then, limit=len(ids) + 1))
        return any(call.id not in ids for call in found)

    async def is_decided(self, message_id: str, step: int) -> bool:
        """Returns True if every call of the step that asks is decided. Reads documents: lists may lag."""
        found = await self.step(message_id, step)
        calls = [] if found is None else await self.calls_of(found)
        return not any(call.gate == "asks" and call.status in ("proposed", "waiting") for call in calls)

    async def settle(self, message_id: str, step: int) -> None:
        """End what is open of a turn that has ended: what waits or is approved never runs, and of an action
        that has begun it is not known how it ended.

        `step` is the turn's last one that is known. Its process may have died as it stored the next one.
        """
        steps = await asyncio.gather(*(self.step(message_id, each) for each in (step, step + 1)))
        for found in steps:
            for call in [] if found is None else await self.calls_of(found):
                await self._settle_call(call)

    async def _settle_call(self, call: CallRecord) -> None:
        if call.status in ("waiting", "approved") or (call.status, call.gate) == ("proposed", "asks"):
            changes: dict[str, JsonValue] = {"status": "withdrawn", "text": WITHDRAWN, "is_error": True}
            await self.end_call(
                call,
                {**changes, "decided_at": call.decided_at or now_ms()},
                was=("proposed", "waiting", "approved"),
            )
        elif call.status == "begun" and call.category != "read":
            await self.lose(call)

    def _all(self, where: Sequence[Condition]) -> AsyncGenerator[CallRecord]:
        return self._calls.all(Query(where, limit=_PAGE))

    async def of_message(self, message_id: str) -> list[tuple[StepRecord, list[CallRecord]]]:
        """Returns all steps of an answer with their calls, without step 0."""
        return [(step, calls) for step, calls in await self.whole(message_id) if step.step > 0]

    async def whole(self, message_id: str) -> list[tuple[StepRecord, list[CallRecord]]]:
        """Returns all steps of an answer with their calls, in order."""
        of_answer = Query([Equals("message_id", message_id)], limit=_MOST_RECORDS)
        steps, calls = await asyncio.gather(self._steps.first(of_answer), self._calls.first(of_answer))
        by_id = {call.id: call for call in calls}
        found = sorted(steps, key=lambda each: each.step)
        return [(each, [by_id[call_id] for call_id in each.call_ids if call_id in by_id]) for each in found]


def new_step(run: Run, step: int, kind: StepKind, *, text: str, model: str) -> StepRecord:
    """Returns the record of a step that a run has just taken."""
    return StepRecord(
        id=step_id(run.message_id, step),
        owner=run.owner,
        session_id=run.session_id,
        message_id=run.message_id,
        step=step,
        kind=kind,
        text=text,
        call_ids=[],
        model=model,
        created_at=now_ms(),
    )


def call_id_of(message_id: str, step: int, position: int) -> str:
    """Returns the id of a call: the same step of the same turn has the same ids again."""
    return id_of(message_id, f"tool call {step}.{position}")


def step_id(message_id: str, step: int) -> str:
    """Returns the id of a step: the same step of the same turn has the same id again."""
    return id_of(message_id, f"agent step {step}")


def _document(record: StepRecord | CallRecord) -> Document:
    fields: dict[str, object] = {**vars(record)}
    if isinstance(record, StepRecord):
        fields["proposed"] = [{**vars(call)} for call in record.proposed]
    return cast("Document", fields)


def _text_of_edited(arguments: Mapping[str, JsonValue], text: str) -> str:
    """Returns the text of a call with what a person has changed before it."""
    shown = json.dumps(arguments, ensure_ascii=False)
    if len(shown) > _MOST_EDITED:
        shown = f"{shown[:_MOST_EDITED]} … (cut)"
    return cut_text(f"{EDITED.format(arguments=shown)}\n{text}")


def _audit(call: CallRecord) -> None:
    """One line for each call that ended, without its arguments."""
    audit.info(
        "tool call",
        extra={
            "owner": call.owner,
            "session_id": call.session_id,
            "run_id": call.run_id,
            "tool_call_id": call.id,
            "tool": call.tool,
            "category": call.category,
            "call_hash": call.call_hash,
            "decision": call.decision,
            "edited": call.edited_arguments is not None,
            "decided_by": call.decided_by,
            "duration_ms": call.elapsed_ms,
            "outcome": call.status,
        },
    )


def cut_text(text: str, characters: int = MAX_TEXT) -> str:
    """Returns the text, cut to so many characters with a closing line that says so."""
    if len(text) <= characters:
        return text
    note = "\n(cut: there is more)"
    return text[: characters - len(note)] + note
