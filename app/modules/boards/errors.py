"""Errors of boards and pins. Each names the cure."""

from app.core.errors import Invalid, NotFound


class BoardUnknown(NotFound):
    """There is no such board, or it belongs to another owner."""

    sentence = "There is no board with this id. GET /boards lists yours."


class PinUnknown(NotFound):
    """The board has no such pin."""

    sentence = "This board has no pin with this id. GET the board to see its pins."


class AnswerUnknown(NotFound):
    """There is no such answer, or it belongs to another owner."""

    sentence = "There is no answer with this message id."


class PinRowsMissing(NotFound):
    """The pin has no rows yet."""

    sentence = "This pin has no rows yet. POST .../refresh runs its statement."


class NothingToPin(Invalid):
    """The answer has no statement that could be run again."""

    problem = "nothing-to-pin"
    title = "Nothing to pin"
    sentence = (
        "This answer has no SQL with rows, so there is nothing to run again. Pin an answer with a table."
    )


class TooManyBoards(Invalid):
    """The owner has as many boards as an owner may have."""

    problem = "too-many-boards"
    title = "Too many boards"
    sentence = "You have {most} boards, as many as an owner may have. Delete one first."


class TooManyPins(Invalid):
    """The board has as many pins as a board may have."""

    problem = "too-many-pins"
    title = "The board is full"
    sentence = "This board has {most} pins, as many as a board may have. Use another board."
