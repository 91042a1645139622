"""Problems that a caller may see: one base class, answered as problem+json (RFC 9457) at the HTTP edge."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

PROBLEM_TYPE_BASE = "urn:kai:"
"""Begins the `type` of every problem object, in an HTTP response and in the `error` event of a stream."""


def problem_type(kind: str) -> str:
    """The `type` of a problem object of this kind, such as `urn:kai:not-found`."""
    return PROBLEM_TYPE_BASE + kind


def problem_kind(problem_type: str) -> str:
    """The kind that a `type` names; the inverse of `problem_type`."""
    return problem_type.removeprefix(PROBLEM_TYPE_BASE)


class CannotRun(Exception):
    """A command or the server cannot continue. The text is one line that names the cure."""


def reason(error: OSError) -> str:
    """The operating system's words without its number, such as "permission denied"."""
    return (error.strerror or type(error).__name__).partition(" (while ")[0].lower()


def file_error_text(error: OSError) -> str:
    """Returns one line on which file could not be used, and why."""
    match error:
        case FileNotFoundError(filename=str() | Path() as name):
            return f"There is no file {name}."
        case IsADirectoryError(filename=str() | Path() as name):
            return f"{name} is a folder, not a file."
        case OSError(filename=str() | Path() as name):
            return f"{name} cannot be used ({reason(error)})."
        case _:
            return f"The operating system refused: {reason(error)}."


class Problem(Exception):
    """An error that the caller can understand and often cure; `detail` says what is wrong and what helps.

    `sentence` is the detail of a class that always says the same. It takes no detail, but the facts in its
    braces; `shows` names those that are members, too. `members` are further fields of the problem
    object. Neither holds secrets. `headers` are sent with the HTTP response.

    `cure` says what helps against every error of the kind, and `retryable` whether the same request may
    succeed later.
    """

    problem = "internal"
    title = "Something went wrong"
    status = 500
    cure = "This is a defect in KAI. Its log tells more under the request id of the answer."
    retryable = False
    headers: Mapping[str, str] = {}
    sentence = ""
    shows: Sequence[str] = ()

    def __init__(self, detail: str | None = None, **facts: JsonValue) -> None:
        self.members = facts
        self.facts = facts if detail is None and "problem" in vars(type(self)) else None
        """What the sentence of the kind is made of. None for an error with a detail of its own, and for one
        whose kind is also that of others.
        """
        if detail is None:
            detail = self.sentence.format(**facts)
            self.members = {name: facts[name] for name in self.shows}
        super().__init__(detail)
        self.detail = detail


class Unauthenticated(Problem):
    """The credential is missing or unknown."""

    problem = "unauthenticated"
    title = "Sign in"
    status = 401
    cure = "Send a valid API key or token: `Authorization: Bearer KEY`, or `X-API-Key: KEY`."


class Forbidden(Problem):
    """The caller is known and may not do this."""

    problem = "forbidden"
    title = "Not allowed"
    status = 403
    cure = "Use a credential that may do this; `detail` names what is missing, and who can allow it."


class NotFound(Problem):
    """The thing does not exist, or it belongs to another owner: the answer is the same."""

    problem = "not-found"
    title = "Not found"
    status = 404
    cure = "List what there is, and take an id from there. What belongs to another owner is not found, too."


class Conflict(Problem):
    """The request conflicts with the present state of the thing."""

    problem = "conflict"
    title = "Conflict"
    status = 409
    cure = "Read the present state again, and send what fits it; `detail` says what stands against it."


class Gone(Problem):
    """The thing was there, and it is too late for the request."""

    problem = "gone"
    title = "Too late"
    status = 410
    cure = "Ask again: what is over does not come back."


class Invalid(Problem):
    """The request is well-formed but cannot be carried out as it is."""

    problem = "invalid"
    title = "Invalid request"
    status = 422
    cure = "Correct the request as `detail` says, and send it again."


class Malformed(Problem):
    """The request cannot be read."""

    problem = "malformed"
    title = "Malformed request"
    status = 400
    cure = "Correct the request: `detail` says which part of it cannot be read."


class TooMany(Problem):
    """A limit is reached; the same request may succeed later (`Retry-After`, where that is known)."""

    problem = "too-many"
    title = "Too many requests"
    status = 429
    cure = "Wait as long as `Retry-After` says, or until something of yours has ended; then send it again."
    retryable = True

    def __init__(
        self, detail: str | None = None, *, retry_after_seconds: int | None = None, **facts: JsonValue
    ) -> None:
        super().__init__(detail, **facts)
        if retry_after_seconds is not None:
            self.headers = {"Retry-After": str(retry_after_seconds)}
