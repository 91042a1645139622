"""Errors of sessions, runs and messages."""

from app.core.errors import Conflict, Invalid, NotFound


class SessionUnknown(NotFound):
    """There is no such session, or it belongs to another owner."""

    def __init__(self) -> None:
        super().__init__("There is no session with this id.")


class RunUnknown(NotFound):
    """The session has no such run."""

    def __init__(self) -> None:
        super().__init__("This session has no run with this id.")


class MessageUnknown(NotFound):
    """The session has no such answer."""

    def __init__(self) -> None:
        super().__init__("This session has no answer with this message id.")


class ResultMissing(NotFound):
    """The answer has no such result."""

    def __init__(self) -> None:
        super().__init__("This answer has no result with this id.")


class InvestigationsOff(NotFound):
    """Investigations are switched off, or no model is configured."""

    def __init__(self) -> None:
        super().__init__("Investigations are off here. GET /capabilities says why.")


class CheckpointUnknown(NotFound):
    """The session has no such checkpoint, or it belonged to an earlier turn and was deleted."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            "This session has no checkpoint with this id. Only the checkpoints of its latest turns are kept "
            f"(KAI_CHECKPOINTS__KEEP_TURNS): GET /api/v1/sessions/{session_id}/checkpoints lists them."
        )


class StatusHeld(Conflict):
    """The status of a session was to change while a run holds it; `run_id` names the run."""

    problem = "session-busy"

    def __init__(self, session_id: str, run_id: str) -> None:
        detail = (
            f"The session is answering a question (run {run_id}), so its status cannot change yet. Wait for "
            f"the run's `done`, or cancel it: POST /api/v1/sessions/{session_id}/runs/{run_id}/cancel. Then "
            "try again. Questions that wait for the session have runs of their own, which come first."
        )
        super().__init__(detail, run_id=run_id, active_run_id=run_id)


class ConnectionGone(Conflict):
    """The database connection of the session was deleted."""

    problem = "connection-gone"

    def __init__(self) -> None:
        super().__init__("The session's database connection was deleted. Start a session on another one.")


class FormatUnavailable(Invalid):
    """The file format needs an extra that is not installed."""

    problem = "format-unavailable"

    def __init__(self) -> None:
        super().__init__("Parquet needs an extra: pip install 'kai-analyst[parquet]'.")
