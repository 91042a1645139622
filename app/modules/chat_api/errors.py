"""What can be wrong with a request of the chat routes alone."""

from app.core.errors import Invalid, NotFound


class UserUnknown(NotFound):
    """There is no such user, or it is not the one who asks."""

    def __init__(self) -> None:
        super().__init__("There is no user with this id.")


class ConnectionNeeded(Invalid):
    """A session needs a database, and which one is not clear."""

    problem = "connection-needed"

    def __init__(self, *, has_some: bool) -> None:
        cure = (
            "You have several database connections: name one as dbConnectionId."
            if has_some
            else "You have no database connection yet: POST one to /api/v1/database-connections."
        )
        super().__init__(cure)
