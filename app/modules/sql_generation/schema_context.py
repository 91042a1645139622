"""Knowledge of one database for one run: schema, context store, checks and warnings."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias

from app.core.language import Language
from app.modules.context_store.model import (
    Example,
    Instruction,
    Knowledge,
    Term,
    known_to_person,
    question_key,
    without_hidden,
)
from app.modules.context_store.repository import MAX_ENTRIES
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.prompts.sections import ALL_ALLOWED, ContextFilter
from app.modules.sql_generation.business import Business, mentioned_terms
from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.checking.correct import Corrected, correct
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.context import context_for, conversation_of, linked_for, tables_read
from app.modules.sql_generation.result_warnings.checks import ResultCheck, check_result
from app.modules.sql_generation.result_warnings.empty_joins import JoinProbe, join_probes
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.warnings import Intent, find_warnings
from app.modules.sql_generation.schema_index import SchemaIndex, SchemaIndexes
from app.modules.sql_generation.statement_faults import find_fault
from app.modules.sql_generation.unheeded import find_unheeded
from graph.errors import DatabaseUnavailable, StatementFailed, StatementRefused
from graph.ports import Question
from graph.state import NO_CONTEXT, Context, Rows

Rules: TypeAlias = tuple[Sequence[Term], Sequence[Instruction]]


class SchemaContext:
    """All methods raise `DatabaseUnavailable` if the schema is not scanned yet and cannot be read.

    The work runs in threads, because some of it takes a second for a thousand tables.
    """

    def __init__(
        self,
        connections: DatabaseConnections,
        context: ContextStore,
        indexes: SchemaIndexes,
        *,
        connection: Connection,
        knowledge: Knowledge | None = None,
        allowed: ContextFilter = ALL_ALLOWED,
    ) -> None:
        """`knowledge`: what was just read of the connection. None has it read when it is needed."""
        self._connections = connections
        self._allowed = allowed
        self._context = context
        self._indexes = indexes
        self._connection = connection
        self._examples: Sequence[Example] | None = None
        self._rules: Rules | None = None
        if knowledge is not None:
            self._remember(knowledge)
        self._checked: dict[str, SchemaNames] = {}
        """Statements that `corrected` returned and `check` need not look at, with the names they were checked
        with."""
        self.shown_tables: Sequence[str] = ()
        """Tables that the latest context shows, or that the verified answer reads in its place."""

    async def context(self, question: Question, budget_tokens: int) -> Context:
        """Returns the context of a question for a model.

        Returns `NO_CONTEXT` for a question with a verified answer, unless that answer is to be repaired.
        """
        index = await self.index()
        examples, rules = self._examples, self._rules
        if examples is None or rules is None:
            examples, rules = self._remember(await self._context.knowledge(self._connection.id))
        if question.repair is None and (verified := await self.verified_answer(question.text)) is not None:
            self.shown_tables = await asyncio.to_thread(tables_read, verified.sql, index)
            return NO_CONTEXT
        business = Business(without_hidden(examples, index.scanned.schema), *_known(rules, index))

        def shown(near: Sequence[str]) -> tuple[Context, Sequence[str]]:
            linked = linked_for(question, index, budget_tokens=budget_tokens, near=near)
            context = context_for(
                question, index, business, budget_tokens=budget_tokens, linked=linked, allowed=self._allowed
            )
            return context, linked.tables

        def shown_whole() -> tuple[Context, Sequence[str]] | None:
            # If the whole schema is shown, nothing is ranked.
            return shown([]) if index.fits(budget_tokens) else None

        found = await asyncio.to_thread(shown_whole)
        if found is None:
            said = "\n".join(filter(None, conversation_of(question)))
            near = await self._connections.nearest_tables(self._connection, said)
            found = await asyncio.to_thread(shown, near)
        context, self.shown_tables = found
        self._connections.want_values(self._connection, self.shown_tables)
        return context

    async def verified_answer(self, question: str) -> Example | None:
        """Returns the latest verified example of this very question that the present schema lets run,
        without a read if the examples are at hand.
        """
        if self._examples is None or len(self._examples) >= MAX_ENTRIES:
            found = await self._context.verified_answer(self._connection, question)
            same = [] if found is None else [found]
        else:
            key = question_key(question)
            same = [each for each in self._examples if each.question_key == key]
        if not same:
            return None
        index = await self.index()
        for each in without_hidden(same, index.scanned.schema):
            if await find_fault(each.sql, index, self._connections) is None:
                return each
        return None

    async def corrected(self, sql: str) -> Corrected:
        """Returns a model's statement, corrected where the correction is certain."""
        index = await self.index()
        names = index.names
        try:
            found = await self._connections.examine_to_run(
                sql, index.scanned.schema, lambda written: correct(written, names)
            )
        except StatementRefused:
            return Corrected(sql)  # `check` says why
        if found.is_checked:
            self._checked[found.sql] = names
        return found

    async def check(self, sql: str) -> None:
        """Raises `StatementRefused` for unknown names, with a text that helps to repair them."""
        names = (await self.index()).names
        if self._checked.pop(sql, None) is names:
            return
        checked = await self._connections.examine(sql, check, sql, names)
        if checked.faults:
            raise StatementRefused(checked.report, "name")

    async def find_warnings(self, question: Question, sql: str, rows: Rows) -> list[ResultWarning]:
        """Returns warnings about a result although its statement ran."""
        # Where people write the statement themselves, its limit is what they asked for.
        asked = "" if question.author == "user" else "\n".join(conversation_of(question))
        intent = await self._intent(question)
        index = await self.index()
        try:
            return await self._connections.examine(
                sql, partial(find_warnings, sql, rows, index, asked=asked, intent=intent)
            )
        except (StatementRefused, DatabaseUnavailable):
            return []  # the result stands without them

    async def _intent(self, question: Question) -> Intent | None:
        """Returns what a statement is to answer; None for a statement that people have written or verified.

        A repair shows the reasons to the model, so terms that it may not read give none.
        """
        if question.author in ("user", "verified"):
            return None
        terms = await self.terms() if self._allowed.allows("knowledge") else ()
        return Intent(question.text, datetime.now(UTC).date(), terms)

    async def check_result(self, sql: str, rows: Rows, language: Language) -> list[ResultCheck]:
        """Returns checks of a statement and all kept rows of its result, in a language."""
        index = await self.index()
        try:
            check = partial(check_result, sql, rows, index, language=language)
            return await self._connections.examine(sql, check)
        except (StatementRefused, DatabaseUnavailable):
            return []  # the result stands without them

    async def row_policies(self, sql: str) -> Sequence[str]:
        """Returns the names of the policies that limit the rows of a statement to those of the person."""
        try:
            return await self._connections.row_policies(self._connection, sql)
        except StatementFailed:
            return ()  # it has run: the database may have changed since

    async def join_probes(self, sql: str) -> list[JoinProbe]:
        """Returns statements that show which joins of a statement find no pair."""
        return await self._connections.examine(sql, join_probes, sql, await self.index())

    async def terms(self) -> Sequence[Term]:
        """Returns the terms of the glossary, the latest first."""
        terms, _ = _known(await self._read_rules(), await self.index())
        return terms

    async def is_named_in(self, text: str) -> bool:
        """True if a word of a text names a table, a column, or a term of the glossary."""
        index = await self.index()
        return any(mentioned_terms(await self.terms(), [text])) or await asyncio.to_thread(
            index.is_named_in, text
        )

    async def unheeded(self, asked: str, sql: str) -> ResultWarning | None:
        """Returns which instructions and terms apply to a statement whose writer has not read them."""
        terms, instructions = _known(await self._read_rules(), await self.index())
        business = Business(terms=terms, instructions=instructions)
        return await asyncio.to_thread(find_unheeded, business, asked, sql, index=await self.index())

    async def index(self) -> SchemaIndex:
        """Returns the index of the database's present schema."""
        scanned = await self._connections.scanned_schema(self._connection)
        return self._indexes.of(self._connection.id, scanned)

    def _remember(self, knowledge: Knowledge) -> tuple[Sequence[Example], Rules]:
        self._examples = knowledge.examples
        self._rules = (knowledge.terms, knowledge.instructions)
        return self._examples, self._rules

    async def _read_rules(self) -> Rules:
        """Glossary and instructions, read once a run."""
        if self._rules is None:
            connection_id = self._connection.id
            self._rules = await asyncio.gather(
                self._context.terms.latest(connection_id), self._context.instructions.latest(connection_id)
            )
        return self._rules


def _known(rules: Rules, index: SchemaIndex) -> Rules:
    """Returns the rules that name nothing that the person may not know of."""
    terms, instructions = rules
    schema = index.scanned.schema
    return known_to_person(terms, schema), known_to_person(instructions, schema)
