"""Copies of sessions: forks from a checkpoint, and sessions that continue those of other owners."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from app.core.clock import now_ms, rfc3339
from app.core.ids import new_id
from app.core.keyed_ids import created_id, is_repeat
from app.core.pairs import pair_keys
from app.core.storage.port import InvalidCursor, is_uuid
from app.modules.records.finding import transcript_of
from app.modules.records.model import (
    Message,
    Mode,
    Session,
)
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.run.summary import digest
from app.modules.session.branches import path_to_last
from app.modules.session.errors import (
    CheckpointUnknown,
)
from app.modules.usage.service import Allowances
from graph import Checkpoint, SessionGraph
from graph.state import Author, PastExchange, Rows, SessionState

_NOT_ADOPTED: Mapping[str, object] = {
    "client_message_id": None,
    "source_message_id": None,
    "feedback": None,
    "remembered": [],
    "version": 0,
    "versions": [],
    "version_count": 0,
}
"""Fields of a message that stay with its owner, as a copy in the session of another owner has them."""
_IN_FULL = 3
"""The latest exchanges that the model reads in full. Earlier ones are in the summary, a line each."""


class SessionCopies:
    """Every method names the owner. It raises `SessionUnknown` for a session of another owner."""

    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        graph: SessionGraph,
        *,
        allowances: Allowances,
        default_mode: Mode,
    ) -> None:
        self._repository = repository
        self._rows = rows
        self._graph = graph
        self._allowances = allowances
        self._default_mode = default_mode

    async def checkpoints(
        self, owner: str, session_id: str, limit: int, *, cursor: str | None
    ) -> tuple[list[Checkpoint], str | None]:
        """Returns checkpoints, newest first. A cursor is the id of a checkpoint; raises
        `InvalidCursor` for any other.
        """
        session = await self._repository.get(owner, session_id)
        if cursor is not None and not is_uuid(cursor):
            raise InvalidCursor
        found = await self._graph.checkpoints(session.id, limit=limit + 1, before=cursor)
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def prune(self, owner: str, session_id: str) -> None:
        """Delete all checkpoints of a session but the latest."""
        session = await self._repository.get(owner, session_id)
        await self._graph.prune(session.id)

    async def fork(self, owner: str, session_id: str, checkpoint_id: str) -> Session:
        """Create a session that continues from a checkpoint, with copies of the history up to it.

        Raises `TooManySessions`.
        """
        session = await self._repository.get(owner, session_id)
        now = now_ms()
        fork_id = created_id()
        if is_repeat():
            if (forked := await self._repository.find(fork_id)) is not None:
                return forked
            await self._repository.delete([fork_id])  # copies of an interrupted try
        async with self._allowances.new_session(owner):
            state = await self._graph.state_at(session.id, checkpoint_id)
            if state is None:
                raise CheckpointUnknown(session_id=session.id)
            forked = replace(
                session,
                version=0,
                thread_name=None,
                id=fork_id,
                status="idle",
                active_run_id=None,
                awaited=False,
                fence=0,
                created_at=now,
                updated_at=now,
                summary=state.get("summary"),
                transcript=None,
                turn=0,
                turns=0,
                pinned_at=None,
                expires_at=None,
                metadata_keys=(*pair_keys(session.metadata),),
            )
            if remembered := state.get("messages"):
                copies, questions, turns = await self._copy_history(session, forked, remembered[-1]["id"])
                state = _naming(copies, state)
                forked = replace(forked, transcript=transcript_of(questions), turn=turns, turns=turns)
            await self._graph.begin(forked.id, state)
            await self._repository.add(forked)
        return forked

    async def adopt(
        self,
        owner: str,
        source: Session,
        places: range,
        *,
        title: str | None,
        as_shown: Callable[[Message], Awaitable[Message]],
    ) -> Session:
        """Create a session of an owner with copies of another owner's messages, to continue from them.

        `places` are the sequences of the messages. `as_shown` returns a message as the owner may see it. The
        caller has checked that the owner may read them. What is private to the other owner is not copied:
        feedback, later versions, remembered facts, ids of their client, and their metadata. Raises
        `TooManySessions`.
        """
        now = now_ms()
        adopted = Session(
            id=new_id(),
            owner=owner,
            db_connection_id=source.db_connection_id,
            title=title,
            titled_by=None if title is None else "question",
            mode=self._default_mode,
            metadata={},
            created_at=now,
            updated_at=now,
            also=source.also,
            also_before=source.also_before,
        )
        async with self._allowances.new_session(owner):
            copies = [
                await self._copy(await as_shown(message), adopted, **_NOT_ADOPTED)
                async for message in self._repository.all_messages(source)
                if message.sequence in places
            ]
            questions = [each.query for each in copies if each.role == "human"]
            await self._graph.begin(adopted.id, _state_after(copies))
            adopted = replace(
                adopted,
                transcript=transcript_of(questions),
                turn=max((each.sequence // 2 for each in copies), default=0),
                turns=len(questions),
            )
            await self._repository.add(adopted)
        return adopted

    async def _copy_history(
        self, session: Session, forked: Session, last_message_id: str
    ) -> tuple[dict[str, str], list[str], int]:
        """Copies messages and rows. Returns the ids of the copies, by the ids of the originals, the
        questions, and the number of the last turn.
        """
        copies: dict[str, str] = {}
        questions: list[str] = []
        turns = 0
        found: list[Message] = []
        async for message in self._repository.all_messages(session):
            found.append(message)
            if message.id == last_message_id:
                break
        for message in path_to_last(found):
            versions = [each.model_copy(update={"rows_id": new_id()}) for each in message.versions]
            copy = await self._copy(
                message, forked, source_message_id=message.id, version=0, feedback=None, versions=versions
            )
            for version, own in zip(message.versions, versions, strict=True):
                await self._rows.copy(version.rows_id, copy, to_id=own.rows_id, row_count=own.row_count)
            copies[message.id] = copy.id
            turns = message.sequence // 2
            if message.role == "human":
                questions.append(message.query)
        return copies, questions, turns

    async def _copy(self, message: Message, into: Session, **own: object) -> Message:
        """Stores a copy of a message and of its rows in another session, which has no other branch."""
        named = {"id": new_id(), "session_id": into.id, "owner": into.owner, "parent_message_id": None}
        copy = message.model_copy(update={**own, **named})
        await self._repository.add_message(copy)
        if copy.row_count is not None:
            await self._rows.copy(message.id, copy, to_id=copy.id, row_count=copy.row_count)
        return copy


def _naming(copies: Mapping[str, str], state: SessionState) -> SessionState:
    """Returns the state with copied messages in the place of their originals, which may be deleted."""
    exchanges = [
        PastExchange(**{**each, "id": copies.get(each["id"], each["id"])}) for each in state["messages"]
    ]
    named: SessionState = {**state, "messages": exchanges}
    if (results_of := state.get("results_message_id")) is not None:
        named["results_message_id"] = copies.get(results_of, results_of)
    if (message_id := state.get("message_id")) is not None:
        named["message_id"] = copies.get(message_id, message_id)
    return named


def _state_after(messages: Sequence[Message]) -> SessionState:
    """Returns the state after these messages, which are in the order of the conversation."""
    answers = [each for each in messages if each.role == "assistant" and each.status == "complete"]
    exchanges = [*map(_exchange, answers)]
    state = SessionState(
        messages=exchanges[-_IN_FULL:],
        summary=digest(None, exchanges[:-_IN_FULL]) or None,
        turns=sum(each.role == "human" for each in messages),
    )
    given = {each.run_id for each in messages if each.given_sql is not None}
    if fetched := [each for each in answers if each.row_count is not None]:
        author: Author = "user" if fetched[-1].run_id in given else "model"
        state.update(_found(fetched[-1], author))
    if messages and messages[-1].status == "complete" and messages[-1].clarification is None:
        state["answered_turn"] = state["turns"]
    return state


def _exchange(answer: Message) -> PastExchange:
    return PastExchange(
        id=answer.id,
        role="assistant",
        query=answer.query,
        sql=answer.sql,
        results_summary=answer.results_summary,
        analysis=answer.analysis or answer.clarification,
        timestamp=rfc3339(answer.created_at),
    )


def _found(answer: Message, author: Author) -> SessionState:
    rows = Rows(
        columns=answer.columns,
        rows=answer.rows_head,
        row_count=answer.row_count or 0,
        truncated=answer.truncated,
        cut_by=answer.cut_by,
    )
    return SessionState(
        current_query=answer.query,
        current_sql=answer.sql,
        current_author=author,
        current_results=rows,
        results_message_id=answer.id,
        current_analysis=None,
    )
