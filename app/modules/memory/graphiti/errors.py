"""Errors of the graph memory."""

from app.core.errors import Conflict, NotFound


class GraphMemoryOff(NotFound):
    """`KAI_GRAPH_MEMORY__ENABLED` is not set."""

    title = "There is no graph memory"
    sentence = (
        "The graph memory is off. An administrator switches it on by KAI_GRAPH_MEMORY__ENABLED and "
        "KAI_GRAPH_MEMORY__ENDPOINT."
    )


class ConsentOutdated(Conflict):
    """The consent names another address or version than those in force."""

    problem = "consent-outdated"
    title = "The consent is for something else"
    sentence = (
        "The address of the service or the text has changed. Read GET /memory/graph, and send its "
        "endpoint and text_version."
    )


class ExternalMemoryNotAllowed(Conflict):
    """The database's owner has not allowed it."""

    problem = "external-memory-not-allowed"
    title = "The database is not remembered outside"
    sentence = (
        "The owner of this database has not allowed that it is remembered outside of KAI: they set "
        "external_memory by PATCH /database-connections/{{id}}. While the database has policies, nothing of "
        "it is: ask without a graph memory."
    )
