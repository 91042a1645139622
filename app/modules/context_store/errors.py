"""Errors of the context store."""

from app.core.errors import Invalid, NotFound


class EntryUnknown(NotFound):
    """There is no such entry, or it belongs to another owner."""

    sentence = "There is no {kind} with this id."


class ExampleNotRunnable(Invalid):
    """The SQL of an example does not pass the guard of its database."""

    problem = "example-not-runnable"
    title = "The example's SQL would not run"


class ScopeUnclear(Invalid):
    """The table that an instruction names is in several schemas."""

    problem = "scope-unknown"
    title = "There is no such table"
    sentence = "{table!r} may be {tables}. Name the one that is meant."


class ScopeUnknown(Invalid):
    """The table that an instruction names is not in the scanned schema."""

    problem = "scope-unknown"
    title = "There is no such table"
    sentence = (
        "The scanned schema has no table {table!r}. Name a table as the list of tables spells it, scan "
        "again if it is new, or leave the scope out."
    )
