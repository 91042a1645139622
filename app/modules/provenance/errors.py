"""Errors of provenance."""

from app.core.errors import NotFound


class NoStatement(NotFound):
    """The answer comes from no statement."""

    sentence = "This answer has no statement: it is words, a question back, or rows of an earlier answer."
