"""Route of reports."""

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request, Response

from app.http.callers import READ, Owner
from app.http.router import Router
from app.modules.reports.model import ReportFormat
from app.modules.reports.schemas import NewReport
from app.modules.reports.service import Reports

_TYPES: Mapping[ReportFormat, tuple[str, str, str]] = {
    "html": ("text/html", "html", "string"),
    "markdown": ("text/markdown", "md", "string"),
    "ipynb": ("application/x-ipynb+json", "ipynb", "object"),
}
"""Media type, file ending and JSON schema's type of each."""
_NOT_OF_A_FILE = re.compile(r"[^\w .-]+")

router = Router(prefix="/reports", tags=["reports"])


async def _reports(request: Request) -> Reports:
    reports: Reports = request.app.state.services.reports
    return reports


@router.post(
    "",
    summary="Make a report",
    dependencies=[READ],
    response_class=Response,
    responses={
        200: {
            "description": "The report, as a file.",
            "content": {media_type: {"schema": {"type": kind}} for media_type, _, kind in _TYPES.values()},
        }
    },
)
async def make_report(
    body: NewReport, owner: Owner, reports: Annotated[Reports, Depends(_reports)]
) -> Response:
    """Makes one file of answers of a session or pins of a board, with own text between them. Needs scope
    `read`. Nothing is stored, no statement runs and no model is asked: each answer says its database, its
    time and which of its stored rows are shown.

    HTML has its charts inline; print it for a PDF. A notebook has the statements as SQL cells. Answers 404
    for a session, board or answer that the caller may not see, and 422 (`nothing-to-report`).
    """
    report, file = await reports.make(owner, body)
    media_type, ending, _ = _TYPES[body.format]
    name = _NOT_OF_A_FILE.sub(" ", report.title).strip(" .")[:80] or "report"
    plain = name.encode("ascii", "ignore").decode().strip() or "report"
    disposition = f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"
    headers = {"Content-Disposition": disposition, "X-Content-Type-Options": "nosniff"}
    return Response(file, media_type=f"{media_type}; charset=utf-8", headers=headers)
