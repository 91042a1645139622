"""The charts of stored answers as readers have chosen them."""

import asyncio
from collections.abc import Sequence

from app.core.clock import as_datetime
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.specification import covered_of, note_of
from app.modules.analysis.chart.words import ReadWords, read_words
from app.modules.analysis.chart_rules import rule_of
from app.modules.analysis.chart_words import ChartWordsModel
from app.modules.analysis.drawn_result import ChosenChart, DrawnResult
from app.modules.analysis.figures import DataSpan
from app.modules.analysis.figures.coverage import key_columns
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.errors import MessageUnknown, RowsGone
from app.modules.records.model import Message, visible_owner
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.session.errors import ChartRefused
from app.modules.usage.service import Allowances
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.state import Column, Rows

_DRAWN_AT_ONCE = 5
"""Charts of earlier choices that are drawn for one reading of a session."""


async def read_keys(
    connections: DatabaseConnections, owner: str, connection_id: str | None, *, sql: str
) -> frozenset[str]:
    """The names, in lower case, of a statement's columns that identify or refer to rows.

    Returns none where the database cannot be used.
    """
    if connection_id is None:
        return frozenset()
    try:
        connection = await connections.repository.get(owner, connection_id)
        schema = await connections.schema(connection)
        return await connections.examine(sql, key_columns, sql, schema)
    except (ConnectionNotFound, StatementFailed, DatabaseUnavailable):
        return frozenset()


class MessageCharts:
    """Draws what is chosen of the charts of answers, from all their stored rows."""

    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        connections: DatabaseConnections,
        *,
        allowances: Allowances,
        model: ChartWordsModel | None,
    ) -> None:
        """`model` is None where no model reads words."""
        self._repository = repository
        self._rows = rows
        self._connections = connections
        self._allowances = allowances
        self._model = model

    async def choose(
        self, owner: str, session_id: str, message_id: str, *, choice: ChartChoice | None
    ) -> Message:
        """Store a choice with its picture; None goes back to the proposed one.

        Raises `MessageUnknown`, `RowsGone`, and `ChartRefused`; then nothing is changed.
        """
        session = await self._repository.get(owner, session_id)
        chosen = ChosenChart(None)
        if choice is not None and choice.is_given:
            message = await self._repository.get_answer(session, message_id)
            if message.row_count is None:
                raise MessageUnknown
            chosen = await self.draw(message, choice)
            if chosen.refusal is not None:
                raise ChartRefused(chosen.refusal)
        return await self._repository.change_answer(session, message_id, chosen.as_fields())

    async def read_words(
        self, owner: str, session_id: str, message_id: str, *, words: str
    ) -> tuple[ReadWords, ChosenChart]:
        """Read what words make of an answer's chart, and draw it. Nothing is stored.

        Raises `MessageUnknown`, `RowsGone` and `TokensSpent`.
        """
        session = await self._repository.get(owner, session_id)
        message = await self._repository.get_answer(session, message_id)
        if message.row_count is None:
            raise MessageUnknown
        shown = message.chosen_chart or message.chart or {}
        read = await self.choice_of(owner, words, message.columns, present=message.chart_choice, shown=shown)
        if read.choice is None:
            return read, ChosenChart(None, message.chart)
        return read, await self.draw(message, read.choice)

    async def choice_of(
        self,
        owner: str,
        words: str,
        columns: Sequence[Column],
        *,
        present: ChartChoice | None,
        shown: Spec,
    ) -> ReadWords:
        """Read words by the form's words, and by a model what these do not say. Raises `TokensSpent`."""
        note = note_of(shown)
        read = read_words(words, columns, present=present, shown=note)
        if self._model is None or not read.not_understood:
            return read
        await self._allowances.check_tokens(owner)
        async with self._allowances.charged(owner):
            return await self._model.read(words, columns, present=present, shown=note) or read

    async def draw(self, message: Message, choice: ChartChoice | None) -> ChosenChart:
        """Draw a choice without storing it. Raises `RowsGone`."""
        return await asyncio.to_thread((await self.result(message)).chosen, choice)

    async def result(self, message: Message) -> DrawnResult:
        """An answer's result with all its rows. Raises `RowsGone`."""
        session = await self._repository.find(message.session_id)
        connection_id = None if session is None else session.db_connection_id
        count = message.row_count or 0
        sql = message.sql or ""
        return DrawnResult(
            question=message.standalone_question or message.query,
            sql=sql,
            dialect=message.dialect,
            rows=Rows(
                columns=message.columns,
                rows=await self._rows.read(message.id, 0, count),
                row_count=count,
                truncated=message.truncated,
                cut_by=message.cut_by,
            ),
            today=as_datetime(message.created_at).date(),
            keys=await read_keys(self._connections, visible_owner(message.owner), connection_id, sql=sql),
            span=_span(message),
            rule=rule_of(message.chart),
        )

    async def completed(self, messages: Sequence[Message]) -> list[Message]:
        """The messages with the pictures of choices that were stored before these had any.

        They are drawn once, a few at a time, and stored.
        """
        drawn: dict[str, Message] = {}
        for message in [each for each in reversed(messages) if each.lacks_chosen_chart][:_DRAWN_AT_ONCE]:
            try:
                chosen = await self.draw(message, message.chart_choice)
            except RowsGone as gone:
                chosen = ChosenChart(message.chart_choice, refusal=gone.detail)
            session = await self._repository.get(visible_owner(message.owner), message.session_id)
            drawn[message.id] = await self._repository.change_answer(session, message.id, chosen.as_fields())
        return [drawn.get(each.id, each) for each in messages]


def _span(message: Message) -> DataSpan | None:
    """The days that the answer's data covers, as its proposed chart says."""
    covered = covered_of(message.chart or {})
    if covered is None:
        return None
    days = (covered.last - covered.first).days + 1
    return DataSpan(covered.first, covered.last, days, narrowed=not covered.dated)
