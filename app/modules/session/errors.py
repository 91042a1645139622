"""What can be wrong with a request about a session."""

from app.core.errors import Conflict, Invalid, NotFound, TooMany

_BUSY_SECONDS = 10


class SessionUnknown(NotFound):
    """There is no such session (or it belongs to somebody else)."""

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


class RowsGone(NotFound):
    """The rows of an answer are no longer stored."""

    def __init__(self) -> None:
        super().__init__("The rows of this answer are no longer stored. Ask the question again.")


class CheckpointUnknown(NotFound):
    """The session has no such checkpoint."""

    def __init__(self) -> None:
        super().__init__("This session has no checkpoint with this id.")


class SessionClosed(Conflict):
    """A closed session takes no questions."""

    problem = "session-closed"

    def __init__(self) -> None:
        super().__init__('The session is closed. PATCH it with {"status": "idle"} to resume it.')


class SessionBusy(Conflict):
    """A run holds the session."""

    problem = "session-busy"

    def __init__(self, active_run_id: str | None) -> None:
        detail = "The session is answering another question. Wait for it, cancel it, or choose `on_busy`."
        super().__init__(detail, active_run_id=active_run_id)


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


class StillStopping(Conflict):
    """A run of the session does not end."""

    problem = "still-stopping"

    def __init__(self) -> None:
        super().__init__("The session is still stopping its runs. Try again in a moment.")


class ConnectionGone(Conflict):
    """The database connection of the session was deleted."""

    problem = "connection-gone"

    def __init__(self) -> None:
        super().__init__("The session's database connection was deleted. Start a session on another one.")


class QueueFull(TooMany):
    """Too many questions wait for the session."""

    problem = "queue-full"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} questions already wait for this session. Ask again when some are answered."
        )


class WorkersBusy(TooMany):
    """More questions wait for a worker than will be answered soon."""

    problem = "workers-busy"

    def __init__(self) -> None:
        detail = "Too many questions wait to be answered. Ask again in a moment."
        super().__init__(detail, retry_after_seconds=_BUSY_SECONDS)


class KeyReused(Invalid):
    """An Idempotency-Key came back with another question."""

    problem = "idempotency-key-reused"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used for another question. Use a new key.")


class FormatUnavailable(Invalid):
    """The file format needs an extra that is not installed."""

    problem = "format-unavailable"

    def __init__(self) -> None:
        super().__init__("Parquet needs an extra: pip install 'kai-analyst[parquet]'.")
