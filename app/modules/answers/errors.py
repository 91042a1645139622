"""Errors of answers that a request waits for."""

from app.core.errors import Problem, problem_kind
from app.modules.records.model import Run
from graph.events import RunError


class RunFailed(Problem):
    """The run has ended without an answer. Kind, title and status are those of its error."""

    def __init__(self, run: Run, error: RunError) -> None:
        super().__init__(
            error.detail,
            retryable=error.retryable,
            session_id=run.session_id,
            run_id=run.id,
            message_id=run.message_id,
        )
        self.problem = problem_kind(error.type)
        self.title = error.title
        self.status = error.status
