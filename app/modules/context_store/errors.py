"""What can be wrong with a request about the context store."""

from app.core.errors import Invalid, NotFound


class EntryUnknown(NotFound):
    """There is no such entry (or it belongs to somebody else)."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"There is no {kind} with this id.")


class ExampleNotRunnable(Invalid):
    """The SQL of an example is not what may run on its database."""

    problem = "example-not-runnable"
    title = "The example's SQL would not run"


class ScopeUnknown(Invalid):
    """The table that an instruction is about is not there."""

    problem = "scope-unknown"
    title = "There is no such table"

    def __init__(self, table: str) -> None:
        super().__init__(
            f"The scanned schema has no table {table!r}. Name a table as the list of tables spells it, scan "
            "again if it is new, or leave the scope out."
        )
