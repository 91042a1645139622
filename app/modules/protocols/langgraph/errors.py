"""Refusals of the LangGraph API. Each names the cure."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.core.errors import Conflict, Invalid, NotFound, Problem


class ThreadUnknown(NotFound):
    """There is no such thread, or it belongs to another owner."""

    sentence = "There is no thread with this id. POST /threads creates one."


class StateUnknown(NotFound):
    """The thread has no such checkpoint."""

    sentence = "This thread has no checkpoint with this id. POST /threads/{{thread_id}}/history lists them."


class OtherAssistant(Conflict):
    """A thread stays with its database."""

    sentence = (
        "This thread belongs to assistant {assistant_id}: a conversation stays with its database. Ask "
        "that assistant, or create another thread."
    )


class ThreadTaken(Conflict):
    """The owner has, or had lately, a thread of this id."""

    sentence = "This thread id is taken. Choose another one; `if_exists: do_nothing` returns your own thread."


class ThreadEmpty(Conflict):
    """A thread without an answer has no state to copy."""

    sentence = "This thread has no answer yet, so there is nothing to copy. Create a new thread."


class ApprovalUnclear(Conflict):
    """Decisions came that may be about other calls than those that wait. `interrupts` shows these."""

    problem = "approval-unclear"
    title = "Which calls are meant?"

    def __init__(self, interrupts: Sequence[JsonValue]) -> None:
        super().__init__(
            "The calls that wait are not those that this client was shown last in this thread, or the thread "
            "has lately asked for others, too. Look at `interrupts`, and answer by their id: "
            '`command.resume` as a map from the id of the interrupt to {"decisions": [...]}.',
            interrupts=[*interrupts],
        )


class NothingWaits(Conflict):
    """A resume came, and no call waits for it."""

    sentence = "Nothing in this thread waits for an answer. Send a question as `input`, without `command`."


class ValueUnsupported(Invalid):
    """A value of a field that KAI does not honour."""


class ReadOnly(Problem):
    """The method is never allowed on this thing."""

    problem = "method-not-allowed"
    title = "Not allowed"
    status = 405


class ThreadPartNotOffered(Problem):
    """A part of the LangGraph API that KAI does not have."""

    problem = "not-offered"
    title = "Not offered"
    status = 404
    cure = "Use what `detail` names instead."


class NoWebSockets(Problem):
    """A WebSocket is asked for where plain HTTP streams."""

    problem = "not-offered"
    title = "Not offered"
    status = 426
    cure = "Use what `detail` names instead."
    headers: Mapping[str, str] = {"Upgrade": "HTTP/1.1"}
