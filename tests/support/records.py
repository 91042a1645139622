"""For tests in which nothing is looked up of what statements leave behind."""

from prometheus_client import CollectorRegistry

from app.modules.database_connection.statement_audit import Asker, StatementRecords

ASKER = Asker(owner="local", purpose="question")


def no_records() -> StatementRecords:
    return StatementRecords(CollectorRegistry(), texts=False)
