"""Errors of facts. Their texts name the cure and repeat no fact."""

from app.core.errors import Conflict, Forbidden, Invalid, NotFound


class FactUnknown(NotFound):
    """There is no such fact, or it belongs to another owner."""

    sentence = "There is no fact with this id."


class FactsOff(Forbidden):
    """New facts are switched off. Those that are kept can still be read and forgotten."""

    problem = "facts-off"
    title = "Facts are switched off"
    sentence = "This KAI remembers no new facts. An operator switches them on with KAI_MEMORY__FACTS=true."


class FactRefused(Invalid):
    """A guard does not let the fact be kept."""

    problem = "fact-refused"
    title = "This is not remembered"


class FactNeedsConfirmation(Conflict):
    """A guard warns of the fact. A person who has read the warning may keep it."""

    problem = "fact-needs-confirmation"
    title = "Read the warning before this is remembered"
    sentence = '{warning} To remember it all the same, send it again with "confirm": true.'


class FactPlaceUnclear(Invalid):
    """The scope of a fact needs a connection or a session, or must not have one."""

    problem = "fact-place-unclear"
    title = "Where the fact belongs is not clear"


class TooManyFacts(Invalid):
    """An import holds more facts than one may."""

    problem = "too-many-facts"
    title = "Too many facts at once"
    sentence = "An import takes up to {limit:,} facts and items of lists. Send them in parts."
    shows = ("limit",)


class FactsFull(Conflict):
    """The group holds as many facts as allowed, and none has been unused for long enough to go."""

    problem = "facts-full"
    title = "No more facts fit here"
    sentence = (
        "{limit} facts are remembered in this scope ({scope}), and more are not allowed. Each was used "
        "or added in the last {unused_days} days. Forget some that are not needed any more."
    )
    shows = ("limit",)


class FactChanged(Conflict):
    """The fact was changed or superseded meanwhile."""

    problem = "fact-changed"
    title = "The fact has been changed meanwhile"
    sentence = "The fact was changed, accepted or superseded meanwhile. Read it again."
