"""Errors that a port may raise. Any other exception that leaves a step is a defect."""


class TurnError(Exception):
    """The turn cannot continue. `detail` is for the user: it holds no secrets and no driver internals.

    `problem` names the kind of problem in kebab case. `status` is its HTTP status. `cure` says what helps
    against every error of the kind. `retryable` says whether the same question may succeed later.
    """

    problem = "turn-failed"
    title = "The question could not be answered"
    status = 500
    cure = (
        "Ask again, or in other words. If it fails again, the log of KAI tells more under the id of the run."
    )
    retryable = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Drained(Exception):
    """The turn ended after a step, as requested. It can be resumed from that step."""


class Replaced(Exception):
    """Another attempt at the turn has begun, so that this one may do nothing more."""


class ModelCallFailed(TurnError):
    """The model timed out or is unreachable."""

    problem = "model-unavailable"
    title = "The language model is unavailable"
    status = 503
    cure = "Ask again in a moment. If it stays so, the operator looks at the model's service and its address."
    retryable = True


class ModelCallRejected(TurnError):
    """The model's service refused the request: a wrong key, an unknown model or an overlong request."""

    problem = "model-rejected"
    title = "The language model refused the request"
    status = 502
    cure = "An operator corrects the key, the name or the limits of the model in KAI's settings."


class DatabaseUnavailable(TurnError):
    """The user's database is unreachable or closed the connection."""

    problem = "database-unavailable"
    title = "The database is unavailable"
    status = 503
    cure = "Ask again when the database is reachable. `POST /database-connections/test` tries it."
    retryable = True


class DatabaseSecretUnreadable(DatabaseUnavailable):
    """The stored URL of the user's database was encrypted with a key that KAI does not have."""

    problem = "secret-unreadable"
    title = "A stored secret cannot be read"
    status = 409
    cure = "Give the URL of the database again (PATCH the connection), or start KAI with the earlier key."
    retryable = False


class StatementFailed(TurnError):
    """The guard or the database refused the statement. The writer repairs it by `detail`."""

    problem = "statement-failed"
    title = "The SQL did not run"
    status = 422
    cure = "Ask in other words, or correct the SQL as `detail` says."


class StatementRefused(StatementFailed):
    """The guard refused the statement. `rule` names the rule in kebab case."""

    def __init__(self, detail: str, rule: str) -> None:
        super().__init__(detail)
        self.rule = rule


class StatementReadsTooMuch(StatementFailed):
    """The database expects to read more rows for the statement than its connection allows."""

    problem = "statement-too-large"
    title = "The SQL would read too much"
    cure = "Ask for less: a shorter period, fewer groups, or one table in place of several."


class StatementNeedsApproval(StatementReadsTooMuch):
    """A person has to approve the statement, because of the rows that the database expects to read.

    `why` says so to that person.
    """

    def __init__(self, why: str) -> None:
        super().__init__(f"{why} Make it cheaper, or ask in a session, where it can be approved.")
        self.why = why


class StatementNotApproved(TurnError):
    """A person did not approve the statement, or not in time. It has not run."""

    problem = "statement-not-approved"
    title = "The SQL was not approved"
    status = 409
    cure = "Ask for less, or ask again and approve it."


class StatementTimedOut(StatementFailed):
    """The statement exceeded its time limit and was stopped."""


class QuestionBeyondWriter(TurnError):
    """No model is configured, and the built-in writer cannot express the question."""

    problem = "question-not-understood"
    title = "The question is beyond the built-in writer"
    status = 422
    cure = (
        "Ask one of the questions that the answer offers, ask a simpler one, or configure a language model."
    )


class DatabaseEmpty(TurnError):
    """The database has no table that a statement could read."""

    problem = "database-empty"
    title = "The database has no tables"
    status = 422
    cure = "Create tables, or let KAI's account read them, and scan the database again."


class InvestigationOff(TurnError):
    """The turn is an investigation, and they were switched off after it had begun."""

    problem = "investigation-off"
    title = "Investigations are switched off"
    status = 409
    cure = "Ask the question again without agent mode, or switch investigations on (KAI_AGENT__ENABLED)."


class SummaryFailed(TurnError):
    """The summarizer returned no usable summary. The exchanges stay unchanged."""

    problem = "summary-failed"
    title = "The conversation could not be summarized"


class CheckpointsUnavailable(TurnError):
    """The store of the checkpoints is unavailable, so the conversation's state cannot be read or written."""

    problem = "storage-unavailable"
    title = "The store is unavailable"
    status = 503
    cure = "Nothing is lost: send the request again after `Retry-After`."
    retryable = True


class CheckpointUnreadable(TurnError):
    """A checkpoint is damaged, or was encrypted with another key. Retrying does not help."""

    problem = "checkpoint-unreadable"
    title = "The conversation's state cannot be read"
    status = 409
    cure = "Start a new session, or start KAI with the key that encrypted the checkpoint."


class StepTimedOut(TurnError):
    """A step exceeded the time limit of all steps."""

    problem = "step-timed-out"
    title = "The answer took too long"
    status = 504
    cure = "Ask again, or ask for less: a shorter period or fewer columns."
    retryable = True
