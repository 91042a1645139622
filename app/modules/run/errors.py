"""Errors of requests about a run."""

from collections.abc import Mapping, Sequence

from app.core.errors import Conflict, Invalid, Problem, TooMany
from app.http.routes import API_PREFIX

RETRY_SECONDS = "2"


def headers_of_open_run(session_id: str, run_id: str) -> dict[str, str]:
    """Returns the headers of a 202: the run, where its answer will be, and the seconds to wait before."""
    location = f"{API_PREFIX}/sessions/{session_id}/runs/{run_id}/answer"
    return {"X-Run-Id": run_id, "Location": location, "Retry-After": RETRY_SECONDS}


class NotKeptYet(Problem):
    """The store is unavailable, so it is not known yet whether the question is stored. KAI goes on trying."""

    problem = "not-kept-yet"
    title = "The question is being stored"
    status = 202
    cure = "Follow the run in `run_id` instead of asking again."

    def __init__(self, session_id: str, run_id: str) -> None:
        super().__init__(
            "KAI's own store does not answer. The question is stored as soon as it does. Follow its run by "
            "this id instead of asking again. While the id is unknown, the question is not stored.",
            session_id=session_id,
            run_id=run_id,
        )
        self.run_id = run_id
        self.headers = headers_of_open_run(session_id, run_id)


class SessionClosed(Conflict):
    """A closed session takes no questions."""

    problem = "session-closed"
    sentence = 'The session is closed. PATCH it with {{"status": "idle"}} to resume it.'


class SessionBusy(Conflict):
    """A run holds the session, or has ended with calls that wait for the user."""

    problem = "session-busy"

    def __init__(self, active_run_id: str | None, confirmations: Sequence[str] = ()) -> None:
        """`confirmations` are the ids of the calls that wait."""
        detail = (
            "The session is answering another question. Wait for it, cancel it, or choose "
            "`multitask_strategy`."
        )
        if confirmations:
            detail = (
                "The session waits for your approval of what the latest answer wants to do. Approve or deny "
                "it, cancel the run, or choose `multitask_strategy`."
            )
        super().__init__(detail, active_run_id=active_run_id, confirmations=list(confirmations))


class StillStopping(Conflict):
    """A run of the session does not end."""

    problem = "still-stopping"
    sentence = "The session is still stopping its runs. Try again in a moment."
    retryable = True


class QueueFull(TooMany):
    """Too many questions wait for the session."""

    problem = "queue-full"
    sentence = "{limit} questions already wait for this session. Ask again when some are answered."


class WorkersBusy(TooMany):
    """More questions wait for a worker than will be answered soon."""

    problem = "workers-busy"
    headers: Mapping[str, str] = {"Retry-After": "10"}
    sentence = "Too many questions wait to be answered. Ask again in a moment."


class KeyReused(Invalid):
    """An Idempotency-Key came back with another question."""

    problem = "idempotency-key-reused"
    sentence = "This Idempotency-Key was used for another question. Use a new key."
