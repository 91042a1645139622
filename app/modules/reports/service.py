"""Gathers the parts of reports. No statement runs, and no model is asked."""

import asyncio
import base64
import logging
from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from app.core.clock import now_ms
from app.core.pictures import NoPicture
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.boards.model import Pin
from app.modules.boards.service import Boards, ShownPin
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.errors import RowsGone
from app.modules.records.model import Message, Row
from app.modules.reports.errors import NothingToReport
from app.modules.reports.model import (
    MAX_PARTS,
    Exchange,
    OwnText,
    Part,
    PartList,
    Report,
    ReportFormat,
)
from app.modules.reports.schemas import NewReport, PinPart, ReportPart, TextPart
from app.modules.reports.words import ReportWords
from app.modules.session.service import SessionService

audit = logging.getLogger("kai.audit")


class Reports:
    """Every method names the owner. It raises `NotFound` for a session, board or connection that the owner
    may not see.
    """

    def __init__(
        self,
        sessions: SessionService,
        boards: Boards,
        connections: DatabaseConnections,
        *,
        pictures: ChartPictures,
    ) -> None:
        self._sessions = sessions
        self._boards = boards
        self._connections = connections
        self._pictures = pictures

    async def make(self, owner: str, wanted: NewReport) -> tuple[Report, str]:
        """Returns a report and its file. Raises `NothingToReport`."""
        if wanted.session_id is not None:
            report = await self._of_session(owner, wanted.session_id, wanted)
        else:
            report = await self._of_board(owner, wanted.board_id or "", wanted)
        report = await self._draw_pictures(report, wanted.format)
        file = await asyncio.to_thread(_write, report, wanted.format)
        audit.info(
            "report",
            extra={
                "owner": owner,
                "session_id": wanted.session_id,
                "board_id": wanted.board_id,
                "format": wanted.format,
                "parts": len(report.parts),
                "bytes": len(file),
            },
        )
        return report, file

    async def _draw_pictures(self, report: Report, file_format: ReportFormat) -> Report:
        """Raises `NothingToReport` when the pictures are too large together."""
        parts = PartList()
        for part in report.parts:
            if isinstance(part, OwnText) or part.chart is None:
                parts.add(part)
                continue
            try:
                if file_format == "html":
                    picture = await self._pictures.inline_svg(part.chart)
                else:
                    picture = base64.b64encode(await self._pictures.png(part.chart)).decode()
            except NoPicture as failed:
                parts.add(replace(part, undrawn=failed.detail))
            else:
                parts.add(replace(part, picture=picture))
        return replace(report, parts=parts.gathered)

    async def _of_session(self, owner: str, session_id: str, wanted: NewReport) -> Report:
        session = await self._sessions.repository.get(owner, session_id)
        connection = await self._connections.repository.get(owner, session.connection_id)
        words = _words_of(wanted)
        parts = PartList()
        for part in wanted.parts or ():
            if isinstance(part, TextPart):
                parts.add(OwnText(part.markdown))
            elif not isinstance(part, PinPart):
                answer = await self._sessions.answers.with_rows(owner, session_id, part.message_id)
                parts.add(
                    await self._answer(
                        answer, connection, heading=part.heading, rows=wanted.rows, words=words
                    )
                )
        if wanted.parts is None:
            history = await self._sessions.history(session)
            for each in [each for each in history if each.role == "assistant"][-MAX_PARTS:]:
                parts.add(await self._answer(each, connection, heading=None, rows=wanted.rows, words=words))
        title = wanted.title or session.title or words.say("report")
        return _report(title, parts.gathered, words)

    async def _answer(
        self,
        answer: Message,
        connection: Connection,
        *,
        heading: str | None,
        rows: int,
        words: ReportWords,
    ) -> Exchange:
        note = ""
        if answer.error is not None:
            note = f"{answer.error.title}. {answer.error.detail}"
        elif answer.status == "cancelled":
            note = words.say("stopped")
        shown: list[Row] = []
        if answer.row_count:
            try:
                shown = await self._sessions.rows.read(answer.id, 0, min(rows, answer.row_count))
            except RowsGone:
                note = words.say("rows_gone")
                shown = answer.rows_head[:rows]
        return Exchange(
            heading=heading or answer.query,
            question=answer.query,
            explanation=answer.explanation,
            text=answer.analysis or "",
            references=answer.references,
            sql=answer.sql,
            dialect=answer.dialect or connection.dialect,
            database=connection.name,
            columns=answer.columns,
            rows=shown,
            row_count=answer.row_count or 0,
            truncated=answer.truncated,
            cut_by=answer.cut_by,
            chart=answer.shown_chart,
            at=answer.created_at,
            note=note,
        )

    async def _of_board(self, owner: str, board_id: str, wanted: NewReport) -> Report:
        shown = await self._boards.read(owner, board_id)
        words = _words_of(wanted)
        known = {each.pin.id: each for each in shown.pins}
        listed: Sequence[ReportPart] = wanted.parts or [PinPart(pin_id=name) for name in known]
        parts = PartList()
        for part in listed:
            if isinstance(part, TextPart):
                parts.add(OwnText(part.markdown))
            elif isinstance(part, PinPart):
                if part.pin_id not in known:
                    raise NothingToReport("The board has no such pin.")
                parts.add(
                    await self._pin(
                        owner, known[part.pin_id], heading=part.heading, rows=wanted.rows, words=words
                    )
                )
        return _report(wanted.title or shown.board.title, parts.gathered, words)

    async def _pin(
        self, owner: str, shown: ShownPin, *, heading: str | None, rows: int, words: ReportWords
    ) -> Exchange:
        """The last good rows of a pin. Without a right to its database only its name is shown."""
        pin = shown.pin
        if shown.state in ("no_right", "connection_gone"):
            return _exchange(pin, heading, words.say("unknown"), note=words.say("no_database"), sql=None)
        connection = await self._connections.repository.get(owner, pin.db_connection_id)
        note = _note(pin, words)
        if pin.result is None:
            note = note or words.say("not_run")
            return _exchange(pin, heading, connection.name, note=note, sql=pin.sql)
        result, found, _ = await self._boards.rows_of(pin, limit=max(rows, 1), cursor=None)
        return Exchange(
            heading=heading or pin.title,
            question=pin.question,
            explanation="",
            text="",
            sql=pin.statement_of_rows,
            dialect=pin.dialect,
            database=connection.name,
            columns=result.columns,
            rows=found[:rows],
            row_count=result.row_count,
            truncated=result.truncated,
            cut_by=result.cut_by,
            chart=pin.shown_chart,
            at=result.ran_at,
            note=note,
        )


def _note(pin: Pin, words: ReportWords) -> str:
    """Says why the latest refresh failed, and the period of the rows that there are."""
    failure = f"{pin.failure.title}. {pin.failure.detail}" if pin.failure is not None else ""
    period = None if pin.result is None else pin.result.period
    if period is None:
        return failure
    if period.column is None or period.since is None or period.until is None:
        return f"{failure} {words.say('not_by_period', reason=period.reason or '')}".strip()
    text = words.say(
        "period", since=words.day(period.since), until=words.day(period.until), column=period.column
    )
    return f"{failure} {text}".strip()


def _exchange(pin: Pin, heading: str | None, database: str, *, note: str, sql: str | None) -> Exchange:
    return Exchange(
        heading=heading or pin.title,
        question=pin.question,
        explanation="",
        text="",
        sql=sql,
        dialect=pin.dialect,
        database=database,
        columns=[],
        rows=[],
        row_count=0,
        truncated=False,
        cut_by=None,
        chart=None,
        at=pin.updated_at,
        note=note,
    )


def _words_of(wanted: NewReport) -> ReportWords:
    return ReportWords(wanted.language, ZoneInfo(wanted.time_zone))


def _report(title: str, parts: Sequence[Part], words: ReportWords) -> Report:
    if not parts:
        raise NothingToReport("There is no answer yet. Ask a question first.")
    return Report(title=title, made_at=now_ms(), parts=parts, words=words)


def _write(report: Report, file_format: ReportFormat) -> str:
    # Loaded by the first report.
    from app.modules.reports.html import html_of  # noqa: PLC0415
    from app.modules.reports.markdown import markdown_of  # noqa: PLC0415
    from app.modules.reports.notebook import notebook_of  # noqa: PLC0415

    match file_format:
        case "html":
            return html_of(report)
        case "markdown":
            return markdown_of(report)
        case "ipynb":
            return notebook_of(report)
