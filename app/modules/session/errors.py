"""Errors of sessions, runs and messages."""

from app.core.errors import Conflict, Gone, Invalid, NotFound


class SessionExists(Conflict):
    """A session of this id is stored, of the same or another owner, or was deleted lately."""

    problem = "session-exists"
    sentence = "This id is taken: a session has it, or had it and was deleted. Choose a new random id."


class MetadataTooLarge(Invalid):
    """The metadata of a session are too large with what is merged into them."""

    problem = "metadata-too-large"
    sentence = (
        "The metadata take {size} bytes with the keys that they have already, and {most} are allowed. Set "
        "some of the keys to null, which removes them."
    )
    shows = ("size", "most")


class ConnectionNeeded(Invalid):
    """The session has no database yet, and the question names none."""

    problem = "connection-needed"
    title = "Which database?"
    sentence = (
        "This session has no database yet. Name one in `db_connection_id`: "
        "GET /api/v1/database-connections lists them."
    )


class BoundElsewhere(Conflict):
    """The question names another database than the session has."""

    problem = "session-bound"
    sentence = (
        "This session is about the database {db_connection_id}, and stays so. Start another session for "
        "another database."
    )
    shows = ("db_connection_id",)


class ChartRefused(Invalid):
    """The rows do not allow the chart that was chosen."""

    problem = "chart-choice"
    title = "This chart cannot be drawn"


class VersionUnknown(NotFound):
    """The answer has no such version."""

    sentence = "This answer has no version of this number. Its message lists them, from 2."


class TooManyVersions(Conflict):
    """An answer keeps no more statements."""

    problem = "too-many-versions"
    sentence = "An answer keeps {most} later statements. Ask the question again to go on."
    shows = ("most",)


class ResultMissing(NotFound):
    """The answer has no such result."""

    sentence = "This answer has no result with this id."


class InvestigationsOff(NotFound):
    """Investigations are switched off, or no model is configured."""

    sentence = "Investigations are off here. GET /capabilities says why."


class ConfirmationUnknown(NotFound):
    """No call of the session with this id has asked."""

    sentence = "This session has no confirmation with this id."


class HashDiffers(Invalid):
    """The decision is about something else than what would run."""

    problem = "call-hash-differs"
    title = "Another call was shown"
    sentence = (
        "The decision names another `call_hash` than the call that waits. Read the confirmation again, "
        "and decide about what it shows."
    )
    shows = ("call_hash",)


class EditRefused(Invalid):
    """The changed arguments of a call cannot be used. The call still waits."""

    problem = "edit-refused"
    title = "The call cannot run with these arguments"

    def __init__(self, why: str) -> None:
        super().__init__(f"{why.removesuffix('.')}. The call still waits.")


class DecidedOtherwise(Conflict):
    """The call was decided before, in another way. The first decision counts."""

    problem = "already-decided"
    title = "Already decided"
    sentence = (
        "This call is {decision} already, and a decision is never changed. Ask again to have it "
        "proposed again."
    )
    shows = ("decision",)


class ConfirmationOver(Gone):
    """The call waits no more: its time is over, or its turn has ended."""

    problem = "confirmation-over"
    sentence = (
        "This call waits no more: it was not decided in time, or its turn has ended. It was not made. "
        "Ask again to have it proposed again."
    )
    shows = ("decision",)


class CheckpointUnknown(NotFound):
    """The session has no such checkpoint, or it belonged to an earlier turn and was deleted."""

    sentence = (
        "This session has no checkpoint with this id. Only the checkpoints of its latest turns are kept "
        "(KAI_CHECKPOINTS__KEEP_TURNS): GET /api/v1/sessions/{session_id}/checkpoints lists them."
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
    sentence = "The session's database connection was deleted. Start a session on another one."
