"""Bodies of the routes that delete everything of an owner."""

from collections.abc import Sequence

from app.http.routes import ResponseBody
from app.modules.memory.erasure import NotConfirmed


class NotConfirmedBody(ResponseBody):
    """Something that is not deleted yet, or whose deletion is not verified."""

    what: str
    """The thing."""
    why: str
    """The reason, and what to do."""


class ForgottenBody(ResponseBody):
    """Result of a deletion."""

    not_confirmed: list[NotConfirmedBody]
    """What is not confirmed yet. Empty if everything is deleted."""

    @classmethod
    def of(cls, left: Sequence[NotConfirmed]) -> "ForgottenBody":
        return cls(not_confirmed=[NotConfirmedBody(what=each.what, why=each.why) for each in left])
