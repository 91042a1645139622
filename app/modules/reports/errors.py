"""Errors of reports."""

from app.core.errors import Invalid


class NothingToReport(Invalid):
    """The session or board has no answer, or a part names one that it does not have."""

    problem = "nothing-to-report"
    title = "There is nothing to report"
