"""Job that keeps the directives of the messages of a session as facts."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.clock import now_ms
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.ids import id_of
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.memory.directive_records import DirectiveRecord, DirectiveRecords, Refusal
from app.modules.memory.directives import MOST_DIRECTIVES, Directive, directives_in
from app.modules.memory.errors import FactNeedsConfirmation, FactRefused
from app.modules.memory.facts import Facts
from app.modules.memory.guards import instruction_warning
from app.modules.memory.model import MAX_FACT_CHARACTERS, FactSource, NewFact, StoredFact

logger = logging.getLogger(__name__)

_MAX_MESSAGES = 40
_BY_A_PERSON = "Only a person who has read this may keep it: on the page, or by the API."
_LOOKS_BACK_MS = 86_400_000
"""Jobs that the bus has lost are published again for the last day."""


@dataclass(frozen=True)
class DirectiveQuestion:
    """A question as its user wrote it, with the ids of its answer and run. `at` is epoch milliseconds.

    The copy of a message in a fork has the run of the original.
    """

    message_id: str
    run_id: str
    text: str
    at: int


@dataclass(frozen=True)
class SessionQuestions:
    """Questions of a session whose turns have ended, oldest first."""

    owner: str
    connection_id: str
    questions: Sequence[DirectiveQuestion]


class QuestionReader(Protocol):
    """Reads the questions of any owner's session. Both methods raise `StorageUnavailable`."""

    async def has_session(self, session_id: str) -> bool: ...

    async def read_questions(self, session_id: str, max_messages: int) -> SessionQuestions | None:
        """Returns the questions among the latest messages, or None if the session does not exist."""


IsTainted = Callable[[str], Awaitable[bool]]
"""Returns whether the turn of a message has read from a tool of others."""


class DirectiveJob:
    """Reads each message once. Answers, rows and texts of tools are never read.

    The id of a fact follows from message and line, so a job that is repeated doubles nothing.
    """

    def __init__(
        self, reader: QuestionReader, facts: Facts, *, records: DirectiveRecords, is_tainted: IsTainted
    ) -> None:
        self._reader = reader
        self._facts = facts
        self._records = records
        self._is_tainted = is_tainted

    async def work(self, session_id: str) -> None:
        """Raises `StorageUnavailable`."""
        session = await self._reader.read_questions(session_id, _MAX_MESSAGES)
        if session is None:
            return
        since = now_ms() - _LOOKS_BACK_MS
        found = {
            question: directives
            for question in session.questions
            if question.at >= since and (directives := directives_in(question.text))
        }
        if not found:
            return
        known = await self._records.known([question.run_id for question in found])
        for question, directives in found.items():
            if question.run_id not in known:
                await self._keep_all(session_id, session, question, directives=directives)

    async def _keep_all(
        self,
        session_id: str,
        session: SessionQuestions,
        question: DirectiveQuestion,
        *,
        directives: Sequence[Directive],
    ) -> None:
        source = FactSource(
            "directive",
            question.at,
            question.message_id,
            session_id,
            tainted=await self._is_tainted(question.message_id),
        )
        kept: list[StoredFact] = []
        refused: list[Refusal] = []
        for directive in directives[:MOST_DIRECTIVES]:
            try:
                kept.append(await self._keep(session, directive, source))
            except FactNeedsConfirmation:
                warning = instruction_warning(directive.text) or ""
                refused.append(Refusal(directive.kind, directive.line, f"{warning} {_BY_A_PERSON}"))
            except (Conflict, Forbidden, Invalid, NotFound) as error:
                refused.append(Refusal(directive.kind, directive.line, str(error)))
        for directive in directives[MOST_DIRECTIVES:]:
            reason = f"KAI remembers at most {MOST_DIRECTIVES} lines of a message."
            refused.append(Refusal(directive.kind, directive.line, reason))
        await self._records.add(
            DirectiveRecord(
                id=question.run_id,
                owner=session.owner,
                session_id=session_id,
                at=question.at,
                kept=tuple(fact.id for fact in kept),
                refused=tuple(refused),
            )
        )
        logger.info(
            "message %s: %d of its directives are kept, %d refused",
            *(question.message_id, len(kept), len(refused)),
        )
        if not await self._reader.has_session(session_id):  # deleted meanwhile
            await self._drop(question.run_id, [fact for fact in kept if fact.source == source])

    async def _keep(self, session: SessionQuestions, directive: Directive, source: FactSource) -> StoredFact:
        """Keep a directive in the scope that it names, else for the database, else for the session.

        A fact of a tainted turn waits for a person.
        """
        if len(directive.text) > MAX_FACT_CHARACTERS:
            raise FactRefused(f"It is longer than {MAX_FACT_CHARACTERS} characters.")
        scope = directive.scope or "workspace"
        new = NewFact(
            owner=session.owner,
            scope=scope,
            kind=directive.kind,
            text=directive.text,
            source=source,
            connection_id=None if scope == "user" else session.connection_id,
            status="waiting" if source.tainted else "active",
            fact_id=id_of(str(source.message_id), f"directive {directive.line}"),
        )
        try:
            kept = await self._facts.keep(new)
        except ConnectionNotFound:
            if directive.scope is not None:
                raise
            kept = await self._facts.keep(replace(new, scope="session"))
        return kept.fact

    async def _drop(self, run_id: str, facts: Sequence[StoredFact]) -> None:
        for fact in facts:
            await self._facts.forget(fact.owner, fact.id)
        await self._records.drop(run_id)
