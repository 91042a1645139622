"""Errors of KAI, by the types of its problem objects (RFC 9457)."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError


class KaiError(Exception):
    """What KAI refused or failed at. `members` holds what a type adds, such as `run_id` or `errors`."""

    def __init__(self, problem: "Problem", retry_after: float | None = None) -> None:
        super().__init__(f"{problem.title}: {problem.detail}" if problem.detail else problem.title)
        self.type = problem.type
        self.title = problem.title
        self.status = problem.status
        self.detail = problem.detail
        self.members: Mapping[str, JsonValue] = problem.model_extra or {}
        self.retry_after = retry_after
        """Seconds after which the request may succeed. None if unknown."""


class Unauthenticated(KaiError):
    """The credential is missing or not valid."""


class Forbidden(KaiError):
    """The caller may not do this."""


class NotFound(KaiError):
    """There is no such thing, or it is another owner's."""


class Conflict(KaiError):
    """The request conflicts with the present state."""


class SessionBusy(Conflict):
    """Another run holds the session, or calls of its latest turn wait. See `multitask_strategy`."""


class SessionClosed(Conflict):
    """The session is closed."""


class Changed(KaiError):
    """The record has been changed since it was read. Its version is `members["version"]`."""


class Gone(KaiError):
    """It was there, and is no more."""


class Invalid(KaiError):
    """The request cannot be carried out as it is."""


class TooMany(KaiError):
    """A limit is reached."""


class RateLimited(TooMany):
    """Too many requests or questions within a minute."""


class TokensSpent(TooMany):
    """The day's tokens are used up."""


class Unavailable(KaiError):
    """KAI or something that it needs is unavailable. The same request may succeed later."""


class ModelUnavailable(Unavailable):
    """The language model is unavailable."""


class StatementFailed(KaiError):
    """The database, or KAI's guard, has refused the statement."""


class QuestionNotUnderstood(KaiError):
    """The question could not be turned into a statement."""


class Unreachable(KaiError):
    """No KAI answers at the address, or the connection broke and could not be resumed."""


class Problem(BaseModel):
    """A problem object."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str
    title: str
    status: int
    detail: str = ""


KEY_IN_USE = "urn:kai:idempotency-key-in-use"
"""The first request with the key is not answered yet: a repeat gets its response later."""
BY_TYPE: dict[str, type[KaiError]] = {
    "urn:kai:session-busy": SessionBusy,
    "urn:kai:session-closed": SessionClosed,
    "urn:kai:rate-limit": RateLimited,
    "urn:kai:token-budget": TokensSpent,
    "urn:kai:model-unavailable": ModelUnavailable,
    "urn:kai:statement-failed": StatementFailed,
    "urn:kai:question-not-understood": QuestionNotUnderstood,
}
"""Errors of single types. Those of others are classed by their status."""
_BY_STATUS: dict[int, type[KaiError]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: Changed,
    422: Invalid,
    429: TooMany,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(problem: Problem, retry_after: float | None = None) -> KaiError:
    """Returns the error of a problem object, of the class of its type or else of its status."""
    found = BY_TYPE.get(problem.type) or _BY_STATUS.get(problem.status, KaiError)
    return found(problem, retry_after)


def error_of_reply(status: int, headers: Mapping[str, str], content: bytes) -> KaiError:
    """Returns the error of an HTTP answer. Proxies answer without a problem object."""
    try:
        problem = Problem.model_validate_json(content)
    except ValidationError:
        problem = Problem(type="about:blank", title=f"HTTP {status}", status=status)
    wait = headers.get("retry-after", "")
    return error_of(problem, float(wait) if wait.isdecimal() else None)


def unreachable(reason: str) -> Unreachable:
    return Unreachable(Problem(type="about:blank", title="No answer from KAI", status=0, detail=reason))
