"""Errors of links. Each names the cure."""

from app.core.errors import Invalid, NotFound


class LinkUnknown(NotFound):
    """There is no such link for the caller: unknown, expired, revoked, or of a database that they may not
    use. The answer is the same for all.
    """

    sentence = (
        "There is no link with this id for you. It may have expired or been revoked, or you may not use "
        "its database: ask who sent it."
    )


class ThingUnknown(NotFound):
    """There is no such answer, session or board, or it belongs to another owner."""

    sentence = "You have no {kind} with this id."


class NotOffered(Invalid):
    """Each person sees other rows of the database, so the rows of one are not shown to others."""

    problem = "link-not-offered"
    title = "No link for this database"
    sentence = (
        "This database shows each person their own rows, by roles or by policies, so yours are not shown to "
        "others. Send the question: they get their own rows."
    )


class NothingToContinue(Invalid):
    """The link shows a board, which has no conversation."""

    problem = "nothing-to-continue"
    title = "No conversation to continue"
    sentence = (
        "This link shows a board, which is no conversation. Make a session of its database and ask there."
    )


class TooManyLinks(Invalid):
    """The owner has as many links as an owner may have."""

    problem = "too-many-links"
    title = "Too many links"
    sentence = "You have {most} links, as many as an owner may have. Revoke one first."
