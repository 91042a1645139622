"""Errors of records that are not stored."""

from app.core.errors import NotFound


class SessionUnknown(NotFound):
    """There is no such session, or it belongs to another owner."""

    sentence = "There is no session with this id."


class RunUnknown(NotFound):
    """The session has no such run."""

    sentence = "This session has no run with this id."


class MessageUnknown(NotFound):
    """The session has no such answer."""

    sentence = "This session has no answer with this message id."


class RowsGone(NotFound):
    """The rows of an answer are no longer stored."""

    sentence = "The rows of this answer are no longer stored. Ask the question again."
