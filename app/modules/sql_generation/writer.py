"""Writers of statements: by a language model, and the built-in one that replaces it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from itertools import islice

from app.core.language import language_of
from app.core.llm.capabilities import InstructionForm
from app.core.llm.model import LanguageModel, PromptMessage, Reply, ReplyFormat
from app.core.markdown import without_images
from app.modules.context_store.model import Term
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.language_models.errors import model_errors_translated, stand_in_notice
from app.modules.prompts.budget import prompt_room
from app.modules.sql_generation import builtin
from app.modules.sql_generation.candidates import TEMPERATURE, Candidates
from app.modules.sql_generation.checking.correct import Corrected
from app.modules.sql_generation.declining import declined
from app.modules.sql_generation.prompt import write_sql_messages
from app.modules.sql_generation.repair import is_same_statement, repair_messages
from app.modules.sql_generation.reply import SqlDeltas, read_reply
from app.modules.sql_generation.reply_object import REPLY_OBJECT
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.sentences import WarningPhrase
from graph.errors import DatabaseEmpty, ModelCallFailed, QuestionBeyondWriter, TurnError
from graph.events import TextChunk
from graph.ports import Emit, Question, Written
from graph.state import Option

logger = logging.getLogger(__name__)

ReadIndex = Callable[[], Awaitable[SchemaIndex]]
HasRows = Callable[[str], Awaitable[bool]]
"""Runs a statement like any other and returns True if it gives rows; False if it fails."""
ReadTerms = Callable[[], Awaitable[Sequence[Term]]]
Correct = Callable[[str], Awaitable[Corrected]]
"""Corrects a statement where the correction is certain."""

_OFFERED = 2
_MOST_TRIED = 8
_OFFER_SECONDS = 10.0


class BuiltinWriter:
    """Writes statements for simple questions without a model, and explains how it understood them."""

    def __init__(
        self,
        dialect: str,
        read_index: ReadIndex,
        today: date,
        *,
        read_terms: ReadTerms,
        has_rows: HasRows | None,
    ) -> None:
        """`has_rows`: None for a stand-in of a model, whose declines no user reads."""
        self.dialect = dialect
        self._read_index = read_index
        self._read_terms = read_terms
        self._today = today
        self._has_rows = has_rows

    async def write(self, question: Question, emit: Emit) -> Written:
        """Raises `DatabaseEmpty`, or `QuestionBeyondWriter`, also for a statement that failed: it would write
        the same again. It offers two questions that have been run.
        """
        if question.repair is not None:
            raise QuestionBeyondWriter(f"The statement did not run: {' '.join(question.repair.reasons)}")
        index = await self._read_index()
        # The latest come first; of several of one name the latest counts.
        terms = {each.term: each.sql for each in reversed(await self._read_terms()) if each.sql}
        try:
            # In a thread: on a schema of hundreds of tables this takes a second.
            answer = await asyncio.to_thread(
                builtin.write,
                question.text,
                index.scanned.schema,
                stored=index.stored,
                terms=terms,
                previous=_previous(question),
                today=self._today,
            )
        except builtin.AsksForChange as change:
            raise QuestionBeyondWriter(change.reason) from change
        except builtin.Beyond as beyond:
            _refuse_empty(index)
            offered = await self._offered(question.text, index)
            raise QuestionBeyondWriter(declined(question.text, beyond.reason, offered)) from beyond
        match answer:
            case builtin.WrittenSql(sql=sql, explanation=explanation, plan=plan):
                emit(TextChunk(content=sql, channel="sql"))
                return Written(
                    route="sql",
                    text=sql,
                    explanation=explanation,
                    author="builtin",
                    plan="" if plan is None else builtin.write_plan(plan),
                )
            case builtin.Clarification(text=text, options=options):
                choices = [Option(label=each.label, question=each.question) for each in options]
                return Written(route="clarify", text=text, options=choices)
            case builtin.SmallTalk(text=text):
                return Written(route="chat", text=text)
            case builtin.FromRows():
                return _from_rows(question)

    async def _offered(self, question: str, index: SchemaIndex) -> list[str]:
        """Returns the nearest questions whose statements give rows, at most two, within ten seconds."""
        found: list[str] = []
        if self._has_rows is None:
            return found
        nearest = builtin.nearest_questions(
            question, index.scanned.schema, stored=index.stored, today=self._today
        )
        tried = await asyncio.to_thread(lambda: list(islice(nearest, _MOST_TRIED)))
        try:
            async with asyncio.timeout(_OFFER_SECONDS):
                for each in tried:
                    if await self._has_rows(each.sql):
                        found.append(each.question)
                    if len(found) == _OFFERED:
                        break
        except TimeoutError:
            logger.info("only %d near questions have been run in time", len(found))
        return found


class ModelWriter:
    """Lets a model write. If it is unavailable, the built-in writer answers where it can, and says so."""

    def __init__(
        self,
        model: LanguageModel,
        stand_in: BuiltinWriter,
        correct: Correct,
        *,
        instruction: InstructionForm,
        read_index: ReadIndex,
        today: date,
        candidates: Candidates,
        max_statement_characters: int = STATEMENT_CHARACTERS,
        may_investigate: bool = False,
        may_act: bool = False,
    ) -> None:
        """`may_investigate`: the prompt says that the model may ask for an investigation of several steps,
        and with `may_act` for something to be done.
        """
        self._may_investigate = may_investigate
        self._may_act = may_act
        self.dialect = stand_in.dialect
        self._instruction = instruction
        self._candidates = candidates
        self._max_characters = max_statement_characters
        self._read_index = read_index
        self._model = model
        self._stand_in = stand_in
        self._correct = correct
        self._today = today

    async def write(self, question: Question, emit: Emit) -> Written:
        """Raises `DatabaseEmpty`, `ModelCallFailed`, `ModelCallRejected` or `QuestionBeyondWriter`."""
        index = await self._read_index()
        _refuse_empty(index)
        deltas = SqlDeltas()

        def show(delta: str) -> None:
            if delta:
                emit(TextChunk(content=delta, channel="sql"))

        def read(token: str) -> None:
            show(deltas.feed(token))

        repair = question.repair
        try:
            with model_errors_translated():
                if repair is None:
                    reply = await self._ask(question, read)
                else:
                    messages = await asyncio.to_thread(
                        repair_messages, question, repair, index, today=self._today
                    )
                    reply = await self._model.reply(messages, read)
        except ModelCallFailed as unavailable:
            if deltas.started:
                raise
            return _explain_repair(await self._write_without_model(question, emit, unavailable), question)
        show(deltas.end())
        written = await self._read(question, reply)
        if repair is not None or self._candidates.count == 1 or written.route != "sql":
            return written

        async def write_another() -> Written | None:
            try:
                with model_errors_translated():
                    other = await self._ask(question, lambda _: None, TEMPERATURE)
                return await self._read(question, other)
            except TurnError as error:
                logger.info("a candidate was not written: %s", error.detail)
                return None

        return await self._candidates.choose(question, written, write_another, emit=emit)

    async def _read(self, question: Question, reply: Reply) -> Written:
        """Returns the content of a reply, with its statement corrected. Raises `ModelCallRejected`."""
        repair = question.repair
        # In threads: a reply may hold many statements, each to be parsed.
        with model_errors_translated():
            written = await asyncio.to_thread(
                read_reply,
                reply.text,
                self.dialect,
                self._max_characters,
                may_investigate=self._may_investigate and repair is None,
            )
        if written.route == "rows":
            written = _from_rows(question)
        if written.route in ("chat", "clarify"):
            written = written.model_copy(update={"text": without_images(written.text)})
        if written.standalone_question.casefold() == question.text.strip().casefold():
            written = written.model_copy(update={"standalone_question": ""})
        if written.route == "sql":
            corrected = await self._correct(written.text)
            language = language_of(question.text)
            said = [*written.corrections, *(each.sentence.say(language) for each in corrected.corrections)]
            written = written.model_copy(update={"text": corrected.sql, "corrections": said})
            if repair is not None and await asyncio.to_thread(
                is_same_statement, written.text, repair.first.sql, self.dialect
            ):
                written = written.model_copy(update={"text": repair.first.sql})
        return _explain_repair(written, question).model_copy(update={"tokens_used": reply.tokens_used})

    def _room(self) -> int | None:
        window = self._model.known_window
        return None if window is None else prompt_room(window, output_tokens=self._model.max_output_tokens)

    async def _ask(
        self, question: Question, show: Callable[[str], None], temperature: float | None = None
    ) -> Reply:
        def write_prompt(reply_format: ReplyFormat) -> list[PromptMessage]:
            return write_sql_messages(
                question,
                self.dialect,
                self._today,
                instruction=self._instruction,
                reply_format=reply_format,
                may_investigate=self._may_investigate,
                may_act=self._may_act,
                room=self._room(),
            )

        return await self._model.reply_by_schema(write_prompt, REPLY_OBJECT, show, temperature=temperature)

    async def _write_without_model(
        self, question: Question, emit: Emit, unavailable: ModelCallFailed
    ) -> Written:
        try:
            written = await self._stand_in.write(question, lambda _: None)
        except TurnError:
            raise unavailable from None
        emit(stand_in_notice(unavailable, "The built-in writer has written the SQL instead."))
        return written


def _refuse_empty(index: SchemaIndex) -> None:
    """Raises `DatabaseEmpty`."""
    if not index.scanned.schema.tables:
        raise DatabaseEmpty(
            "This database has no tables that KAI can read, so there is nothing to ask about yet."
        )


def _previous(question: Question) -> builtin.Previous | None:
    """Returns what a follow-up may refer to. None for a question that stands alone."""
    if question.alone:
        return None
    plan = builtin.read_plan(question.previous_plan) if question.antecedent == "builtin" else None
    rows = question.previous_rows if question.antecedent else None
    columns = [column["name"] for column in rows["columns"]] if rows else []
    return builtin.Previous(plan, columns)


def _from_rows(question: Question) -> Written:
    if question.previous_rows is None:
        return Written(route="clarify", text="There are no rows yet to look at. What would you like to know?")
    return Written(route="rows", text="")


def _explain_repair(written: Written, question: Question) -> Written:
    """Says of a repaired statement, before its other corrections, that it is the second one, and why."""
    repair = question.repair
    if repair is None or written.route != "sql" or written.text == repair.first.sql:
        return written
    because = WarningPhrase(f"repaired {repair.cause}", (" ".join(repair.reasons),))
    corrections = [because.say(language_of(question.text)), *written.corrections]
    return written.model_copy(update={"corrections": corrections})
