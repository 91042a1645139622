"""What a port may raise. Everything else that escapes a step is a defect and ends the turn as one."""


class TurnError(Exception):
    """The turn cannot go on. The arguments are for the user: no secrets, no driver internals.

    `problem` names the kind of problem in kebab case, `status` is the HTTP status it would have, and
    `retryable` says whether asking again may work.
    """

    problem = "turn-failed"
    title = "The question could not be answered"
    status = 500
    retryable = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Drained(Exception):
    """The turn was asked to end after a step; it can be resumed from there."""


class ModelUnavailable(TurnError):
    """The model did not answer in time or at all."""

    problem = "model-unavailable"
    title = "The language model is unavailable"
    status = 503
    retryable = True


class ModelRejected(TurnError):
    """The model's service refused the request: a wrong key, an unknown model, a request too long."""

    problem = "model-rejected"
    title = "The language model refused the request"
    status = 502


class DatabaseUnavailable(TurnError):
    """The user's database cannot be reached, or broke the connection off."""

    problem = "database-unavailable"
    title = "The database is unavailable"
    status = 503
    retryable = True


class StatementFailed(TurnError):
    """The guard or the database refused the statement; the writer may repair it with these words."""

    problem = "statement-failed"
    title = "The SQL did not run"
    status = 422


class StatementRefused(StatementFailed):
    """The guard refused it: it may not be run at all. `rule` names the rule in kebab case."""

    def __init__(self, detail: str, rule: str) -> None:
        super().__init__(detail)
        self.rule = rule


class StatementTimedOut(StatementFailed):
    """It took too long and was stopped."""


class QuestionBeyondWriter(TurnError):
    """No model is configured, and the built-in writer does not understand the question."""

    problem = "question-not-understood"
    title = "The question is beyond the built-in writer"
    status = 422


class DatabaseEmpty(TurnError):
    """There is nothing in the database that a statement could read."""

    problem = "database-empty"
    title = "The database has no tables"
    status = 422


class SummaryFailed(TurnError):
    """The summarizer gave nothing usable; the exchanges stay as they are."""

    problem = "summary-failed"
    title = "The conversation could not be summarized"


class CheckpointsUnavailable(TurnError):
    """What the conversation remembers cannot be read or written just now."""

    problem = "storage-unavailable"
    title = "The store is unavailable"
    status = 503
    retryable = True


class StepTimedOut(TurnError):
    """A step took longer than any step may."""

    problem = "step-timed-out"
    title = "The answer took too long"
    status = 504
    retryable = True
