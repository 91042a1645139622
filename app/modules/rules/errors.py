"""Errors of the rules."""

from collections.abc import Sequence

from app.core.errors import Conflict, Forbidden, Invalid, NotFound


class RuleFault(ValueError):
    """A rule cannot be read. The text says what is wrong, in a sentence."""


class RuleUnknown(NotFound):
    """There is no such rule, or the caller may not see it."""

    sentence = "There is no rule with this name. GET /rules lists those that you can see."


class RuleExists(Conflict):
    """A stored rule of the same audience has this name."""

    problem = "rule-exists"
    title = "There is such a rule"
    sentence = "There is a rule {name!r} already: change it by PATCH, or choose another name."


class RuleNotReadable(Invalid):
    """The front matter or the text of a rule is not as it should be."""

    problem = "rule-not-readable"
    title = "The rule cannot be read"


class RuleOfAll(Forbidden):
    """Only administrators change the rules of all connections."""

    def __init__(self) -> None:
        super().__init__(
            "This rule is for all connections, so only administrators change it. "
            "Name connections of your own in scope.connections to make a rule for them.",
            missing_scope="admin",
        )


class RuleOfFile(Conflict):
    """The text of a rule in a file is not changed by a route."""

    problem = "rule-of-file"
    title = "The rule is a file"
    sentence = (
        "This rule is the file {path} in KAI_RULES__PATH: change the file. Only `active` can be changed here."
    )


class TooManyRules(Invalid):
    """The audience has as many rules as it may have."""

    problem = "too-many-rules"
    title = "Too many rules"
    sentence = "There are {most} rules already. Delete one first."


class RuleNamesUnknown(Invalid):
    """The question names rules that do not exist."""

    problem = "rule-unknown"
    title = "There is no such rule"

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"There is no rule {', '.join(names)} for this database. GET /rules lists those that there are.",
            rules=list(names),
        )
