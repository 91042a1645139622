"""Threads of a caller: KAI's sessions under the names of LangGraph."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from app.core.auth.caller import Caller, ScopeMissing
from app.core.bus.event_log import EventLog
from app.core.clock import rfc3339
from app.modules.database_connection.lookup import ONLY_DATABASE
from app.modules.protocols.frame_stream import events_of
from app.modules.protocols.langgraph.assistants import GRAPH_ID
from app.modules.protocols.langgraph.chat import (
    LangChainMessage,
    investigation_messages,
    langchain_message,
    latest_turns,
)
from app.modules.protocols.langgraph.decisions import decisions_in
from app.modules.protocols.langgraph.errors import (
    NothingWaits,
    OtherAssistant,
    StateUnknown,
    ThreadEmpty,
    ThreadTaken,
    ThreadUnknown,
    ValueUnsupported,
)
from app.modules.protocols.langgraph.fold import STATUS_OF_RUN, RunFold, RunStatus, ThreadRun
from app.modules.protocols.langgraph.interrupts import interrupts_of, requests_of
from app.modules.protocols.langgraph.question import ClientQuestion, asked_in
from app.modules.protocols.langgraph.schemas import NewRun, RunsCancelled, ThreadSearch
from app.modules.protocols.langgraph.state import (
    APPROVE,
    Record,
    State,
    beginning_state,
    finished,
    head_state,
    question_after,
    states_of,
)
from app.modules.protocols.messages import question, question_of_run
from app.modules.protocols.options import ignored_names, options_in
from app.modules.protocols.threads import Threads, as_uuid, check_thread_id, session_id_of
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import (
    START,
    Branch,
    Message,
    MultitaskStrategy,
    NewQuestion,
    Origin,
    Run,
    Session,
    SessionStatus,
    hidden_owner,
)
from app.modules.records.steps import CallRecord
from app.modules.run.messages import WAITING_FROM, next_run_id, question_sequence
from app.modules.session.branches import path_before
from app.modules.session.confirmations import Confirmations
from app.modules.session.errors import SessionExists
from app.modules.session.service import SessionFilter, SessionService
from graph import BEGINNING, Checkpoint

_DERIVED = ("graph_id", "assistant_id")
"""Metadata of a thread that follows from its session."""

_STATUS: Mapping[SessionStatus, str] = {
    "idle": "idle",
    "closed": "idle",
    "processing": "busy",
    "awaiting_approval": "interrupted",
    "error": "error",
}
_SEARCHED_STATUS: Mapping[str, Sequence[SessionStatus]] = {
    "idle": ["idle", "closed"],
    "busy": ["processing"],
    "interrupted": ["awaiting_approval"],
    "error": ["error"],
}
_MOST_SORTED = 10_000
"""Threads that are sorted by their names, which no index has: the latest of them."""
_MOST_RUNS = 1_000
_MOST_MESSAGES = 100
_USUAL_MESSAGES = 56
"""Two for each turn that fits into the values: a turn with a statement has four messages there."""
_CHECKPOINT_PAGE = 50
_MOST_CHECKPOINTS = 1_000


@dataclass(frozen=True)
class Started:
    """A run that was asked for, and the session that it belongs to."""

    session: Session
    run: Run


@dataclass(frozen=True)
class _Alone:
    """A run without a thread that nothing in its body refuses."""

    body: NewRun
    asked: ClientQuestion
    connection_id: str


class Conversations:
    """Every method names the owner. It raises `ThreadUnknown` for a thread of another one."""

    def __init__(
        self, sessions: SessionService, confirmations: Confirmations, threads: Threads, *, client: str
    ) -> None:
        """`client` is the caller's credential: what a client was shown is stored under it."""
        self._client = client
        self._sessions = sessions
        self._confirmations = confirmations
        self._threads = threads

    async def find(self, owner: str, thread_id: str) -> Session:
        """Returns the owner's session of this id, or the one that they have given this name."""
        for session_id in (thread_id, session_id_of(owner, thread_id)):
            with suppress(SessionUnknown):
                return await self._sessions.get(owner, session_id)
        raise ThreadUnknown

    async def create(
        self, owner: str, metadata: Mapping[str, JsonValue], *, thread_id: str | None, is_repeatable: bool
    ) -> Session:
        """Create a thread; `assistant_id` in its metadata binds it to a database.

        A chosen id is a name in the space of its owner, so it says nothing of other owners' threads. Raises
        `ThreadTaken` if the owner has, or had lately, a thread of this id. If the call is repeatable, returns
        the one that they have instead.
        """
        if thread_id is not None:
            with suppress(ThreadUnknown):
                session = await self.find(owner, thread_id)
                if is_repeatable:
                    return session
                raise ThreadTaken
        named = metadata.get("assistant_id")
        connection_id = None
        if isinstance(named, str):
            connection_id = (await self._threads.assistant(owner, named)).connection.id
        try:
            return await self._sessions.create(
                owner,
                connection_id,
                None,
                mode=None,
                metadata=_own_metadata(metadata),
                session_id=None if thread_id is None else session_id_of(owner, thread_id),
                thread_name=thread_id,
            )
        except SessionExists as error:
            if is_repeatable and thread_id is not None:
                with suppress(ThreadUnknown):  # deleted lately
                    return await self.find(owner, thread_id)
            raise ThreadTaken from error

    async def change_metadata(self, owner: str, thread_id: str, metadata: Mapping[str, JsonValue]) -> Session:
        """Merge a patch into a thread's metadata. Raises `MetadataTooLarge`."""
        session = await self.find(owner, thread_id)
        return await self._sessions.change(owner, session.id, {"metadata": _own_metadata(metadata)})

    async def search(self, owner: str, wanted: ThreadSearch) -> list[Session]:
        """Returns a page of threads."""
        filters = _filter(owner, wanted)
        if filters is None:
            return []
        descending = wanted.sort_order != "asc"
        end = wanted.offset + wanted.limit
        match wanted.sort_by:
            case "thread_id":
                named = await self._sessions.select(owner, filters, _MOST_SORTED)
                named.sort(key=lambda each: each.thread_id, reverse=descending)
                return named[wanted.offset : end]
            case "status":
                found: list[Session] = []
                for status in sorted(_SEARCHED_STATUS, reverse=descending):
                    if wanted.status in (None, status):
                        of_status = replace(filters, statuses=_SEARCHED_STATUS[status])
                        found += await self._sessions.select(owner, of_status, end - len(found))
                return found[wanted.offset :]
            case _:
                return await self._sessions.select(
                    owner,
                    filters,
                    wanted.limit,
                    offset=wanted.offset,
                    order_by="created_at" if wanted.sort_by == "created_at" else "updated_at",
                    descending=descending,
                )

    async def count(self, owner: str, wanted: ThreadSearch) -> int:
        filters = _filter(owner, wanted)
        return 0 if filters is None else await self._sessions.count(owner, filters)

    async def runs(
        self,
        owner: str,
        thread_id: str,
        *,
        limit: int,
        offset: int,
        status: RunStatus | Literal["timeout"] | None,
    ) -> list[dict[str, JsonValue]]:
        """Returns runs of a thread, newest first."""
        session = await self.find(owner, thread_id)
        if status is None:
            runs = await self._sessions.runs(session, limit, offset)
            return [run_body(session, run) for run in runs]
        # A status of LangGraph may be several of KAI.
        found = [run_body(session, run) for run in await self._sessions.runs(session, _MOST_RUNS)]
        return [run for run in found if run["status"] == status][offset : offset + limit]

    async def record(self, session: Session, limit: int = _MOST_MESSAGES) -> Record:
        """Returns what is stored of a thread, with its latest messages."""
        messages, waiting = await asyncio.gather(
            self._sessions.history(session, limit), self.waiting_calls(session)
        )
        return Record(
            session=session,
            messages=messages,
            steps=await self._steps(session, messages),
            waiting=waiting,
            is_whole=len(messages) < limit,
        )

    async def _steps(
        self, session: Session, messages: Sequence[Message]
    ) -> Mapping[str, Sequence[Sequence[CallRecord]]]:
        """Returns the calls of each investigation, by the id of its answer."""
        investigated = [message.id for message in messages if message.steps]
        found = await asyncio.gather(
            *(self._sessions.answers.steps(session.owner, session.id, each) for each in investigated)
        )
        return {
            message_id: [calls for _, calls in steps]
            for message_id, steps in zip(investigated, found, strict=True)
        }

    async def waiting_calls(self, session: Session) -> Sequence[CallRecord]:
        """Returns the calls that wait, in the order in which the model has made them."""
        if session.status != "awaiting_approval":
            return ()
        calls, _ = await self._confirmations.page(
            session.owner, session.id, "waiting", limit=100, cursor=None
        )
        return sorted(calls, key=lambda call: (call.step, call.position))

    async def states(
        self, session: Session, limit: int, *, before: str | None = None, start: str | None = None
    ) -> list[State]:
        """Returns states, newest first: those before a checkpoint, or from one on."""
        if BEGINNING in (before, start):
            return [beginning_state(session)] if start == BEGINNING else []
        record = await self.record(session)
        # States after `before` count, too: which of them is the head depends on the newest. So do all others
        # where a state may be the parent of any that came later.
        is_short = before is None and start is None and not record.has_branches
        checkpoints = await self._checkpoints(session, limit if is_short else _MOST_CHECKPOINTS)
        states = states_of(record, checkpoints)
        if before is not None:
            states = _from(states, before)[1:]
        if start is not None:
            states = _from(states, start)
        if any(state["interrupts"] for state in states[:limit]):
            await self.note_record(record)
        return states[:limit]

    async def _checkpoints(self, session: Session, turns: int) -> list[Checkpoint]:
        """Returns the latest checkpoints, newest first: more finished turns than these, if there are."""
        found: list[Checkpoint] = []
        cursor: str | None = None
        while len(found) < _MOST_CHECKPOINTS:
            page, cursor = await self._sessions.copies.checkpoints(
                session.owner, session.id, _CHECKPOINT_PAGE, cursor=cursor
            )
            found += page
            if cursor is None or len(finished(found)) > turns:
                break
        return found

    async def state(self, session: Session, checkpoint_id: str | None = None) -> State:
        """Returns the state of a checkpoint, by default the latest. Raises `StateUnknown`."""
        found = await self.states(session, 1, start=checkpoint_id)
        return found[0] if found else head_state(Record(session=session, messages=()))

    async def copy(self, owner: str, thread_id: str) -> Session:
        """Returns a new thread with the history of another. Raises `ThreadEmpty`."""
        session = await self.find(owner, thread_id)
        ends = finished(await self._checkpoints(session, 0))
        if not ends:
            raise ThreadEmpty
        return await self._sessions.copies.fork(owner, session.id, ends[0].id)

    async def start(self, caller: Caller, thread_id: str | None, body: NewRun) -> Started:
        """Start or queue a run, or go on with one that waits. Without a thread, one is made for it.

        Every refusal is raised here, before anything streams.
        """
        owner = caller.owner
        if thread_id is None:
            return await self._start_alone(owner, await self._checked(owner, body))
        if body.command is not None and body.command.resume is not None:
            return await self._resume(caller, thread_id, body)
        if body.command is not None and body.command.goto:
            return await self._withdraw(owner, thread_id, body)
        is_again = not body.input and body.named_checkpoint is not None
        given = None if is_again else asked_in(body.input)
        self._threads.check_mode(body.options.mode)
        session = await self._bound(owner, thread_id, body)
        branch = await self._branch(session, body.named_checkpoint)
        asked = given or await self._asked_after(session, branch)
        known = (await self.record(session)).message_ids if asked.others else ()
        return await self._ask(session, asked, body, branch=branch, known=known)

    async def start_batch(self, owner: str, bodies: Sequence[NewRun]) -> list[Started]:
        """Start several runs, each in a thread of its own: all of them, or none."""
        checked = [await self._checked(owner, body) for body in bodies]
        started: list[Started] = []
        async with AsyncExitStack() as undoing:
            for each in checked:
                started.append(await self._start_alone(owner, each))
                undoing.push_async_callback(self.delete, started[-1].session)
            undoing.pop_all()
        return started

    async def _checked(self, owner: str, body: NewRun) -> "_Alone":
        """Raises what refuses a run without a thread."""
        if body.command is not None and (body.command.resume is not None or body.command.goto):
            raise NothingWaits
        if body.named_checkpoint is not None:
            raise ValueUnsupported("A run without a thread has no checkpoints. Leave out `checkpoint`.")
        self._threads.check_mode(body.options.mode)
        asked = asked_in(body.input)
        return _Alone(body, asked, (await self._threads.assistant(owner, body.assistant_id)).connection.id)

    async def _start_alone(self, owner: str, run: "_Alone") -> Started:
        session = await self._sessions.create(
            owner,
            run.connection_id,
            None,
            mode=None,
            metadata={},
            is_for_one_run=run.body.on_completion != "keep",
        )
        return await self._ask(session, run.asked, run.body)

    async def _ask(
        self,
        session: Session,
        asked: ClientQuestion,
        body: NewRun,
        *,
        branch: Branch | None = None,
        known: Collection[str] = (),
    ) -> Started:
        """`known` are the ids of the thread's messages."""
        owner = session.owner
        options = body.options
        strategy: MultitaskStrategy = "enqueue"
        if body.multitask_strategy in ("reject", "interrupt"):
            strategy = body.multitask_strategy
        connection_id = session.db_connection_id
        if connection_id is None or body.assistant_id not in (ONLY_DATABASE, connection_id):
            assistant = await self._threads.assistant(owner, body.assistant_id)
            options = options_in(assistant.mode, options)
            connection_id = connection_id or assistant.connection.id
        found, run = await self._sessions.ask(
            owner,
            session.id,
            NewQuestion(
                asked.text,
                multitask_strategy=strategy,
                db_connection_id=connection_id,
                mode=options.mode,
                tool_sources=options.tool_sources,
                rules=options.rules,
                origin=Origin(
                    protocol="langgraph",
                    client_message_id=asked.client_message_id,
                    metadata=body.all_metadata,
                    branch=branch,
                    context=asked.context(known),
                    ignored=ignored_names([*asked.ignored(known), *body.unread]),
                ),
            ),
        )
        return Started(found, run)

    async def _bound(self, owner: str, thread_id: str, body: NewRun) -> Session:
        """Returns the thread of a run. Raises `OtherAssistant`."""
        try:
            session = await self.find(owner, thread_id)
        except ThreadUnknown:
            if body.if_not_exists != "create":
                raise
            try:
                check_thread_id(thread_id)
            except ValueError as error:
                raise ValueUnsupported(f"{error}.") from error
            await self._threads.assistant(owner, body.assistant_id)  # a question that is refused makes none
            session = await self.create(owner, {}, thread_id=thread_id, is_repeatable=True)
        bound = session.db_connection_id
        if bound is not None and body.assistant_id not in (ONLY_DATABASE, bound):
            assistant = await self._threads.assistant(owner, body.assistant_id)
            if assistant.connection.id != bound:
                raise OtherAssistant(assistant_id=bound)
        return session

    async def _branch(self, session: Session, checkpoint_id: str | None) -> Branch | None:
        """Returns the branch that a run from a checkpoint begins; None if it follows the latest turn.

        A checkpoint within a turn stands for the end of the turn: who names it has read the thread during the
        turn. So does the latest end while a run is under way. Raises `StateUnknown`.
        """
        if checkpoint_id is None:
            return None
        if checkpoint_id == BEGINNING:
            return Branch(checkpoint_id=BEGINNING, parent_message_id=START) if session.turns else None
        checkpoints = await self._checkpoints(session, 0)
        if all(each.id != checkpoint_id for each in checkpoints):
            checkpoints = await self._checkpoints(session, _MOST_CHECKPOINTS)
        place = next((place for place, each in enumerate(checkpoints) if each.id == checkpoint_id), None)
        if place is None:
            raise StateUnknown
        ends = finished(checkpoints[: place + 1])
        if not ends or ends[-1] is checkpoints[0]:
            return None
        if len(ends) == 1 and session.active_run_id is not None:
            return None
        return Branch(checkpoint_id=ends[-1].id, parent_message_id=ends[-1].message_id or START)

    async def _asked_after(self, session: Session, branch: Branch | None) -> ClientQuestion:
        """Returns the question that was asked last after a checkpoint, to be answered again."""
        message: Message | None = None
        if branch is not None:
            record = await self.record(session)
            checkpoints = await self._checkpoints(session, _MOST_CHECKPOINTS)
            message = question_after(record, checkpoints, branch.checkpoint_id)
        if message is None:
            raise ValueUnsupported(
                "Without `input`, the question after the checkpoint is answered again, and there is none. "
                'Send {"messages": [...]} with a question as the last message.'
            )
        return ClientQuestion(message.query, None, (), ())

    async def _resume(self, caller: Caller, thread_id: str, body: NewRun) -> Started:
        """Decide the calls that wait, and return the run that goes on. Raises `NothingWaits`."""
        if not caller.may("approve"):
            raise ScopeMissing(caller, "approve")
        if body.input:
            raise ValueUnsupported("A resume takes no input. Send `command` alone, or a question without it.")
        session = await self._bound(caller.owner, thread_id, body)
        waiting = await self.waiting_calls(session)
        if not waiting:
            raise NothingWaits
        resume = body.command.resume if body.command else None
        run_id: str | None = None
        is_shown = await self._is_shown(session, waiting, body.named_checkpoint)
        decisions = decisions_in(resume, waiting, is_shown=is_shown)
        for call, decision in decisions:  # an edit that is refused leaves all calls waiting
            if decision.edited is not None:
                await self._confirmations.read_edit(call, decision.edited)
        for call, decision in decisions:
            decided = await self._confirmations.decide(
                caller,
                session.id,
                call.id,
                verdict=decision.verdict,
                call_hash=call.call_hash,
                reason=decision.reason,
                edited=decision.edited,
            )
            run_id = decided.run_id or run_id
        if run_id is None:
            run_id = waiting[0].run_id  # other calls of the step still wait
        session = await self.find(caller.owner, thread_id)
        _, run = await self._sessions.run(caller.owner, session.id, run_id)
        return Started(session, run)

    async def _is_shown(
        self, session: Session, waiting: Sequence[CallRecord], checkpoint_id: str | None
    ) -> bool:
        """True if decisions that name no call can be about these alone: they come with the checkpoint of the
        latest state, or these were shown to this client last and no other call could still be meant.

        Several devices may have one credential, and one of them an older interrupt on its screen.
        """
        if checkpoint_id is not None:
            (latest, *_) = states_of(await self.record(session), await self._checkpoints(session, 1))
            return checkpoint_id == latest["checkpoint_id"]
        if waiting[0].shown_to.get(self._client) != interrupts_of(requests_of(waiting))[0]["id"]:
            return False
        return not await self._confirmations.has_lately_asked_for_others(session, waiting)

    async def _withdraw(self, owner: str, thread_id: str, body: NewRun) -> Started:
        """End the turn whose calls wait, without them. Returns the run that has ended it. Raises
        `NothingWaits`.
        """
        if body.input:
            raise ValueUnsupported("A `goto` takes no input. Send `command` alone, or a question without it.")
        session = await self._bound(owner, thread_id, body)
        waiting = await self.waiting_calls(session)
        if not waiting:
            raise NothingWaits
        _, run = await self._sessions.run(owner, session.id, waiting[0].run_id)
        await self._sessions.submissions.cancel(session, run)
        return await self.run(owner, session.id, next_run_id(run.id))

    async def followed(self, owner: str, thread_id: str, run_id: str) -> Started:
        """Returns a run to read, also one without a thread that has just ended. Raises `RunUnknown`."""
        try:
            return await self.run(owner, thread_id, run_id)
        except (ThreadUnknown, SessionUnknown):
            return await self.run(hidden_owner(owner), thread_id, run_id)

    async def run(self, owner: str, thread_id: str, run_id: str) -> Started:
        """Raises `RunUnknown`."""
        session = await self.find(owner, thread_id)
        found, run = await self._sessions.run(owner, session.id, run_id)
        return Started(found, run)

    async def cancelled_by(self, owner: str, selection: RunsCancelled) -> list[Started]:
        """Returns the runs that a request cancels. Raises `RunUnknown` if it names another one."""
        thread_id, wanted = selection.thread_id, selection.status
        if wanted is None:
            ids = dict.fromkeys(selection.run_ids or ())
            return [await self.run(owner, thread_id or "", run_id) for run_id in ids]
        only = None if thread_id is None else (await self.find(owner, thread_id)).id
        found: list[Started] = []
        async for run in self._sessions.open_runs_of(owner):
            if only in (None, run.session_id):
                with suppress(ThreadUnknown):  # deleted meanwhile
                    session = await self.find(owner, run.session_id)
                    if wanted in ("all", run_body(session, run)["status"]):
                        found.append(Started(session, run))
        return found

    async def run_now(self, started: Started) -> dict[str, JsonValue]:
        """Returns a run that was just started, as clients read it: it may hold its session by now."""
        session = await self.find(started.session.owner, started.session.id)
        return run_body(session, started.run)

    async def turn(self, started: Started, *, is_complete: bool) -> tuple[ThreadRun, bool]:
        """Returns the turn of a run, and True if the run waits for those before it. Unless it has to be
        complete, the messages of earlier turns are not read. Nothing is read of a session that was made for
        the run: it may be hidden at any moment.
        """
        session, run = started.session, started.run
        turn = ThreadRun(
            run_id=run.id,
            thread_id=session.thread_id,
            message_id=run.message_id,
            question=langchain_message(question_of_run(run)),
        )
        is_alone = session.is_for_one_run and run.question_turn == 1
        if is_alone or (not is_complete and run.resumes is None):
            return turn, False
        if run.resumes is not None:
            steps = await self._sessions.answers.steps(session.owner, session.id, run.message_id)
            begun = [call for _, calls in steps for call in calls if call.run_id != run.id]
            turn = replace(
                turn,
                begun=[langchain_message(each) for each in investigation_messages(begun)],
                tools={call.id: call.tool for call in begun},
            )
        before = await self._before(session, run)
        return (turn, True) if before is None else (replace(turn, before=before), False)

    async def _before(self, session: Session, run: Run) -> list[LangChainMessage] | None:
        """Returns the messages of the turns that a run follows. Returns None while it waits for those."""
        before: list[LangChainMessage] = []
        for limit in (_USUAL_MESSAGES, _MOST_MESSAGES):
            record = await self.record(session, limit)
            sequence = _sequence_of(record, run)
            if sequence is None:
                return None
            earlier = [message for message in record.messages if message.sequence < sequence]
            parent = None if run.branch is None else run.branch.parent_message_id
            turns = record.turns(path_before(earlier, parent))
            before = latest_turns(turns)
            if record.is_whole or next(turns, None) is not None:  # older messages would not be kept
                break
        return before

    @asynccontextmanager
    async def following(
        self, started: Started, fold: RunFold, *, is_waiting: bool
    ) -> AsyncGenerator[EventLog]:
        """The log of a run. For a run that waits, it opens when the run begins: only then is it known what
        comes before it. The thread of a run without one is hidden behind the end of the log.
        """
        session, run = started.session, started.run
        async with self._sessions.follower.follow(run) as log:
            if is_waiting:
                while not log.ended and not _has_begun(log):
                    await log.news()
                before = await self._before(await self.find(session.owner, session.id), run)
                if before is not None:
                    fold.place_after(before)
            yield log
            has_ended = log.ended
        if has_ended:
            await self.hide(started)

    async def finished_fold(self, started: Started) -> RunFold:
        """Returns the fold of a run at its end. Waits for it."""
        turn, is_waiting = await self.turn(started, is_complete=True)
        fold = RunFold(turn, ())
        async with self.following(started, fold, is_waiting=is_waiting) as log:
            async for entry in log.read(0, lambda: False):
                for event in events_of(entry):
                    fold.frames(event)
        await self._note(fold.waiting_calls, fold.interrupts)
        return fold

    async def note_shown(self, fold: RunFold) -> None:
        """Store which calls wait by the frames of a run, before its last ones are sent: the client may decide
        about them without naming them.
        """
        if fold.shows_interrupts:
            await self._note(fold.waiting_calls, fold.interrupts)

    async def note_record(self, record: Record) -> None:
        """Store which calls wait in a thread whose interrupts are sent."""
        await self._note([each.id for each in record.waiting], interrupts_of(requests_of(record.waiting)))

    async def _note(self, calls: Sequence[str], interrupts: Sequence[Mapping[str, JsonValue]]) -> None:
        if calls:
            await self._confirmations.note_shown(calls[0], str(interrupts[0]["id"]), client=self._client)

    async def hide(self, started: Started) -> None:
        """Hide the thread of a run that was started without one, once the run has ended."""
        if started.session.is_for_one_run:
            await self._sessions.hide(started.session, started.run)

    async def delete(self, session: Session) -> None:
        await self._sessions.delete(session.owner, session.id)

    def listed_thread(self, session: Session) -> dict[str, JsonValue]:
        """Returns a thread of a list. Of its messages, it has what it was named after."""
        values: JsonValue = None
        if session.title is not None:
            values = {"messages": [langchain_message(question(session.id, session.title))]}
        return self.thread(session, values=values)

    def thread(
        self,
        session: Session,
        *,
        values: JsonValue = None,
        waiting: Sequence[CallRecord] = (),
    ) -> dict[str, JsonValue]:
        """Returns a thread as clients read it."""
        updated_at = rfc3339(session.updated_at)
        interrupts: list[JsonValue] = [*interrupts_of(requests_of(waiting))]
        return {
            "thread_id": session.thread_id,
            "created_at": rfc3339(session.created_at),
            "updated_at": updated_at,
            "state_updated_at": updated_at,
            "metadata": {
                **session.metadata,
                "graph_id": GRAPH_ID,
                "assistant_id": session.db_connection_id,
                "title": session.title,
            },
            "status": _STATUS[session.status],
            "config": {},
            "values": values,
            "interrupts": {APPROVE: interrupts} if interrupts else {},
        }


def run_body(session: Session, run: Run) -> dict[str, JsonValue]:
    """Returns a run as clients read it."""
    status = "running" if session.active_run_id == run.id else "pending"
    if run.status != "open":
        status = STATUS_OF_RUN[run.status]
    return {
        "run_id": run.id,
        "thread_id": session.thread_id,
        "assistant_id": session.db_connection_id,
        "created_at": rfc3339(run.created_at),
        "updated_at": rfc3339(run.ended_at or run.created_at),
        "status": status,
        "metadata": {**run.metadata},
        "multitask_strategy": run.on_busy,
        "kwargs": {},
        "error": None if run.error is None else run.error.model_dump(mode="json"),
        "ignored": [*run.ignored],
    }


def _filter(owner: str, wanted: ThreadSearch) -> SessionFilter | None:
    """Returns the filter of a search; None if nothing can match."""
    metadata = {**wanted.metadata}
    if metadata.pop("graph_id", GRAPH_ID) != GRAPH_ID:
        return None
    assistant_id = metadata.pop("assistant_id", None)
    if any(isinstance(value, dict | list) for value in metadata.values()):
        raise ValueUnsupported("Threads are searched by texts, numbers and booleans in their metadata.")
    if assistant_id is not None and not isinstance(assistant_id, str):
        return None
    ids = wanted.ids
    if ids is not None:
        own = [each for each in ids if as_uuid(each) is not None]
        ids = [*own, *(session_id_of(owner, each) for each in ids)]
        if not ids:
            return None
    return SessionFilter(
        db_connection_id=None if assistant_id == ONLY_DATABASE else assistant_id,
        statuses=_SEARCHED_STATUS[wanted.status] if wanted.status else None,
        ids=ids,
        metadata=metadata,
    )


def _own_metadata(metadata: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value for key, value in metadata.items() if key not in _DERIVED}


def _from(states: Sequence[State], checkpoint_id: str) -> list[State]:
    """Returns the state of a checkpoint and all older ones. Raises `StateUnknown`."""
    for place, state in enumerate(states):
        if state["checkpoint_id"] == checkpoint_id:
            return [*states[place:]]
    raise StateUnknown


def _sequence_of(record: Record, run: Run) -> int | None:
    """Returns the sequence of a run's question. None while the run waits for those before it.

    What was just stored may be missing in the messages.
    """
    asked: Message | None = None
    for message in record.messages:
        if message.role == "human":
            if message.run_id == run.id and message.sequence < WAITING_FROM:
                return message.sequence
            asked = message
        elif message.id == run.message_id and asked is not None:  # an earlier run of the turn has asked
            return asked.sequence
    if record.session.active_run_id == run.id:
        return question_sequence(record.session.turn)
    turn = run.question_turn or run.turn
    return None if turn is None else question_sequence(turn)


def _has_begun(log: EventLog) -> bool:
    return any(entry.event != "status" or '"step":"waiting"' not in entry.data for entry in log.after(0))
