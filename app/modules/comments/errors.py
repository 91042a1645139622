"""Errors of comments. Each names the cure."""

from app.core.errors import Forbidden, Invalid, NotFound


class CommentedThingUnknown(NotFound):
    """There is no such answer or board, or the caller may not see it."""

    sentence = "There is no {kind} with this id that you may see. For what a link shows, name the link, too."


class CommentUnknown(NotFound):
    """There is no such comment, or the caller may not see it."""

    sentence = "There is no comment with this id that you may see."


class NotAuthor(Forbidden):
    """The comment is of another person."""

    problem = "not-the-author"
    title = "Not your comment"
    sentence = "Only its author may change a comment."


class TooManyComments(Invalid):
    """The answer or board has as many comments as it may have."""

    problem = "too-many-comments"
    title = "Too many comments"
    sentence = "There are {most} comments here, as many as there may be. Delete one first."
