"""A typed client of KAI: ask questions of SQL databases in plain language."""

from kai_analyst_client.answers import Answer
from kai_analyst_client.client import AsyncEventStream, AsyncKai, EventStream, Kai
from kai_analyst_client.errors import (
    Changed,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KaiError,
    ModelUnavailable,
    NotFound,
    QuestionNotUnderstood,
    RateLimited,
    SessionBusy,
    SessionClosed,
    StatementFailed,
    TokensSpent,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from kai_analyst_client.flows import KEEP, Listing
from kai_analyst_client.local import document_schema, generate_sql
from kai_analyst_client.schema import Event
from kai_analyst_client.tables import Table
from kai_analyst_client.webhooks import WebhookInvalid, verify_webhook

__version__ = "0.2.0"

__all__ = [
    "KEEP",
    "Answer",
    "AsyncEventStream",
    "AsyncKai",
    "Changed",
    "Conflict",
    "Event",
    "EventStream",
    "Forbidden",
    "Gone",
    "Invalid",
    "Kai",
    "KaiError",
    "Listing",
    "ModelUnavailable",
    "NotFound",
    "QuestionNotUnderstood",
    "RateLimited",
    "SessionBusy",
    "SessionClosed",
    "StatementFailed",
    "Table",
    "TokensSpent",
    "TooMany",
    "Unauthenticated",
    "Unavailable",
    "Unreachable",
    "WebhookInvalid",
    "document_schema",
    "generate_sql",
    "verify_webhook",
]
